package prometheus

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// One call is one request: nothing below sends it again.
func TestWireSendsOnce(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		if r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != "" {
			t.Error("an idempotency key was sent: net/http would resend")
		}
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = c.Close()
		}
	}))
	defer srv.Close()
	w := &wire{base: newTransport(), now: time.Now, limit: 100}
	req, _ := http.NewRequest(http.MethodPost, srv.URL, strings.NewReader("a=b"))
	req.Header.Set("Idempotency-Key", "1")
	req.Header.Set("X-Idempotency-Key", "1")
	if _, err := w.RoundTrip(req); err == nil || hits.Load() != 1 || w.sent != 1 {
		t.Errorf("error %v, %d hits, %d sent", err, hits.Load(), w.sent)
	}
	if req.Header.Get("Idempotency-Key") == "" || req.GetBody == nil {
		t.Error("the caller's request was changed")
	}
}

func TestWireBoundsBodies(t *testing.T) {
	for size, tooLarge := range map[int]bool{100: false, 101: true, 1 << 20: true} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.Repeat("x", size))
		}))
		w := &wire{base: newTransport(), now: time.Now, limit: 100}
		resp, err := (&http.Client{Transport: w}).Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		b, err := readAll(resp.Body, 1<<30)
		_ = resp.Body.Close()
		if errors.Is(err, errTooLarge) != tooLarge || !tooLarge && len(b) != size {
			t.Errorf("%d bytes: read %d, error %v", size, len(b), err)
		}
		srv.Close()
	}
}

func TestWireSendsNothingWhilePaused(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer srv.Close()
	at := time.Unix(origin, 0)
	w := &wire{base: newTransport(), now: func() time.Time { return at }, limit: 100}
	c := &http.Client{Transport: w}
	for _, step := range []struct {
		after time.Duration
		hits  int32
	}{{0, 1}, {time.Second, 1}, {6999 * time.Millisecond, 1}, {7 * time.Second, 2}} {
		at = time.Unix(origin, 0).Add(step.after)
		if resp, err := c.Get(srv.URL); err == nil {
			_ = resp.Body.Close()
		}
		if hits.Load() != step.hits {
			t.Errorf("after %v: %d requests, want %d", step.after, hits.Load(), step.hits)
		}
	}
}
