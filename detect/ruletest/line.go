package ruletest

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// schedule is one line of exchanges: who sends what, when, and what is answered.
//
//	FROM[..TO every GAP [together]] CLIENT METHOD TARGET STATUS [TOOK] [NAME=VALUE]... [, +WAIT [METHOD=...] ...]
type schedule struct {
	from, to, gap time.Duration // to and gap are 0 for a single moment
	together      bool
	clients       []netip.Addr
	method        string
	target        string
	attempts      []attempt
}

// attempt is one try of a request.
type attempt struct {
	wait   time.Duration // since the end of the one before
	end    ending
	status uint16
	took   time.Duration
	fields []field
}

type ending uint8

const (
	answered ending = iota
	noAnswer
	reset
)

// field is a NAME=VALUE of a line.
type field struct{ name, value string }

// word is a part of a line and how many characters stand before it.
type word struct {
	text string
	at   int
	ends bool // a comma follows
}

// mistake is what is wrong in a line, after so many of its characters.
type mistake struct {
	at int
	error
}

func wrong(w word, format string, args ...any) error {
	return mistake{w.at, fmt.Errorf(format, args...)}
}

// words splits a line at its spaces; a value in double quotes may hold some.
func words(line string) (out []word) {
	begin, quoted := -1, false
	add := func(end int) {
		if begin >= 0 {
			text, comma := strings.CutSuffix(line[begin:end], ",")
			if text == "" && len(out) > 0 {
				out[len(out)-1].ends = true
			} else {
				out = append(out, word{strings.ReplaceAll(text, `"`, ""), utf8.RuneCountInString(line[:begin]), comma})
			}
		}
		begin = -1
	}
	for i, r := range line {
		switch {
		case r == ' ' && !quoted:
			add(i)
			continue
		case r == '"':
			quoted = !quoted
		}
		if begin < 0 {
			begin = i
		}
	}
	add(len(line))
	return out
}

// maxAttempts bounds the attempts of one request.
const maxAttempts = 1000

// parse reads a line of exchanges.
func parse(line string) (s schedule, err error) {
	r := reader{words: words(line), end: utf8.RuneCountInString(line)}
	s.when(&r)
	s.who(&r)
	s.method = r.next("a method, such as GET").text
	if target := r.next("a target, such as /items/{n}"); r.err == nil && !strings.HasPrefix(target.text, "/") {
		return s, wrong(target, "%q is no target: it begins with /", target.text)
	} else {
		s.target = target.text
	}
	for more := true; more && r.err == nil; {
		var a attempt
		if len(s.attempts) > 0 {
			a.wait = r.wait()
		}
		times := 1
		more = r.answer(&a, &times)
		for range times {
			if s.attempts = append(s.attempts, a); len(s.attempts) > maxAttempts {
				return s, fmt.Errorf("more than %d attempts at one request", maxAttempts)
			}
		}
	}
	return s, r.err
}

// reader takes words one after the other and keeps the first mistake.
type reader struct {
	words []word
	end   int
	err   error
}

func (r *reader) next(what string) (w word) {
	if r.err != nil {
		return w
	}
	if len(r.words) == 0 {
		r.err = mistake{r.end, fmt.Errorf("the line ends where %s is expected", what)}
		return w
	}
	w, r.words = r.words[0], r.words[1:]
	return w
}

func (r *reader) fail(w word, format string, args ...any) {
	if r.err == nil {
		r.err = wrong(w, format, args...)
	}
}

// maxSpan bounds moments and waits.
const maxSpan = 7 * 24 * time.Hour

func (r *reader) duration(w word, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if r.err == nil && (err != nil || d < 0 || d > maxSpan) {
		r.fail(w, "%q is no time such as 250ms or 90s, at most a week", text)
	}
	return d
}

