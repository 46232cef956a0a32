package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stormwatch/capture"
	"stormwatch/capture/packet"
	"stormwatch/detect"
)

// byAgent is a view of the clients of an agent.
func byAgent(agent string) detect.View {
	return detect.View{
		FilterName: "agent:" + agent, Lasting: true,
		Filter: func(c *detect.Client) bool { return strings.Contains(c.Agent, agent) },
	}
}

// A filter has all there is judged anew for the clients that pass, at every moment
// shown and in what is exported; without it all is as before.
func TestPlayerFilters(t *testing.T) {
	play(t, 0, func(p *playing) {
		all := p.toEnd()
		p.Pause(true)
		agents := map[string]int64{}
		for i := range all.Clients {
			agents[all.Clients[i].Agent] += all.Clients[i].Attempts
		}
		if len(agents) < 2 {
			t.Fatalf("the incident has the agents %v: too few for this test", agents)
		}
		whole := func(s *detect.Snapshot, agent string) {
			t.Helper()
			if f := s.Filtered; !f.Whole || f.Name != "agent:"+agent || f.Of != all.ClientCount || f.Clients != len(s.Clients) || f.Clients == f.Of {
				t.Fatalf("%s: %+v with %d clients of %d", agent, f, len(s.Clients), all.ClientCount)
			}
			sum, bins := int64(0), int64(0)
			for i := range s.Clients {
				if sum += s.Clients[i].Attempts; s.Clients[i].Agent != agent {
					t.Errorf("%s: a client of %s", agent, s.Clients[i].Agent)
				}
			}
			for _, b := range s.Timeline.Bins {
				bins += b.Attempts
			}
			if sum != s.Totals.Exchanges || bins != sum {
				t.Errorf("%s: clients sent %d, totals %d, timeline %d", agent, sum, s.Totals.Exchanges, bins)
			}
		}
		for agent, sent := range agents {
			p.Want(byAgent(agent))
			s := p.settled()
			whole(s, agent)
			if s.Totals.Exchanges != sent || s.At != all.At || s.End != all.End {
				t.Errorf("%s: %d requests at %d, want %d at %d", agent, s.Totals.Exchanges, s.At, sent, all.At)
			}
			r, screen, err := p.Report()
			if err != nil {
				t.Fatal(err)
			}
			whole(r, agent)
			whole(screen, agent)
			p.SeekTo(p.start + 20e9)
			if s = p.settled(); s.At != p.start+20e9 || !s.Filtered.Whole || s.Totals.Exchanges >= sent {
				t.Errorf("%s: back at %d there are %d requests, %+v", agent, s.At, s.Totals.Exchanges, s.Filtered)
			}
			p.SeekTo(p.end)
			whole(p.settled(), agent)
		}
		p.Want(byAgent("nobody has this name"))
		if s := p.settled(); s.Filtered.Whole || s.Totals != all.Totals {
			t.Errorf("nobody passes, and the sums are of %+v: %+v", s.Filtered, s.Totals)
		}
		p.Want(detect.View{})
		s := p.settled()
		if d := cmp.Diff(judgedOf(all), judgedOf(s)); d != "" || s.Filtered != (detect.Filtered{}) {
			t.Errorf("without the filter %+v (-before +after):\n%s", s.Filtered, d)
		}
	})
}

// Who passes by what clients did is settled at the moment the filter is set.
func TestPlayerFiltersByConduct(t *testing.T) {
	play(t, 1, func(p *playing) {
		p.Pause(true)
		view := detect.View{FilterName: "refused:>0", Filter: func(c *detect.Client) bool { return c.Refused > 0 }}
		p.Want(view)
		if s := p.settled(); s.Filtered.Whole {
			t.Errorf("before anybody was refused %+v", s.Filtered)
		}
		p.SeekTo(p.start + 38e9)
		s := p.settled()
		n := s.Filtered.Clients
		if !s.Filtered.Whole || n == 0 {
			t.Fatalf("as soon as somebody passes: %+v", s.Filtered)
		}
		p.SeekTo(p.end)
		if s = p.settled(); s.Filtered.Clients != n {
			t.Errorf("at the end %d clients pass, %d did when the filter was set", s.Filtered.Clients, n)
		}
	})
}

