package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
)

// program skips a test unless the programs of the machine are wanted.
func program(t *testing.T, name string) string {
	t.Helper()
	if os.Getenv("STORMWATCH_E2E") == "" {
		t.Skip("STORMWATCH_E2E is not set")
	}
	for _, path := range []string{name, "/usr/sbin/" + name} {
		if p, err := exec.LookPath(path); err == nil {
			return p
		}
	}
	t.Skip(name + " is not installed")
	return ""
}

// broken is an upstream that takes connections and hangs up; it counts them.
func broken(t *testing.T) (addr string, n *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	n = &atomic.Int64{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.Add(1)
			_ = c.Close()
		}
	}()
	return l.Addr().String(), n
}

// caller is a client with a record of its own: how often it asked for each thing,
// and what it was told.
type caller struct {
	mu       sync.Mutex
	attempts map[string]int
	answers  map[int]int
}

// call asks for a thing until it is served, at most four times.
func (c *caller) call(t *testing.T, client *http.Client, url, path, agent string) {
	for attempt := 1; attempt <= 4; attempt++ {
		req, err := http.NewRequestWithContext(t.Context(), "GET", url+path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("User-Agent", agent)
		r, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		c.mu.Lock()
		c.attempts[path]++
		c.answers[r.StatusCode]++
		c.mu.Unlock()
		if r.StatusCode < 400 {
			return
		}
		time.Sleep(time.Duration(60*attempt) * time.Millisecond)
	}
}

// nginx itself, with a limiter and two upstreams of which one fails, its log
// followed while logrotate rotates it: each request comes once; then the rotated
// files together tell the client's own record: totals, statuses, chains, and the
// tries that nginx declares.
func TestNginxWhileLogrotateRuns(t *testing.T) {
	bin, rotate := program(t, "nginx"), program(t, "logrotate")
	for name, how := range map[string]string{
		"create":       "create\n  postrotate\n    kill -USR1 $(cat %s/pid)\n  endscript",
		"copytruncate": "copytruncate",
	} {
		t.Run(name, func(t *testing.T) { rotated(t, bin, rotate, how) })
	}
}

func rotated(t *testing.T, bin, rotate, how string) {
	dir := t.TempDir()
	log := filepath.Join(dir, "access.log")
	if strings.Contains(how, "%s") {
		how = fmt.Sprintf(how, dir)
	}
	bad, tries := broken(t)
	var served atomic.Int64
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		_, _ = io.WriteString(w, "ok")
	}))
	defer good.Close()
	port := nginx(t, bin, dir, bad, strings.TrimPrefix(good.URL, "http://"))
	conf := filepath.Join(dir, "rotate.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, "%s {\n  rotate 9\n  missingok\n  su root root\n  %s\n}\n", log, how), 0o600); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	ins, err := (&flags{}).openAll(ctx, &streams{out: io.Discard, err: io.Discard}, []string{log}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(ins)
	followed := map[string]int{}
	var mu sync.Mutex
	ended := make(chan error, 1)
	go func() {
		ended <- ins[0].Run(ctx, func(b *capture.Batch) error {
			mu.Lock()
			defer mu.Unlock()
			for i := range b.Exchanges {
				followed[string(b.Bytes(b.Exchanges[i].Target))]++
			}
			return nil
		})
	}()

	c := &caller{attempts: map[string]int{}, answers: map[int]int{}}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	for turn := range 3 {
		var calls sync.WaitGroup
		for who := range 6 {
			calls.Go(func() {
				for i := range 25 {
					c.call(t, client, url, fmt.Sprintf("/op/%d-%d-%d", turn, who, i), fmt.Sprintf("bot/%d", who))
				}
			})
		}
		if how != "copytruncate" { // which loses what is written between copy and cut
			time.Sleep(300 * time.Millisecond)
			logrotate(t, rotate, dir, conf)
		}
		calls.Wait()
		time.Sleep(400 * time.Millisecond)
		if how == "copytruncate" {
			logrotate(t, rotate, dir, conf)
		}
		time.Sleep(1200 * time.Millisecond)
	}
	client.CloseIdleConnections()
	total := 0
	for _, n := range c.attempts {
		total += n
	}
	for {
		mu.Lock()
		sum := 0
		for _, n := range followed {
			sum += n
		}
		mu.Unlock()
		if sum >= total || ctx.Err() != nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond) // more than once would come now
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for path, n := range c.attempts {
		if followed[path] != n {
			t.Errorf("%s came %d times, the client sent %d", path, followed[path], n)
		}
	}
	if len(followed) != len(c.attempts) {
		t.Errorf("%d paths came, %d were asked for", len(followed), len(c.attempts))
	}
	if files := accesslog.Rotated(log); len(files) < 3 {
		t.Errorf("logrotate left %v", files)
	}
	told(t, log, c, total, tries.Load(), served.Load())
}

