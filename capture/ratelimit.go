package capture

import (
	"bytes"
	"math"
)

// window is what an answer says of one of its limits.
type window struct {
	left  int64 // 1 plus what is left; 0 not told
	reset int64 // ns
	form  HintKind
	rank  uint8
	raw   []byte
}

// limit sets the limit that an answer tells, and returns its reset as it was
// sent. Of several limits the exhausted one with the latest reset is taken, or
// else the first that has a reset.
func (a *Answers) limit(x *Exchange) (raw []byte) {
	if !a.limited() {
		return nil
	}
	var all [groups]window
	longest := a.window()
	for _, t := range a.said {
		row := &fieldRows[t.field]
		w := &all[row.group]
		switch row.means {
		case saysLeft:
			w.keep(leftOf(t.value))
		case saysUsed:
			w.keep(leftOfUsed(t.value))
		}
	}
	for _, t := range a.said {
		row := &fieldRows[t.field]
		w := &all[row.group]
		switch row.means {
		case saysReset:
			if w.form == NoHint || row.rank < w.rank || w.form == Malformed {
				if kind, wait := a.reset(x, t, w.left, longest); kind != NoHint && (kind != Malformed || w.form == NoHint) {
					w.form, w.reset, w.rank, w.raw = kind, wait, row.rank, t.value
				}
			}
		case saysRateLimit:
			w.list(t.value)
		}
	}
	return x.Limit.choose(&all)
}

// limited tells whether the answer says anything of what is left of a limit, or
// of its end.
func (a *Answers) limited() bool {
	for _, t := range a.said {
		switch fieldRows[t.field].means {
		case saysReset, saysLeft, saysUsed, saysRateLimit:
			return true
		}
	}
	return false
}

// choose picks one of several limits.
func (l *Limit) choose(all *[groups]window) (raw []byte) {
	var out, first *window
	var least int64
	for i := range all {
		w := &all[i]
		switch {
		case w.left == 1 && w.form != NoHint && (out == nil || w.reset > out.reset):
			out = w
		case w.form != NoHint && first == nil:
			first = w
		}
		if w.left != 0 && (least == 0 || w.left < least && (w.left == 1 || !group(i).ofTokens())) {
			least = w.left
		}
	}
	if out == nil {
		out = first
	}
	if out != nil {
		l.Reset, l.Form, raw = out.reset, out.form, out.raw
		if out.left != 0 && least != 1 {
			least = out.left
		}
	}
	l.Left = uint32(min(least, math.MaxUint32))
	return raw
}

// ofTokens tells whether a limit counts something else than requests.
func (g group) ofTokens() bool { return g >= groupTokens && g <= groupOutput }

// keep takes the smaller number of what is left.
func (w *window) keep(left int64) {
	if left != 0 && (w.left == 0 || left < w.left) {
		w.left = left
	}
}

// leftOf reads what is left: 12, 598.0, 0;w=21600, or several of these. Less than
// nothing is no number.
func leftOf(value []byte) (left int64) {
	var w window
	for more := len(value) > 0; more; {
		var one []byte
		one, value, more = bytes.Cut(value, comma)
		one, _, _ = bytes.Cut(one, semicolon)
		if n, ok := decimal(bytes.TrimSpace(one)); ok {
			w.keep(n/1000 + 1)
		}
	}
	return w.left
}

// leftOfUsed reads 32/40.
func leftOfUsed(value []byte) int64 {
	used, limit, ok := bytes.Cut(value, slash)
	u, uok := decimal(bytes.TrimSpace(used))
	n, nok := decimal(bytes.TrimSpace(limit))
	if !ok || !uok || !nok {
		return 0
	}
	return max(n-u, 0)/1000 + 1
}

// window is the longest window that the answer declares for its limits, in
// seconds; 0 where it declares none.
func (a *Answers) window() (longest int64) {
	for _, t := range a.said {
		switch row := &fieldRows[t.field]; row.means {
		case saysLimit, saysPolicy:
			longest = max(longest, row.window, windowOf(t.value))
		case saysLeft:
			longest = max(longest, windowOf(t.value))
		}
	}
	return longest
}

// windowOf reads the parameter w or window of a list: 100;w=21600.
func windowOf(value []byte) (longest int64) {
	for len(value) > 0 {
		var p []byte
		p, value = nextParameter(value)
		name, text, _ := bytes.Cut(p, equals)
		switch string(bytes.TrimSpace(name)) {
		case "w", "window":
			if n, ok := digits(bytes.TrimSpace(text)); ok {
				longest = max(longest, n)
			}
		}
	}
	return longest
}

