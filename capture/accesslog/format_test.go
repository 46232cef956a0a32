package accesslog

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

// readAs reads text with a format string.
func readAs(t *testing.T, spec, text string) read {
	t.Helper()
	f, err := ParseFormat(spec)
	if err != nil {
		t.Fatal(err)
	}
	return mustRead(t, text, Options{Format: f})
}

const utc0811 = 1796026266 // 2026-11-30T08:11:06Z, by date -u -d @1796026266

func TestFormatStrings(t *testing.T) {
	for _, c := range []struct {
		name, spec, line string
		start, end       int64 // ns after 08:11:06Z
		method, target   string
		host, agent, src string
		status           uint16
		resolution       time.Duration
	}{
		{
			name: "nginx custom", spec: `nginx:$remote_addr [$time_iso8601] $host "$request" $status $request_time $msec "$http_user_agent"`,
			line:  `2001:db8::1 [2026-11-30T13:41:06+05:30] api.example "POST /a?b=1 HTTP/2.0" 201 0.250 1796026266.500 "curl \x22x\x22"`,
			start: 250e6, end: 500e6, method: "POST", target: "/a?b=1", host: "api.example", agent: `curl "x"`, src: "2001:db8::1", status: 201, resolution: time.Millisecond,
		},
		{
			name: "nginx pieces and quotes of the configuration", spec: "nginx:'$remote_addr [$time_local] '\n  '\"$request\" ${status}'",
			line: `192.0.2.1 [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200`, method: "GET", target: "/", src: "192.0.2.1", status: 200, resolution: time.Second,
		},
		{
			name: "nginx host and path side by side", spec: `nginx:$remote_addr:$remote_port $msec $request_method $scheme://$host$request_uri $status`,
			line: `2001:db8::1:443 1796026266.001 GET https://api.example/a/b?c=d 503`, start: 1e6, end: 1e6, method: "GET", target: "/a/b?c=d", host: "api.example", src: "[2001:db8::1]:443", status: 503, resolution: time.Millisecond,
		},
		{
			name: "nginx path and arguments", spec: `nginx:$msec $uri$is_args$args $status`, line: `1796026266.001 /a?b=c 503`, start: 1e6, end: 1e6, target: "/a?b=c", status: 503, resolution: time.Millisecond,
		},
		{
			name: "nginx in JSON", spec: `nginx-json:{"t":"$time_iso8601","rt":$request_time,"u":"$request_uri","s":$status,"a":"$http_user_agent"}`,
			line: `{"t":"2026-11-30T08:11:06+00:00","rt":0.250,"u":"/a\"b","s":429,"a":"caf\u00e9\\"}`, start: -250e6, target: `/a"b`, agent: `café\`, status: 429, resolution: time.Second,
		},
		{
			name: "Apache combined with microseconds", spec: `apache:%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %D`,
			line: `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 200 - "-" "q\"uote\\" 1500000`, end: 1500e6, method: "GET", target: "/a", agent: `q"uote\`, src: "192.0.2.1", status: 200, resolution: time.Second,
		},
		{
			name: "Apache time of several parts", spec: `apache:%a [%{%Y-%m-%d %H:%M:%S}t.%{usec_frac}t %{%z}t] "%m %U%q %H" %s %{ms}T`,
			line: `192.0.2.1 [2026-11-30 13:41:06.123456 +0530] "GET /a?x=1 HTTP/1.1" 429 17`, start: 123456e3, end: 140456e3, method: "GET", target: "/a?x=1", src: "192.0.2.1", status: 429, resolution: time.Microsecond,
		},
		{
			name: "Apache conditions, and a time in milliseconds", spec: `apache:%v:%p %{msec}t %!200,304{User-Agent}i %>s`,
			line: `api.example:443 1796026266250 - 200`, start: 250e6, end: 250e6, host: "api.example", status: 200, resolution: time.Millisecond,
		},
		{
			name: "Envoy", spec: `envoy:[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %DURATION% "%REQ(USER-AGENT)%" "%REQ(:AUTHORITY)%" %DOWNSTREAM_REMOTE_ADDRESS%\n`,
			line: `[2026-11-30T08:11:06.250Z] "GET /a HTTP/2" 503 UF,URX 13 "say "so"" "api:8080" 192.0.2.1:4000`, start: 250e6, end: 263e6, method: "GET", target: "/a", host: "api:8080", agent: `say "so"`, src: "192.0.2.1:4000", status: 503, resolution: time.Millisecond,
		},
		{
			name: "Envoy with a date pattern", spec: `envoy:%START_TIME(%Y/%m/%dT%H:%M:%S.%6f)% %RESPONSE_CODE% %DURATION% %REQ(:PATH):100%`,
			line: `2026/11/30T08:11:06.000250 0 3 /a`, start: 250e3, end: 3250e3, target: "/a", status: 0, resolution: time.Microsecond,
		},
		{
			name: "HAProxy", spec: `haproxy:%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r`,
			line: `192.0.2.1:4000 [30/Nov/2026:08:11:06.393] fe~ be/a 0/0/0/1/+7 200 207 ---- 1/1/0/0/0 0/0 "GET /caf#C3#A9 HTTP/1.1"`, start: 393e6, end: 400e6, method: "GET", target: "/café", src: "192.0.2.1:4000", status: 200, resolution: time.Millisecond,
		},
		{
			name: "HAProxy with captured headers and a sample", spec: `haproxy:%[src] %Ts.%ms %ST %Ta %hr %hs "%HM %HU" "%[req.hdr(User-Agent)]"`,
			line: `192.0.2.1 1796026266.250 503 5 {a b|} {c} "GET /x?y" "bot/1"`, start: 250e6, end: 255e6, method: "GET", target: "/x?y", agent: "bot/1", src: "192.0.2.1", status: 503, resolution: time.Millisecond,
		},
		{
			name: "pattern", spec: `<ip> - <user> [<time>] "<request>" <status> <_> <took:ms>`,
			line: `192.0.2.1 - a b [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 404 12 250`, start: -250e6, method: "GET", target: "/a", src: "192.0.2.1", status: 404, resolution: time.Second,
		},
		{
			name: "pattern with a unit in the line", spec: `<start> <status> <took> <uri>`, line: `1796026266.5 200 1m0.5s /a`, start: 500e6, end: 61e9, target: "/a", status: 200, resolution: 100 * time.Millisecond,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := readAs(t, c.spec, c.line+"\n")
			if len(out.rows) != 1 {
				t.Fatalf("not read: %+v", out.health.Skipped)
			}
			x := out.rows[0]
			if got := x.Start - utc0811*second; got != c.start {
				t.Errorf("start %d, want %d", got, c.start)
			}
			if got := x.End - utc0811*second; got != c.end {
				t.Errorf("end %d, want %d", got, c.end)
			}
			if x.method != c.method || x.target != c.target || x.host != c.host || x.agent != c.agent || x.Src.String() != c.src {
				t.Errorf("read %q %q %q %q %q", x.method, x.target, x.host, x.agent, x.Src)
			}
			if x.Status != c.status || out.health.Resolution != int64(c.resolution) {
				t.Errorf("status %d, resolution %d", x.Status, out.health.Resolution)
			}
		})
	}
}

