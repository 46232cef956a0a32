package stub_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"stormwatch/sim/stub"
)

// start begins a stub that refuses call-a for ever and call-b once.
func start(t *testing.T, refusal stub.Reply) (*stub.Server, *bytes.Buffer) {
	t.Helper()
	var capture bytes.Buffer
	s, err := stub.Start(&capture, stub.Options{
		Calls: map[string]int{forever: -1, served: 1}, Refusal: refusal,
		Success: stub.Reply{Status: 200, Body: strings.Repeat("x", 5000)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, &capture
}

func fetch(c *http.Client, url string) (status int, body string, err error) {
	resp, err := c.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// What is recorded is what was said, over HTTP/1.1 and HTTP/2, on a connection
// that is kept and on those of clients that come at once.
func TestRecordsWhatIsSaid(t *testing.T) {
	for _, version := range []string{"HTTP/1.1", "HTTP/2.0"} {
		s, pcap := start(t, stub.Reply{Status: 503, Body: "busy", Header: map[string]string{"Retry-After": "7"}})
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetHTTP1(version == "HTTP/1.1")
		transport.Protocols.SetUnencryptedHTTP2(version == "HTTP/2.0")
		c := &http.Client{Transport: transport, Timeout: 10 * time.Second}
		for i, want := range []struct {
			path   string
			status int
		}{{"/x/call-a", 503}, {"/x/call-a", 503}, {"/call-b?n=1", 503}, {"/call-b?n=1", 200}, {"/other", 404}} {
			status, body, err := fetch(c, "http://"+s.Addr()+want.path)
			if err != nil || status != want.status || status == 200 && len(body) != 5000 {
				t.Errorf("%s, request %d: status %d, %d bytes, %v; want %d", version, i+1, status, len(body), err, want.status)
			}
		}
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				if status, _, err := fetch(c, "http://"+s.Addr()+"/call-a"); status != 503 {
					t.Errorf("%s: %d, %v", version, status, err)
				}
			})
		}
		wait.Wait()
		said, err := s.Close()
		if err != nil || len(said) != 13 {
			t.Fatalf("%s: %d answers, %v", version, len(said), err)
		}
		rows, _, _ := read(t, pcap.Bytes())
		if len(rows) != len(said) {
			t.Fatalf("%s: %d requests read, want %d", version, len(rows), len(said))
		}
		for i, r := range rows {
			if r.call != said[i].Call || r.hint.Usable() != said[i].Refused || r.hint.Usable() && r.hint.Wait != 7e9 {
				t.Errorf("%s, request %d: read as %+v, answered %+v", version, i+1, r, said[i])
			}
		}
	}
}

// A capture that cannot be written is an error, at the start or at the end.
func TestTellsThatTheCaptureIsLost(t *testing.T) {
	if _, err := stub.Start(full(0), stub.Options{}); err == nil {
		t.Error("a header that could not be written is no error")
	}
	s, err := stub.Start(full(1), stub.Options{Calls: map[string]int{served: 0}, Success: stub.Reply{Status: 200}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := fetch(http.DefaultClient, "http://"+s.Addr()+"/call-b"); err != nil {
		t.Error(err)
	}
	if _, err := s.Close(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v, want the writer's error", err)
	}
}

// full returns a writer that takes n writes.
func full(n int) io.Writer { return &filling{n} }

type filling struct{ left int }

func (f *filling) Write(b []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}
