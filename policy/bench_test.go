package policy

import (
	"testing"
	"time"
)

func BenchmarkObserve(b *testing.B) {
	waits := make([]Wait, 1024)
	for i := range waits {
		n := 1 + i%5
		waits[i] = Wait{Retry: n, Wait: time.Duration(300+i%200) * time.Millisecond << (n - 1), Prev: time.Duration(300+i%173) * time.Millisecond << n >> 2, Resolution: time.Microsecond}
	}
	var e Evidence
	for _, w := range waits {
		e.Observe(w)
	}
	b.ReportAllocs()
	for i := range b.N {
		e.Observe(waits[i&1023])
	}
}

func BenchmarkReading(b *testing.B) {
	var e Evidence
	chains(&e, 20, time.Second, 2*time.Second, 4*time.Second)
	b.ReportAllocs()
	for range b.N {
		e.Reading()
	}
}

// The tables of a class are made when its first wait is seen.
func BenchmarkTables(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		s := newScorer(libraries)
		for n := 1; n <= retries; n++ {
			s.table(0, n)
		}
	}
}
