package ruletest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormwatch/capture"
)

// start is when the traffic of a test begins: offsets count from here.
var start = time.Date(2026, 3, 2, 3, 10, 0, 0, time.UTC)

// maxExchanges bounds the traffic of one test.
const maxExchanges = 200_000

// request is one exchange of a test.
type request struct {
	begin, end time.Duration
	from       netip.Addr
	line       *schedule
	attempt    *attempt
	number     int // of the request among those of all lines; its attempts share it
	order      int
}

// traffic is what the lines of a test send.
type traffic []request

// spread writes the exchanges of lines out, in the order of their starts.
func spread(lines []schedule) (t traffic, err error) {
	number := 0
	for i := range lines {
		s := &lines[i]
		moments := int64(1)
		if s.gap > 0 {
			moments = int64((s.to-s.from-1)/s.gap) + 1
		}
		// Divided, for the product may be above what an int64 holds.
		if each := int64(max(len(s.clients), 1)) * int64(max(len(s.attempts), 1)); moments > int64(maxExchanges-len(t))/each {
			return nil, fmt.Errorf("more than %d exchanges in one test", maxExchanges)
		}
		for m := range moments {
			for c, from := range s.clients {
				at := s.from + time.Duration(m)*s.gap
				if !s.together {
					at += s.gap * time.Duration(c) / time.Duration(len(s.clients))
				}
				number++
				t = t.follow(s, at, from, number)
			}
		}
	}
	slices.SortFunc(t, func(a, b request) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.order, b.order)) })
	return t, nil
}

// follow adds the attempts of one request.
func (t traffic) follow(s *schedule, at time.Duration, from netip.Addr, number int) traffic {
	for i := range s.attempts {
		a := &s.attempts[i]
		at += a.wait
		t = append(t, request{begin: at, end: at + a.took, from: from, line: s, attempt: a, number: number, order: len(t)})
		at += a.took
	}
	return t
}

// Info describes the traffic as a capture: everything of it can be seen.
func (t traffic) Info() capture.Info {
	return capture.Info{Name: "exchanges", Kind: "capture", Vantage: "exchanges"}
}

// Bounds of the names of one test, above what its bounded file can hold.
const (
	maxNames     = 1 << 16
	maxNameBytes = 1 << 22
)

// Run hands the exchanges over.
func (t traffic) Run(ctx context.Context, sink capture.Sink) error {
	const batch = 512
	b := capture.Batch{Names: capture.NewInterner(maxNames, maxNameBytes)}
	health := capture.Health{Unit: "exchanges", Resolution: 1, SeesHints: true, SeesPorts: true}
	w := writer{answers: capture.NewAnswers(b.Names, &health), secrets: capture.NewSecrets(), conns: map[netip.Addr]uint32{}}
	for from := 0; ; from += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+batch, len(t))
		b.Exchanges, b.Text = b.Exchanges[:0], b.Text[:0]
		for i := from; i < to; i++ {
			w.add(&b, &t[i], uint64(i+1))
		}
		health.Read, health.Used = uint64(to), uint64(to)
		b.Done, b.Health = 1, health.Clone()
		if to < len(t) {
			b.Done, b.Watermark = float64(to)/float64(len(t)), at(t[to].begin)
		}
		if err := sink(&b); err != nil || to == len(t) {
			return err
		}
	}
}

func at(d time.Duration) int64 { return start.Add(d).UnixNano() }

// writer makes exchanges of requests.
type writer struct {
	answers *capture.Answers
	secrets capture.Secrets
	conns   map[netip.Addr]uint32
}

func (w *writer) add(b *capture.Batch, r *request, number uint64) {
	a := r.attempt
	x := capture.Exchange{
		Start: at(r.begin), End: at(r.end),
		Src:    capture.Endpoint{IP: r.from.As16(), Port: 40000},
		Dst:    capture.Endpoint{IP: netip.AddrFrom4([4]byte{192, 0, 2, 1}).As16(), Port: 80},
		Method: b.Names.InternString(r.line.method),
		Host:   b.Names.InternString("api.example"),
		Agent:  b.Names.InternString("test/1"),
		At:     capture.Provenance{A: number, Line: true},
	}
	w.conns[r.from]++
	x.ConnSeq = w.conns[r.from]
	off := len(b.Text)
	b.Text = capture.AppendMasked(b.Text, []byte(strings.ReplaceAll(r.line.target, "{n}", strconv.Itoa(r.number))))
	x.Target = capture.Span{Off: uint32(off), Len: uint32(len(b.Text) - off)}
	for _, f := range a.fields {
		w.ask(b.Names, &x, f)
	}
	switch a.end {
	case noAnswer:
		x.Outcome = capture.NoAnswer
	case reset:
		x.Outcome = capture.Reset
	case answered:
		x.Status, x.Reason, x.Date = a.status, capture.ReasonOf(a.status), x.End/int64(time.Second)
		w.answer(b.Names, &x, a)
	}
	b.Exchanges = append(b.Exchanges, x)
}

// ask takes what the fields say of the request.
func (w *writer) ask(names *capture.Interner, x *capture.Exchange, f field) {
	switch name, asked := strings.CutPrefix(f.name, "ask:"); {
	case asked:
		x.Declare([]byte(name), []byte(f.value))
		if until := capture.AskFieldOf([]byte(name)).Deadline([]byte(f.value), x.Start); until != 0 {
			x.Deadline = until
		}
	case name == "agent":
		x.Agent = names.InternString(f.value)
	case name == "host":
		x.Host = names.InternString(f.value)
	case name == "key":
		x.Credential = w.secrets.Hash([]byte(f.value))
	case name == "body":
		h := fnv.New64a()
		_, _ = h.Write([]byte(f.value)) // a hash takes everything
		x.Body = h.Sum64()
	}
}

// answer takes what the fields say of the answer.
func (w *writer) answer(names *capture.Interner, x *capture.Exchange, a *attempt) {
	body := ""
	w.answers.Begin()
	for _, f := range a.fields {
		if f.name == "says" {
			body = f.value
			continue
		}
		w.answers.Tell(capture.FieldOf([]byte(strings.TrimPrefix(f.name, "answer:"))), []byte(f.value))
	}
	told := w.answers.Settle(x, true)
	if body != "" {
		d := capture.Decide(x.Status, []byte(body))
		d.Apply(x, &told, names)
	}
	x.Reason = x.Reason.Because(told.Mark)
	x.Refusal(told.Reset)
}

// known tells what is wrong with a NAME=VALUE: a name that nothing reads would
// make a test say less than it seems to.
func known(f field) error {
	switch f.name {
	case "agent", "host", "key", "body", "says", "retry-after":
		return nil
	}
	if name, ok := strings.CutPrefix(f.name, "ask:"); ok && name != "" {
		return nil
	}
	if name, ok := strings.CutPrefix(f.name, "answer:"); ok {
		if capture.FieldOf([]byte(name)) != 0 {
			return nil
		}
		return fmt.Errorf("the field %s of an answer says nothing about retries", name)
	}
	return errors.New("the names are agent, host, key, body, says (the answer's body), retry-after, ask:FIELD and answer:FIELD, not " + f.name)
}
