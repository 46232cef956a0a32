package accesslog

import "bytes"

// tabCutter reads LTSV: label:value, a tab, label:value.
type tabCutter struct{ pairCutter }

func (c *tabCutter) cut(line []byte, r *reading) fault {
	r.reset()
	clear(c.best[:])
	labels := 0
	for rest, more := line, true; more; {
		var one []byte
		if one, rest, more = bytes.Cut(rest, tab); len(one) == 0 {
			continue
		}
		n := labelEnd(one)
		if n == 0 {
			return noLabel
		}
		labels++
		c.take(c.meaning(one[:n]), one[n+1:], r)
	}
	if labels < 3 {
		return noLabel
	}
	if f := c.schema.finish(r); f != "" {
		return f
	}
	if !r.coded {
		return noStatusKey
	}
	return ""
}

const noLabel fault = "a column without label: before its value"

var tab = []byte("\t")

// labelEnd finds the colon after a label (ltsv.org: letters, digits, _, . and -), 0 if
// there is none.
func labelEnd(b []byte) int {
	for i, c := range b {
		switch {
		case c == ':':
			return i
		case !isLetter(c) && !isDigit(c) && c != '_' && c != '.' && c != '-':
			return 0
		}
	}
	return 0
}
