package accesslog

import (
	"strconv"
)

// statusCount counts lines by what their status says of the log as a whole.
type statusCount struct{ all, good, wrong int64 }

func (s *statusCount) add(code uint16) {
	s.all++
	switch {
	case code >= 100 && code < 400:
		s.good++
	case code >= 400 && code < 499 && code != 429 && code != 408 && code != 444:
		s.wrong++ // the client's own mistake: the server is up
	}
}

// onlyFailures tells whether a log leaves successes out: it has none, though
// requests were answered that only their clients got wrong.
func (s *statusCount) onlyFailures() bool {
	const lines, wrong = 100, 50 // one in so many
	return s.all >= lines && s.good == 0 && s.wrong*wrong >= s.all
}

// judge notes what the lines together say of the log.
func (b *builder) judge() {
	h := &b.health
	if b.opt.Sampled == 0 {
		part, why := b.gaps.share()
		if h.Sampled = part; why != "" {
			h.Note(why)
		}
	}
	if b.kinds.onlyFailures() {
		h.FailuresOnly = true
		h.Note("no line has a status below 400, though requests that only their clients got wrong were answered: successes are left out of this log")
	}
	if b.wall && b.opt.Zone == nil {
		h.Note("times carry no zone and are read as UTC: --tz sets it")
	}
	if b.clocks.lines[0] > 0 {
		h.Note("lines carry no time: only their order is known")
	}
	for i := range b.formats {
		if b.formats[i].partial {
			h.Note("the server's configuration lets this log leave requests out")
		}
	}
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
