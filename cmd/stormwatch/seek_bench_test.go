package main

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"stormwatch/detect"
	"stormwatch/sim"
)

// long is twenty minutes of a crowd at about 500 requests a second, with a storm
// in the middle: some 600,000 exchanges of 2,000 clients.
const long = `
name: long
seed: 1
start: 2026-03-02T03:00:00Z
duration: 20m
server: {limiter: {limit: 500, window: 1s, service: 20ms}, hint: 1s..3s}
groups:
  - {name: calm, count: 1900, agent: calm/1, policy: hint-floor base=500ms attempts=4, paths: ["/v1/stock/{id}"], demand: [{rate: 0.2}]}
  - {name: herd, count: 100, agent: herd/1, policy: fixed base=1s attempts=8, paths: ["/v1/export/{id}"], demand: [{from: 9m, to: 11m, rate: 3}]}
`

// BenchmarkSeek measures how long it takes to go to a moment chosen blindly in a
// long recording, back half of the time: from the nearest checkpoint on it is
// judged again; on, all that lies between is.
func BenchmarkSeek(b *testing.B) {
	sc, err := sim.Parse([]byte(long))
	if err != nil {
		b.Fatal(err)
	}
	set := builtin(b)
	rec := detect.NewRecording(set)
	defer rec.Close()
	src := sim.Run(sc).Source("long")
	if err := src.Run(b.Context(), rec.Inlet(src.Info()).Take); err != nil {
		b.Fatal(err)
	}
	if err := rec.Seal(); err != nil {
		b.Fatal(err)
	}
	r, err := detect.NewReplay(rec)
	if err != nil {
		b.Fatal(err)
	}
	whole := cpu()
	if err := r.RunAll(b.Context()); err != nil {
		b.Fatal(err)
	}
	whole = cpu() - whole
	start, end := r.Span()
	rng := rand.New(rand.NewPCG(1, 2))
	var back, on seeks
	for b.Loop() {
		to := start + rng.Int64N(end-start)
		way := &on
		if to < r.Now() {
			way = &back
		}
		began := cpu()
		if err := r.Seek(b.Context(), to); err != nil {
			b.Fatal(err)
		}
		way.note(cpu() - began)
	}
	b.ReportMetric(float64(r.Snapshot(detect.View{Whole: true}).Totals.Exchanges), "exchanges")
	b.ReportMetric(milliseconds(whole), "cpu-ms/whole")
	back.report(b, "back")
	on.report(b, "on")
}

// seeks sums up what seeks cost.
type seeks struct {
	sum, worst time.Duration
	n          int
}

func (s *seeks) note(d time.Duration) { s.sum, s.worst, s.n = s.sum+d, max(s.worst, d), s.n+1 }

func (s *seeks) report(b *testing.B, way string) {
	b.ReportMetric(milliseconds(s.sum)/float64(max(s.n, 1)), "cpu-ms/"+way)
	b.ReportMetric(milliseconds(s.worst), "worst-cpu-ms/"+way)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// cpu is the time that this process has worked: on a machine that does other work
// it tells more than the wall clock.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
