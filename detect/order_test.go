package detect_test

import (
	"math/rand/v2"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/sim"
)

// Sources tell their exchanges as they end, or as files were rotated. The order
// must not show, nor whether they had to be kept on disk in between.
func TestOrderOfInputDoesNotMatter(t *testing.T) {
	runs := map[string]*sim.Result{"crowd": play(t, crowd, 3)}
	for _, name := range captures {
		runs[name] = load(t, name)
	}
	for name, res := range runs {
		p := recording(t, res, detect.Options{})
		runAll(t, p)
		view := detect.View{Whole: true, Client: res.Clients[0].Addr.String()}
		want := p.Snapshot(view)
		for seed := range uint64(3) {
			for _, memory := range []int64{0, 1} {
				p := shuffled(t, res, seed, detect.Options{Memory: memory})
				runAll(t, p)
				same(t, name+", shuffled", p.Snapshot(view), want)
			}
		}
	}
}

// Runs that were spilled one by one are merged again.
func TestMergeOfSpilledRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("needs more exchanges than one run holds")
	}
	res := repeated(play(t, crowd, 3), 6)
	p := recording(t, res, detect.Options{})
	runAll(t, p)
	want := p.Snapshot(detect.View{})
	p = shuffled(t, res, 1, detect.Options{Memory: 1})
	runAll(t, p)
	same(t, "spilled in runs", p.Snapshot(detect.View{}), want)
}

// repeated plays a run n times, one after another.
func repeated(res *sim.Result, n int) *sim.Result {
	out := *res
	out.Rows = nil
	for i := range n {
		for _, r := range res.Rows {
			r.Start += int64(i) * int64(res.Scenario.Duration)
			r.End += int64(i) * int64(res.Scenario.Duration)
			out.Rows = append(out.Rows, r)
		}
	}
	return &out
}

// shuffled delivers the batches of a run in another order, and the exchanges of
// each as well.
func shuffled(t *testing.T, res *sim.Result, seed uint64, o detect.Options) *detect.Replay {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	all := batches(t, res)
	health := all[len(all)-1].Health
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return sealed(t, o, res.Source("sim").Info(), func(take capture.Sink) error {
		for _, b := range all {
			b.Watermark = 0
			r.Shuffle(len(b.Exchanges), func(i, j int) { b.Exchanges[i], b.Exchanges[j] = b.Exchanges[j], b.Exchanges[i] })
			b.Health = health
			if err := take(b); err != nil {
				return err
			}
		}
		return nil
	})
}
