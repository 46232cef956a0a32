package detect_test

import (
	"encoding/binary"
	"math"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"stormwatch/capture"
	"stormwatch/detect"
)

// deliver hands over exchanges with their request targets, as one batch each
// thousand.
func deliver(exchanges []capture.Exchange, target func(i int) string) func(capture.Sink) error {
	return func(take capture.Sink) error {
		b := capture.Batch{Names: capture.NewInterner(1<<16, 1<<20), Health: &capture.Health{Resolution: 1, SeesHints: true}}
		for i := range exchanges {
			x := exchanges[i]
			text := target(i)
			x.Target = capture.Span{Off: uint32(len(b.Text)), Len: uint32(len(text))}
			b.Text = append(b.Text, text...)
			b.Exchanges = append(b.Exchanges, x)
			if len(b.Exchanges) == 1000 || i == len(exchanges)-1 {
				if err := take(&b); err != nil {
					return err
				}
				b.Exchanges, b.Text = b.Exchanges[:0], b.Text[:0]
			}
		}
		return nil
	}
}

func soon(t *testing.T, what string, do func()) {
	t.Helper()
	began := time.Now()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
		t.Logf("%s: %s", what, time.Since(began).Round(time.Millisecond))
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: not done after 30 s", what)
	}
}

var hostileInfo = capture.Info{Name: "hostile", Kind: "capture", Vantage: "x"}

func at(year int) int64 { return time.Date(year, 5, 1, 0, 0, 0, 0, time.UTC).UnixNano() }

// Clocks of captures and logs may say anything. Nothing is lost and nothing hangs.
func TestAbsurdTimes(t *testing.T) {
	plain := func(start, end int64) capture.Exchange {
		return capture.Exchange{Start: start, End: end, Status: 429, Reason: capture.Throttle, Outcome: capture.Answered}
	}
	tests := map[string][]capture.Exchange{
		"ends before it starts":   {plain(at(2026), at(2026)-5e9), plain(at(2026)+1e9, 0), plain(at(2026)+2e9, math.MinInt64)},
		"1970 and 2200":           {plain(0, 1e9), plain(at(2026), at(2026)+1), plain(at(2200), at(2200)+1e9)},
		"lasts from 1970 to 2200": {plain(1, at(2200)), plain(at(2026), at(2026)+1e6), plain(at(2027), at(2200)+1)},
		"before 1970":             {plain(at(1900), at(1900)+1e9), plain(-1, 1), plain(at(2026), at(2026)+1e9)},
		"the ends of int64":       {plain(math.MinInt64, math.MinInt64), plain(at(2026), math.MaxInt64), plain(math.MaxInt64, math.MaxInt64)},
	}
	for name, xs := range tests {
		t.Run(name, func(t *testing.T) {
			p := sealed(t, detect.Options{}, hostileInfo, deliver(xs, func(i int) string { return "/" + strconv.Itoa(i) }))
			var s *detect.Snapshot
			soon(t, name, func() {
				runAll(t, p)
				s = p.Snapshot(detect.View{Whole: true, Bins: 50})
			})
			aside := int64(s.Sources[0].Health.SkippedTotal())
			if s.Totals.Exchanges+aside != int64(len(xs)) || s.Totals.Refused != s.Totals.Exchanges {
				t.Errorf("%d exchanges, %d refused, %d set aside, want %d in all", s.Totals.Exchanges, s.Totals.Refused, aside, len(xs))
			}
			if aside > 0 != (name == "before 1970" || name == "the ends of int64") {
				t.Errorf("%d set aside: %v", aside, s.Sources[0].Health.Skipped)
			}
			if len(s.Timeline.Bins) > 50 {
				t.Errorf("%d bins, want at most 50", len(s.Timeline.Bins))
			}
		})
	}
}

