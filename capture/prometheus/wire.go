package prometheus

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"stormwatch/capture"
)

// wire is the http.RoundTripper under every query. It makes one request of one
// call, bounds what comes back, and sends nothing while the server has asked for
// silence: a tool that watches retry storms must not feed one.
type wire struct {
	base  http.RoundTripper
	now   func() time.Time
	limit int64     // bytes of a decoded body
	until time.Time // nothing is sent before
	floor time.Duration
	sent  int
}

const (
	maxBody  = 16 << 20        // 11,000 points of 30 codes are 10 MB
	maxPause = 5 * time.Minute // a longer wait is taken as that: the picture would be history
)

// pausedError is given instead of a request while the server wants none.
type pausedError struct{ until time.Time }

func (e *pausedError) Error() string {
	return "paused by the server until " + e.until.UTC().Format(time.TimeOnly) + " UTC"
}

// newTransport dials anew for each request and speaks HTTP/1.1 only: net/http
// sends a request again by itself when a kept connection turns out to be closed,
// or when an HTTP/2 server drops a stream. At one query an interval, dialling
// costs nothing.
func newTransport() *http.Transport {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DisableKeepAlives:      true,
		Protocols:              p,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	now := w.now()
	if now.Before(w.until) {
		return nil, &pausedError{w.until}
	}
	req = req.Clone(req.Context())
	req.GetBody = nil // with these two net/http would send it again by itself
	req.Header.Del("Idempotency-Key")
	req.Header.Del("X-Idempotency-Key")
	w.sent++
	resp, err := w.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	w.floor = 0
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		w.obey(resp.Header, w.now())
	}
	resp.Body = &boundedBody{body: resp.Body, left: w.limit}
	return resp, nil
}

// obey keeps the wait that the server names.
func (w *wire) obey(h http.Header, now time.Time) {
	value := h.Get("Retry-After")
	if value == "" {
		return
	}
	date := int64(0)
	if t, err := http.ParseTime(h.Get("Date")); err == nil {
		date = t.Unix()
	}
	hint := capture.ParseRetryAfter([]byte(value), date, now.Unix())
	if hint.Usable() {
		w.floor = min(time.Duration(hint.Wait), maxPause)
		w.until = now.Add(w.floor)
	}
}

// boundedBody fails, rather than ends, where a body is too large.
type boundedBody struct {
	body io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n + int(b.left), errTooLarge
	}
	return n, err
}

// Close implements io.Closer.
func (b *boundedBody) Close() error { return b.body.Close() }

// StatusError is an answer that is no success. Wait is what the server named in
// Retry-After, clamped to five minutes; 0 if it named none.
type StatusError struct {
	Code    int
	Message string
	Wait    time.Duration
}

// Error implements error.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("status %d %s", e.Code, http.StatusText(e.Code))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Final tells whether asking again cannot help: every 4xx but 408, 425 and 429.
func (e *StatusError) Final() bool {
	switch e.Code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return e.Code < 500
}
