package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"stormwatch/detect"
)

// hostile are labels that mean something in one syntax or another.
var hostile = []string{
	`a"; return 200; #`, `~.*`, `default`, `$host`, `it's`, `\`, `ends\`, `{a}`, `a b`, `-f`, `--`, `# c`, `include`, `%[src]`, `}`, "ünï", `"`, `'`,
	`a, b`, `@x`, `=1+1`, `${HOME}`, `a;b`, "`id`",
}

// unnameable cannot be written into a configuration as they were sent.
var unnameable = []string{"two\nlines", "bell\a", "hidden\u202e", ""}

// second is a moment of the lists' input.
func second(n int64) int64 { return 1772421000e9 + n*1e9 }

// listed is a snapshot whose clients all send what they need not, the first one most.
func listed(labels ...string) *detect.Snapshot {
	s := &detect.Snapshot{Start: second(0), End: second(100), At: second(100), ClientCount: len(labels) * 10, Victims: 7}
	for i, l := range labels {
		s.Clients = append(s.Clients, detect.Client{
			Label: l, Attempts: 1000, Refused: 900, First: int64(100 * (i + 1)), AvoidablePerS: detect.Some(float64(len(labels) - i)),
		})
	}
	s.Clients = append(s.Clients, detect.Client{Label: "192.0.2.99", Victim: true, Refused: 3, AvoidablePerS: detect.Some(0)})
	s.Reach = []detect.Reach{{Clients: len(labels), Of: s.ClientCount, Share: 1}}
	return s
}

