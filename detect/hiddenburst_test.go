package detect

import (
	"testing"

	"stormwatch/detect/chain"
)

// What a clock shows at one moment may be one attempt that an inner layer repeats: nine
// moments of three are not more than ten attempts, eleven of them are; nor are twenty
// in a moment, but for hundreds no layer can be meant. A client that counts its
// attempts is believed, and a finer clock shows them.
func TestEndlessByTheClock(t *testing.T) {
	moments := func(n, each int, apart int64) (starts []int64) {
		for i := range n * each {
			starts = append(starts, int64(i/each)*2*tick+int64(i%each)*apart)
		}
		return starts
	}
	tests := []struct {
		what   string
		starts []int64
		clock  int64
		counts bool
		want   int // attempt at which it is told; 0 not at all
	}{
		{"nine of three", moments(9, 3, 0), tick, false, 0},
		{"eleven of three", moments(11, 3, 0), tick, false, 31},
		{"one by one", moments(20, 1, 0), tick, false, 11},
		{"twenty at once", moments(1, 20, 0), tick, false, 0},
		{"hundreds at once", moments(1, 200, 0), tick, false, 61},
		{"twenty at once, counted", moments(1, 20, 0), tick, true, 11},
		{"twenty shortly after another", moments(1, 20, tick/10), 1000, false, 11},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			s := chain.NewSet(chain.Options{})
			m := s.Shard(0)
			var c endlessChains
			told := 0
			for i, at := range tt.starts {
				q := chain.Request{Seq: uint64(i + 1), Start: at, Op: 1, Template: 2, Addr: 3, IP: 3, Client: 4, Clock: tt.clock, Idem: 9}
				if tt.counts {
					q.N = uint16(i + 1)
				}
				link := m.Request(&q)
				if link.Attempt != int32(i+1) {
					t.Fatalf("attempt %d is taken for %d", i+1, link.Attempt)
				}
				link.Confidence = 1
				if c.note(&link, at, &layering{}) {
					told = i + 1
				}
				m.Outcome(&chain.Result{Seq: q.Seq, Op: 1, Addr: 3, Start: at, End: at, Status: 503, Failed: true, Link: link, Client: 4, Idem: 9, Template: 2, IP: 3, N: q.N})
			}
			if told != tt.want {
				t.Errorf("told at attempt %d, want %d", told, tt.want)
			}
		})
	}
}