// The same, followed live: a watermark from the future, then from the past.
func TestAbsurdTimesLive(t *testing.T) {
	l := live(t, detect.Options{})
	in := l.Inlet(hostileInfo)
	names := capture.NewInterner(10, 100)
	soon(t, "live", func() {
		for i, start := range []int64{at(2026), 0, at(2200), at(2026) + 1e9, math.MaxInt64, math.MinInt64} {
			x := capture.Exchange{Start: start, End: start, Status: 200, Reason: capture.OK}
			take(t, in, &capture.Batch{Names: names, Exchanges: []capture.Exchange{x}, Watermark: start})
			advance(t, l, at(2026)+int64(i)*1e9)
		}
		l.Finish()
	})
	s := l.Snapshot(detect.View{})
	if n, aside := s.Totals.Exchanges, s.Sources[0].Health.SkippedTotal(); n != 3 || aside != 3 {
		t.Errorf("%d exchanges, %d set aside, want 3 of both: %v", n, aside, s.Sources[0].Health.Skipped)
	}
}

// A flood of names must not fill the memory: what exceeds the bound is counted
// together.
func TestManyClientsAndPaths(t *testing.T) {
	n, most := 100_000, 5000
	if os.Getenv("STORMWATCH_QUALITY") == "1" {
		n = 1_000_000
	}
	xs := make([]capture.Exchange, n)
	for i := range xs {
		x := &xs[i]
		x.Start = at(2026) + int64(i)*50_000
		x.End, x.Status, x.Reason = x.Start+1e6, 429, capture.Throttle
		x.Src.IP[0] = 0x20
		binary.BigEndian.PutUint32(x.Src.IP[12:], uint32(i))
		x.Credential = uint64(i) + 1
	}
	for _, by := range []string{"addr", "key"} {
		before := memory()
		p := sealed(t, detect.Options{MaxClients: most, ClientBy: by, MaxCheckpoints: -1, Memory: 1}, hostileInfo,
			deliver(xs, func(i int) string { return "/p/" + strconv.Itoa(i*7919) + "?q=" + strconv.Itoa(i) }))
		var s *detect.Snapshot
		soon(t, "many clients by "+by, func() {
			runAll(t, p)
			s = p.Snapshot(detect.View{TopK: 100})
		})
		used := memory() - before
		runtime.KeepAlive(p)
		t.Logf("%d MiB for %d clients", used>>20, n)
		if used > 80<<20 {
			t.Errorf("%d MiB held", used>>20)
		}
		if s.Totals.Exchanges != int64(n) {
			t.Errorf("%d exchanges counted, want %d", s.Totals.Exchanges, n)
		}
		if s.ClientCount > most+1 || len(s.Clients) > 100 {
			t.Errorf("%d clients, %d listed; want at most %d and 100", s.ClientCount, len(s.Clients), most+1)
		}
		sum := s.ClientsOthers.Attempts
		for i := range s.Clients {
			sum += s.Clients[i].Attempts
		}
		if sum != int64(n) {
			t.Errorf("the clients' attempts sum to %d, want %d", sum, n)
		}
	}
}

func memory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A log that does not know the client's address still tells a rate.
func TestUnknownAddress(t *testing.T) {
	xs := make([]capture.Exchange, 100)
	for i := range xs {
		xs[i] = capture.Exchange{Start: at(2026) + int64(i)*1e8, End: at(2026) + int64(i)*1e8 + 1e6, Status: 200, Reason: capture.OK}
	}
	p := sealed(t, detect.Options{}, hostileInfo, deliver(xs, func(int) string { return "" }))
	runAll(t, p)
	s := p.Snapshot(detect.View{})
	if s.ClientCount != 1 || s.Clients[0].Label != "(unknown address)" || s.Clients[0].Attempts != 100 {
		t.Errorf("%d clients, %+v", s.ClientCount, s.Clients)
	}
}

func TestNoInput(t *testing.T) {
	p := sealed(t, detect.Options{}, hostileInfo, func(take capture.Sink) error { return take(&capture.Batch{Done: 1}) })
	runAll(t, p)
	if s := p.Snapshot(detect.View{Whole: true}); s.Verdict.State != detect.Unknown || s.Verdict.Do == "" {
		t.Errorf("verdict of nothing: %+v", s.Verdict)
	}
}