func (s *schedule) when(r *reader) {
	w := r.next("a moment, such as 60s or 0s..60s")
	from, to, several := strings.Cut(w.text, "..")
	s.from = r.duration(w, from)
	if !several {
		return
	}
	s.to = r.duration(w, to)
	every := r.next("every")
	if r.err == nil && every.text != "every" {
		r.fail(every, "%q where every is expected: %s needs to say how often", every.text, w.text)
	}
	gap := r.next("a time between two, such as 1s")
	s.gap = r.duration(gap, gap.text)
	switch {
	case r.err != nil:
	case s.to <= s.from:
		r.fail(w, "%q ends before it begins", w.text)
	case s.gap <= 0:
		r.fail(gap, "every %s never ends", gap.text)
	}
	if r.err == nil && len(r.words) > 0 && r.words[0].text == "together" {
		s.together, r.words = true, r.words[1:]
	}
}

// maxClients bounds the clients of one line.
const maxClients = 10000

// who reads an address, of which one number may be a range: 10.0.{0..3}.7.
func (s *schedule) who(r *reader) {
	w := r.next("a client, such as 10.0.0.{1..20}")
	if r.err != nil {
		return
	}
	before, rest, ranged := strings.Cut(w.text, "{")
	if !ranged {
		s.client(r, w, w.text)
		return
	}
	span, after, closed := strings.Cut(rest, "}")
	low, high, dots := strings.Cut(span, "..")
	from, err1 := strconv.Atoi(low)
	to, err2 := strconv.Atoi(high)
	switch {
	case !closed || !dots || err1 != nil || err2 != nil || from < 0 || to < from:
		r.fail(w, "%q has no range such as {1..20}", w.text)
		return
	case to-from >= maxClients:
		r.fail(w, "more than %d clients in one line", maxClients)
		return
	}
	for i := from; i <= to && r.err == nil; i++ {
		s.client(r, w, before+strconv.Itoa(i)+after)
	}
}

func (s *schedule) client(r *reader, w word, text string) {
	a, err := netip.ParseAddr(text)
	if err != nil {
		r.fail(w, "%q is no address of a client", text)
		return
	}
	s.clients = append(s.clients, a)
}

func (r *reader) wait() time.Duration {
	w := r.next("a wait, such as +2s")
	text, ok := strings.CutPrefix(w.text, "+")
	if r.err == nil && !ok {
		r.fail(w, "%q where the wait before the next attempt is expected, such as +2s", w.text)
	}
	return r.duration(w, text)
}

// tookByDefault is how long an answer takes where the line does not say.
const tookByDefault = 10 * time.Millisecond

// answer reads how an attempt ends, and tells whether another one follows.
func (r *reader) answer(a *attempt, times *int) (more bool) {
	w := r.next("a status, none or reset")
	a.took = tookByDefault
	switch w.text {
	case "none":
		a.end = noAnswer
	case "reset":
		a.end = reset
	default:
		n, err := strconv.Atoi(w.text)
		if r.err == nil && (err != nil || n < 100 || n > 599) {
			r.fail(w, "%q is no status: 100 to 599, none or reset", w.text)
		}
		a.status = uint16(n)
	}
	for first := true; r.err == nil && !w.ends && len(r.words) > 0; first = false {
		w = r.next("")
		name, value, has := strings.Cut(w.text, "=")
		switch {
		case has && name != "":
			a.fields = append(a.fields, field{strings.ToLower(name), value})
			if err := known(a.fields[len(a.fields)-1]); err != nil {
				r.fail(w, "%v", err)
			}
		case first && w.text != "" && w.text[0] != 'x':
			a.took = r.duration(w, w.text)
		default:
			r.repeat(w, times)
		}
	}
	if r.err == nil && w.ends && len(r.words) == 0 {
		r.err = mistake{r.end, errors.New("nothing follows the comma: a wait and a status, such as +2s 200")}
	}
	return w.ends
}

// repeat reads x5: so many attempts of this kind.
func (r *reader) repeat(w word, times *int) {
	text, ok := strings.CutPrefix(w.text, "x")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 1 || n > maxAttempts {
		r.fail(w, "%q is neither NAME=VALUE nor a number of attempts such as x5", w.text)
		return
	}
	*times = n
}
