package detect

import (
	"time"

	"stormwatch/capture"
)

// hintCounts count what refusals said of when to come back, and what came of
// keeping to it. Only refusals whose headers could be seen are in them.
type hintCounts struct {
	observable                    int64
	bare, malformed, absurd, zero int64
	disagree                      int64 // refusals that named two waits which do not fit each other
	kept, keptRefused             int64 // retries that kept to a wait and have ended; those refused again
	dates                         dateCounts
}

func (h *hintCounts) add(o *hintCounts) {
	h.observable += o.observable
	h.bare += o.bare
	h.malformed += o.malformed
	h.absurd += o.absurd
	h.zero += o.zero
	h.disagree += o.disagree
	h.kept += o.kept
	h.keptRefused += o.keptRefused
	h.dates.add(&o.dates)
}

// see counts a refusal whose headers were captured. A wait that grew as a penalty is
// long, but not absurd.
func (h *hintCounts) see(x *capture.Exchange, punished bool) {
	h.observable++
	switch {
	case x.Hint.State == capture.Absent:
		h.bare++
	case x.Hint.Kind == capture.Malformed:
		h.malformed++
	case !x.Hint.Usable():
	case x.Hint.Wait == 0:
		h.zero++
	case x.Hint.Wait > longest(x.Hint.Kind) && !punished:
		h.absurd++
	}
	if w, told := secondWait(x); told && differ(x.Hint.Wait, w) {
		h.disagree++
	}
}

// secondWait is what the state of the limit says of the wait, where a hint of its
// own is there beside it.
func secondWait(x *capture.Exchange) (wait int64, told bool) {
	l := &x.Limit
	if !x.Hint.Usable() || l.Form == capture.NoHint || l.Form == capture.Malformed || l.Form == x.Hint.Kind {
		return 0, false
	}
	return l.Reset, true
}

// differ tells whether two waits of one answer are at odds. Both are cut to whole
// seconds, up or down, and dates come from clocks of their own: two seconds are
// rounding. A client that keeps to one of two within half of each other does not
// break the other by much.
func differ(a, b int64) bool {
	d := max(a-b, b-a)
	return d > 2*int64(time.Second) && 2*d > max(a, b)
}

// hintSigns tell, for the signatures of refusals, which refusal shows them.
var hintSigns = map[string]func(*capture.Exchange) bool{
	"hint-missing":   func(x *capture.Exchange) bool { return x.Hint.State == capture.Absent },
	"hint-malformed": func(x *capture.Exchange) bool { return x.Hint.Kind == capture.Malformed },
	"hint-absurd":    func(x *capture.Exchange) bool { return x.Hint.Usable() && x.Hint.Wait > longest(x.Hint.Kind) },
	"hint-zero":      func(x *capture.Exchange) bool { return x.Hint.Usable() && x.Hint.Wait == 0 },
	"hints-disagree": func(x *capture.Exchange) bool {
		w, told := secondWait(x)
		return told && differ(x.Hint.Wait, w)
	},
}
