package detect_test

import (
	"slices"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// wall is the caller's clock in these tests, within a day of their traffic.
const wall = int64(1772421600e9)

func live(t *testing.T, o detect.Options) *detect.Live {
	t.Helper()
	return detect.NewLive(withRules(t, o))
}

func take(t *testing.T, in *detect.Inlet, b *capture.Batch) {
	t.Helper()
	if err := in.Take(b); err != nil {
		t.Fatal(err)
	}
}

func advance(t *testing.T, l *detect.Live, at int64) {
	t.Helper()
	if err := l.Advance(at); err != nil {
		t.Fatal(err)
	}
}

// Followed live, the same traffic leads to the same conclusion as replayed.
func TestLiveConcludesAsReplayDoes(t *testing.T) {
	for _, name := range captures {
		res := load(t, name)
		want := judged(t, res, detect.Options{})
		l := live(t, detect.Options{})
		in := l.Inlet(capture.Info{Name: "sim", Kind: "capture", Vantage: "sim", Live: true})
		now := wall
		for _, b := range small(batches(t, res)) {
			take(t, in, b)
			now += 1e8
			advance(t, l, now)
		}
		l.Finish()
		got := l.Snapshot(detect.View{Whole: true})
		agree(t, name, got, want)
		if !got.Live {
			t.Errorf("%s: a live snapshot does not say so", name)
		}
	}
}

// agree compares what is concluded and counted.
func agree(t *testing.T, name string, got, want *detect.Snapshot) {
	t.Helper()
	g, w := *got, *want
	for _, s := range []*detect.Snapshot{&g, &w} {
		s.At, s.Start, s.End, s.Sources, s.Live = 0, 0, 0, nil, false
	}
	same(t, name, &g, &w)
}

// small divides batches so that each holds a few exchanges, as live ones do.
func small(in []*capture.Batch) (out []*capture.Batch) {
	const few = 9
	for _, b := range in {
		for i := 0; i < len(b.Exchanges); i += few {
			part := *b
			end := min(i+few, len(b.Exchanges))
			part.Exchanges = b.Exchanges[i:end]
			if end < len(b.Exchanges) {
				part.Watermark = b.Exchanges[end].Start
			}
			out = append(out, &part)
		}
	}
	return out
}

// A request that stays open is announced without its answer; it counts once.
func TestAnnouncedRequestsCountOnce(t *testing.T) {
	res := load(t, "retry-after-ignored")
	want := judged(t, res, detect.Options{})
	l := live(t, detect.Options{})
	in := l.Inlet(capture.Info{Name: "sim", Kind: "capture", Vantage: "sim", Live: true})
	id, now := uint64(0), wall
	for _, b := range small(batches(t, res)) {
		first := *b
		first.Exchanges = nil
		done := first
		for _, x := range b.Exchanges {
			id++
			x.ID = id
			done.Exchanges = append(done.Exchanges, x)
			x.End, x.Outcome, x.Status, x.Reason, x.Hint, x.Date, x.At.B = 0, capture.Pending, 0, capture.Unjudged, capture.Hint{}, 0, 0
			first.Exchanges = append(first.Exchanges, x)
		}
		first.Watermark = 0
		take(t, in, &first)
		take(t, in, &done)
		now += 1e8
		advance(t, l, now)
	}
	l.Finish()
	agree(t, "announced", l.Snapshot(detect.View{Whole: true}), want)
}

// An announced request is seen before it is answered, its outcome is judged when
// it comes, and one that never is answered counts as failed in the end.
func TestPendingRequests(t *testing.T) {
	l := live(t, detect.Options{})
	in := l.Inlet(capture.Info{Name: "a", Kind: "capture", Vantage: "a", Live: true})
	start := int64(1772421000e9)
	ask := func(id uint64, at int64) capture.Exchange {
		return capture.Exchange{ID: id, Start: at, Outcome: capture.Pending, Src: capture.Endpoint{IP: [16]byte{15: byte(id)}}, At: capture.Provenance{A: id}}
	}
	b := &capture.Batch{Names: capture.NewInterner(10, 100), Watermark: start + 3e9, Exchanges: []capture.Exchange{ask(1, start), ask(2, start+1e6)}}
	take(t, in, b)
	advance(t, l, wall)
	if s := l.Snapshot(detect.View{}); s.Totals.Exchanges != 2 || s.Totals.Failed != 0 || s.Totals.Succeeded != 0 {
		t.Errorf("two announced: %+v", s.Totals)
	}
	x := ask(1, start)
	x.End, x.Outcome, x.Status, x.Reason, x.At.B = start+4e9, capture.Answered, 200, capture.OK, 9
	take(t, in, &capture.Batch{Names: b.Names, Watermark: start + 6e9, Exchanges: []capture.Exchange{x}})
	advance(t, l, wall+1e9)
	if s := l.Snapshot(detect.View{}); s.Totals.Exchanges != 2 || s.Totals.Succeeded != 1 || late(s) != 0 {
		t.Errorf("one of two answered: %+v, %d late", s.Totals, late(s))
	}
	l.Finish()
	s := l.Snapshot(detect.View{})
	if s.Totals.Exchanges != 2 || s.Totals.Succeeded != 1 || s.Clients[0].Failed+s.Clients[1].Failed != 1 {
		t.Errorf("one never answered: %+v", s.Totals)
	}
}

// Announcements that nobody can complete, for want of an id, count as unanswered
// and take no room for ever.
func TestAnnouncementsWithoutID(t *testing.T) {
	l := live(t, detect.Options{})
	in := l.Inlet(capture.Info{Name: "a", Kind: "capture", Vantage: "a", Live: true})
	b := &capture.Batch{Names: capture.NewInterner(10, 100)}
	for i := range int64(50) {
		b.Exchanges = append(b.Exchanges, capture.Exchange{Start: 1772421000e9 + i*1e6, Outcome: capture.Pending})
	}
	take(t, in, b)
	l.Finish()
	if s := l.Snapshot(detect.View{}); s.Totals.Exchanges != 50 || s.Clients[0].Failed != 50 {
		t.Errorf("%d exchanges, %d failed, want 50", s.Totals.Exchanges, s.Clients[0].Failed)
	}
}

func late(s *detect.Snapshot) (n uint64) {
	for i := range s.Sources {
		n += s.Sources[i].Health.Late
	}
	return n
}

// What comes after its watermark counts in totals and in Health, for good: news
// of a source's own health does not erase it, nor does another source.
func TestLateExchangesAreCounted(t *testing.T) {
	res := load(t, "healthy")
	l := live(t, detect.Options{})
	in := l.Inlet(capture.Info{Name: "sim", Kind: "capture", Vantage: "sim", Live: true})
	all := small(batches(t, res))
	held := all[3]
	rest := append(append([]*capture.Batch(nil), all[:3]...), all[4:]...)
	now := wall
	for i, b := range rest {
		if i == len(rest)/2 {
			late := *held
			late.Watermark = 0
			take(t, in, &late)
		}
		take(t, in, b)
		now += 1e8
		advance(t, l, now)
	}
	l.Inlet(capture.Info{Name: "other", Kind: "log", Vantage: "other", Live: true})
	take(t, in, &capture.Batch{Names: all[0].Names, Health: &capture.Health{Unit: "packets", Read: 7, Late: 2}})
	l.Finish()
	s := l.Snapshot(detect.View{})
	if got, want := late(s), uint64(len(held.Exchanges))+2; got != want {
		t.Errorf("%d late, want %d: those held back, and 2 the source told of", got, want)
	}
	if s.Totals.Exchanges != int64(len(res.Rows)) {
		t.Errorf("%d exchanges, want all %d", s.Totals.Exchanges, len(res.Rows))
	}
}

// A source that has fallen silent, or never spoke, holds nobody back.
func TestIdleSourceHoldsNobodyBack(t *testing.T) {
	res := load(t, "lockstep-bare-429")
	l := live(t, detect.Options{})
	in := l.Inlet(capture.Info{Name: "sim", Kind: "capture", Vantage: "web", Live: true})
	idle := l.Inlet(capture.Info{Name: "idle", Kind: "capture", Vantage: "web", Live: true})
	l.Inlet(capture.Info{Name: "mute", Kind: "capture", Vantage: "web", Live: true})
	all := small(batches(t, res))
	take(t, idle, &capture.Batch{Names: capture.NewInterner(4, 4), Watermark: res.Rows[0].Start})
	now := wall
	for _, b := range all[:5] {
		take(t, in, b)
		now += 1e8
		advance(t, l, now)
	}
	if at := l.Snapshot(detect.View{}).At; at > res.Rows[0].Start {
		t.Errorf("judged up to %d, though a source that just spoke has only reached %d", at, res.Rows[0].Start)
	}
	for _, b := range all[5:] {
		take(t, in, b)
		now += 1e8
		advance(t, l, now)
	}
	mark := all[len(all)-2].Watermark
	s := l.Snapshot(detect.View{})
	if s.At < mark-1e9 {
		t.Errorf("judged up to %d s before the watermark of the source that speaks", (mark-s.At)/1e9)
	}
	if late(s) != 0 {
		t.Errorf("%d late though all came in order", late(s))
	}
}

// When every source falls silent, what has come in is judged all the same.
func TestSilenceOfAllIsJudged(t *testing.T) {
	res := load(t, "healthy")
	l := live(t, detect.Options{})
	in := l.Inlet(capture.Info{Name: "sim", Kind: "capture", Vantage: "sim", Live: true})
	for _, b := range batches(t, res) {
		b.Watermark = 0
		take(t, in, b)
	}
	for i := range int64(5) {
		advance(t, l, wall+i*1e9)
	}
	s := l.Snapshot(detect.View{})
	if n := s.Totals.Exchanges; n < int64(len(res.Rows)-20) {
		t.Errorf("%d of %d exchanges judged", n, len(res.Rows))
	}
	if s.Verdict.State != detect.Clear {
		t.Errorf("state %s, want clear", s.Verdict.State)
	}
}

// Clients that have been silent for hours make room for new ones; what they did
// stays in the totals and in the row of all others.
func TestSilentClientsLeave(t *testing.T) {
	const most = 5
	l := live(t, detect.Options{MaxClients: most})
	in := l.Inlet(capture.Info{Name: "a", Kind: "log", Vantage: "a", Live: true})
	names := capture.NewInterner(10, 100)
	send := func(client byte, at int64) {
		x := capture.Exchange{Start: at, End: at + 1e6, Status: 429, Reason: capture.Throttle, Src: capture.Endpoint{IP: [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: client}}}
		take(t, in, &capture.Batch{Names: names, Exchanges: []capture.Exchange{x}, Watermark: at})
		advance(t, l, at)
	}
	listed := func() (labels []string, others int64) {
		s := l.Snapshot(detect.View{})
		sum := s.ClientsOthers.Attempts
		for i := range s.Clients {
			sum += s.Clients[i].Attempts
			if s.Clients[i].Label == "(other clients)" {
				others = s.Clients[i].Attempts
				continue
			}
			labels = append(labels, s.Clients[i].Label)
		}
		if sum != s.Totals.Exchanges {
			t.Errorf("the clients' attempts sum to %d of %d", sum, s.Totals.Exchanges)
		}
		slices.Sort(labels)
		return labels, others
	}
	start := wall
	for c := range byte(most + 2) { // two too many
		send(c+1, start+int64(c)*1e9)
	}
	send(1, start+7000e9) // this one stays
	send(20, start+7010e9)
	send(20, start+7011e9)
	if labels, others := listed(); !slices.Equal(labels, []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"}) || others < 3 {
		t.Errorf("before anybody left: %q and %d others", labels, others)
	}
	for c := range byte(3) {
		send(30+c, start+7300e9+int64(c)*1e9)
	}
	send(30, start+7310e9)
	send(30, start+7311e9)
	labels, others := listed()
	if want := []string{"10.0.0.1", "10.0.0.30", "10.0.0.31", "10.0.0.32"}; !slices.Equal(labels, want) {
		t.Errorf("after four left: %q, want %q", labels, want)
	}
	if others != 2+2+4 {
		t.Errorf("%d attempts of others, want those of the two too many, of the one too late, and of the four that left", others)
	}
	if n := l.Snapshot(detect.View{}).Sources[0].Note; !strings.Contains(n, "4 clients silent") || !strings.Contains(n, "beyond the first 5") {
		t.Errorf("nothing tells of it: %q", n)
	}
}
