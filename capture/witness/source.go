// Package witness stands between a source and its sink: it says who the client of
// each exchange is, and keeps account of when the source saw something. It reads
// no input and changes nothing else.
package witness

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"sync/atomic"

	"stormwatch/capture"
)

// Options of a Source.
type Options struct {
	Who     Who
	Trusted []netip.Prefix // proxies whose X-Forwarded-For is believed, for sources that do not do so themselves
}

// Source is a source that is watched. It implements capture.Source.
type Source struct {
	capture.Source
	opt     Options
	text    []byte
	crowd   crowd
	span    span
	all     atomic.Int64 // exchanges
	missing atomic.Int64 // of them without what names the client
	notes   []string
	behind  map[capture.Symbol]capture.Endpoint
}

var _ capture.Source = (*Source)(nil)

// New watches a source.
func New(of capture.Source, o Options) *Source {
	return &Source{Source: of, opt: o, behind: map[capture.Symbol]capture.Endpoint{}}
}

// Run runs the source.
func (s *Source) Run(ctx context.Context, sink capture.Sink) error {
	return s.Source.Run(ctx, func(b *capture.Batch) error {
		s.see(b)
		return sink(b)
	})
}

// Unnamed tells how many exchanges there were and how many of them lack what
// names the client. It may be asked at any time.
func (s *Source) Unnamed() (missing, all int64) { return s.missing.Load(), s.all.Load() }

func (s *Source) see(b *capture.Batch) {
	missing := int64(0)
	byAddress := s.opt.Who.by == byAddr
	for i := range b.Exchanges {
		x := &b.Exchanges[i]
		if len(s.opt.Trusted) > 0 && x.Forwarded != 0 {
			s.unproxy(b, x)
		}
		if byAddress {
			s.crowd.note(x)
		} else if !s.set(b, x) {
			missing++
		}
		s.span.note(x.Start, x.End)
	}
	for i := range b.Tallies {
		s.span.note(b.Tallies[i].Start, b.Tallies[i].End)
	}
	s.all.Add(int64(len(b.Exchanges)))
	s.missing.Add(missing)
	if b.Health != nil {
		s.tell(b.Health)
	}
}

// Note adds a remark to the source's Health. It must not be called once Run has
// begun.
func (s *Source) Note(text string) { s.notes = append(s.notes, text) }

// tell adds to a copy of Health what was seen.
func (s *Source) tell(h *capture.Health) {
	h.From, h.To, h.Silence, h.SilentAt = s.span.from, s.span.to, s.span.silence, s.span.silentAt
	for _, n := range s.notes {
		h.Note(n)
	}
	if why := s.crowd.remark(); why != "" && !(s.crowd.nobody() && s.Info().Kind != "log") { // a load generator is one client
		h.Crowded = true
		h.Note(why)
	}
	if missing, all := s.Unnamed(); missing > 0 {
		h.Note(fmt.Sprintf("%s of the exchanges lack %s: those clients go by their address", share(missing, all), s.opt.Who.what()))
	}
}

// share is a percentage that is never rounded to none or all.
func share(part, all int64) string {
	p := 100 * float64(part) / float64(all)
	switch {
	case part == all:
		return "100 %"
	case p < 1:
		return "less than 1 %"
	}
	return fmt.Sprintf("%.0f %%", math.Floor(p))
}

// None is the error of sources of which none could tell who the clients are; nil
// where one could. A capture could: that no request of it carries the field is
// told as a note, and its clients go by their addresses.
func None(sources []*Source) error {
	missing, all := int64(0), int64(0)
	var w Who
	for _, s := range sources {
		m, n := s.Unnamed()
		if s.Info().Kind == "capture" && n > 0 {
			return nil
		}
		missing, all, w = missing+m, all+n, s.opt.Who
	}
	if all == 0 || missing < all {
		return nil
	}
	return fmt.Errorf("--client-by %s: no line of %d tells %s; %s", w.text, all, w.what(), w.remedy())
}

// remedy says how an input comes to carry what is missing.
func (w Who) remedy() string {
	switch w.by {
	case byField:
		if w.field.Claim != "" {
			return "capture in clear text: a token need not be logged"
		}
		return "log it (nginx: $http_NAME, Apache: %{NAME}i, Envoy: %REQ(NAME)%, JSON: its key), or capture in clear text"
	case byKey:
		return "log $remote_user, or capture in clear text where requests carry Authorization or X-Api-Key"
	case byAgent:
		return "log the User-Agent"
	}
	return "choose another: " + Forms
}
