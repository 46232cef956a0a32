package chain

import (
	"math"
	"testing"
)

// fleet adds clients whose requests fail with a probability that depends on time.
func (t *traffic) fleet(p plan, first int, fail func(at float64) float64) {
	for c := range p.clients {
		a := ask{addr: uint64(first + c), parent: -1, hint: -1}
		if p.keyed {
			a.cred = uint64(first)
		}
		for at := t.uniform(0, 1/p.perSecond); at < p.seconds; at += t.rng.ExpFloat64() / p.perSecond {
			q := p
			q.fail = fail(at)
			url := uint64(t.rng.IntN(p.urls))
			a.op, a.tmpl = 100+url, 1+url%3
			at = max(at, t.answered(&q, a, at, fail))
		}
	}
}

// answered adds a request and its retries, as logical does, and returns when the
// client is done with it.
func (t *traffic) answered(p *plan, a ask, at float64, fail func(at float64) float64) float64 {
	for k := 1; ; k++ {
		a.start, a.end, a.attempt, a.status, a.hint = at, at+t.uniform(.02, .08), int32(k), 200, -1
		bad := t.rng.Float64() < fail(at)
		if bad {
			a.status = 503
			if p.hint != nil {
				a.status, a.hint = 429, p.hint(t)
			}
		}
		a.parent = t.add(a)
		if !bad || k == p.attempts {
			return a.end
		}
		at = a.end + p.wait(t, k, a.hint)
	}
}

// Incidents as they come: calm, then trouble, with clients that think before they
// ask again, and several policies at once.
func TestIncidents(t *testing.T) {
	outage := func(at float64) float64 {
		if at > 40 && at < 70 {
			return .9
		}
		return .01
	}
	hinted := func(t *traffic) float64 { return 2 }
	think := plan{clients: 40, urls: 6, perSecond: .3, seconds: 120, attempts: 5}
	for _, c := range []struct {
		name      string
		build     func(t *traffic)
		f1, exact float64
	}{
		{"an outage amid calm", func(tr *traffic) {
			tr.fleet(with(think, func(p *plan) { p.wait = doubling }), 1000, outage)
		}, .97, .97},
		{"policies mixed", func(tr *traffic) {
			for i, w := range []func(*traffic, int, float64) float64{fixedTimer, doubling, quarterJitter, fullJitter, obeysHint} {
				tr.fleet(with(think, func(p *plan) { p.wait, p.clients, p.hint = w, 15, hinted }), 1000+100*i, outage)
			}
		}, .90, .92}, // full jitter amid sharp timers is missed most
		{"one key, many machines", func(tr *traffic) {
			tr.fleet(with(think, func(p *plan) { p.wait, p.keyed = quarterJitter, true }), 1000, outage)
		}, .95, .95},
		{"failing from the start", func(tr *traffic) {
			tr.fleet(with(think, func(p *plan) { p.wait, p.seconds = fixedTimer, 40 }), 1000, func(float64) float64 { return .95 })
		}, .95, .93}, // those who give up and ask again seem to go on now and then
		{"a third never retries", func(tr *traffic) {
			tr.fleet(with(think, func(p *plan) { p.wait = quarterJitter }), 1000, outage)
			tr.fleet(with(think, func(p *plan) { p.attempts = 1; p.clients = 20 }), 2000, outage)
		}, .95, .97},
		{"waits of a second on a clock of a second", func(tr *traffic) {
			tr.fleet(with(think, func(p *plan) { p.wait = fixedTimer }), 1000, outage)
			for i := range tr.asks {
				a := &tr.asks[i]
				a.start, a.end = math.Floor(a.start), math.Floor(a.end)
			}
		}, .93, .93},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := newTraffic(5)
			c.build(tr)
			tr.sort()
			s := play(Options{}, tr.asks).run(0).score()
			s.log(t, "")
			if s.f1() < c.f1 || s.exactShare() < c.exact {
				t.Errorf("pair F1 %.3f, attempts exact %.3f; want %.2f, %.2f", s.f1(), s.exactShare(), c.f1, c.exact)
			}
		})
	}
}

// Failures that nobody retries, among repeated requests: pages that are missing.
func TestNobodyRetries(t *testing.T) {
	s := play(Options{}, with(light, func(p *plan) { p.attempts, p.fail, p.statuses = 1, .5, []uint16{404} }).run(2).asks).run(0).score()
	s.log(t, "missing pages")
	if share := float64(s.found) / float64(s.all); share > .05 {
		t.Errorf("%d of %d requests taken for retries", s.found, s.all)
	}
}
