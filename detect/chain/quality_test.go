package chain

import (
	"math"
	"os"
	"testing"
)

// The scenario table of the trials behind the matcher, rebuilt: ours as a recording
// is judged, its start gone through beforehand, over all pairs and over those that an
// ideal observer tells apart; ours followed live, from a cold start; an oracle that has
// learned the true kernels; and the naive rule "the latest failure of the same request
// within a minute". STORMWATCH_QUALITY=1 runs all of it, with -v for the table.
func TestQualityOfChains(t *testing.T) {
	if os.Getenv("STORMWATCH_QUALITY") != "1" {
		t.Skip("the table is made with STORMWATCH_QUALITY=1; TestPolicies holds the same kinds of traffic to bars")
	}
	long, short := span{600, 2, .02, .98, .98, false}, span{30, 10, .02, .96, .90, true}
	t.Logf("%-34s %-5s %8s | %-29s | %-13s | %-13s | %-13s | %-13s | %s", "scenario", "long", "retries", "ours F1, exact, soft total", "told apart", "live", "oracle", "naive", "confidence >= .9: n, right, at most wrong")
	for _, r := range qualityRows {
		for _, s := range []span{long, short} {
			r.measure(t, s)
		}
	}
}

// span is how long the recordings of a row are, and what they are held to.
type span struct {
	seconds float64
	seeds   uint64
	behind  float64 // F1 below the oracle's at most
	f1      float64 // of pairs that can be told apart
	exact   float64 // attempt numbers of those
	short   bool
}

type qualityRow struct {
	name string
	plan plan
	// gaps are the bars that do not hold yet, and why.
	gaps map[string]string
}

var qualityRows = []qualityRow{
	{"50 keyed, light, 25 % jitter", with(light, func(p *plan) { p.keyed = true }), nil},
	{"50 keyed, .5/s each, doubling", with(light, func(p *plan) { p.keyed, p.perSecond, p.wait = true, .5, doubling }), nil},
	{"50 keyed, 2/s each, dense", with(light, func(p *plan) { p.keyed, p.perSecond, p.wait = true, 2, doubling }), map[string]string{
		"long F1 told apart": dense, "short F1 told apart": dense,
	}},
	{"30 % pollers every 5 s", with(light, func(p *plan) { p.pollers, p.wait = .3, doubling }), nil},
	{"4 identical in parallel", with(light, func(p *plan) { p.parallel = 4 }), nil},
	{"20 behind one address", with(light, func(p *plan) { p.nat, p.clients, p.urls = true, 20, 20 }), map[string]string{
		"short F1 beside the oracle's": cold, "short soft total": cold, "long soft total": doubled,
		"short F1 told apart": cold, "long F1 told apart": doubled, "long exact told apart": doubled,
	}},
	{"one address, 30 % pollers", with(light, func(p *plan) {
		p.nat, p.clients, p.urls, p.pollers, p.wait = true, 20, 20, .3, doubling
	}), map[string]string{
		"short F1 beside the oracle's": cold, "short soft total": cold, "long F1 beside the oracle's": merged,
		"short F1 told apart": merged, "short exact told apart": merged, "long F1 told apart": merged, "long exact told apart": merged,
	}},
	{"one address, full jitter", with(light, func(p *plan) {
		p.nat, p.clients, p.urls, p.wait = true, 20, 20, fullJitter
	}), map[string]string{
		"short F1 beside the oracle's": doubled, "short F1 beside the naive rule's": doubled, "short soft total": doubled, "short right where sure": doubled,
		"long F1 beside the naive rule's": doubled, "long soft total": doubled,
		"short F1 told apart": doubled, "short exact told apart": doubled, "long F1 told apart": doubled, "long exact told apart": doubled,
	}},
	{"pollers only, no retries", with(light, func(p *plan) { p.pollers, p.urls = 1, 1 }), nil},
}

// Why bars do not hold yet.
const (
	cold    = "half a minute holds too few retries of each attempt to learn their waits from"
	dense   = "several fresh requests come within each wait, and some by chance when a timer ends; the ideal observer knows which attempt each failure is"
	doubled = "fresh requests of many behind one address count twice, by their rate and by their renewal: dropping either costs more where traffic is dense"
	merged  = "several pollers behind one address make one key without a pace"
)