func TestFormatErrorsPointAtTheColumn(t *testing.T) {
	for _, c := range []struct{ spec, column, says string }{
		{`nginx:$remote_addr $status$request_time`, "21", "nothing stands between $status and"}, // digits after digits
		{`nginx:$remote_addr$remote_user $status`, "13", "nothing stands between $remote_addr and $remote_user"},
		{`nginx:[${time_local] $status`, "2", "never closed by }"},
		{`nginx:$status $ x`, "9", "without the name"},
		{`nginx:$remote_addr [$time_local]`, "1", "no status"},
		{`nginx:nothing`, "1", "no field"},
		{`apache:%h %{User-Agenti %>s`, "5", "never closed by }"},
		{`apache:%h %Z %>s`, "4", "no directive"},
		{`apache:%h %>s %{%Q}t`, "8", "%Q is not known"},
		{`apache:%h %>s %`, "8", "without the letter"},
		{`envoy:%START_TIME% %RESPONSE_CODE`, "14", "never closed by %"},
		{`envoy:%RESPONSE_CODE% %REQ(:PATH%`, "21", "never closed by )"},
		{`envoy:%RESPONSE_CODE% %duration%`, "17", "capital letters"},
		{`haproxy:%ci:%cp %ST %XX`, "13", "no variable of HAProxy's"},
		{`haproxy:%ST %[req.hdr(x)`, "6", "never closed by ]"},
		{`haproxy:%ST %{+Q`, "6", "never closed by }"},
		{`<ip> <status> <what>`, "15", "<what> is not known"},
		{`<ip> <status> <took:days>`, "15", "may have the unit"},
		{`<ip> <status`, "6", "never closed by >"},
		{`<ip><user> <status>`, "5", "nothing stands between"},
	} {
		_, err := ParseFormat(c.spec)
		var at *FormatError
		if !errors.As(err, &at) {
			t.Errorf("%s: error %v", c.spec, err)
			continue
		}
		text := err.Error()
		if !strings.Contains(text, "column "+c.column+":") || !strings.Contains(text, c.says) {
			t.Errorf("%s: %s", c.spec, text)
		}
		lines := strings.Split(text, "\n")
		if len(lines) != 3 || strings.Index(lines[2], "^") < 2 || !strings.HasPrefix(lines[1][strings.Index(lines[2], "^"):], at.Format[at.At:min(at.At+5, len(at.Format))]) {
			t.Errorf("%s: the caret is not below the place:\n%s", c.spec, text)
		}
	}
	for _, c := range []struct{ spec, says string }{
		{"nonsense", "no preset and no format string"},
		{"$remote_addr $status", "put nginx: before"},
		{"%h %>s", "put apache:"},
	} {
		if _, err := ParseFormat(c.spec); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.spec, err)
		}
	}
}

