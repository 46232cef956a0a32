package capture

import "bytes"

// Answers reads, for one source, what the header fields of answers say of waits
// and limits: Begin, Tell for each field, Settle. It belongs to one goroutine and
// does not allocate once it knows the hosts and clients.
type Answers struct {
	names  *Interner
	health *Health
	units  units
	said   []saying
}

// saying is a field of the answer at hand; its value is the caller's.
type saying struct {
	field Field
	value []byte
}

const (
	maxSayings  = 64 // fields of one answer that are looked at
	maxRaw      = 64 // bytes of a hint that are kept as they were sent
	boundFields = "more limit fields in one answer than are read"
)

// NewAnswers returns a reader that interns what hints say in names and counts in
// health.
func NewAnswers(names *Interner, health *Health) *Answers {
	return &Answers{names: names, health: health, units: units{health: health}, said: make([]saying, 0, maxSayings)}
}

// Begin forgets the answer before.
func (a *Answers) Begin() { a.said = a.said[:0] }

// Tell takes a field; its value must stay as it is until Settle.
func (a *Answers) Tell(f Field, value []byte) {
	switch {
	case f == 0:
	case len(a.said) == maxSayings:
		a.health.Bound(boundFields)
	default:
		a.said = append(a.said, saying{f, bytes.TrimSpace(value)})
	}
}

// Told tells whether the answer has any such field.
func (a *Answers) Told() bool { return len(a.said) > 0 }

// Settled is what an answer's fields say that is not settled yet: bodies and
// trailers may still say more.
type Settled struct {
	Mark  Reason // why the request was refused, if it was; Unjudged where the fields do not say
	Reset Symbol // the reset as it was sent, where it may be the hint
}

// Settle sets the hint, the limit and the advice of an answer whose status, end
// and Date are known. whole tells that no field is missing, so that a wait that
// is not there is absent. Where a reset alone names the wait of a refusal, it
// becomes the hint in Refusal.
func (a *Answers) Settle(x *Exchange, whole bool) (s Settled) {
	if whole {
		x.Hint.State = Absent
	}
	if len(a.said) == 0 {
		return s
	}
	a.wait(x)
	reset := a.limit(x)
	x.Limit.By = a.countedBy()
	for _, t := range a.said {
		switch row := &fieldRows[t.field]; row.means {
		case saysAdvice:
			x.Advice = adviceOf(t.value, x.Advice)
		case saysCode:
			if r := codeReason(t.value); r != Unjudged {
				s.Mark = r
			}
		case saysMark:
			s.Mark = row.reason
		case saysRefused:
			s.Mark, x.Advice = row.reason, MayRetry
		case saysFinal:
			s.Mark, x.Advice = row.reason, MustNotRetry
		}
	}
	if s.Mark == Unjudged && x.Status == 403 && (x.Limit.Exhausted() || x.Hint.Usable()) { // GitHub's and fastify's limits
		s.Mark = Throttle
	}
	if x.Status >= 400 {
		s.Reset = a.names.Intern(reset[:min(len(reset), maxRaw)])
	}
	return s
}

// Refusal makes the end of a limit's window the hint of a refusal that names its
// wait in no other way. The reason must have been judged.
func (x *Exchange) Refusal(reset Symbol) {
	if x.Limit.Form != NoHint && x.Hint.State != Present && x.Outcome == Answered && x.Refused() {
		x.Hint = Hint{Wait: x.Limit.Reset, Raw: reset, State: Present, Kind: x.Limit.Form}
	}
}

// Conclude takes what an answer's fields and body say of a refusal, unless something
// else has told its reason already.
func (x *Exchange) Conclude(told Settled) {
	if x.Reason == ReasonOf(x.Status) {
		x.Reason = x.Reason.Because(told.Mark)
	}
	x.Refusal(told.Reset)
}

// Because is the reason of an answer, after what its fields say: mark holds where
// the request failed.
func (r Reason) Because(mark Reason) Reason {
	if mark != Unjudged && r >= Throttle && r != Redirect {
		return mark
	}
	return r
}

// wait finds the wait that fields name themselves: of several the one of the
// lowest rank, unless it cannot be read and another one can.
func (a *Answers) wait(x *Exchange) {
	rank := uint8(255)
	for _, t := range a.said {
		row := &fieldRows[t.field]
		if row.means > saysCategories {
			continue
		}
		h := waitOf(row.means, t.value, x)
		best := x.Hint.State == Present
		if best && (x.Hint.Usable() && !h.Usable() || x.Hint.Usable() == h.Usable() && rank <= row.rank) {
			continue
		}
		h.Raw = a.names.Intern(t.value[:min(len(t.value), maxRaw)])
		x.Hint, rank = h, row.rank
	}
}

func waitOf(m means, value []byte, x *Exchange) Hint {
	h := Hint{State: Present, Kind: Malformed}
	switch m {
	case saysMillis:
		return ParseRetryAfterMillis(value)
	case saysRetryAfter:
		return ParseRetryAfter(value, x.Date, x.End/second)
	case saysDuration:
		if d, ok := duration(value); ok {
			h.Kind, h.Wait = OtherDuration, d
		}
	case saysSeconds:
		if n, ok := decimal(value); ok {
			h.Kind, h.Wait = OtherSeconds, times(n, second)
		}
	case saysAny:
		if n, ok := decimal(value); ok {
			t := told{value: n, date: x.clock()}
			switch kind, wait := t.reads(t.guess()); kind {
			case Malformed:
			case ResetEpoch, ResetEpochMillis:
				h.Kind, h.Wait = OtherEpoch, wait
			default:
				h.Kind, h.Wait = OtherSeconds, wait
			}
		}
	case saysCategories:
		return shortest(value)
	}
	return h
}

// shortest reads X-Sentry-Rate-Limits: 60:transaction, 2700:default;error. Which
// category the request was of is not known: the shortest wait holds for sure.
func shortest(value []byte) Hint {
	h := Hint{State: Present, Kind: Malformed}
	for more := len(value) > 0; more; {
		var one []byte
		one, value, more = bytes.Cut(value, comma)
		number, _, _ := bytes.Cut(one, colon)
		if n, ok := decimal(bytes.TrimSpace(number)); ok {
			if wait := times(n, second); h.Kind == Malformed || wait < h.Wait {
				h.Kind, h.Wait = OtherSeconds, wait
			}
		}
	}
	return h
}

// clock is the server's clock when it answered, Unix ms: its Date, which says no
// fraction of the second. Where our clock agrees with it, ours has the fraction;
// an answer on its way for longer was made late in that second. Without a Date
// it is ours.
func (x *Exchange) clock() int64 {
	const late = 3000
	ours, date := x.End/1e6, x.Date*1e3
	switch off := ours - date; {
	case x.Date == 0, off >= 0 && off < 1000:
		return ours
	case off >= 1000 && off < late:
		return date + 999
	}
	return date + 500
}

// adviceOf reads true and false; anything else says nothing.
func adviceOf(value []byte, before Advice) Advice {
	switch {
	case bytes.EqualFold(value, []byte("true")):
		return MayRetry
	case bytes.EqualFold(value, []byte("false")):
		return MustNotRetry
	}
	return before
}

var (
	comma     = []byte(",")
	colon     = []byte(":")
	semicolon = []byte(";")
	slash     = []byte("/")
	equals    = []byte("=")
)
