package detect_test

import (
	"slices"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// A filter on live input has its clients judged as a replay judges them alone, when
// ever it is set.
func TestLiveFilterJudgesItsClientsAlone(t *testing.T) {
	res := play(t, crowd, 1)
	p := recording(t, res, detect.Options{})
	runAll(t, p)
	for _, agent := range []string{"deaf/1", "calm/1", "herd/1"} {
		q, err := p.Only(t.Context(), p.Passing(of(agent), true))
		if err != nil {
			t.Fatal(err)
		}
		runAll(t, q)
		want := q.Snapshot(detect.View{Whole: true})
		parts := small(batches(t, res))
		for _, at := range []int{len(parts) / 3, len(parts) - 1} {
			l := live(t, detect.Options{})
			in := l.Inlet(capture.Info{Name: "sim", Kind: "capture", Vantage: "sim", Live: true})
			v := detect.View{Whole: true, FilterName: agent, Filter: of(agent), Lasting: true}
			now := wall
			for i, b := range parts {
				take(t, in, b)
				now += 1e8
				advance(t, l, now)
				if i < at {
					continue
				}
				sift(l, v)
			}
			l.Finish()
			got := l.Snapshot(v)
			if f := got.Filtered; !f.Whole || f.Clients != want.ClientCount || f.Of != p.Clients() || f.Name != agent || f.From != 0 {
				t.Errorf("%s, set at %d: %+v; want %d of %d clients", agent, at, f, want.ClientCount, p.Clients())
			}
			got.Filtered = detect.Filtered{}
			if at == len(parts)-1 { // all was there to learn from, as for a replay
				agree(t, agent, got, want)
			} else if got.Verdict.State != want.Verdict.State || got.Verdict.Cause != want.Verdict.Cause || got.Totals.Exchanges != want.Totals.Exchanges || got.Totals.Refused != want.Totals.Refused {
				t.Errorf("%s, set early: %v %+v, want %v %+v", agent, got.Verdict, got.Totals, want.Verdict, want.Totals)
			}
			if all := l.Snapshot(detect.View{Whole: true}); all.Totals.Exchanges <= got.Totals.Exchanges || all.Filtered.Whole {
				t.Errorf("without its filter a snapshot is not of all: %+v", all.Totals)
			}
		}
	}
}

// sift sets a filter and goes through all that is kept.
func sift(l *detect.Live, v detect.View) {
	for l.Sift(v.FilterName, v.Filter, v.Lasting) {
	}
}

// steady sends single requests of clients, by their last byte.
type steady struct {
	t     *testing.T
	l     *detect.Live
	in    *detect.Inlet
	names *capture.Interner
}

func newSteady(t *testing.T, o detect.Options) *steady {
	l := live(t, o)
	return &steady{t, l, l.Inlet(capture.Info{Name: "a", Kind: "log", Vantage: "a", Live: true}), capture.NewInterner(100, 4000)}
}

func (s *steady) send(client byte, agent string, at int64) {
	x := capture.Exchange{
		Start: at, End: at + 1e6, Status: 200, Agent: s.names.Intern([]byte(agent)),
		Src: capture.Endpoint{IP: [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: client}},
	}
	take(s.t, s.in, &capture.Batch{Names: s.names, Exchanges: []capture.Exchange{x}, Watermark: at})
	advance(s.t, s.l, at)
}

// Who comes after the filter was set is let pass as well, from its first request on,
// by a filter that asks what clients are. Other filters keep to whom they found.
func TestLiveFilterTakesNewClients(t *testing.T) {
	for lasting, want := range map[bool]int64{true: 40, false: 20} {
		s := newSteady(t, detect.Options{})
		asked := detect.View{FilterName: "a", Filter: of("a/1"), Lasting: lasting}
		at, all := wall, int64(0)
		send := func(client byte, agent string, n int) {
			for range n {
				s.send(client, agent, at)
				at += 3e8 // most requests come before their second is judged
				all++
				sift(s.l, asked)
			}
			at += 10e9
		}
		send(1, "b/1", 3)
		if f := s.l.Snapshot(asked).Filtered; f.Whole || f.Name != "a" {
			t.Errorf("nobody passes, yet %+v", f)
		}
		send(2, "a/1", 20)
		send(1, "b/1", 3)
		send(3, "a/1", 20)
		send(1, "b/1", 5)
		got := s.l.Snapshot(asked)
		if !got.Filtered.Whole || got.Totals.Exchanges != want {
			t.Errorf("lasting %v: %d exchanges (%+v), want %d", lasting, got.Totals.Exchanges, got.Filtered, want)
		}
		s.l.Finish()
		if got := s.l.Snapshot(asked); got.Totals.Exchanges != want {
			t.Errorf("lasting %v, ended: %d exchanges, want %d", lasting, got.Totals.Exchanges, want)
		}
		other := detect.View{FilterName: "b", Filter: of("b/1"), Lasting: lasting}
		sift(s.l, other) // of an input that has ended
		if got := s.l.Snapshot(other); !got.Filtered.Whole || got.Totals.Exchanges != 11 {
			t.Errorf("lasting %v, another filter at the end: %d exchanges, %+v; want 11", lasting, got.Totals.Exchanges, got.Filtered)
		}
		s.l.Sift("", nil, false)
		if got := s.l.Snapshot(detect.View{}); got.Totals.Exchanges != all || got.Filtered != (detect.Filtered{}) {
			t.Errorf("after the filter: %d exchanges of %d, %+v", got.Totals.Exchanges, all, got.Filtered)
		}
	}
}

// Who comes to be what the filter asks for passes from then on.
func TestLiveFilterTakesWhoChanges(t *testing.T) {
	s := newSteady(t, detect.Options{})
	v := detect.View{FilterName: "a", Filter: of("a/1"), Lasting: true}
	at := wall
	send := func(client byte, agent string, n int) {
		for range n {
			s.send(client, agent, at)
			at += 1e9
		}
	}
	send(1, "a/1", 3)
	send(2, "b/1", 3)
	sift(s.l, v)
	send(2, "a/1", 30) // a new release of the same program
	got := s.l.Snapshot(v)
	if got.Filtered.Clients != 2 || got.Totals.Exchanges < 3+20 || got.Totals.Exchanges > 3+30 {
		t.Errorf("%d exchanges of %d clients", got.Totals.Exchanges, got.Filtered.Clients)
	}
}

// A pass over much that is kept goes in parts, and is shown when it has caught up.
func TestLiveFilterGoesInParts(t *testing.T) {
	s := newSteady(t, detect.Options{})
	for i := range int64(2000) {
		s.send(byte(1+i%2), []string{"a/1", "b/1"}[i%2], wall+i*1e9)
	}
	v := detect.View{FilterName: "a", Filter: of("a/1"), Lasting: true}
	parts, last := 1, 0.
	for ; s.l.Sift(v.FilterName, v.Filter, v.Lasting); parts++ {
		got := s.l.Snapshot(v)
		if got.Filtered.Whole || got.Filtered.Share < last || got.Filtered.Share >= 1 || got.Totals.Exchanges < 1990 {
			t.Fatalf("part %d: %+v, %d exchanges", parts, got.Filtered, got.Totals.Exchanges)
		}
		last = got.Filtered.Share
		s.send(2, "b/1", wall+(2000+int64(parts))*1e9) // the input goes on
	}
	if got := s.l.Snapshot(v); parts < 10 || !got.Filtered.Whole || got.Totals.Exchanges != 1000 {
		t.Errorf("after %d parts: %+v, %d exchanges", parts, got.Filtered, got.Totals.Exchanges)
	}
}

// What is kept for a filter that may be set later is bounded; from when on its
// clients are judged is told.
func TestLiveFilterTellsFromWhenOn(t *testing.T) {
	s := newSteady(t, detect.Options{})
	const n = 4000
	for i := range int64(n) { // four hours
		s.send(byte(1+i%2), []string{"a/1", "b/1"}[i%2], wall+i*36e8)
	}
	sift(s.l, detect.View{FilterName: "a", Filter: of("a/1"), Lasting: true})
	got := s.l.Snapshot(detect.View{FilterName: "a"})
	hour := (got.At - got.Filtered.From) / 1e9
	if got.Totals.Exchanges < 490 || got.Totals.Exchanges > 501 || hour < 3580 || hour > 3610 {
		t.Errorf("%d exchanges of the last %d s", got.Totals.Exchanges, hour)
	}
}

// The number of a client that left is another's: its filter does not let that one pass.
func TestLiveFilterForgetsWhoLeft(t *testing.T) {
	s := newSteady(t, detect.Options{MaxClients: 2})
	s.send(1, "a/1", wall)
	s.send(2, "b/1", wall+1e9)
	s.send(2, "b/1", wall+2e9)
	sift(s.l, detect.View{FilterName: "a", Filter: of("a/1"), Lasting: true})
	for i := range int64(3) {
		s.send(2, "b/1", wall+(i+1)*3000e9) // the first has been silent for two hours
	}
	s.send(3, "c/1", wall+9100e9)
	s.send(3, "c/1", wall+9101e9)
	s.send(2, "b/1", wall+9102e9)
	all, got := s.l.Snapshot(detect.View{}), s.l.Snapshot(detect.View{FilterName: "a"})
	if !slices.ContainsFunc(all.Clients, func(c detect.Client) bool { return c.Label == "10.0.0.3" }) {
		t.Fatalf("nobody left: %+v", all.Clients)
	}
	if !got.Filtered.Whole || got.Totals.Exchanges != 1 {
		t.Errorf("%d exchanges of who left, want 1 (%+v)", got.Totals.Exchanges, got.Filtered)
	}
}