// filtering is a playhead at the end of the demo's incident, worked by hand.
func filtering(t *testing.T) (h *playhead, sift func() bool) {
	t.Helper()
	src, err := packet.Open("demo", bytes.NewReader(incident), packet.Options{Size: int64(len(incident)), Secrets: capture.NewSecrets(), Vantage: "capture"})
	if err != nil {
		t.Fatal(err)
	}
	rec := detect.NewRecording(builtin(t))
	t.Cleanup(func() { rec.Close() })
	if err := record(t.Context(), []input{{Source: src}}, rec); err != nil {
		t.Fatal(err)
	}
	h = &playhead{p: newReplayPlayer(rec, 1), stretch: stretch{step: firstStep, lasts: sliceOf}}
	if h.r, err = detect.NewReplay(rec); err != nil {
		t.Fatal(err)
	}
	h.start, h.end = h.r.Span()
	if err := h.foresee(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.at = h.end
	return h, func() bool {
		t.Helper()
		moved, err := h.sift(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return moved
	}
}

// On its way to a moment the pass looks every now and then at what is asked: for
// another moment, or for no filter.
func TestFilterSeekIsCutShort(t *testing.T) {
	h, sift := filtering(t)
	agent := h.r.Snapshot(detect.View{}).Clients[0].Agent
	h.p.board.Want(byAgent(agent))
	for sift(); h.sieve.pending(); {
		sift()
	}
	h.publish()
	atEnd := h.p.Snapshot()
	if !atEnd.Filtered.Whole || atEnd.At != h.end {
		t.Fatalf("at the end %+v at %d", atEnd.Filtered, atEnd.At)
	}
	h.sieve.step, h.sieve.lasts = 1e9, 1 // a second of event time at a time
	steps := func(to int64) (n int) {
		t.Helper()
		h.at = to
		for sift(); h.sieve.pending(); sift() {
			h.sieve.step = 1e9
			if n++; n > 200 {
				t.Fatal("it does not get there")
			}
			if h.publish(); h.p.Snapshot().At != atEnd.At {
				t.Fatalf("on its way to %d it shows the moment %d", to, h.p.Snapshot().At)
			}
		}
		return n
	}
	h.at = h.start + 18e9
	if sift(); !h.sieve.pending() {
		t.Fatal("a seek of eight seconds is gone through at once")
	}
	if h.publish(); h.p.Snapshot() != atEnd {
		t.Error("on its way another moment is shown")
	}
	if h.answer(); h.sieve.r.Now() >= h.at {
		t.Error("it is there already")
	}
	steps(h.end)
	if h.publish(); h.p.Snapshot().Totals != atEnd.Totals {
		t.Errorf("back where it was it shows %+v, before %+v", h.p.Snapshot().Totals, atEnd.Totals)
	}
	if n := steps(h.start + 25e9); n == 0 {
		t.Error("another moment was not on the way")
	}
	h.publish()
	s := h.p.Snapshot()
	if s.At != h.start+25e9 || !s.Filtered.Whole || s.Totals.Exchanges == 0 || s.Totals.Exchanges >= atEnd.Totals.Exchanges {
		t.Errorf("there it shows %d at %d, %+v", s.Totals.Exchanges, s.At-h.start, s.Filtered)
	}
	straight, err := h.r.Only(t.Context(), h.r.Passing(byAgent(agent).Filter, true))
	if err != nil {
		t.Fatal(err)
	}
	if err := straight.RunTo(t.Context(), s.At); err != nil {
		t.Fatal(err)
	}
	if want := straight.Snapshot(detect.View{}); !cmp.Equal(want.Totals, s.Totals) {
		t.Errorf("there it counts %+v, want %+v", s.Totals, want.Totals)
	}
	h.at = h.start + 18e9
	sift()
	h.p.board.Want(detect.View{})
	if sift(); h.sieve.pending() || h.sieve.r != nil {
		t.Error("it goes on though there is no filter any more")
	}
}

// The pass goes on in slices; a report waits for it, and another filter ends it.
func TestFilterPassIsGivenUp(t *testing.T) {
	h, sift := filtering(t)
	p := h.p
	agent := h.r.Snapshot(detect.View{}).Clients[0].Agent
	p.board.Want(byAgent(agent))
	answer := make(chan reported, 1)
	h.asked = append(h.asked, answer)
	if !sift() || !h.sieve.pending() || h.snapshot(p.wanted()).Filtered != (detect.Filtered{Name: "agent:" + agent}) {
		t.Fatalf("the pass has not begun: %+v", h.snapshot(p.wanted()).Filtered)
	}
	if h.answer(); len(answer) != 0 {
		t.Error("a report does not wait for the pass")
	}
	h.sieve.step = 1e9
	if err := h.sieve.r.RunTo(t.Context(), h.start+(h.end-h.start)/2); err != nil {
		t.Fatal(err)
	}
	if s := h.snapshot(p.wanted()); s.Filtered.Whole || s.Filtered.Share < .4 || s.Filtered.Share > .6 || s.ClientCount != h.r.Clients() {
		t.Errorf("halfway %+v, of %d clients", s.Filtered, s.ClientCount)
	}
	begun := h.sieve.r
	p.board.Want(detect.View{FilterName: "all", Lasting: true, Filter: func(*detect.Client) bool { return true }})
	if s := h.snapshot(p.wanted()); s.Filtered.Whole {
		t.Error("another filter is answered by the first one's pass")
	}
	if sift(); h.sieve.r == begun {
		t.Error("the pass goes on for a filter that is gone")
	}
	for h.sieve.pending() {
		sift()
	}
	if h.answer(); len(answer) != 1 {
		t.Fatal("no report once the pass is done")
	}
	r := <-answer
	if f := r.whole.Filtered; !f.Whole || f.Clients != f.Of || r.screen.Filtered != f {
		t.Errorf("the report is of %+v, its screen of %+v", f, r.screen.Filtered)
	}
}

// While a recording is played under a filter, a report and its screen are of one moment.
func TestReportIsOfOneMoment(t *testing.T) {
	play(t, 1, func(p *playing) {
		p.SeekTo(p.end)
		p.Want(byAgent(p.settled().Clients[0].Agent))
		p.SeekTo(p.start)
		p.settled()
		for range 5 {
			time.Sleep(7300 * time.Millisecond)
			r, screen, err := p.Report()
			if err != nil {
				t.Fatal(err)
			}
			if r.At > screen.At || screen.At-r.At >= 1e9 || r.Totals.Exchanges != screen.Totals.Exchanges || r.Filtered != screen.Filtered || !r.Filtered.Whole {
				t.Errorf("the report is of %d with %d requests, its screen of %d with %d; %+v", r.At, r.Totals.Exchanges, screen.At, screen.Totals.Exchanges, r.Filtered)
			}
		}
	})
}
