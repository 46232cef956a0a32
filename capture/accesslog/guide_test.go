package accesslog

import (
	"regexp"
	"strings"
	"testing"

	"stormwatch/capture"
)

// readyFormats compiles the formats of the guide, each as a user would have it
// read.
func readyFormats(t *testing.T) map[string]*Format {
	t.Helper()
	nginx, err := NginxConf("http {\n"+NginxStorm+"\naccess_log /var/log/nginx/storm.log storm;\n}", "")
	if err != nil {
		t.Fatal(err)
	}
	apache, err := ApacheConf(strings.TrimSpace(ApacheStorm)+"\nCustomLog logs/storm.log storm\n", "")
	if err != nil {
		t.Fatal(err)
	}
	envoy, err := ParseFormat("envoy:" + EnvoyStorm)
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(HAProxyStorm, `log-format "`)
	haproxy, err := ParseFormat("haproxy:" + strings.TrimSuffix(line, `"`))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Format{"nginx": nginx, "apache": apache, "envoy": envoy, "haproxy": haproxy}
}

// The lines that the guide recommends carry all that it promises, and no
// credential.
func TestReadyFormats(t *testing.T) {
	lines := map[string]string{
		"nginx":   `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 429 25 "-" "bot/1" rt=0.250 msec=1796026266.500 rid=r1 host="api" xff="198.51.100.7" us="502, 429" ua="10.0.0.1:80, 10.0.0.2:80" urt="0.001, 0.240" lrs=- ra="3" date="-" idem="i1" amz="-" inv="-" sl="1" ea="-"`,
		"apache":  `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 429 25 "-" "bot/1" usec=1796026266250000 dur=250000 rid=r1 host="api" xff="198.51.100.7" worker="balancer://x" ra="3" idem="i1" amz="-" inv="-" sl="1" ea="-"`,
		"envoy":   `[2026-11-30T08:11:06.250Z] "GET /a HTTP/1.1" 429 - via_upstream 250 "192.0.2.1:4000" "198.51.100.7" "r1" "api" "10.0.0.2:80" outbound|80||x 2 "3" "i1" "-" "-" "1" "bot/1"`,
		"haproxy": `192.0.2.1:4000 [30/Nov/2026:08:11:06.250] fe be/a 0/0/0/240/250 429 25 ---- 1/1/0/0/1 0/0 r1 "bot/1" "198.51.100.7" "i1" "-" "1" "3" "GET /a HTTP/1.1"`,
	}
	for name, f := range readyFormats(t) {
		out := mustRead(t, lines[name]+"\n", Options{Format: f})
		if len(out.rows) != 1 {
			t.Errorf("%s: %+v", name, out.health.Skipped)
			continue
		}
		x := out.rows[0]
		if x.Start != utc0811*second+250e6 || x.End != utc0811*second+500e6 || x.Status != 429 || x.target != "/a" || x.agent != "bot/1" || x.forwarded != "198.51.100.7" || x.Src.Addr().String() != "192.0.2.1" {
			t.Errorf("%s: %+v %q %q %q", name, x.Exchange, x.target, x.agent, x.forwarded)
		}
		if x.Hint.Wait != 3*second || x.IdemKey != capture.HashID([]byte("i1")) || x.RequestID != capture.HashID([]byte("r1")) || x.Attempt.N != 2 || out.health.Resolution > 1e6 {
			t.Errorf("%s: hint %+v, ids %d %d, attempt %+v, clock %d", name, x.Hint, x.IdemKey, x.RequestID, x.Attempt, out.health.Resolution)
		}
		if name != "apache" && x.Tries != 2 {
			t.Errorf("%s: %d tries", name, x.Tries)
		}
	}
	for name, line := range lines { // found without naming it
		out := mustRead(t, strings.Repeat(line+"\n", 3), Options{})
		if len(out.rows) != 3 {
			t.Errorf("%s, not named: %+v", name, out.health.Skipped)
			continue
		}
		x := out.rows[2]
		if x.Start != utc0811*second+250e6 || x.End != utc0811*second+500e6 || x.Status != 429 || x.Src.Addr().String() != "192.0.2.1" || x.Hint.Wait != 3*second || x.IdemKey == 0 || x.RequestID == 0 || x.Attempt.N != 2 {
			t.Errorf("%s, not named: %+v", name, x.Exchange)
		}
	}
	secrets := regexp.MustCompile(`(?i:authorization|api.?key|cookie|remote_user|token)|%u\b|%l\b`)
	for name, text := range map[string]string{"nginx": NginxStorm, "apache": ApacheStorm, "envoy": EnvoyStorm, "haproxy": HAProxyStorm} {
		if found := secrets.FindString(text); found != "" {
			t.Errorf("%s: the line logs %q", name, found)
		}
	}
}

// The guide names every preset and every wrap.
func TestGuide(t *testing.T) {
	var b strings.Builder
	if err := Guide(&b); err != nil {
		t.Fatal(err)
	}
	for _, p := range Presets() {
		if !strings.Contains(b.String(), "  "+p.Name+" ") || p.About == "" || p.Evidence == "" {
			t.Errorf("%s is not described", p.Name)
		}
	}
	for _, want := range []string{NginxStorm, ApacheStorm, EnvoyStorm, HAProxyStorm, "k6", "vegeta", "docker compose", "--map"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}
