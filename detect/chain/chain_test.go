package chain

import (
	"math"
	"testing"
)

// light is traffic that leaves room between the requests of a client.
var light = plan{clients: 50, urls: 5, perSecond: .2, fail: .4, seconds: 300, wait: quarterJitter}

func with(p plan, change func(*plan)) plan {
	change(&p)
	return p
}

// TestPolicies holds the links of a population that keeps to one policy against
// the truth. Bars are a little below what was measured on three seeds.
func TestPolicies(t *testing.T) {
	for _, c := range []struct {
		name      string
		plan      plan
		f1, exact float64
	}{
		{"quarter jitter", light, .97, .97},
		{"quarter jitter, keyed", with(light, func(p *plan) { p.keyed = true }), .97, .97},
		{"fixed timer", with(light, func(p *plan) { p.wait = fixedTimer }), .97, .97},
		{"doubling", with(light, func(p *plan) { p.wait = doubling }), .97, .97},
		{"full jitter, keyed", with(light, func(p *plan) { p.wait, p.keyed = fullJitter, true }), .93, .94},
		{"hint obeyed to the moment", with(light, func(p *plan) {
			p.wait = obeysHint
			p.hint = func(t *traffic) float64 { return float64(1 + t.rng.IntN(8)) }
		}), .97, .97},
		{"several statuses", with(light, func(p *plan) { p.statuses = []uint16{429, 500, 503, 504} }), .97, .97},
		{"paths asked for once", with(light, func(p *plan) { p.unique, p.wait = true, doubling }), .99, .99},
		{"30 % pollers", with(light, func(p *plan) { p.pollers, p.wait = .3, doubling }), .95, .96},
		{"short recording", with(light, func(p *plan) { p.seconds, p.wait = 40, doubling }), .94, .94},
		{"a request every other second of each client", with(light, func(p *plan) { p.perSecond, p.wait = .5, doubling }), .94, .95},
		{"dense", with(light, func(p *plan) { p.perSecond, p.wait, p.seconds = 2, doubling, 120 }), .85, .88},
		{"one address", with(light, func(p *plan) { p.nat, p.clients, p.urls = true, 20, 20 }), .87, .89},
		{"one address, keyed", with(light, func(p *plan) { p.nat, p.keyed, p.clients, p.urls = true, true, 20, 20 }), .92, .93},
		{"one address, 30 % pollers", with(light, func(p *plan) {
			p.nat, p.clients, p.urls, p.pollers, p.wait = true, 20, 20, .3, doubling
		}), .85, .90},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sum score
			for seed := range uint64(3) {
				sum.add(play(Options{}, c.plan.run(seed).asks).run(0).score())
			}
			sum.log(t, "")
			if sum.f1() < c.f1 || sum.exactShare() < c.exact {
				t.Errorf("pair F1 %.3f, attempts exact %.3f; want %.2f, %.2f", sum.f1(), sum.exactShare(), c.f1, c.exact)
			}
			if off := math.Abs(sum.soft/float64(sum.retries) - 1); off > .12 {
				t.Errorf("expected retries are %.0f %% off", 100*off)
			}
			if sum.calibration() < .95 {
				t.Errorf("links of confidence .9 or more are right in %.3f of cases", sum.calibration())
			}
		})
	}
}

// A poller asks at its pace whatever the answers were: nothing of it is a retry.
// Before the pace is known, a poll after a failure looks like one.
func TestPollers(t *testing.T) {
	const learned = 35 // seconds: seven polls
	var sum score
	early := 0
	for seed := range uint64(5) {
		p := play(Options{}, with(light, func(p *plan) { p.pollers, p.urls = 1, 1 }).run(seed).asks).run(0)
		sum.add(p.score())
		for i := range p.asks {
			switch {
			case p.links[i].Parent == 0:
			case p.asks[i].start > learned:
				t.Errorf("seed %d: poll at %.1f s taken for a retry, confidence %.2f", seed, p.asks[i].start, p.links[i].Confidence)
			default:
				early++
			}
		}
	}
	sum.log(t, "pollers")
	if share := float64(early) / float64(sum.all); share > .015 {
		t.Errorf("%d of %d polls taken for retries", early, sum.all)
	}
}

