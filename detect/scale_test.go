package detect

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"stormwatch/capture"
	"stormwatch/rules"
)

// A million clients and ten million exchanges, nine of ten of which fail, go through
// the engine in bounded memory, and what leaves early is counted.
func TestScale(t *testing.T) {
	if os.Getenv("STORMWATCH_QUALITY") != "1" {
		t.Skip("ten million exchanges take a while: set STORMWATCH_QUALITY=1")
	}
	const clients, exchanges, perSecond = 1_000_000, 10_000_000, 10_000
	set, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	rec := NewRecording(Options{Once: true, Rules: set, TempDir: t.TempDir(), Memory: 16 << 20})
	defer func() { _ = rec.Close() }()
	in := rec.Inlet(capture.Info{Name: "made", Kind: "capture", Vantage: "made"})
	base, peak, began := held(), int64(0), time.Now()
	names := capture.NewInterner(1<<10, 1<<20)
	health := capture.Health{Unit: "packets", Resolution: 1, SeesHints: true, SeesPorts: true}
	b := capture.Batch{Names: names, Health: &health}
	get, host, agent := names.InternString("GET"), names.InternString("api.example.com"), names.InternString("app/1")
	start := time.Date(2026, 3, 2, 3, 10, 0, 0, time.UTC).UnixNano()
	for i := 0; i < exchanges; {
		b.Exchanges, b.Text = b.Exchanges[:0], b.Text[:0]
		for range 1 << 12 {
			if i == exchanges {
				break
			}
			x := capture.Exchange{Method: get, Host: host, Agent: agent, Status: 503, Reason: capture.Overload, Outcome: capture.Answered}
			x.Start = start + int64(i)*(1e9/perSecond)
			x.End = x.Start + 2e6
			if i%10 == 0 {
				x.Status, x.Reason = 200, capture.OK
			}
			x.Src.IP = [16]byte{10: 0xff, 11: 0xff, 12: 10}
			binary.BigEndian.PutUint32(x.Src.IP[12:], 10<<24|uint32(i%clients))
			off := len(b.Text)
			b.Text = fmt.Appendf(b.Text, "/v1/items/%d", i%977)
			x.Target = capture.Span{Off: uint32(off), Len: uint32(len(b.Text) - off)}
			x.At = capture.Provenance{A: uint64(i + 1)}
			b.Exchanges = append(b.Exchanges, x)
			i++
		}
		b.Watermark = b.Exchanges[len(b.Exchanges)-1].Start
		b.Done = float64(i) / exchanges
		health.Read, health.Used = uint64(i), uint64(i)
		if err := in.Take(&b); err != nil {
			t.Fatal(err)
		}
		if i%(1<<20) < 1<<12 {
			peak = max(peak, held()-base)
		}
	}
	if err := rec.Seal(); err != nil {
		t.Fatal(err)
	}
	p, err := NewReplay(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.RunAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	s := p.Snapshot(View{Whole: true})
	left := uint64(0)
	for _, k := range s.Sources[0].Health.Bounds {
		left += k.Count
	}
	t.Logf("%d exchanges of %d clients in %.1f s (%.0f ns each); %d MiB held at most, %d bytes a client with its open failures; %d failures and keys left early; a client is %d bytes",
		s.Totals.Exchanges, s.ClientCount, took.Seconds(), float64(took.Nanoseconds())/exchanges, peak>>20, peak/clients, left, unsafe.Sizeof(client{}))
	if s.Totals.Exchanges != exchanges || s.ClientCount != clients {
		t.Errorf("%d exchanges of %d clients", s.Totals.Exchanges, s.ClientCount)
	}
	if peak > 2<<30 {
		t.Errorf("%d MiB held", peak>>20)
	}
	if left == 0 {
		t.Error("a million failures were open at once, and nothing is told to have left early")
	}
}

func held() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