// A long format is shown around the place.
func TestFormatErrorOfALongFormat(t *testing.T) {
	_, err := ParseFormat("nginx:" + strings.Repeat("x$msec ", 40) + "$status $!" + strings.Repeat(" y", 100))
	if err == nil || !strings.Contains(err.Error(), "...") || len(strings.Split(err.Error(), "\n")[1]) > 100 {
		t.Errorf("%v", err)
	}
}

func TestNginxConf(t *testing.T) {
	const conf = `
		# log_format no '$status';
		http {
		  log_format main '$remote_addr [$time_local] '
		                  '"$request" $status';  # the usual
		  log_format js escape=json '{"s":$status,"m":$msec}';
		  server { access_log /var/log/a.log js if=$loggable; location / { return 200 "a;b}"; } }
		}`
	f, err := NginxConf(conf, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Name(); got != `nginx-json:{"s":$status,"m":$msec}` || !f.partial {
		t.Errorf("the format in use: %q, partial %v", got, f.partial)
	}
	f, err = NginxConf(conf, "main")
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Name(); got != `nginx:$remote_addr [$time_local] "$request" $status` || f.partial {
		t.Errorf("main: %q", got)
	}
	if _, err = NginxConf(conf, "none"); err == nil || !strings.Contains(err.Error(), "js, main") {
		t.Errorf("a name that is not there: %v", err)
	}
	if _, err = NginxConf("http { access_log /a main; access_log /b other; log_format main '$status'; log_format other '$status'; }", ""); err == nil || !strings.Contains(err.Error(), "say which") {
		t.Errorf("two formats: %v", err)
	}
	if _, err = NginxConf("http { }", ""); err == nil || !strings.Contains(err.Error(), "no log_format") {
		t.Errorf("no format: %v", err)
	}
	if f, err = NginxConf("access_log /var/log/a;", ""); err != nil || f.Name() != "combined" {
		t.Errorf("an access_log without a format is combined: %v", err)
	}
	if _, err = NginxConf("log_format x '$status$bytes_sent';", "x"); err == nil || !strings.Contains(err.Error(), "^") {
		t.Errorf("a bad format: %v", err)
	}
}

func TestApacheConf(t *testing.T) {
	const conf = `
		# LogFormat "%h" no
		LogFormat "%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" vhost_combined
		LogFormat "%h %l %u %t \"%r\" \
%>s %O" common
		<VirtualHost *:80>
		  CustomLog ${APACHE_LOG_DIR}/access.log vhost_combined env=!dontlog
		</VirtualHost>`
	f, err := ApacheConf(conf, "")
	if err != nil {
		t.Fatal(err)
	}
	out := mustRead(t, `api.example:80 192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 429 314 "-" "a \"b\""`+"\n", Options{Format: f})
	if len(out.rows) != 1 || out.rows[0].host != "api.example" || out.rows[0].Status != 429 || out.rows[0].agent != `a "b"` || !f.partial {
		t.Errorf("read %+v, %+v", out.rows, out.health.Skipped)
	}
	f, err = ApacheConf(conf, "common")
	if err != nil {
		t.Fatal(err)
	}
	if out = mustRead(t, `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 503 314`+"\n", Options{Format: f}); len(out.rows) != 1 || out.rows[0].Reason != capture.Overload {
		t.Errorf("a continued line: %+v", out.health.Skipped)
	}
	if _, err = ApacheConf("ServerName a", ""); err == nil || !strings.Contains(err.Error(), "no LogFormat") {
		t.Errorf("no format: %v", err)
	}
	if f, err = ApacheConf(`CustomLog logs/a "%h %>s"`, ""); err != nil || f.Name() != "apache:%h %>s" {
		t.Errorf("a format in CustomLog: %v", err)
	}
}

// The configuration that Debian ships for nginx names combined.
func TestInstalledNginxConf(t *testing.T) {
	conf, err := os.ReadFile("/etc/nginx/nginx.conf")
	if err != nil || os.Getenv("STORMWATCH_E2E") == "" {
		t.Skip("needs nginx and STORMWATCH_E2E=1")
	}
	if _, err := NginxConf(string(conf), ""); err != nil {
		t.Error(err)
	}
}

// FuzzFormat checks that no format string and no line panics, and that the
// fields cut lie in the line, one after the other.
func FuzzFormat(f *testing.F) {
	for _, spec := range []string{
		`nginx:$remote_addr - [$time_local] "$request" $status us="$upstream_status" $upstream_addr $upstream_response_time`,
		`nginx-json:{"t":"$time_iso8601","s":$status}`, `nginx:${status}$request_uri`,
		`apache:%h %{%d/%b/%Y %T}t.%{msec_frac}t \"%U%q\" %!200{a}i %>s`, `envoy:[%START_TIME(%s.%3f)%] %RESPONSE_CODE% %REQ(A?B):5%`,
		`haproxy:%ci:%cp [%tr] %ST %hr %hs %{+Q}r %[req.hdr(a)]`, `<ip> <status> <took:us> <_x>`, `combined`,
	} {
		f.Add(spec, msLine)
		f.Add(spec, "\r\r")
		f.Add(spec, `[30/Nov/2026:08:11:06.000] 429 {a|b} "GET / HTTP/1.1" 0.001, - : 0.002 [::1]:5000, unix:/a`)
	}
	f.Fuzz(func(t *testing.T, spec, line string) {
		format, err := ParseFormat(spec)
		if err != nil {
			var at *FormatError
			if errors.As(err, &at) && (at.At < 0 || at.At > len(at.Format) || err.Error() == "") {
				t.Fatalf("%q: column %d", spec, at.At)
			}
			return
		}
		var cuts []cut
		r := reading{cuts: &cuts}
		_ = format.open().cut([]byte(line), &r)
		at := 0
		for _, c := range cuts {
			i := strings.Index(line[at:], string(c.value))
			if i < 0 {
				t.Fatalf("%q on %q: %q is not behind byte %d", spec, line, c.value, at)
			}
			at += i + len(c.value)
		}
		if _, err := readAll(t, strings.NewReader(line), Options{Format: format}); err != nil {
			if kind, _ := capture.Compressed([]byte(line)); kind == "" && !errors.Is(err, errReturns) {
				t.Fatal(err)
			}
		}
	})
}

func FuzzConf(f *testing.F) {
	f.Add("log_format a escape=json '{\"s\":$status}'; access_log x a if=$b;", "a")
	f.Add("LogFormat \"%h \\\"%r\\\" %>s\" common\nCustomLog x common env=y", "")
	f.Fuzz(func(t *testing.T, conf, name string) {
		_, _ = NginxConf(conf, name)
		_, _ = ApacheConf(conf, name)
	})
}