func list(t *testing.T, s *detect.Snapshot, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := ThrottleList(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// cases of what clients are, by name.
func throttleCases() map[string]struct {
	s  *detect.Snapshot
	by string
} {
	type c = struct {
		s  *detect.Snapshot
		by string
	}
	return map[string]c{
		"addresses": {listed("10.0.0.7", "2001:db8::7", "10.0.0.9"), "auto"},
		"networks":  {listed("10.0.1.0/24", "2001:db8::/64"), "addr/24"},
		"header":    {listed(append(slices.Clone(hostile), unnameable...)...), "header:X-Tenant"},
		"agent":     {listed(hostile...), "agent"},
		"cases":     {listed("ACME", "acme", "Acme.1", "acme.1", "other"), "header:X-Tenant"},
		"path":      {listed("/acme", "/a.b", "/c+d", `/q"x`), "path:2"},
		"keys":      {listed("cred-1", "cred-2", "10.0.0.3"), "key"},
		"secret":    {listed("cred-1"), "header:X-Api-Key"},
		"token":     {listed("cred-4"), "jwt:sub"},
		"nobody":    {&detect.Snapshot{At: second(1)}, "auto"},
		"unnamed":   {listed("(other clients)"), "header:X-Tenant"},
	}
}

// Undo, check and stop stand beside every list; no victim is on it, and of the
// comments none runs into a second line.
func TestThrottleListsSayHowToUndo(t *testing.T) {
	for name, c := range throttleCases() {
		for _, product := range []string{"nginx", "haproxy", "envoy"} {
			text := list(t, c.s, Options{For: product, ClientBy: c.by, Top: 50})
			if strings.Contains(text, "192.0.2.99") {
				t.Errorf("%s for %s names a victim", name, product)
			}
			for _, want := range []string{"# undo: ", "# stop: ", "# check: ", "7 clients refused"} {
				if name != "nobody" && !strings.Contains(text, want) {
					t.Errorf("%s for %s lacks %q:\n%s", name, product, want, text)
				}
			}
			for _, bad := range []string{"\x07", "\u202e", "two\nlines"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s for %s lets %q out", name, product, bad)
				}
			}
		}
	}
	text := list(t, throttleCases()["nobody"].s, Options{For: "nginx"})
	if !strings.HasPrefix(text, "# ") || strings.Count(text, "\n") != 1 || !strings.Contains(text, "nothing to throttle") {
		t.Errorf("%q", text)
	}
}

// A client keeps what it asks for anew and a fifth more, rounded up: 100 first attempts
// in 100 s are 60 a minute, 72 with the fifth, and so 80; 200 are 144 and so 150; 300 are
// 216 and so 250.
func TestThrottleKeepsWhatIsAskedAnew(t *testing.T) {
	text := list(t, listed("10.0.0.1", "10.0.0.2", "10.0.0.3"), Options{For: "csv", Top: 3})
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows[1:] {
		got = append(got, r[0]+" "+r[5]+" "+r[6])
	}
	if want := []string{"10.0.0.1 80 0.500", "10.0.0.2 150 0.833", "10.0.0.3 250 1.000"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A named client is limited by what it is, not by what people call it.
func TestThrottleOfNamedClients(t *testing.T) {
	s := listed("ACME Ltd (acme)", "office (10.0.0.7)")
	s.Clients[0].Name, s.Clients[1].Name = "ACME Ltd", "office"
	if text := list(t, s, Options{For: "haproxy", ClientBy: "header:X-Tenant", Top: 1}); !strings.Contains(text, "req.fhdr(x-tenant) -m str -- 'acme' }") {
		t.Error(text)
	}
	s.Clients = s.Clients[1:]
	if text := list(t, s, Options{For: "haproxy", ClientBy: "auto", Top: 1}); !strings.Contains(text, "{ src 10.0.0.7/32 }") {
		t.Error(text)
	}
}

// From the client's side an address is that of the service called, not of one who calls.
func TestNoThrottleListFromTheClientsSide(t *testing.T) {
	for _, product := range Products() {
		s := listed("10.0.0.7")
		s.Perspective = detect.PerspectiveClient
		var b bytes.Buffer
		if err := ThrottleList(&b, s, Options{For: product}); err == nil || !strings.Contains(err.Error(), "your own client") || b.Len() > 0 {
			t.Errorf("%s: %v, wrote %q", product, err, b.String())
		}
	}
}

// A shared address is not limited: whom it would hold is not known.
func TestThrottleLeavesSharedAddressesOut(t *testing.T) {
	s := listed("10.0.0.7", "10.0.0.8")
	s.Clients[0].Behind, s.Clients[1].Behind = 40, 1
	for _, product := range Products() {
		text := list(t, s, Options{For: product})
		for line := range strings.Lines(text) {
			if strings.Contains(line, "10.0.0.7") && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "10.0.0.7,nothing,") {
				t.Errorf("%s limits a shared address: %s", product, line)
			}
		}
		if !strings.Contains(text, "10.0.0.8") {
			t.Errorf("%s leaves out who is alone:\n%s", product, text)
		}
		if want := "left out  10.0.0.7: about 40 clients share it"; product != "csv" && !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", product, want, text)
		}
	}
}

// Maps of nginx ignore the case of plain values: two that differ only in it are patterns,
// which take exactly their own.
func TestNginxTellsCasesApart(t *testing.T) {
	c := throttleCases()["cases"]
	text := list(t, c.s, Options{For: "nginx", ClientBy: c.by, Top: 50})
	for _, want := range []string{`"~^ACME$" c1;`, `"~^acme$" c2;`, `"~^Acme\\.1$" c3;`, `"~^acme\\.1$" c4;`, `"\\other" c5;`} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %s:\n%s", want, text)
		}
	}
}

// Where a secret tells clients apart no value of it stands in the list.
func TestThrottleBySecret(t *testing.T) {
	for _, product := range []string{"nginx", "haproxy", "envoy"} {
		text := list(t, listed("cred-1", "cred-2"), Options{For: product, ClientBy: "key", Top: 5})
		if !strings.Contains(text, "EVERY value of authorization is limited") {
			t.Errorf("%s:\n%s", product, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "cred-") && !strings.HasPrefix(line, "#") {
				t.Errorf("%s puts a label into the configuration: %s", product, line)
			}
		}
	}
}

