package packet

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"stormwatch/capture"
)

// followed reads a growing file in the background.
type followed struct {
	t      *testing.T
	path   string
	cancel context.CancelFunc
	ended  chan error
	mu     sync.Mutex
	r      result
}

func follow(t *testing.T, b []byte) *followed {
	f := &followed{t: t, path: filepath.Join(t.TempDir(), "grows.pcap"), ended: make(chan error, 1)}
	f.write(os.O_CREATE, b)
	ctx, cancel := context.WithCancel(t.Context())
	f.cancel = cancel
	in, err := Follow(ctx, f.path)
	if err != nil {
		t.Fatal(err)
	}
	in.(*follower).every, in.(*follower).grace = time.Millisecond, 10*time.Millisecond
	s, err := Open("grows", in, Options{Live: true, Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer in.Close()
		f.ended <- s.Run(ctx, func(b *capture.Batch) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			return collect(&f.r)(b)
		})
	}()
	return f
}

func (f *followed) write(flag int, b []byte) {
	f.t.Helper()
	file, err := os.OpenFile(f.path, os.O_WRONLY|flag, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := file.Write(b); err != nil {
		f.t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		f.t.Fatal(err)
	}
}

// until waits for exchanges.
func (f *followed) until(want ...string) {
	f.t.Helper()
	var got []string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		f.mu.Lock()
		got = got[:0]
		for _, x := range f.r.all {
			if x.Outcome != capture.Pending {
				got = append(got, x.String())
			}
		}
		f.mu.Unlock()
		if slices.Equal(got, want) {
			return
		}
	}
	f.t.Fatalf("read %q, want %q", got, want)
}

func (f *followed) end() capture.Health {
	f.t.Helper()
	f.cancel()
	select {
	case err := <-f.ended:
		if err != nil {
			f.t.Error(err)
		}
	case <-time.After(20 * time.Second):
		f.t.Fatal("the context ended, the source did not")
	}
	return f.r.health
}

// A record that is there in part waits for its rest, in both formats.
func TestFollowPartialRecords(t *testing.T) {
	b := two(t)
	_, recs := records(b)
	upTo := len(b)
	for _, r := range recs[5:] { // the second request and what follows
		upTo -= len(r)
	}
	ng := asNG(little, b)
	for name, c := range map[string]struct {
		b  []byte
		at int
	}{"pcap": {b, upTo}, "pcapng": {ng, upTo + len(ng) - len(b) - 16*5}} { // 16 bytes more a record, and 5 of them to come
		t.Run(name, func(t *testing.T) {
			f := follow(t, c.b[:10])
			f.write(os.O_APPEND, c.b[10:c.at+7])
			f.until("GET /a 429 answered")
			f.write(os.O_APPEND, c.b[c.at+7:c.at+40])
			time.Sleep(10 * time.Millisecond)
			f.until("GET /a 429 answered")
			f.write(os.O_APPEND, c.b[c.at+40:])
			f.until("GET /a 429 answered", "GET /b 200 answered")
			if h := f.end(); h.Read != 10 || h.Truncated {
				t.Errorf("health %+v", h)
			}
		})
	}
}

// A program that begins anew in the same file, or in another of the same name, is
// followed there; what it had not finished is counted.
func TestFollowAnew(t *testing.T) {
	b := two(t)
	t.Run("cut", func(t *testing.T) {
		f := follow(t, b[:len(b)-5])
		f.until("GET /a 429 answered", "GET /b 200 answered")
		f.write(os.O_TRUNC, b[:24])
		time.Sleep(20 * time.Millisecond)
		f.write(os.O_APPEND, later(b)[24:])
		f.until("GET /a 429 answered", "GET /b 200 answered", "GET /a 429 answered", "GET /b 200 answered")
		if h := f.end(); h.Read != 20 || h.SkippedTotal() != 1 || h.Skipped[0].Reason != skipBroken {
			t.Errorf("health %+v", h)
		}
	})
	t.Run("another link type", func(t *testing.T) {
		f := follow(t, b)
		f.until("GET /a 429 answered", "GET /b 200 answered")
		f.write(os.O_TRUNC, nil)
		time.Sleep(20 * time.Millisecond)
		f.write(0, variant(later(b), little, magicNanos, linkRaw, with()))
		f.until("GET /a 429 answered", "GET /b 200 answered", "GET /a 429 answered", "GET /b 200 answered")
		f.end()
	})
	t.Run("renamed", func(t *testing.T) {
		f := follow(t, b)
		f.until("GET /a 429 answered", "GET /b 200 answered")
		if err := os.Rename(f.path, f.path+".1"); err != nil {
			t.Fatal(err)
		}
		f.write(os.O_CREATE, later(b))
		f.until("GET /a 429 answered", "GET /b 200 answered", "GET /a 429 answered", "GET /b 200 answered")
		f.end()
	})
}

// later is the same capture an hour on.
func later(b []byte) []byte {
	head, recs := records(b)
	out := slices.Clone(head)
	for _, r := range recs {
		r = slices.Clone(r)
		little.PutUint32(r, little.Uint32(r)+3600)
		out = append(out, r...)
	}
	return out
}

func TestFollowMissingFile(t *testing.T) {
	if _, err := Follow(t.Context(), filepath.Join(t.TempDir(), "none.pcap")); err == nil {
		t.Error("no error for a file that is not there")
	}
}

// A follower that is closed down while it waits gives the end of its input.
func TestFollowEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.pcap")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, err := Follow(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	time.AfterFunc(10*time.Millisecond, cancel)
	if n, err := in.Read(make([]byte, 10)); n != 0 || err != io.EOF {
		t.Errorf("%d bytes, error %v", n, err)
	}
}
