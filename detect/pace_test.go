package detect_test

import (
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/sim"
)

// followed watches a run live, its exchanges one by one as a log's lines come, with
// the watermark that the newest of them gives, an hour after it happened; change may
// put others among them. With tells the source itself marks what comes late.
func followed(t *testing.T, res *sim.Result, tells bool, change func(n int, x capture.Exchange) []capture.Exchange) *detect.Snapshot {
	t.Helper()
	l := live(t, detect.Options{})
	in := l.Inlet(capture.Info{Name: "log", Kind: "log", Vantage: "log", Live: true})
	now, n, newest := res.Scenario.Start.UnixNano()+3600e9, 0, int64(0)
	for _, b := range small(batches(t, res)) {
		for _, x := range b.Exchanges {
			one := *b
			one.Exchanges = []capture.Exchange{x}
			if change != nil {
				one.Exchanges = change(n, x)
			}
			n++
			for i := range one.Exchanges {
				x := &one.Exchanges[i]
				if tells && x.Start < newest-2e9 {
					x.Flags |= capture.Late
				}
				newest = max(newest, x.Start)
			}
			one.Watermark = newest - 2e9
			take(t, in, &one)
			now += 1e7
			advance(t, l, now)
		}
	}
	l.Finish()
	return l.Snapshot(detect.View{Whole: true})
}

// A line dated ahead, by a little or by years, early or late, does not carry the
// clock of a live source with it.
func TestLiveLineDatedAhead(t *testing.T) {
	res := load(t, "lockstep-bare-429")
	want := followed(t, res, true, nil)
	if want.Verdict.State != detect.Storm {
		t.Fatalf("undisturbed: %s", want.Verdict.State)
	}
	for name, ahead := range map[string]int64{"two minutes": 120e9, "an hour": 3600e9, "18 h": 18 * 3600e9, "nine years": 9 * 365 * 86400e9} {
		for _, at := range []int{0, 1, 25, 300} {
			got := followed(t, res, true, func(n int, x capture.Exchange) []capture.Exchange {
				if n != at {
					return []capture.Exchange{x}
				}
				odd := x
				odd.Start, odd.End = x.Start+ahead, x.End+ahead
				return []capture.Exchange{odd, x}
			})
			agree(t, name, unsure(unplaced(got)), unsure(unplaced(want)))
			if n := got.Sources[0].Health.SkippedTotal(); n != 1 {
				t.Errorf("%s ahead at line %d: %d set aside, want that one", name, at, n)
			}
		}
	}
}

// After a silence the traffic goes on: nothing is lost, not even a single request.
func TestLiveAfterASilence(t *testing.T) {
	res := load(t, "healthy")
	got := followed(t, res, false, func(n int, x capture.Exchange) []capture.Exchange {
		if n >= 200 {
			x.Start, x.End = x.Start+600e9, x.End+600e9
		}
		if n == 486 {
			x.Start, x.End = x.Start+600e9, x.End+600e9
		}
		return []capture.Exchange{x}
	})
	if got.Totals.Exchanges != int64(len(res.Rows)) || got.Sources[0].Health.SkippedTotal() != 0 {
		t.Errorf("%d exchanges of %d, %v", got.Totals.Exchanges, len(res.Rows), got.Sources[0].Health.Skipped)
	}
}

// Lines that come long after their time count in the totals, not in the rates of
// the second in which they come.
func TestLiveBygoneLines(t *testing.T) {
	res := load(t, "healthy")
	var old []capture.Exchange
	got := followed(t, res, false, func(n int, x capture.Exchange) []capture.Exchange {
		switch {
		case n < 100:
			old = append(old, x)
			return nil
		case n == 480:
			return append(old, x)
		}
		return []capture.Exchange{x}
	})
	if got.Totals.Exchanges != int64(len(res.Rows)) {
		t.Errorf("%d exchanges, want %d", got.Totals.Exchanges, len(res.Rows))
	}
	if r := got.Recent.AttemptsPerS.V; r > 20 {
		t.Errorf("%.0f attempts/s at the end, though never more than 20 came", r)
	}
	if n := late(got); n != 100 {
		t.Errorf("%d late, want the 100 held back", n)
	}
}
