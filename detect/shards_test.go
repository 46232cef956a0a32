package detect_test

import (
	"testing"

	"stormwatch/detect"
	"stormwatch/sim"
)

// How many parts the state is worked on in must not show in anything told.
func TestShardsGiveTheSameSnapshot(t *testing.T) {
	runs := map[string]*sim.Result{"crowd": play(t, crowd, 3)}
	for _, name := range captures {
		runs[name] = load(t, name)
	}
	if n := busiest(runs["crowd"]); n < 600 {
		t.Fatalf("the busiest second holds %d requests: too few to be divided among goroutines", n)
	}
	for name, res := range runs {
		var whole, one *detect.Snapshot
		for _, shards := range []int{1, 2, 7} {
			p := recording(t, res, detect.Options{Shards: shards})
			runAll(t, p)
			view := detect.View{Client: res.Clients[0].Addr.String(), TopK: 20, Arrivals: true}
			now := p.Snapshot(view)
			view.Whole = true
			all := p.Snapshot(view)
			if shards == 1 {
				one, whole = now, all
				t.Logf("%s: %d exchanges, %s, %v", name, len(res.Rows), all.Verdict.State, raised(all))
				continue
			}
			same(t, name+", at the end", now, one)
			same(t, name+", as a whole", all, whole)
		}
	}
}

// busiest returns the most requests in one second.
func busiest(res *sim.Result) (most int) {
	n := map[int64]int{}
	for i := range res.Rows {
		s := res.Rows[i].Start / 1e9
		n[s]++
		most = max(most, n[s])
	}
	return most
}
