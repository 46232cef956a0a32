package packet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

// What has been read ahead stays as it was until it has been dealt with, wherever
// parcels and buffers end: packets of such sizes that both end at once, more of them
// in a buffer, and fewer. Every request is told, as it was sent.
func TestReadAhead(t *testing.T) {
	const n = 6000
	for _, size := range []int{windowBytes/parcelPackets - 3, windowBytes / parcelPackets, windowBytes/parcelPackets + 1, 150, 1400} {
		m := newMade(t)
		c := m.dial()
		for i := range n {
			at := base + int64(i+1)*ms
			ask := fmt.Sprintf("GET /%d HTTP/1.1\r\nX: ", i)
			pad := size - 16 - 54 - len(ask) - 4 // record, Ethernet, IP and TCP
			c.Send(at, true, []byte(ask+strings.Repeat("x", pad)+"\r\n\r\n"))
			if i%7 == 0 {
				c.Send(at+ms/2, false, reply(429, ""))
			} else {
				c.Send(at+ms/2, false, reply(200, ""))
			}
		}
		s, err := Open("x", bytes.NewReader(m.bytes()), Options{Secrets: secrets})
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		err = s.Run(context.Background(), func(b *capture.Batch) error {
			time.Sleep(time.Millisecond) // the reader is ahead
			for _, x := range b.Exchanges {
				want := uint16(200)
				if i%7 == 0 {
					want = 429
				}
				if got := string(b.Bytes(x.Target)); got != fmt.Sprintf("/%d", i) || x.Status != want {
					t.Fatalf("packets of %d bytes: exchange %d is %s %d", size, i, got, x.Status)
				}
				i++
			}
			return nil
		})
		if err != nil || i != n {
			t.Errorf("packets of %d bytes: %d exchanges, %v", size, i, err)
		}
	}
}

// A sink that fails, or a context that ends, ends the reading, and its goroutine.
func TestUnwanted(t *testing.T) {
	_, file := fleet(t, 200, 50)
	full := errors.New("full")
	s, err := Open("x", bytes.NewReader(file), Options{Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), func(*capture.Batch) error { return full }); !errors.Is(err, full) {
		t.Errorf("a sink that fails: %v", err)
	}
	if s, err = Open("x", bytes.NewReader(file), Options{Secrets: secrets}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n := 0
	if err := s.Run(ctx, func(b *capture.Batch) error { n += len(b.Exchanges); return nil }); err != nil || n == 200*50 {
		t.Errorf("a context that has ended: %d exchanges, %v", n, err)
	}
}