// told compares the report over the rotated files with the client's record.
func told(t *testing.T, log string, c *caller, total int, tries, served int64) {
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"report", "--fail-on", "never", "--format", "json", log + "*"}, strings.NewReader(""), &out, &errs); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	var r struct {
		Sources []struct {
			Health struct {
				Read, Used uint64
				Retries    int64 `json:"hop_retries"`
			}
		}
		Totals struct {
			Exchanges, Refused int
			Logical            int `json:"logical_requests"`
			Retries            int
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatal(err)
	}
	h := r.Sources[0].Health
	refused := c.answers[http.StatusServiceUnavailable]
	switch {
	case len(r.Sources) != 1 || r.Totals.Exchanges != total || int(h.Used) != total:
		t.Errorf("%d sources, %d exchanges of %d lines, the client sent %d", len(r.Sources), r.Totals.Exchanges, h.Read, total)
	case refused == 0 || r.Totals.Refused != refused:
		t.Errorf("%d refused, the client was told so %d times: %v", r.Totals.Refused, refused, c.answers)
	case tries == 0 || h.Retries != tries:
		t.Errorf("%d retries declared, the broken upstream saw %d", h.Retries, tries)
	case int64(c.answers[http.StatusOK]) != served:
		t.Errorf("%d answers of 200, %d served", c.answers[http.StatusOK], served)
	case r.Totals.Logical != len(c.attempts) || r.Totals.Retries != total-len(c.attempts):
		t.Errorf("%d logical requests and %d retries, the client made %d and %d", r.Totals.Logical, r.Totals.Retries, len(c.attempts), total-len(c.attempts))
	}
	out.Reset()
	if code := run(t.Context(), []string{"exchanges", log + "*"}, strings.NewReader(""), &out, &errs); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	last := map[string]int{} // the highest attempt, by path
	for line := range strings.Lines(out.String()) {
		var x struct {
			Path    string
			Attempt int
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		last[x.Path] = max(last[x.Path], x.Attempt)
	}
	for path, n := range c.attempts {
		if last[path] != n {
			t.Errorf("%s: a chain of %d, the client made %d attempts", path, last[path], n)
		}
	}
}

func logrotate(t *testing.T, bin, dir, conf string) {
	t.Helper()
	if out, err := exec.Command(bin, "-f", "-s", filepath.Join(dir, "state"), conf).CombinedOutput(); err != nil {
		t.Fatalf("logrotate: %v\n%s", err, out)
	}
}

// nginx runs nginx before two upstreams and returns its port.
func nginx(t *testing.T, bin, dir string, upstreams ...string) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	conf := fmt.Sprintf(`
		user root; daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log warn;
		events {}
		http {
		  client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
		  limit_req_zone $http_user_agent zone=z:1m rate=20r/s;
		%[2]s
		  upstream pool { server %[3]s max_fails=0; server %[4]s max_fails=0; }
		  server {
		    listen 127.0.0.1:%[5]d;
		    access_log %[1]s/access.log storm;
		    location / { limit_req zone=z burst=1 nodelay; proxy_pass http://pool; }
		  }
		}`, dir, accesslog.NginxStorm, upstreams[0], upstreams[1], port)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "access.log"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-c", file, "-p", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 200 {
		if c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			_ = c.Close()
			return port
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("nginx does not listen")
	return 0
}
