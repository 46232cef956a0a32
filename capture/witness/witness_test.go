package witness

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
)

// seen is what came through a witness.
type seen struct {
	clients []string // as Exchange.Client names them, else the address
	keys    map[uint64]int
	health  capture.Health
}

// watchLog reads a log through a witness.
func watchLog(t *testing.T, text, format, who string, trusted ...netip.Prefix) (seen, *Source) {
	t.Helper()
	w, err := ParseWho(who)
	if err != nil {
		t.Fatal(err)
	}
	o := accesslog.Options{Client: w.Field()}
	if format != "" {
		if o.Format, err = accesslog.ParseFormat(format); err != nil {
			t.Fatal(err)
		}
	}
	src, err := accesslog.Open("a.log", strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return watch(t, src, Options{Who: w, Trusted: trusted})
}

func watch(t *testing.T, src capture.Source, o Options) (out seen, s *Source) {
	t.Helper()
	out.keys = map[uint64]int{}
	s = New(src, o)
	err := s.Run(context.Background(), func(b *capture.Batch) error {
		for i := range b.Exchanges {
			x := &b.Exchanges[i]
			name := b.Names.Text(x.Client)
			if name == "" {
				name = x.Src.Addr().String()
			}
			out.clients = append(out.clients, name)
			if x.Credential != 0 {
				out.keys[x.Credential]++
			}
		}
		if b.Health != nil {
			out.health = *b.Health
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, s
}

const combined = `%s - - [30/Nov/2026:08:11:%02d +0000] "GET %s HTTP/1.1" 200 5 "-" "%s"`

func lines(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

// Each way of telling clients apart gives the clients that a reader of the log
// would name.
func TestWho(t *testing.T) {
	text := lines(4, func(i int) string {
		return fmt.Sprintf(combined, []string{"10.1.2.3", "10.1.2.4", "10.1.3.5", "2001:db8:1:2::7"}[i], i, []string{"/acme/v1", "/acme/v2?a=/x", "/", "/globex/"}[i], []string{"a/1", "b/1", "a/1", "-"}[i])
	})
	for who, want := range map[string]string{
		"auto":     "10.1.2.3 10.1.2.4 10.1.3.5 2001:db8:1:2::7",
		"addr/24":  "10.1.2.0/24 10.1.2.0/24 10.1.3.0/24 2001:db8:1:2::/64",
		"addr/48":  "10.1.2.3/32 10.1.2.4/32 10.1.3.5/32 2001:db8:1::/48",
		"path:1":   "/acme /acme 10.1.3.5 /globex",
		"path:2":   "/v1 /v2 10.1.3.5 2001:db8:1:2::7",
		"agent":    "a/1 b/1 a/1 2001:db8:1:2::7",
		"header:x": "10.1.2.3 10.1.2.4 10.1.3.5 2001:db8:1:2::7",
	} {
		out, s := watchLog(t, text, "", who)
		if got := strings.Join(out.clients, " "); got != want {
			t.Errorf("%s: %s, want %s", who, got, want)
		}
		err := None([]*Source{s})
		if (err != nil) != (who == "header:x") {
			t.Errorf("%s: error %v", who, err)
		}
	}
	if out, _ := watchLog(t, text, "", "path:1"); len(out.health.Notes) == 0 || !strings.Contains(strings.Join(out.health.Notes, ";"), "25 % of the exchanges lack segment 1 of the path") {
		t.Errorf("one in four has no such segment: %q", out.health.Notes)
	}
}

// A header is found in what each kind of log calls it.
func TestWhoByHeader(t *testing.T) {
	for format, line := range map[string]string{
		`nginx:$remote_addr [$time_iso8601] "$request" $status "$http_x_tenant"`:               `10.0.0.1 [2026-11-30T08:11:06+00:00] "GET / HTTP/1.1" 200 "%s"`,
		`apache:%h %t "%r" %>s "%{X-Tenant}i"`:                                                 `10.0.0.1 [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 "%s"`,
		`envoy:[%START_TIME%] "%REQ(:METHOD)% %REQ(:PATH)%" %RESPONSE_CODE% "%REQ(X-TENANT)%"`: `[2026-11-30T08:11:06.000Z] "GET /" 200 "%s"`,
		`<ip> [<time>] "<request>" <status> <_x_tenant>`:                                       `10.0.0.1 [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 %s`,
		"json":   `{"time":"2026-11-30T08:11:06Z","client_ip":"10.0.0.1","method":"GET","path":"/","status":200,"headers":{"X-Tenant":["%s"]}}`,
		"logfmt": `time=2026-11-30T08:11:06Z client_ip=10.0.0.1 method=GET path=/ status=200 x_tenant=%s`,
	} {
		text := lines(4, func(i int) string { return fmt.Sprintf(line, []string{"acme", "globex", "acme", "-"}[i]) })
		out, _ := watchLog(t, text, format, "header:X-Tenant")
		if got := strings.Join(out.clients[:3], " "); got != "acme globex acme" {
			t.Errorf("%s: %s", format, got)
		}
		if len(out.keys) != 0 {
			t.Errorf("%s: no credential", format)
		}
	}
	// A secret one is told as a number alone.
	text := lines(3, func(i int) string {
		return fmt.Sprintf(`10.0.0.1 [2026-11-30T08:11:06+00:00] "GET / HTTP/1.1" 200 "%s"`, []string{"k1", "k2", "k1"}[i])
	})
	out, _ := watchLog(t, text, `nginx:$remote_addr [$time_iso8601] "$request" $status "$http_x_app_token"`, "header:X-App-Token")
	if len(out.keys) != 2 || strings.Contains(strings.Join(out.clients, " "), "k1") {
		t.Errorf("%v, %v", out.keys, out.clients)
	}
}

func TestParseWhoRefuses(t *testing.T) {
	for _, bad := range []string{"face", "header:", "header:a b", "jwt:", "path:0", "path:x", "addr/4", "addr/x", "10.0.0.1/24"} {
		if _, err := ParseWho(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// A log of a server behind a proxy says which flag tells the clients apart.
func TestProxyIsNoticed(t *testing.T) {
	text := func(peer, xff, user, agent func(i int) string) string {
		return lines(100, func(i int) string {
			return fmt.Sprintf(`%s - %s [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "-" "%s" "%s"`, peer(i), user(i), agent(i), xff(i))
		})
	}
	none := func(int) string { return "-" }
	one := func(int) string { return "10.0.0.1" }
	two := func(i int) string { return fmt.Sprintf("10.0.0.%d", 1+i%2) }
	many := func(i int) string { return fmt.Sprintf("198.51.100.%d", i%9) }
	// Nineteen of twenty come from one, or two; each of the others is who it is.
	busy := func(peer, others func(i int) string) func(i int) string {
		return func(i int) string {
			if i%20 == 0 {
				return others(i / 20)
			}
			return peer(i)
		}
	}
	oneBusy, twoBusy, itself := busy(one, many), busy(two, many), func(int) string { return "bulk/1" }
	outlier := func(i int) string { return []string{"10.0.0.1", "192.0.2.1"}[i/97] }
	for name, c := range map[string]struct {
		text string
		says string
	}{
		"a proxy":                {text(one, many, none, none), "--trusted-proxy 10.0.0.1 takes"},
		"a proxy and an outlier": {text(outlier, many, none, none), "--trusted-proxy 10.0.0.1 takes"},
		"a pair of proxies":      {text(two, many, none, none), "--trusted-proxy 10.0.0.2"},
		"keys behind a proxy":    {text(one, none, many, none), "--client-by key"},
		"programs behind one":    {text(one, none, none, many), "--client-by agent"},
		"clients":                {text(many, many, many, many), ""},
		"one client":             {text(one, one, one, one), ""},
		"a busy client":          {text(oneBusy, busy(none, many), busy(itself, many), busy(itself, many)), ""},
		"a pair of busy clients": {text(twoBusy, busy(none, many), busy(itself, many), busy(itself, many)), ""},
		"a proxy beside clients": {text(oneBusy, many, none, none), "--trusted-proxy 10.0.0.1 takes"},
		"nothing else is known":  {text(one, none, none, none), ""},
		"nobody is named": {lines(100, func(i int) string {
			return fmt.Sprintf(`{"time":"2026-11-30T08:11:06Z","method":"GET","path":"/%d","status":200}`, i)
		}), "log the address"},
		"some are named": {lines(100, func(i int) string {
			return fmt.Sprintf(`{"time":"2026-11-30T08:11:06Z","method":"GET","path":"/%d","status":200,"ip":"10.0.0.%d"}`, i, i)
		}), ""},
	} {
		out, _ := watchLog(t, c.text, "", "auto")
		notes := strings.Join(out.health.Notes, "; ")
		if out.health.Crowded != (c.says != "") || !strings.Contains(notes, c.says) {
			t.Errorf("%s: crowded %v, %q", name, out.health.Crowded, notes)
		}
	}
	if out, _ := watchLog(t, text(one, many, none, none), "", "key"); out.health.Crowded {
		t.Error("who says what a client is, need not be told")
	}
}

// captured is a source of exchanges that are given.
type captured struct {
	x     []capture.Exchange
	names *capture.Interner
}

func (c captured) Info() capture.Info { return capture.Info{Name: "c", Kind: "capture"} }

func (c captured) Run(_ context.Context, sink capture.Sink) error {
	return sink(&capture.Batch{Exchanges: c.x, Names: c.names, Health: &capture.Health{Unit: "packets"}})
}

// In a capture the client behind trusted proxies is the last address that is none
// of them; what stands before an address nobody can read is not believed.
func TestCaptureBehindProxies(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")}
	for _, c := range []struct{ peer, xff, want string }{
		{"10.0.0.1", "198.51.100.7", "198.51.100.7"},
		{"10.0.0.1", "1.2.3.4, 198.51.100.7, 10.0.0.2", "198.51.100.7"},
		{"10.0.0.1", "1.2.3.4, unknown, 10.0.0.2", "10.0.0.2"},
		{"10.0.0.1", "[2001:db8::7]:4000, 2001:db8:1::2", "2001:db8::7"},
		{"10.0.0.1", "", "10.0.0.1"},
		{"192.0.2.9", "198.51.100.7", "192.0.2.9"},
		{"10.0.0.1", strings.Repeat("198.51.100.7, ", 20) + "198.51.1", "10.0.0.1"},
	} {
		names := capture.NewInterner(8, 1<<10)
		x := capture.Exchange{Forwarded: names.InternString(c.xff), Src: capture.Endpoint{IP: netip.MustParseAddr(c.peer).As16()}}
		out, _ := watch(t, captured{[]capture.Exchange{x}, names}, Options{Trusted: trusted})
		if out.clients[0] != c.want {
			t.Errorf("%s, %s: client %s, want %s", c.peer, c.xff, out.clients[0], c.want)
		}
	}
}

// A source's span and its longest silence are told.
func TestSpan(t *testing.T) {
	text := lines(4, func(i int) string {
		return fmt.Sprintf(`10.0.0.1 - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "-" "a" 0.100 %d.200`, 1796026266+[]int{0, 1, 61, 70}[i])
	})
	out, _ := watchLog(t, text, "", "auto")
	h := out.health
	origin := time.Unix(1796026266, 0).UnixNano()
	if h.From != origin+1e8 || h.To != origin+70e9+2e8 || h.Silence != 60e9-1e8 || h.SilentAt != origin+1e9+2e8 {
		t.Errorf("from %d to %d, silent for %d at %d", h.From-origin, h.To-origin, h.Silence, h.SilentAt-origin)
	}
}

func BenchmarkSee(b *testing.B) {
	names := capture.NewInterner(8, 1<<10)
	batch := &capture.Batch{Exchanges: make([]capture.Exchange, 512), Names: names}
	for i := range batch.Exchanges {
		batch.Exchanges[i].Src.IP[15] = byte(i % 37)
		batch.Exchanges[i].Agent = capture.Symbol(i % 9)
	}
	s := New(captured{}, Options{})
	b.ReportAllocs()
	for range b.N {
		s.see(batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/exchange")
}
