package chain

import (
	"testing"

	"stormwatch/capture"
)

// step is a request with its answer and what its link must be.
type step struct {
	at      float64
	idem    uint64
	counter capture.Counter
	n       uint16
	relay   uint16 // by a sidecar on the way
	status  uint16
	addr    uint64 // 0: the one of the others
	cred    uint64
	body    uint64
	passed  uint64
	parent  int // 1-based step, 0 first
	attempt int32
	level   uint8
}

func TestDeclared(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"the same key is a child whatever the timing", []step{
			{at: 0, idem: 5, status: 503, attempt: 1, level: E4},
			{at: 90, idem: 5, status: 200, parent: 1, attempt: 2, level: E4},
		}},
		{"another key is another request", []step{
			{at: 0, idem: 5, status: 503, attempt: 1, level: E4},
			{at: 1, idem: 6, status: 503, attempt: 1, level: E4},
			{at: 2, idem: 5, status: 200, parent: 1, attempt: 2, level: E4},
			{at: 3, idem: 6, status: 200, parent: 2, attempt: 2, level: E4},
		}},
		{"a counter names the one before", []step{
			{at: 0, counter: capture.StainlessRetries, n: 1, status: 429, attempt: 1, level: E5},
			{at: .5, counter: capture.StainlessRetries, n: 2, status: 429, parent: 1, attempt: 2, level: E5},
			{at: .6, counter: capture.StainlessRetries, n: 1, status: 429, attempt: 1, level: E5},
			{at: 1.5, counter: capture.StainlessRetries, n: 3, status: 200, parent: 2, attempt: 3, level: E5},
			{at: 1.6, counter: capture.StainlessRetries, n: 2, status: 200, parent: 3, attempt: 2, level: E5},
		}},
		{"a later attempt whose parent was not seen", []step{
			{at: 0, counter: capture.AmzAttempt, n: 3, status: 429, attempt: 3, level: E5},
			{at: 1, counter: capture.AmzAttempt, n: 4, status: 200, parent: 1, attempt: 4, level: E5},
		}},
		{"a proxy's first attempt may be the client's second", []step{
			{at: 0, counter: capture.EnvoyAttempts, n: 1, status: 503, attempt: 1, level: E2},
			{at: .1, counter: capture.EnvoyAttempts, n: 2, status: 503, parent: 1, attempt: 2, level: E5},
			{at: 1.2, counter: capture.EnvoyAttempts, n: 1, status: 503, parent: 2, attempt: 3, level: E2},
		}},
		{"two counters are two layers", []step{
			{at: 0, counter: capture.StainlessRetries, n: 1, relay: 1, status: 503, attempt: 1, level: E5},
			{at: .1, counter: capture.StainlessRetries, n: 1, relay: 2, status: 503, parent: 1, attempt: 2, level: E5},
			{at: .9, counter: capture.StainlessRetries, n: 2, relay: 1, status: 503, parent: 2, attempt: 3, level: E5},
			{at: .95, counter: capture.StainlessRetries, n: 1, relay: 1, status: 503, attempt: 1, level: E5}, // of another call
			{at: 1, counter: capture.StainlessRetries, n: 2, relay: 2, status: 503, parent: 3, attempt: 4, level: E5},
			{at: 1.1, counter: capture.StainlessRetries, n: 1, relay: 2, status: 503, parent: 4, attempt: 2, level: E5},
			{at: 3, counter: capture.StainlessRetries, n: 3, relay: 2, status: 503, attempt: 4, level: E5}, // the one before was not seen
		}},
		{"the first attempt has no counter", []step{
			{at: 0, status: 503, attempt: 1, level: E2},
			{at: 60, counter: capture.FromAbsent, n: 2, status: 503, parent: 1, attempt: 2, level: E5},
			{at: 110, counter: capture.FromAbsent, n: 3, status: 200, parent: 2, attempt: 3, level: E5},
		}},
		{"a sender that begins with 1 where others begin with 0", []step{
			{at: 0, counter: capture.FromEither, n: 2, status: 503, attempt: 1, level: E5},
			{at: 10, counter: capture.FromEither, n: 3, status: 503, parent: 1, attempt: 2, level: E5},
			{at: 70, counter: capture.FromEither, n: 4, status: 200, parent: 2, attempt: 3, level: E5},
		}},
		{"a layer that does not count below one that does", []step{
			{at: 0, counter: capture.EnvoyAttempts, n: 1, passed: 8, status: 503, attempt: 1, level: E2},
			{at: .01, counter: capture.EnvoyAttempts, n: 1, passed: 9, status: 503, attempt: 1, level: E2},
			{at: .2, counter: capture.EnvoyAttempts, n: 2, passed: 8, status: 503, parent: 1, attempt: 2, level: E5},
			{at: .3, counter: capture.EnvoyAttempts, n: 2, passed: 9, status: 503, parent: 2, attempt: 2, level: E5},
			{at: .4, counter: capture.EnvoyAttempts, n: 2, passed: 8, status: 503, parent: 3, attempt: 3, level: E4},
			{at: .5, counter: capture.EnvoyAttempts, n: 3, passed: 8, status: 503, parent: 5, attempt: 4, level: E5},
			{at: .6, counter: capture.EnvoyAttempts, n: 3, passed: 8, status: 200, parent: 6, attempt: 5, level: E4},
			{at: .7, counter: capture.EnvoyAttempts, n: 2, passed: 9, status: 200, parent: 4, attempt: 3, level: E4},
		}},
		{"the same without an id", []step{
			{at: 0, counter: capture.EnvoyAttempts, n: 1, status: 503, attempt: 1, level: E2},
			{at: .1, counter: capture.EnvoyAttempts, n: 2, status: 503, parent: 1, attempt: 2, level: E5},
			{at: .2, counter: capture.EnvoyAttempts, n: 2, status: 503, parent: 2, attempt: 3, level: E1},
			{at: .3, counter: capture.EnvoyAttempts, n: 3, status: 503, parent: 3, attempt: 4, level: E5},
			{at: .4, counter: capture.EnvoyAttempts, n: 3, status: 200, parent: 4, attempt: 5, level: E1},
		}},
		{"one id from many addresses, with another body", []step{
			{at: 0, idem: 5, addr: 1, body: 7, status: 503, attempt: 1, level: E4},
			{at: 9, idem: 5, addr: 2, body: 8, status: 503, parent: 1, attempt: 2, level: E4},
			{at: 60, idem: 5, addr: 1, body: 9, status: 200, parent: 2, attempt: 3, level: E4},
		}},
		{"one id of two strangers", []step{
			{at: 0, idem: 5, addr: 1, cred: 3, status: 503, attempt: 1, level: E4},
			{at: 1, idem: 5, addr: 2, cred: 4, status: 503, attempt: 1, level: E4},
			{at: 2, idem: 5, addr: 1, cred: 3, status: 503, parent: 1, attempt: 2, level: E4},
			{at: 3, idem: 5, addr: 2, cred: 4, status: 503, parent: 2, attempt: 2, level: E4},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := newTraffic(1)
			for _, s := range c.steps {
				if s.addr == 0 {
					s.addr = 9
				}
				a := ask{start: s.at, end: s.at + .02, op: 1, tmpl: 1, addr: s.addr, cred: s.cred, body: s.body, passed: s.passed, status: s.status, hint: -1, idem: s.idem, counter: s.counter, n: s.n}
				if s.relay > 0 {
					a.relay = capture.Attempt{N: s.relay, Counter: capture.EnvoyAttempts}
				}
				tr.add(a)
			}
			p := play(Options{}, tr.asks).run(0)
			for i, s := range c.steps {
				l := p.links[i]
				if l.Parent != uint64(s.parent) || l.Attempt != s.attempt || l.Level != s.level && s.level != E2 {
					t.Errorf("step %d: parent %d, attempt %d, level E%d; want %d, %d, E%d", i+1, l.Parent, l.Attempt, l.Level, s.parent, s.attempt, s.level)
				}
			}
		})
	}
}

