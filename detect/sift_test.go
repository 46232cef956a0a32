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
				l.Sift(v.FilterName, v.Filter, v.Lasting)
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
	for lasting, want := range map[bool]int64{true: 8, false: 4} {
		s := newSteady(t, detect.Options{})
		at := wall
		send := func(client byte, agent string) {
			s.send(client, agent, at)
			at += 1e9
		}
		s.l.Sift("a", of("a/1"), lasting) // nobody passes yet
		send(1, "b/1")
		if f := s.l.Snapshot(detect.View{FilterName: "a"}).Filtered; f.Whole || f.Name != "a" {
			t.Errorf("nobody passes, yet %+v", f)
		}
		for range 4 {
			send(2, "a/1")
		}
		at += 10e9
		send(1, "b/1")
		for range 4 {
			send(3, "a/1")
		}
		send(1, "b/1")
		got := s.l.Snapshot(detect.View{FilterName: "a"})
		if !got.Filtered.Whole || got.Totals.Exchanges != want {
			t.Errorf("lasting %v: %d exchanges (%+v), want %d", lasting, got.Totals.Exchanges, got.Filtered, want)
		}
		s.l.Sift("", nil, false)
		// The last one waits for its second to be over.
		if got := s.l.Snapshot(detect.View{}); got.Totals.Exchanges != 10 || got.Filtered != (detect.Filtered{}) {
			t.Errorf("after the filter: %d exchanges, %+v", got.Totals.Exchanges, got.Filtered)
		}
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
	s.l.Sift("a", of("a/1"), true)
	s.send(2, "b/1", wall+n*36e8)
	s.send(2, "b/1", wall+(n+1)*36e8)
	got := s.l.Snapshot(detect.View{FilterName: "a"})
	hour := (got.At - got.Filtered.From) / 1e9
	if got.Totals.Exchanges < 500 || got.Totals.Exchanges > 1100 || hour < 3500 || hour > 7300 {
		t.Errorf("%d exchanges of the last %d s", got.Totals.Exchanges, hour)
	}
}

// The number of a client that left is another's: its filter does not let that one pass.
func TestLiveFilterForgetsWhoLeft(t *testing.T) {
	s := newSteady(t, detect.Options{MaxClients: 2})
	s.send(1, "a/1", wall)
	s.send(2, "b/1", wall+1e9)
	s.send(2, "b/1", wall+2e9)
	s.l.Sift("a", of("a/1"), true)
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