func (r *qualityRow) measure(t *testing.T, s span) {
	t.Helper()
	p := r.plan
	p.seconds = s.seconds
	var ours, apart, live, oracle, simple score
	for seed := range s.seeds {
		asks := p.run(seed + 11).asks
		recorded := taughtTwice(asks)
		ours.add(recorded.twinScore())
		apart.add(recorded.apartScore(tellsApart(&p, asks)))
		live.add(play(Options{}, asks).run(0).twinScore())
		oracle.add(taught(asks, truth(asks)).twinScore())
		simple.add(naive(asks).twinScore())
	}
	soft := math.NaN()
	if ours.retries > 0 {
		soft = ours.soft / float64(ours.retries)
	}
	wrong := wilsonHigh(ours.surest-ours.sureRight, ours.surest)
	t.Logf("%-34s %4.0fs %8d | F1 %.3f exact %.3f soft %.3f | %.3f %.3f   | %.3f %.3f   | %.3f %.3f   | %.3f %.3f   | %5d %.3f %.3f", r.name, s.seconds, ours.retries,
		ours.f1(), ours.exactShare(), soft, apart.f1(), apart.exactShare(), live.f1(), live.exactShare(), oracle.f1(), oracle.exactShare(), simple.f1(), simple.exactShare(),
		ours.surest, ours.calibration(), wrong)
	length := "long"
	if s.short {
		length = "short"
	}
	hold := func(ok bool, bar string, got, want float64) {
		why, known := r.gaps[length+" "+bar]
		switch {
		case known && ok:
			t.Logf("a known gap is closed: %s, %s: %s %.3f, want %.3f", r.name, length, bar, got, want)
		case known:
			t.Logf("known gap, %s, %s: %s %.3f, want %.3f: %s", r.name, length, bar, got, want, why)
		case !ok:
			t.Errorf("%s, %s: %s %.3f, want %.3f", r.name, length, bar, got, want)
		}
	}
	if ours.retries == 0 {
		hold(ours.found == 0, "false retries", float64(ours.found), 0)
		return
	}
	hold(ours.f1() >= oracle.f1()-s.behind, "F1 beside the oracle's", ours.f1(), oracle.f1()-s.behind)
	hold(apart.f1() >= s.f1, "F1 told apart", apart.f1(), s.f1)
	hold(apart.exactShare() >= s.exact, "exact told apart", apart.exactShare(), s.exact)
	hold(ours.f1() > simple.f1()-.01, "F1 beside the naive rule's", ours.f1(), simple.f1())
	hold(math.Abs(soft-1) <= .05, "soft total", soft, 1)
	hold(ours.calibration() >= .95, "right where sure", ours.calibration(), .95)
}

// twinScore counts a parent as right where it is the true one or cannot be told from
// it: the same request by the same client, at the same attempt, answered within the
// same tenth of a second.
func (p *player) twinScore() score {
	s := p.score()
	at := make([]int, len(p.asks))
	for i := range p.asks {
		at[p.asks[i].id] = i
	}
	for i := range p.asks {
		a, l := &p.asks[i], &p.links[i]
		if a.attempt < 2 || l.Parent == 0 {
			continue
		}
		truth, got := &p.asks[at[a.parent]], &p.asks[l.Parent-1]
		if truth == got || !twins(got, truth) {
			continue
		}
		s.right++
		s.wrong--
		s.missed--
		if l.Confidence >= .9 {
			s.sureRight++
		}
	}
	return s
}

// apartScore is the score over the requests that can be told apart.
func (p *player) apartScore(apart []bool) (s score) {
	at := make([]int, len(p.asks))
	for i := range p.asks {
		at[p.asks[i].id] = i
	}
	for i := range p.asks {
		if !apart[i] {
			continue
		}
		a, l := &p.asks[i], &p.links[i]
		s.all++
		if a.attempt == l.Attempt {
			s.exact++
		}
		truth, got := -1, int(l.Parent)-1
		if a.attempt > 1 {
			truth = at[a.parent]
		}
		same := got == truth || got >= 0 && truth >= 0 && twins(&p.asks[got], &p.asks[truth])
		switch {
		case same && truth >= 0:
			s.right++
		case same:
		default:
			if got >= 0 {
				s.wrong++
			}
			if truth >= 0 {
				s.missed++
			}
		}
	}
	return s
}

// truth is a model that has learned from the same traffic with every request saying
// which operation it belongs to.
func truth(asks []ask) *model {
	told := append([]ask(nil), asks...)
	at := make(map[int]int, len(told))
	for i := range told {
		at[told[i].id] = i
	}
	for i := range told {
		root := i
		for told[root].attempt > 1 {
			root = at[asks[root].parent]
		}
		told[i].idem = uint64(asks[root].id + 1)
	}
	return play(Options{}, told).run(0).set.model
}

// taught plays traffic to a matcher that knows a model from the start.
func taught(asks []ask, md *model) *player {
	p := play(Options{}, asks)
	*p.set.model = *md.clone()
	for i := range p.set.model.fresh.slots {
		p.set.model.fresh.slots[i].keys = 0
	}
	for i := range p.set.shards {
		p.set.shards[i].lessons.templates = make([]templateDelta, len(md.fresh.slots))
	}
	return p.run(0)
}

// naive links each request to the latest failure of the same request by the same
// client in the minute before.
func naive(asks []ask) *player {
	p := &player{asks: asks, links: make([]Link, len(asks))}
	type who struct{ op, addr, cred uint64 }
	open := map[who][]int{}
	for i := range asks {
		a := &asks[i]
		k := who{a.op, a.addr, a.cred}
		l := &p.links[i]
		l.Attempt, l.Confidence = 1, 1
		list := open[k]
		for j := len(list) - 1; j >= 0; j-- {
			f := &asks[list[j]]
			if f.end < a.start && a.start-f.end < 60 {
				l.Parent, l.Attempt, l.Retry = uint64(list[j]+1), p.links[list[j]].Attempt+1, 65535
				list = append(list[:j], list[j+1:]...)
				break
			}
		}
		if a.status >= 400 {
			list = append(list, i)
		}
		open[k] = list
	}
	return p
}

// wilsonHigh is the upper bound of a share by Wilson's score interval, one-sided
// 97.5 %.
func wilsonHigh(k, n int) float64 {
	if n == 0 {
		return 1
	}
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	return (p + z*z/(2*m) + z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))) / (1 + z*z/m)
}