// A link shows the failure it follows.
func TestLinkShowsParent(t *testing.T) {
	tr := newTraffic(1)
	tr.add(ask{start: 1, end: 1.25, op: 1, tmpl: 1, addr: 9, status: 429, hint: 2})
	tr.add(ask{start: 3.25, end: 3.5, op: 1, tmpl: 1, addr: 9, status: 200, hint: -1})
	p := play(Options{}, tr.asks).run(0)
	l := p.links[1]
	if l.Parent != 1 || l.Gap != 2*second || l.ParentStatus != 429 || l.ParentReason != capture.Throttle || l.ParentHint.Wait != 2*second ||
		l.ParentStart != nanos(1) || l.ParentEnd != nanos(1.25) || l.ParentOutcome != capture.Answered || l.RootClient != 9 {
		t.Errorf("%+v", l)
	}
}

// A credential that is changed after each refusal is one chain still; clients
// with credentials of their own behind one address are not.
func TestRotation(t *testing.T) {
	tr := newTraffic(1)
	for c := range 40 {
		at := tr.uniform(0, 60)
		for k := range 5 {
			parent := -1
			if k > 0 {
				parent = len(tr.asks) - 1
			}
			tr.add(ask{start: at, end: at + .05, op: uint64(c), tmpl: 1, addr: 1, cred: uint64(100 + 10*c + k), status: 429, hint: -1, parent: parent, attempt: int32(k + 1)})
			at += .05 + tr.uniform(.9, 1.1)
		}
	}
	tr.sort()
	s := play(Options{}, tr.asks).run(0).score()
	s.log(t, "rotation")
	if s.f1() < .95 {
		t.Errorf("rotation: pair F1 %.3f", s.f1())
	}
}

// The answer of a request still in flight cannot be what a second one follows.
func TestNoOverlap(t *testing.T) {
	tr := newTraffic(1)
	tr.add(ask{start: 1, end: 3, op: 1, tmpl: 1, addr: 9, status: 503, hint: -1})
	tr.add(ask{start: 2, end: 2.1, op: 1, tmpl: 1, addr: 9, status: 503, hint: -1})
	p := play(Options{}, tr.asks).run(0)
	if p.links[1].Parent != 0 {
		t.Errorf("parent %d", p.links[1].Parent)
	}
}