// Identical requests sent at once are symmetric: which retry belongs to which
// copy is a guess, but each failure has one child, and attempts and totals hold.
func TestParallel(t *testing.T) {
	p := play(Options{}, with(light, func(p *plan) { p.parallel = 4 }).run(1).asks).run(0)
	s := p.score()
	s.log(t, "parallel")
	children := map[uint64]int{}
	for _, l := range p.links {
		if l.Parent != 0 {
			if children[l.Parent]++; children[l.Parent] > 1 {
				t.Fatalf("failure %d has two children", l.Parent)
			}
		}
	}
	if s.exactShare() < .97 {
		t.Errorf("attempts exact %.3f", s.exactShare())
	}
	if off := math.Abs(float64(s.found)/float64(s.retries) - 1); off > .03 {
		t.Errorf("%d retries found of %d", s.found, s.retries)
	}
}

// The clear case, with nothing learned: one client, one request, repeated each
// second after it fails, is one chain from the first repeat on.
func TestColdStart(t *testing.T) {
	for _, gap := range []float64{.05, .2, 1, 2, 5} {
		tr := newTraffic(1)
		for i := range 20 {
			at := 1 + float64(i)*(gap+.05)
			tr.add(ask{start: at, end: at + .05, op: 1, tmpl: 1, addr: 9, status: 429, hint: -1, parent: i - 1, attempt: int32(i + 1)})
		}
		p := play(Options{}, tr.asks).run(0)
		for i, l := range p.links {
			if l.Attempt != int32(i+1) || l.Root != 1 || i > 0 && l.Parent != uint64(i) {
				t.Errorf("gap %v: request %d is attempt %d of %d, parent %d, confidence %.2f", gap, i+1, l.Attempt, l.Root, l.Parent, l.Confidence)
				break
			}
		}
	}
}

// A storm from its first second: many clients whose requests all fail and who
// come back together.
func TestStormFromColdStart(t *testing.T) {
	for _, c := range []struct {
		name string
		wait func(*traffic, int, float64) float64
		f1   float64
	}{{"fixed timer", fixedTimer, .99}, {"doubling", doubling, .99}, {"quarter jitter", quarterJitter, .99}, {"full jitter", fullJitter, .96}} {
		tr := newTraffic(3)
		p := plan{attempts: 6, fail: .95, wait: c.wait}
		for client := range 200 {
			tr.logical(&p, ask{op: 1, tmpl: 1, addr: uint64(client + 1), parent: -1, hint: -1}, tr.uniform(1, 1.2), false)
		}
		tr.sort()
		s := play(Options{}, tr.asks).run(0).score()
		s.log(t, c.name)
		if s.f1() < c.f1 || s.exactShare() < c.f1-.01 {
			t.Errorf("%s: pair F1 %.3f, attempts exact %.3f", c.name, s.f1(), s.exactShare())
		}
	}
}

// Clients that give up are counted once their retry is no longer expected.
func TestGaveUp(t *testing.T) {
	p := play(Options{}, with(light, func(p *plan) { p.unique, p.fail, p.attempts = true, .6, 3 }).run(1).asks)
	want := uint64(0)
	for i := range p.asks {
		if a := &p.asks[i]; a.attempt == 3 && a.status >= 400 {
			want++
		}
	}
	p.run(0)
	for range 130 {
		p.now += second
		p.set.Barrier(p.now)
	}
	if st := p.set.Stats(); st.GaveUp < want || st.GaveUp > want+want/50 || st.Open != 0 {
		t.Errorf("gave up %d, want %d; %d still open", st.GaveUp, want, st.Open)
	}
}
