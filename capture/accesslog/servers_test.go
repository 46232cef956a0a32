package accesslog

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

// program skips a test unless the programs of the machine are wanted and this
// one is there.
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

// freePort returns a port on which nothing listens.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// upstream answers /ok, and refuses /busy with a wait.
func upstream(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/busy") {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = w.Write([]byte("ok"))
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// wait waits until something listens.
func wait(t *testing.T, port int) {
	t.Helper()
	for range 200 {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("the server does not listen")
}

// asked is a client's own record of a request.
type asked struct {
	path, agent string
	status      int
	wait        string
	start, end  time.Time
}

// ask sends requests one after the other.
func ask(t *testing.T, port int, paths ...string) (all []asked) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for i, p := range paths {
		a := asked{path: p, agent: fmt.Sprintf(`bot "%d" \x`, i%3), start: time.Now()}
		req, err := http.NewRequest("GET", fmt.Sprintf("http://127.0.0.1:%d%s", port, p), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User-Agent", a.agent)
		req.Header.Set("Idempotency-Key", fmt.Sprint("op", i/2))
		r, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		a.status, a.wait, a.end = r.StatusCode, r.Header.Get("Retry-After"), time.Now()
		all = append(all, a)
	}
	return all
}

// compare checks what was read of a log against the client's record.
func compare(t *testing.T, rows []row, record []asked, clock time.Duration) {
	t.Helper()
	if len(rows) != len(record) {
		t.Fatalf("%d exchanges, the client sent %d", len(rows), len(record))
	}
	for i, a := range record {
		x := rows[i]
		if x.target != a.path || x.agent != a.agent || x.method != "GET" {
			t.Errorf("%d: %q %q %q, want %q %q", i, x.method, x.target, x.agent, a.path, a.agent)
		}
		if int(x.Status) != a.status {
			t.Errorf("%d %s: status %d, want %d", i, a.path, x.Status, a.status)
		}
		if x.Start < a.start.Add(-clock).UnixNano() || x.End > a.end.Add(clock).UnixNano() {
			t.Errorf("%d: from %s to %s, want within %s to %s", i, time.Unix(0, x.Start), time.Unix(0, x.End), a.start, a.end)
		}
		if a.wait != "" && (x.Hint.State != capture.Present || x.Hint.Wait != 7*second) || a.wait == "" && x.Hint.State == capture.Present {
			t.Errorf("%d %s: hint %+v, want %q", i, a.path, x.Hint, a.wait)
		}
		if x.IdemKey != capture.HashID([]byte(fmt.Sprint("op", i/2))) {
			t.Errorf("%d: idempotency key", i)
		}
	}
}

// nginx itself: two upstreams of which one is dead, a limiter, and the log line
// of the guide.
func TestRealNginx(t *testing.T) {
	bin := program(t, "nginx")
	dir := t.TempDir()
	up, dead, port := upstream(t), freePort(t), freePort(t)
	conf := fmt.Sprintf(`
		daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log notice;
		events {}
		http {
		  client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
		  limit_req_zone $binary_remote_addr zone=z:1m rate=1r/m;
		  limit_req_log_level error;
		%[2]s
		  upstream pool { server 127.0.0.1:%[3]d max_fails=0; server %[4]s max_fails=0; }
		  server {
		    listen 127.0.0.1:%[5]d;
		    access_log %[1]s/access.log storm;
		    location / { proxy_pass http://pool; }
		    location /limited { limit_req zone=z; proxy_pass http://%[4]s/ok; }
		    location /inside { proxy_pass http://%[4]s/busy; proxy_intercept_errors on; error_page 429 =200 @other; }
		    location @other { proxy_pass http://pool; }
		  }
		}`, dir, NginxStorm, dead, up, port)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(bin, "-t", "-c", file, "-p", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(bin, "-c", file, "-p", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(stop)
	wait(t, port)
	var paths []string
	for i := range 20 {
		paths = append(paths, fmt.Sprintf("/ok?i=%d", i), fmt.Sprintf("/busy?q=a%%20b&i=%d", i))
	}
	paths = append(paths, "/limited", "/limited", "/limited", "/inside")
	record := ask(t, port, paths...)
	time.Sleep(100 * time.Millisecond)
	stop()

	f, err := NginxConf(conf, "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := readAll(t, bytes.NewReader(text), Options{Format: f})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.health.Skipped) != 0 {
		t.Errorf("%+v", out.health.Skipped)
	}
	compare(t, out.rows, record, 10*time.Millisecond)
	tries, retries := 0, 0
	for i, x := range out.rows[:40] {
		tries += len(x.tries)
		retries += len(x.tries) - 1
		last := x.tries[len(x.tries)-1]
		if int(last.Status) != record[i].status || last.server != up || len(x.tries) == 2 && (x.tries[0].Status != 502 || !strings.HasSuffix(x.tries[0].server, fmt.Sprint(":", dead))) {
			t.Errorf("%d: tries %+v", i, x.tries)
		}
		if record[i].status == 429 && x.Origin != capture.OriginUpstream {
			t.Errorf("%d: the upstream refused, not %v", i, x.Origin)
		}
	}
	if tries != 60 { // round robin: every second request begins at the dead one
		t.Errorf("%d tries of 40 requests, want 60", tries)
	}
	for i, x := range out.rows[41:43] {
		if x.Reason != capture.Throttle || x.Origin != capture.OriginHop || x.Status != 503 || len(x.tries) != 0 {
			t.Errorf("the limiter refused: %d: %v by %v, %d", i, x.Reason, x.Origin, x.Status)
		}
	}
	if x := out.rows[43]; len(x.tries) < 2 || !x.tries[1].Fresh || x.tries[0].Status != 429 {
		t.Errorf("an internal redirect is no retry: %+v", x.tries)
	} else {
		retries += len(x.tries) - 2
	}
	if int(out.health.Retries) != retries {
		t.Errorf("%d retries, want %d", out.health.Retries, retries)
	}
	if !Detect(text) {
		t.Error("the log is not found without its format")
	}
	found, err := readAll(t, bytes.NewReader(text), Options{})
	if err != nil || len(found.rows) != len(record) || len(found.rows[0].tries) == 0 || found.rows[0].Start != out.rows[0].Start {
		t.Errorf("without its format: %v, %d rows, %+v", err, len(found.rows), found.rows[0])
	}
	errorLog, err := os.ReadFile(filepath.Join(dir, "error.log"))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := readAll(t, bytes.NewReader(errorLog), Options{Zone: time.Local, Format: preset("nginx-error")}); err != nil || len(e.rows) != 2 || e.rows[0].Reason != capture.Throttle || e.rows[0].target != "/limited" {
		t.Errorf("error.log: %v, %+v, %+v", err, e.rows, e.health)
	}
}

// HAProxy itself: a dead server, redispatch, a deny, and the log line of the
// guide.
func TestRealHAProxy(t *testing.T) {
	bin := program(t, "haproxy")
	dir := t.TempDir()
	up, dead, port := upstream(t), freePort(t), freePort(t)
	conf := fmt.Sprintf(`
global
    log stdout format raw local0
defaults
    mode http
    log global
    timeout connect 2s
    timeout client 5s
    timeout server 5s
    retries 3
    option redispatch 1
frontend fe
    bind 127.0.0.1:%d
%s
    http-request deny deny_status 429 if { path_beg /limited }
    default_backend be
backend be
    balance roundrobin
    server dead 127.0.0.1:%d
    server live %s
`, port, HAProxyStorm, dead, up)
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(bin, "-c", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var log bytes.Buffer
	cmd := exec.Command(bin, "-db", "-f", file)
	cmd.Stdout = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, port)
	var paths []string
	for i := range 10 {
		paths = append(paths, fmt.Sprintf("/ok?i=%d", i), fmt.Sprintf("/busy?i=%d", i))
	}
	paths = append(paths, "/limited")
	record := ask(t, port, paths...)
	time.Sleep(200 * time.Millisecond)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()

	out, err := readAll(t, bytes.NewReader(log.Bytes()), Options{Format: readyFormats(t)["haproxy"], Zone: time.Local})
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, x := range out.rows { // the probe that waited for the port sent no request
		if x.target != "" {
			rows = append(rows, x)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.Start, b.Start) }) // a request may take less than the clock shows
	compare(t, rows, record, 10*time.Millisecond)
	retried := 0
	for i, x := range rows {
		if x.Tries > 1 {
			retried++
		}
		want := capture.OriginUpstream
		if record[i].path == "/limited" {
			want = capture.OriginHop
		}
		if x.Origin != want {
			t.Errorf("%d %s: answered by %v", i, record[i].path, x.Origin)
		}
	}
	if retried < 10 || int(out.health.Retries) < retried { // every second request at least begins at the dead server
		t.Errorf("%d requests were retried, %d times", retried, out.health.Retries)
	}
}
