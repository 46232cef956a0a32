package accesslog

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serverField is a field as one server's formats write it, bare or in quotes.
type serverField struct {
	text           string
	request, agent bool
}

var (
	nginxParts = []serverField{
		{"$remote_addr", false, false},
		{"[$time_local]", false, false},
		{"$time_iso8601", false, false},
		{"$msec", false, false},
		{"$request_time", false, false},
		{"$body_bytes_sent", false, false},
		{`"$http_referer"`, false, false},
		{`"$http_user_agent"`, false, true},
		{`"$host"`, false, false},
		{"$request_id", false, false},
		{"$upstream_addr", false, false},
		{"$upstream_status", false, false},
		{`us="$upstream_response_time"`, false, false},
		{"$pipe", false, false},
		{`{"x":"$http_x_y"}`, false, false},
	}
	apacheParts = []serverField{
		{"%a", false, false},
		{"%t", false, false},
		{"%{%Y-%m-%dT%H:%M:%S}t.%{usec_frac}t", false, false},
		{"%{usec}t", false, false},
		{"%D", false, false},
		{"%{ms}T", false, false},
		{"%b", false, false},
		{`"%{Referer}i"`, false, false},
		{`"%{User-Agent}i"`, false, true},
		{"%v:%p", false, false},
		{"%X", false, false},
		{`"%{Retry-After}o"`, false, false},
		{"%k", false, false},
		{`<%{X-Y}i>`, false, false},
		{"%B", false, false},
	}
	between = []string{" ", " | ", "\t", "; ", " - "}
)

// drawnFormat draws a format that has the request, the status, a time and some
// more, in any order.
func drawnFormat(r *rand.Rand, parts []serverField, request, status, clock string) (format string, agent bool) {
	chosen := []serverField{{`"` + request + `"`, true, false}, {status, false, false}, {clock, false, false}}
	for range r.IntN(8) {
		chosen = append(chosen, parts[r.IntN(len(parts))])
	}
	r.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	had := map[string]bool{}
	sep := between[r.IntN(len(between))]
	var b strings.Builder
	for _, p := range chosen {
		if had[p.text] {
			continue
		}
		had[p.text] = true
		if b.Len() > 0 {
			b.WriteString(sep)
		}
		b.WriteString(p.text)
		agent = agent || p.agent
	}
	return b.String(), agent
}

// sent is what a client sent, byte by byte, and the status that came.
type sent struct {
	target, agent string
	status        string
}

// raw sends a request as it stands and reads the status.
func raw(t *testing.T, port int, s *sent) {
	t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: h\r\nUser-Agent: %s\r\nX-Y: %s\r\nReferer: a \"b\" c\r\nConnection: close\r\n\r\n", s.target, s.agent, s.agent)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	s.status = fmt.Sprint(r.StatusCode)
}

