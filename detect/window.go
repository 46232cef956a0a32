package detect

import (
	"math"
	"time"

	"stormwatch/capture"
)

// Bound is one end of the time that is looked at. The zero value is none.
type Bound struct {
	At    int64          // Unix ns, where the moment is known
	Ago   int64          // or ns before the end of the input
	Clock int64          // or ns since midnight in Zone
	Zone  *time.Location // set where Clock holds
}

func (b Bound) set() bool { return b != (Bound{}) }

// Resolve gives the moment of a bound for an input that ends at end: a time of day
// is that of the last day on which it had come by then.
func (b Bound) Resolve(end int64) int64 {
	switch {
	case b.Ago != 0:
		return end - b.Ago
	case b.Zone == nil:
		return b.At
	}
	day := time.Unix(0, end).In(b.Zone)
	at := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, b.Zone).Add(time.Duration(b.Clock))
	if at.UnixNano() > end {
		at = time.Date(day.Year(), day.Month(), day.Day()-1, 0, 0, 0, 0, b.Zone).Add(time.Duration(b.Clock))
	}
	return at.UnixNano()
}

// within is the time that is looked at, of an input that ends at end.
func (o *Options) within(end int64) (from, to int64) {
	from, to = math.MinInt64, math.MaxInt64
	if o.Since.set() {
		from = o.Since.Resolve(end)
	}
	if o.Until.set() {
		to = o.Until.Resolve(end)
		if o.Until.Zone != nil && o.Since.set() && to < from { // 23:50 to 00:10
			to = o.Until.Resolve(end + 24*int64(time.Hour))
		}
	}
	return from, to
}

// window is the time that is looked at of a recording, all of which has been taken
// in: its end is the last one told by a source that is not far off.
func (r *Recording) window(before int64) (from, to int64) {
	if !r.opt.Since.set() && !r.opt.Until.set() {
		return math.MinInt64, math.MaxInt64
	}
	end := int64(math.MinInt64)
	for _, in := range r.inlets {
		if t := in.health.To - in.offset; in.health.To != 0 && t < before {
			end = max(end, t)
		}
	}
	if end == math.MinInt64 {
		return math.MinInt64, math.MaxInt64
	}
	return r.opt.within(end)
}

// outside counts an exchange that is not looked at: nothing is lost by it.
func (in *Inlet) outside(at capture.Provenance) { in.asides.SkipSound(outsideWindow, at.String()) }

const outsideWindow = "outside --since and --until"
