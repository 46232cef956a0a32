package detect

import "bytes"

// walk follows a client from page to page of a list, once it was refused at one: to
// see whether it goes on there, or starts over and asks for what it has already got.
// It is kept of clients that were refused so, and only the first refusal in a row
// counts.
type walk struct {
	tmpl        uint64 // what it walks through
	refused     uint32 // the page it was refused at, by the operation's low half
	sum, before uint32 // of the pages served since, whatever their order; and between the two refusals before
	n, nBefore  uint16
}

// leastWalk is how many pages must have been served twice over.
const leastWalk = 3

// auditWalk takes in the outcome of a request for a page.
func (e *engine) auditWalk(d *delta, c *client, f *flight) {
	r := &f.rec
	if !f.paged || f.noChain || c.history == 0 && !r.Refused() {
		return
	}
	w, op := &d.history(c).walk, uint32(f.op)
	switch refused := r.Refused(); {
	case r.Failed() && !refused:
	case refused && (w.refused == 0 || w.tmpl != f.tmpl):
		*w = walk{tmpl: f.tmpl, refused: op}
		c.count(d, walks, 1)
	case refused && w.n > 0:
		if op == w.refused && w.n >= leastWalk && w.n == w.nBefore && w.sum == w.before {
			c.note(d, f, restarted, r.Start)
			c.count(d, walkedAgain, int32(w.n))
		}
		*w = walk{tmpl: f.tmpl, refused: op, before: w.sum, nBefore: w.n}
	case refused || w.tmpl != f.tmpl || w.refused == 0:
	case op == w.refused:
		*w = walk{} // it went on
	case w.n < 1<<16-1:
		w.n++
		w.sum += op
	}
}

// pageNames are the parameters by which lists are asked for page by page.
var pageNames = map[string]bool{
	"page": true, "p": true, "offset": true, "from": true, "start": true, "skip": true, "cursor": true, "after": true, "marker": true,
	"page_token": true, "pageToken": true, "page[number]": true, "page[offset]": true, "$skip": true, "startAt": true, "start_index": true, "startIndex": true,
}

// pages tells whether a target asks for one page of a list.
func pages(target []byte) bool {
	q := bytes.IndexByte(target, '?')
	if q < 0 {
		return false
	}
	for query := target[q+1:]; len(query) > 0; {
		param := query
		if i := bytes.IndexByte(query, '&'); i >= 0 {
			param, query = query[:i], query[i+1:]
		} else {
			query = nil
		}
		if i := bytes.IndexByte(param, '='); i > 0 && pageNames[string(param[:i])] && !atime(param[i+1:]) {
			return true
		}
	}
	return false
}

// atime tells whether a value is a time, as a chart asks for its range: seconds since
// 1970 have ten digits, and dates with their dashes as many.
func atime(value []byte) bool {
	if len(value) < 9 {
		return false
	}
	for _, c := range value[:4] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