// nextParameter cuts a list at its next comma or semicolon outside quotes.
func nextParameter(b []byte) (one, rest []byte) {
	quoted := false
	for i, c := range b {
		switch {
		case c == '"' && (i == 0 || b[i-1] != '\\'):
			quoted = !quoted
		case !quoted && (c == ',' || c == ';'):
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}

// list reads a RateLimit field: the dictionary limit=100, remaining=50, reset=30
// of the seventh draft, or the list "default";r=50;t=30 of later ones (RFC 9651).
// Of several policies, that with the least left counts. Parameters that are not
// known are passed over.
func (w *window) list(value []byte) {
	whole := value
	for len(value) > 0 {
		var item window
		for first := true; len(value) > 0; first = false {
			p, rest := nextParameter(value)
			ends := len(p) < len(value) && value[len(p)] == ','
			name, text, ok := bytes.Cut(p, equals)
			value = rest
			item.parameter(bytes.TrimSpace(name), bytes.Trim(text, ` "`), ok)
			if ends && !(ok && first) && !dictionary(bytes.TrimSpace(name)) {
				break
			}
		}
		w.merge(&item, whole)
	}
}

// dictionary tells whether a key is one of the seventh draft's, whose commas part
// the members of one policy.
func dictionary(name []byte) bool {
	switch string(name) {
	case "limit", "remaining", "reset":
		return true
	}
	return false
}

func (w *window) parameter(name, text []byte, valued bool) {
	if !valued {
		return
	}
	switch string(name) {
	case "r", "remaining":
		if n, ok := decimal(text); ok {
			w.left = n/1000 + 1
		}
	case "t", "reset":
		if n, ok := decimal(text); ok {
			w.form, w.reset = ResetSeconds, times(n, second)
		} else if w.form == NoHint {
			w.form = Malformed
		}
	}
}

// merge takes a policy that has less left, or the same and a later reset.
func (w *window) merge(item *window, raw []byte) {
	switch {
	case item.left == 0 && item.form == NoHint:
		return
	case w.left == 0 && w.form == NoHint:
	case item.left != 0 && (w.left == 0 || item.left < w.left):
	case item.left == w.left && item.reset > w.reset:
	default:
		return
	}
	w.left, w.form, w.reset, w.raw = item.left, item.form, item.reset, raw
}

// reset reads when a limit's window ends. It is NoHint where the value is one
// that stands for nothing.
func (a *Answers) reset(x *Exchange, t saying, left, longest int64) (HintKind, int64) {
	row := &fieldRows[t.field]
	value := bytes.Trim(t.value, `" `)
	if n, ok := decimal(value); ok {
		if row.junk && n == 0 {
			return NoHint, 0
		}
		s := told{value: n, date: x.clock(), window: longest}
		if x.Hint.Usable() && !x.Hint.Kind.FromReset() {
			s.wait = x.Hint.Wait
		}
		return s.reads(a.unitOf(x, t.field, &s, left))
	}
	if d, ok := duration(value); ok {
		return ResetDuration, d
	}
	if at, ok := moment(value); ok {
		s := told{date: x.clock()}
		return s.until(ResetDate, at)
	}
	if row.junk && len(value) > 1 && value[0] == '-' {
		if _, ok := decimal(value[1:]); ok {
			return NoHint, 0
		}
	}
	return Malformed, 0
}

// unitOf settles the unit of a number: by the field's name, by its size where
// that leaves no doubt, by what has been learned of the host, by this answer.
func (a *Answers) unitOf(x *Exchange, f Field, t *told, left int64) unit {
	if u := fieldRows[f].unit; u != unitUnknown {
		return u
	}
	u := t.guess()
	if u == unitEpoch || u == unitEpochMillis {
		if kind, wait := t.reads(u); kind != Malformed && wait <= farthest*second {
			return u
		}
	}
	k := seriesKey{unitKey{x.Host, f}, x.Credential, x.Src.IP}
	if k.part != 0 {
		k.ip = [16]byte{}
	}
	if l := a.units.learn(k, x.End, t.value, uint32(min(left, math.MaxUint32))); l != unitUnknown {
		return l
	}
	return u
}