// requests draws targets and agents that are hard on parsers.
func requests(r *rand.Rand, n int) (all []sent) {
	const odd = `abc"\'|;-[]{}<>(),.~!@$&*=+ %25%20 é` + "\t"
	text := func(letters string, n int) string {
		var b strings.Builder
		runes := []rune(letters)
		for range n {
			b.WriteRune(runes[r.IntN(len(runes))])
		}
		return strings.TrimSpace(b.String())
	}
	for i := range n {
		target := fmt.Sprintf("/ok/%d/%s", i, strings.NewReplacer(" ", "+", "\t", "+", "é", "%C3%A9", "%", "", `"`, "%22", `\`, "%5C", "<", "", ">", "", "[", "", "]", "", "{", "", "}", "", "|", "", "^", "").Replace(text(odd, 12)))
		if i%4 == 3 {
			target = fmt.Sprintf("/missing/%d", i)
		}
		agent := text(odd, 1+r.IntN(20))
		if agent == "" || agent == "-" {
			agent = "x"
		}
		all = append(all, sent{target: target, agent: agent})
	}
	return all
}

// serve runs a server until the test ends.
func serve(t *testing.T, port int, bin string, args ...string) (stop func()) {
	t.Helper()
	cmd := exec.Command(bin, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		time.Sleep(300 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	wait(t, port)
	return stop
}

const realFormats = 16

// Whatever format nginx or Apache is given, reading what it writes by that format
// gives what the client sent and got.
func TestRealFormats(t *testing.T) {
	for _, server := range []string{"nginx", "apache2"} {
		t.Run(server, func(t *testing.T) {
			bin := program(t, server)
			r := rand.New(rand.NewPCG(7, uint64(len(server))))
			dir, port := t.TempDir(), freePort(t)
			if err := os.MkdirAll(filepath.Join(dir, "www", "ok"), 0o755); err != nil {
				t.Fatal(err)
			}
			var formats []string
			var agents []bool
			for range realFormats {
				var f string
				var a bool
				if server == "nginx" {
					f, a = drawnFormat(r, nginxParts, "$request", "$status", "$msec")
				} else {
					f, a = drawnFormat(r, apacheParts, "%r", "%>s", "%{msec}t")
				}
				formats, agents = append(formats, f), append(agents, a)
			}
			file := filepath.Join(dir, "conf")
			var args []string
			var conf string
			if server == "nginx" {
				conf, args = nginxWith(dir, port, formats), []string{"-c", file, "-p", dir}
			} else {
				conf, args = apacheWith(dir, port, formats), []string{"-X", "-f", file}
			}
			if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
				t.Fatal(err)
			}
			stop := serve(t, port, bin, args...)
			all := requests(r, 60)
			for i := range all {
				raw(t, port, &all[i])
			}
			stop()
			for i, format := range formats {
				checkFormat(t, filepath.Join(dir, fmt.Sprintf("%d.log", i)), server, format, agents[i], all)
			}
		})
	}
}

func nginxWith(dir string, port int, formats []string) string {
	var lines strings.Builder
	for i, f := range formats {
		fmt.Fprintf(&lines, "log_format f%d '%s';\naccess_log %s/%d.log f%d;\n", i, f, dir, i, i)
	}
	return fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log; events {}
		http {
		  client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
		  %[2]s
		  server { listen 127.0.0.1:%[3]d; location /ok { return 200 ok; } location / { return 404; } }
		}`, dir, lines.String(), port)
}

func apacheWith(dir string, port int, formats []string) string {
	var lines strings.Builder
	for i, f := range formats {
		fmt.Fprintf(&lines, "CustomLog %s/%d.log \"%s\"\n", dir, i, strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(f))
	}
	return fmt.Sprintf(`ServerRoot %[1]s
ServerName h
Listen 127.0.0.1:%[3]d
PidFile %[1]s/pid
ErrorLog %[1]s/error.log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule alias_module /usr/lib/apache2/modules/mod_alias.so
User nobody
Group nogroup
AllowEncodedSlashes NoDecode
DocumentRoot %[1]s/www
RedirectMatch 204 ^/ok
HttpProtocolOptions Unsafe
%[2]s`, dir, lines.String(), port)
}

func checkFormat(t *testing.T, file, server, format string, agent bool, all []sent) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := ParseFormat(strings.TrimSuffix(server, "2") + ":" + format)
	if err != nil {
		t.Fatal(err)
	}
	out, err := readAll(t, bytes.NewReader(text), Options{Format: f, Zone: time.Local})
	if err != nil {
		t.Fatal(err)
	}
	rows := out.rows[:0:0]
	for _, x := range out.rows { // the probe that waited for the port sent no request
		if x.target != "" && x.Status != 408 {
			rows = append(rows, x)
		}
	}
	if len(rows) != len(all) {
		t.Errorf("%s\n%d lines of %d; %+v", format, len(rows), len(all), out.health.Skipped)
		return
	}
	byTarget := map[string]row{} // Apache's threads write in any order
	for _, x := range rows {
		byTarget[x.target] = x
	}
	for _, s := range all {
		x, ok := byTarget[s.target]
		if !ok || fmt.Sprint(x.Status) != s.status || agent && x.agent != s.agent {
			t.Errorf("%s\n%q %d %q, want %q %s %q", format, x.target, x.Status, x.agent, s.target, s.status, s.agent)
		}
		if at := time.Unix(0, x.Start); time.Since(at) > time.Minute || time.Until(at) > time.Second {
			t.Errorf("%s\nat %s", format, at)
		}
	}
}
