package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"stormwatch/detect"
)

// A stream that has ended still answers what is asked of it: another client, a filter.
func TestEndedStreamAnswers(t *testing.T) {
	var log strings.Builder
	for i := range 400 {
		fmt.Fprintf(&log, "10.0.0.%d - - [30/Nov/2026:08:11:06 +0000] \"GET /a HTTP/1.1\" 200 25 \"-\" \"agent/1\" 0.004 %d.%03d\n", i%9+1, 1796006466+i/10, i%10*100)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	st := &streams{in: strings.NewReader(log.String()), out: io.Discard, err: io.Discard}
	f := &flags{clientBy: "auto", perspective: "auto", color: "never", shards: 1}
	o, err := f.options(st)
	if err != nil {
		t.Fatal(err)
	}
	ins, err := f.openChecked(ctx, st, []string{"-"}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(ins)
	p := newLivePlayer(o, ins)
	if err := p.run(ctx); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.linger(ctx) }()
	asked := func(what string, v detect.View, shows func(*detect.Snapshot) bool) {
		p.Want(v)
		for began := time.Now(); !shows(p.Snapshot()); time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > 20*time.Second {
				t.Fatalf("%s: not answered: %+v", what, p.Snapshot().Filtered)
			}
		}
	}
	one := func(c *detect.Client) bool { return c.Label == "10.0.0.4" }
	asked("a filter", detect.View{FilterName: "client:10.0.0.4", Filter: one, Lasting: true}, func(s *detect.Snapshot) bool {
		return s.Filtered.Whole && s.Filtered.Of == 9 && s.Totals.Exchanges == 45
	})
	whole, screen, err := p.Report()
	if err != nil || whole.Totals.Exchanges != 45 || screen.Totals.Exchanges != 45 {
		t.Errorf("the export is of %d and %d requests: %v", whole.Totals.Exchanges, screen.Totals.Exchanges, err)
	}
	asked("none", detect.View{}, func(s *detect.Snapshot) bool { return !s.Filtered.Whole && s.Totals.Exchanges == 400 })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
