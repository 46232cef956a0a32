package detect

import (
	"context"
	"errors"
	"io"
	"testing"

	"stormwatch/rules"
	"stormwatch/sim"
)

// busy is a crowd of a few hundred clients of three kinds at about 700 requests
// a second, most of them refused.
const busy = `
name: busy
seed: 1
start: 2026-03-02T03:10:00Z
duration: 40s
server: {limiter: {limit: 250, window: 1s, service: 20ms}, hint: 1s..3s}
groups:
  - {name: herd, count: 150, agent: herd/1, policy: fixed base=1s attempts=8, paths: ["/v1/export/{id}"], demand: [{rate: 0.6}]}
  - {name: deaf, count: 100, agent: deaf/1, policy: full-jitter base=100ms cap=1s attempts=8, paths: ["/v1/items/{id}", /v1/prices], demand: [{rate: 2}]}
  - {name: calm, count: 100, agent: calm/1, policy: hint-floor base=500ms attempts=4, paths: ["/v1/stock/{id}"], demand: [{rate: 0.6}]}
`

// recorded seals the run of a scenario.
func recorded(tb testing.TB, text string, o Options) *Recording {
	tb.Helper()
	sc, err := sim.Parse([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	if o.Rules, err = rules.Load(); err != nil {
		tb.Fatal(err)
	}
	rec := NewRecording(o)
	tb.Cleanup(func() { _ = rec.Close() })
	src := sim.Run(sc).Source("busy")
	if err := src.Run(context.Background(), rec.Inlet(src.Info()).Take); err != nil {
		tb.Fatal(err)
	}
	if err := rec.Seal(); err != nil {
		tb.Fatal(err)
	}
	return rec
}

// loop feeds an engine the same records over and over, each time later.
type loop struct {
	e       *engine
	recs    []record
	targets [][]byte
	shift   int64
	span    int64
	i       int
}

func newLoop(tb testing.TB, o Options) *loop {
	tb.Helper()
	rec := recorded(tb, busy, o)
	l := &loop{e: newEngine(rec.opt, &rec.names.roster), span: floor(rec.end-rec.start) + tick}
	l.e.sources = sourcesOf(rec.inlets, rec.standings)
	for c := (&cursor{s: rec.spool}); ; c.i++ {
		r, err := c.peek()
		if errors.Is(err, io.EOF) {
			return l
		}
		if err != nil {
			tb.Fatal(err)
		}
		l.recs = append(l.recs, *r)
		l.targets = append(l.targets, append([]byte(nil), c.cur.target(r)...))
	}
}

func (l *loop) feed(n int) {
	for range n {
		r := l.recs[l.i]
		r.Start += l.shift
		r.End += l.shift
		l.e.land(l.e.take(&r, l.targets[l.i], identify(&r, l.targets[l.i])))
		if l.i++; l.i == len(l.recs) {
			l.i, l.shift = 0, l.shift+l.span
		}
	}
}

// BenchmarkExchange measures an exchange from its record to the judged state, in
// steady state: ns and allocations an operation are those of one exchange.
func BenchmarkExchange(b *testing.B) {
	for _, shards := range []int{1, 2} {
		name := "one shard"
		if shards > 1 {
			name = "two shards"
		}
		b.Run(name, func(b *testing.B) {
			l := newLoop(b, Options{Shards: shards})
			l.feed(2 * len(l.recs))
			b.ReportAllocs()
			b.ResetTimer()
			l.feed(b.N)
		})
	}
}

// The path of an exchange allocates nothing. What rules allocate, who write
// sentences, belongs to seconds and to clients, whatever the traffic.
func TestExchangesDoNotAllocate(t *testing.T) {
	for name, judged := range map[string]bool{"without rules": false, "with rules": true} {
		l := newLoop(t, Options{})
		if !judged {
			l.e.judge = newJudge(nil)
		}
		l.feed(2 * len(l.recs))
		n := len(l.recs)
		per := testing.AllocsPerRun(1, func() { l.feed(n) }) / float64(n)
		t.Logf("%s: %.4f allocations an exchange", name, per)
		if !judged && per > .02 {
			t.Errorf("%.4f allocations an exchange", per)
		}
	}
}