// What Envoy reads are the very labels.
func TestEnvoyThrottleIsYAML(t *testing.T) {
	for name, c := range throttleCases() {
		text := list(t, c.s, Options{For: "envoy", ClientBy: c.by, Top: 50})
		var filters []struct {
			Name   string
			Config struct {
				Type        string `yaml:"@type"`
				Descriptors []struct {
					Entries []struct{ Key, Value string }
				}
				Limits []struct{ Actions []map[string]any } `yaml:"rate_limits"`
			} `yaml:"typed_config"`
		}
		if err := yaml.Unmarshal([]byte(text), &filters); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		if name == "nobody" || name == "unnamed" {
			continue
		}
		if len(filters) != 1 || len(filters[0].Config.Descriptors) == 0 || len(filters[0].Config.Limits) == 0 {
			t.Errorf("%s: %+v", name, filters)
			continue
		}
		if name != "agent" {
			continue
		}
		var values []string
		for _, d := range filters[0].Config.Descriptors {
			values = append(values, d.Entries[0].Value)
		}
		if !slices.Equal(values, hostile) {
			t.Errorf("%q, want %q", values, hostile)
		}
	}
}

func TestCSVThrottleIsNoFormula(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(list(t, listed(hostile...), Options{For: "csv", ClientBy: "agent", Top: 50}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(hostile)+1 {
		t.Errorf("%d rows, want %d", len(rows), len(hostile)+1)
	}
	for _, r := range rows {
		if strings.ContainsAny(r[0][:1], "=+-@") {
			t.Errorf("%q would be run as a formula", r[0])
		}
	}
}

// installed skips a test of installed programs unless they are asked for, and then
// demands them.
func installed(t *testing.T, program string) string {
	t.Helper()
	if os.Getenv("STORMWATCH_E2E") != "1" {
		t.Skip("STORMWATCH_E2E is not 1")
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%s is not installed: %v", program, err)
	}
	return path
}

func accepted(t *testing.T, config string, check func(dir, file string) *exec.Cmd) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := check(dir, file).CombinedOutput(); err != nil || strings.Contains(strings.ToLower(string(out)), "[warn") {
		t.Errorf("%v\n%s\n%s", err, out, config)
	}
}

func TestNginxTakesThrottleLists(t *testing.T) {
	nginx := installed(t, "nginx")
	for name, c := range throttleCases() {
		t.Run(name, func(t *testing.T) {
			text := list(t, c.s, Options{For: "nginx", ClientBy: c.by, Top: 50})
			http, location, _ := strings.Cut(text, "# location {}")
			accepted(t, fmt.Sprintf("daemon off;\npid nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\nmap_hash_bucket_size 128;\n%s\nserver { listen 127.0.0.1:18080; location / {\n#%s\nproxy_pass http://127.0.0.1:18081;\n} }\n}\n", http, location),
				func(dir, file string) *exec.Cmd { return exec.Command(nginx, "-t", "-q", "-p", dir, "-c", file) })
		})
	}
}

func TestHAProxyTakesThrottleLists(t *testing.T) {
	haproxy := installed(t, "haproxy")
	for name, c := range throttleCases() {
		t.Run(name, func(t *testing.T) {
			text := list(t, c.s, Options{For: "haproxy", ClientBy: c.by, Top: 50})
			backend, frontend, _ := strings.Cut(text, "# frontend:\n")
			accepted(t, fmt.Sprintf("defaults\n    mode http\n    timeout connect 1s\n    timeout client 5s\n    timeout server 5s\n%s\nfrontend front\n    bind 127.0.0.1:18080\n%s\n    default_backend app\nbackend app\n    server app0 127.0.0.1:18081\n", backend, frontend),
				func(_, file string) *exec.Cmd { return exec.Command(haproxy, "-c", "-f", file) })
		})
	}
}
