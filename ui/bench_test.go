package ui

import (
	"testing"
	"time"
)

// One second of the console at ten frames per second, each with a new snapshot of
// 500 clients, on a screen of 200x60; cpu% is its share of a core. What it costs
// does not depend on the traffic: a snapshot is bounded.
func BenchmarkSecondOfFrames(b *testing.B) {
	s := stormSnapshot()
	for i := len(s.Clients); i < 500; i++ {
		s.Clients = append(s.Clients, stormClient(i))
	}
	f := live(s)
	m := open(f, Options{Color: "always", Theme: "dark"}, 200, 60)
	b.ReportAllocs()
	started := time.Now()
	for b.Loop() {
		for range 10 {
			next := *f.snap
			next.Seq++
			f.snap = &next
			m.c.refresh()
			_ = m.View()
		}
	}
	b.ReportMetric(100*time.Since(started).Seconds()/float64(b.N), "cpu%")
}
