package sim

import (
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// request is what a server looks at.
type request struct {
	at    int64
	key   string // the credential it carries
	nth   int    // which of its owner's credentials that is, from 1; 0 none
	addr  netip.Addr
	route string // the path before its placeholders were filled in
}

// answer is what the server sends back, or that it does not.
type answer struct {
	outcome
	done   int64
	silent bool // never answered
	body   string
	wait   time.Duration // that the first hint means, where hinted
	hinted bool
}

// outcome is what of an answer matters to those who asked.
type outcome struct {
	status    uint16
	lost      bool   // no answer: patience ended, or a reset
	reset     bool   // by the server
	local     bool   // it was not sent at all
	bodyError bool   // a 200 whose body is an error
	fields    string // further header lines
	bodyWait  string // a wait that the body names
	told      bool   // the quota was told
	quota     quota
}

// refused tells whether the answer turns the request away for load or quota.
func (o *outcome) refused() bool {
	return o.status == 429 || o.status == 503 || o.bodyError
}

// front is the server of a run: what decides, and what it says.
type front struct {
	*Server
	base     int64 // the scenario's start, Unix ns
	limiter  *scoped
	workers  *workers
	refusing uint16        // status of refusals
	row      map[scope]int // refusals in a row, by who was refused
	grows    bool          // row is needed
	rng      *rand.Rand
	texts    map[string]string // header lines already made
	buf      []byte
}

// maxTexts bounds front.texts.
const maxTexts = 4096

func newFront(s *Server, base int64, rng *rand.Rand) *front {
	f := &front{Server: s, base: base, rng: rng, row: map[scope]int{}, texts: map[string]string{}}
	for _, h := range s.Hint {
		f.grows = f.grows || h.Grow > 1
	}
	if s.Limiter != nil {
		f.limiter = &scoped{spec: s.Limiter, of: map[scope]backend{}, rng: rng}
		f.refusing = uint16(s.Limiter.Refuse)
		return f
	}
	f.workers, f.refusing = newWorkers(s.Capacity, rng), uint16(s.Capacity.Refuse)
	return f
}

func (f *front) answer(q *request) answer {
	if fault := f.fault(q); fault != nil {
		return f.fail(fault, q)
	}
	var v verdict
	if f.limiter != nil {
		v = f.limiter.admit(q)
	} else {
		v = f.workers.admit(q.at)
	}
	a := answer{done: v.done}
	row := f.inRow(q, v.refused)
	if !v.refused {
		a.status = 200
		f.say(&a, nil, &v, row)
		return a
	}
	a.status, a.done = f.refusing, v.done+around(f.Refusal, f.rng)
	if a.body = bodyRefused; a.status == 200 {
		a.body, a.bodyError = bodyNo, true
	}
	f.say(&a, f.Hint, &v, row)
	return a
}

// inRow counts refusals in a row and returns how many came before this one.
func (f *front) inRow(q *request, refused bool) (before int) {
	if !f.grows {
		return 0
	}
	who := scope{key: q.key}
	if q.key == "" {
		who.addr = q.addr
	}
	if !refused {
		delete(f.row, who)
		return 0
	}
	before = f.row[who]
	f.row[who]++
	return before
}

// say writes the hints and the state of the limiter into an answer.
func (f *front) say(a *answer, hints Hints, v *verdict, row int) {
	b := f.buf[:0]
	now := f.base + a.done + int64(f.Skew)
	for i := range hints {
		h := &hints[i]
		if !h.present(f.rng) {
			continue
		}
		wait := h.draw(v.free, row, f.rng)
		line := len(b)
		b = append(append(b, h.Header...), ": "...)
		from := len(b)
		if b = append(b, h.Text...); h.Text == "" {
			b = appendForm(b, h.Form, wait, now)
			a.mean(h, wait)
		}
		if h.Header == inBody {
			a.bodyWait = string(b[from:])
			a.body = withWait(a.body, a.bodyWait)
			b = b[:line]
			continue
		}
		b = append(b, "\r\n"...)
	}
	if v.quota.limit > 0 && f.Limits.told(v.refused) {
		a.told, a.quota = true, v.quota
		b = f.Limits.append(b, v.quota, now)
	}
	a.fields = f.text(b)
	f.buf = b
}

// mean notes the wait that the first hint of an answer tells.
func (a *answer) mean(h *Hint, wait time.Duration) {
	if a.hinted {
		return
	}
	if h.Form == inSeconds {
		wait = time.Duration(ceil(wait, time.Second)) * time.Second
	}
	a.wait, a.hinted = wait, true
}

// text returns header lines as a string; refusals repeat few of them.
func (f *front) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	s, ok := f.texts[string(b)]
	if !ok {
		s = string(b)
		if len(f.texts) < maxTexts {
			f.texts[s] = s
		}
	}
	return s
}

// fault returns the first fault that befalls a request.
func (f *front) fault(q *request) *Fault {
	for i := range f.Faults {
		if x := &f.Faults[i]; x.fits(q) && (x.Share == 1 || f.rng.Float64() < x.Share) {
			return x
		}
	}
	return nil
}

func (x *Fault) fits(q *request) bool {
	if q.at < int64(x.From) || q.at >= int64(x.To) || x.Key != 0 && x.Key != q.nth {
		return false
	}
	for _, p := range x.Paths {
		if strings.HasPrefix(q.route, p) {
			return true
		}
	}
	return len(x.Paths) == 0
}

func (f *front) fail(x *Fault, q *request) answer {
	after := x.After
	if after == 0 {
		after = f.Refusal
	}
	a := answer{done: q.at + around(after, f.rng)}
	switch x.Do {
	case "timeout":
		a.silent, a.lost = true, true
		return a
	case "reset":
		a.reset, a.lost = true, true
		return a
	case inBody:
		a.status, a.bodyError, a.body = 200, true, bodyNo
	default:
		status, _ := strconv.Atoi(x.Do)
		a.status, a.body = uint16(status), errorBody(status)
	}
	f.say(&a, x.Hint, &verdict{refused: a.refused()}, 0)
	return a
}
