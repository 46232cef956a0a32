package detect

import (
	"testing"
	"time"

	"stormwatch/capture"
	"stormwatch/rules"
)

func TestBound(t *testing.T) {
	end := time.Date(2026, 3, 2, 3, 10, 0, 0, time.UTC).UnixNano()
	berlin := time.FixedZone("", 3600)
	for _, c := range []struct {
		b    Bound
		want string
	}{
		{Bound{At: end - 5e9}, "2026-03-02T03:09:55Z"},
		{Bound{Ago: 15 * 60e9}, "2026-03-02T02:55:00Z"},
		{Bound{Clock: 3 * 3600e9, Zone: time.UTC}, "2026-03-02T03:00:00Z"},
		{Bound{Clock: 23 * 3600e9, Zone: time.UTC}, "2026-03-01T23:00:00Z"},
		{Bound{Clock: 4 * 3600e9, Zone: berlin}, "2026-03-02T03:00:00Z"},
		{Bound{Clock: 0, Zone: berlin}, "2026-03-01T23:00:00Z"},
	} {
		if got := time.Unix(0, c.b.Resolve(end)).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%+v: %s, want %s", c.b, got, c.want)
		}
	}
	o := Options{Since: Bound{Clock: (23*60 + 50) * 60e9, Zone: time.UTC}, Until: Bound{Clock: 10 * 60e9, Zone: time.UTC}}
	from, to := o.within(end)
	if to-from != 20*60e9 {
		t.Errorf("over midnight it is %s", time.Duration(to-from))
	}
}

// Of a recording, what starts outside the window is not judged, and is counted.
func TestWindowOfRecording(t *testing.T) {
	const base = int64(1796026266e9)
	for _, c := range []struct {
		o    Options
		want int64
	}{
		{Options{}, 100},
		{Options{Since: Bound{Ago: 10e9}}, 10},
		{Options{Until: Bound{At: base + 30e9}}, 30},
		{Options{Since: Bound{At: base + 30e9}, Until: Bound{At: base + 31e9}}, 1},
		{Options{Since: Bound{At: base + 1000e9}}, 0},
	} {
		rec := NewRecording(c.o)
		in := rec.Inlet(capture.Info{Name: "a", Kind: "log"})
		b := &capture.Batch{Names: capture.NewInterner(8, 1<<10), Health: &capture.Health{Unit: "lines", Read: 100, Used: 100, To: base + 99e9 + 1e9}}
		for i := range int64(100) {
			b.Exchanges = append(b.Exchanges, capture.Exchange{Start: base + i*1e9, End: base + i*1e9 + 1e6, Status: 200, Reason: capture.OK})
		}
		if err := in.Take(b); err != nil {
			t.Fatal(err)
		}
		if err := rec.Seal(); err != nil {
			t.Fatal(err)
		}
		r, err := NewReplay(rec)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.RunAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := r.Snapshot(View{Whole: true})
		h := s.Sources[0].Health
		if s.Totals.Exchanges != c.want || h.SkippedTotal() != 100-uint64(c.want) || h.Unreadable() != 0 || h.Used != uint64(c.want) {
			t.Errorf("%+v: %d exchanges, want %d; %+v", c.o, s.Totals.Exchanges, c.want, h)
		}
		_ = rec.Close()
	}
}

// A live source that is down is never shown as calm.
func TestDownIsNotClear(t *testing.T) {
	const base = int64(1796026266e9)
	set, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	l := NewLive(Options{Rules: set, Since: Bound{At: base + 5e9}})
	if err := l.Advance(base); err != nil {
		t.Fatal(err)
	}
	in := l.Inlet(capture.Info{Name: "web1", Kind: "log", Live: true})
	names := capture.NewInterner(8, 1<<10)
	give := func(h *capture.Health, from, n int64) {
		t.Helper()
		b := &capture.Batch{Names: names, Health: h, Watermark: base + (from+n)*1e8}
		for i := range n {
			at := base + (from+i)*1e8
			b.Exchanges = append(b.Exchanges, capture.Exchange{Start: at, End: at + 1e6, Status: 200, Reason: capture.OK})
		}
		if err := in.Take(b); err != nil {
			t.Fatal(err)
		}
		if err := l.Advance(base + (from+n)*1e8 + 1e8); err != nil {
			t.Fatal(err)
		}
	}
	give(&capture.Health{Unit: "lines"}, 0, 400)
	if s := l.Snapshot(View{}); s.Verdict.State != Clear || s.Totals.Exchanges != 350 {
		t.Fatalf("%s with %d exchanges, want clear with 350: %s", s.Verdict.State, s.Totals.Exchanges, s.Verdict.What)
	}
	give(&capture.Health{Unit: "lines", Down: "ssh ended: exit 255"}, 400, 0)
	if s := l.Snapshot(View{}); s.Verdict.State != Unknown || s.Verdict.What != "cannot judge: web1: ssh ended: exit 255" {
		t.Errorf("%s: %s", s.Verdict.State, s.Verdict.What)
	}
	give(&capture.Health{Unit: "lines"}, 401, 10)
	if s := l.Snapshot(View{}); s.Verdict.State != Clear {
		t.Errorf("back again: %s", s.Verdict.State)
	}
}
