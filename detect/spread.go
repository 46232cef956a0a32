package detect

import "stormwatch/rules"

// late counts the outcomes of third and later attempts: those that a retry which
// was spread widely enough would have spared.
type late struct {
	ended         [window]int32 // by second modulo window
	refused, vain [window]int32 // of these, refused while others on the route were served, and while nobody was
	good, bad     [routeGroups]int32
	did           int32
}

// begin makes room for the second at now.
func (l *late) begin(now int64) {
	l.ended[slot(now)], l.refused[slot(now)], l.vain[slot(now)] = 0, 0, 0
	if l.did > 0 {
		l.good, l.bad, l.did = [routeGroups]int32{}, [routeGroups]int32{}, 0
	}
}

// thirdAttempt is the first that comes after a spread retry has failed.
const thirdAttempt = 3

func (l *late) outcome(f *flight, now int64) {
	switch {
	case !f.rec.Failed():
		l.good[f.rec.route]++
		l.did++
	case f.rec.Refused() && f.link.Attempt >= thirdAttempt && f.link.Parent != 0:
		l.bad[f.rec.route]++
		l.did++
	default:
		return
	}
	if f.link.Attempt >= thirdAttempt && f.link.Parent != 0 {
		l.ended[slot(now)]++
	}
}

// end counts the refusals of this second that came while others were served.
func (l *late) end(now int64) {
	if l.did == 0 {
		return
	}
	for route := range l.bad {
		if l.good[route] > 0 {
			l.refused[slot(now)] += l.bad[route]
		} else {
			l.vain[slot(now)] += l.bad[route]
		}
	}
}

// stillLate is for how long after the last such refusal the spread is judged: as long
// as a finding holds that is no longer seen.
const stillLate = grace

// lately tells whether a third or later attempt was refused not long before now: waits
// that were too narrow are no matter once everybody is served.
func (l *late) lately(now int64) bool {
	for t := now - stillLate; t < now; t += tick {
		if l.refused[slot(t)]+l.vain[slot(t)] > 0 {
			return true
		}
	}
	return false
}

// spreadFeatures set how wide the waits of everybody are spread, and whether that is
// enough for so many: of waits drawn evenly from a range of width w, half lie within
// w/2, the interquartile range, which J tells as a share of the wait.
func (e *engine) spreadFeatures(v *rules.Values) {
	v.Set(rules.ServedBestPerS, e.pop.best(e.now), window)
	r := e.herd.Reading(0)
	ended, refused, vain := int64(0), int64(0), int64(0)
	for i := range window {
		ended += int64(e.pop.late.ended[i])
		refused += int64(e.pop.late.refused[i])
		vain += int64(e.pop.late.vain[i])
	}
	if !e.pop.late.lately(e.now) {
		refused, vain = 0, 0
	}
	v.Set(rules.LateRetries, float64(ended), ended)
	v.Set(rules.LateRefusedShare, share(refused, ended), ended)
	v.Set(rules.LateVainShare, share(vain, ended), ended)
	v.Set(rules.LateRefusedLow, wilsonLow(refused, ended), ended)
	if !r.JKnown || r.MedianGap == 0 {
		return
	}
	width := 2 * r.J * seconds(r.MedianGap)
	v.Set(rules.SpreadS, width, r.JGaps)
	fleet := sum(&e.pop.refusedBy)
	v.Set(rules.WavePerS, float64(fleet)/max(width, seconds(windowOfHerd)), fleet)
}

// bestOf is the number of seconds over which the most that was served is told.
const bestOf = 5

// best is the most that was served per second in the last minute.
func (p *population) best(now int64) float64 {
	n := int(min(p.judged, window))
	most, sum := int64(0), int64(0)
	for i := 1; i <= n; i++ {
		sum += p.seconds[slot(now-int64(i)*tick)].good
		if i > bestOf {
			sum -= p.seconds[slot(now-int64(i-bestOf)*tick)].good
		}
		most = max(most, sum)
	}
	return float64(most) / bestOf
}
