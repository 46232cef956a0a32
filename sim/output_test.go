package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stormwatch/capture"
)

// tiny is two clients and one slot in a second: a success, a refusal, a retry.
func tiny(t testing.TB) *Result {
	sc := &Scenario{
		Name: "tiny", Seed: 1, Start: time.Date(2026, 3, 2, 3, 10, 0, 0, time.UTC), Duration: 10 * time.Second,
		Server: Server{Limiter: &Limiter{Limit: 1}, Hint: slot()},
		Groups: []Group{{
			Name: "g", Count: 2, Agent: "agent/1", Paths: []string{"/v1/{client}?token=abc&n={id}"},
			Sender: Sender{Policy: mustPolicy(t, "hint-exact base=1s")}, Demand: []Demand{{To: time.Millisecond, Units: 1}},
		}},
	}
	return mustRun(t, sc)
}

func TestWriteLog(t *testing.T) {
	r := tiny(t)
	var b strings.Builder
	if err := r.WriteLog(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3:\n%s", len(lines), b.String())
	}
	// The refusal was written first, though the request came second.
	if !strings.Contains(lines[0], `HTTP/1.1" 429 24 "-" "agent/1" 0.00`) || !strings.Contains(lines[1], `HTTP/1.1" 200 11 "-" "agent/1" 0.0`) {
		t.Errorf("not in the order of ends:\n%s", b.String())
	}
	if want := `10.1.0.`; !strings.HasPrefix(lines[2], want) || !strings.Contains(lines[2], ` - - [02/Mar/2026:03:10:01 +0000] "GET /v1/`) || !strings.Contains(lines[2], " 1772421001.") {
		t.Errorf("retry: %s", lines[2])
	}
}

// The formats of logs, and what a proxy adds to the one with times.
func TestWriteLogFormats(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 9}, faults: [{from: 30s, do: timeout}]}
groups: [{name: g, count: 1, agent: a/1, policy: none, timeout: 1s, identity: {nat: 203.0.113.7, forwarded: true}, paths: [/a], demand: [{to: 1ms, units: 1}, {from: 30s, to: 30s, units: 1}]}]
`)
	for format, want := range map[string][2]string{
		"combined": {`203.0.113.7 - - [02/Mar/2026:03:10:00 +0000] "GET /a HTTP/1.1" 200 11 "-" "a/1"`, `203.0.113.7 - - [02/Mar/2026:03:10:31 +0000] "GET /a HTTP/1.1" 499 0 "-" "a/1"`},
		"nginx":    {`203.0.113.7 - - [02/Mar/2026:03:10:00 +0000] "GET /a HTTP/1.1" 200 11 "-" "a/1" "10.1.0.1" 0.00`, `203.0.113.7 - - [02/Mar/2026:03:10:31 +0000] "GET /a HTTP/1.1" 499 0 "-" "a/1" "10.1.0.1" `},
	} {
		var b strings.Builder
		if err := r.WriteLogFormat(&b, format); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		if len(lines) != 2 || !strings.HasPrefix(lines[0], want[0]) || !strings.HasPrefix(lines[1], want[1]) {
			t.Errorf("%s:\n%s", format, b.String())
		}
	}
	if err := r.WriteLogFormat(io.Discard, "iis"); err == nil || !strings.Contains(err.Error(), "want one of combined, nginx") {
		t.Errorf("unknown format: %v", err)
	}
}

func TestWriteTruth(t *testing.T) {
	r := tiny(t)
	var b bytes.Buffer
	if err := r.WriteTruth(&b); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&b)
	for i := range r.Rows {
		var row struct {
			Src     string
			ConnSeq uint32 `json:"conn_seq"`
			Start   time.Time
			Chain   uint64
			Attempt int
			Client  string
			Group   string
		}
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		want := r.Rows[i]
		if row.Src != r.Conns[want.Conn].Src.String() || row.ConnSeq != want.ConnSeq || row.Start.UnixNano() != want.Start || row.Chain != want.Chain ||
			row.Attempt != want.Attempt || row.Client != r.Clients[want.Client].Addr.String() || row.Group != "g" {
			t.Errorf("row %d is %+v, want %+v", i, row, want)
		}
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		t.Errorf("more than %d rows", len(r.Rows))
	}
}

// Truth tells what the tap cannot see: whose unit of work it was behind a layer,
// which key, which layers' attempts, and what is a copy.
func TestWriteTruthOfLayers(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 1, window: 1h, service: 300ms}}
layers: [{name: edge, policy: immediate attempts=2, hedge: {after: 100ms}}]
groups:
  - {name: a, count: 1, policy: fixed base=1s attempts=2, through: [edge], identity: {key: each, keys: 3, rotate_on: [429]}, paths: [/a], demand: [{to: 1ms, units: 1}, {from: 1s, to: 1s, units: 1}]}
`)
	var b strings.Builder
	if err := r.WriteTruth(&b); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		_, rest, _ := strings.Cut(line, `"chain":`)
		got = append(got, strings.TrimSpace(rest))
	}
	client := `,"client":"10.1.0.1","group":"a"`
	// The copy is refused, which counts as the first answer: the layer tries again,
	// then the client, with the next of its keys. A second unit does the same
	// meanwhile, and both turn the same key ring.
	want := []string{
		`1,"attempt":1` + client + `,"key":1,"layers":[1,1]}`,
		`1,"attempt":1` + client + `,"key":1,"copy":true,"layers":[1,1]}`,
		`1,"attempt":2` + client + `,"key":1,"layers":[1,2]}`,
		`2,"attempt":1` + client + `,"key":2,"layers":[1,1]}`,
		`2,"attempt":2` + client + `,"key":2,"layers":[1,2]}`,
		`1,"attempt":3` + client + `,"key":3,"layers":[2,1]}`,
		`1,"attempt":4` + client + `,"key":3,"layers":[2,2]}`,
		`2,"attempt":3` + client + `,"key":1,"layers":[2,1]}`,
		`2,"attempt":4` + client + `,"key":1,"layers":[2,2]}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestWriteRange(t *testing.T) {
	server := Server{Limiter: &Limiter{Limit: 10}}
	sc := one(1, time.Minute, server, Group{Count: 20, Demand: []Demand{{Every: time.Second}}})
	sc.Start = time.Date(2026, 3, 2, 3, 10, 2, 0, time.UTC)
	r := mustRun(t, sc)
	var b bytes.Buffer
	if err := r.WriteRange(&b); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Status string
		Data   struct {
			ResultType string
			Result     []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	series := answer.Data.Result
	if answer.Status != "success" || answer.Data.ResultType != "matrix" || len(series) != 2 || series[0].Metric["code"] != "200" || series[1].Metric["code"] != "429" {
		t.Fatalf("not the matrix of 200 and 429: %s", b.String())
	}
	// Scrapes at 03:10:05 to 03:11:00, rates from the third on.
	if len(series[0].Values) != 10 || series[0].Values[0][0] != 1772421015.0 || series[0].Values[9][0] != 1772421060.0 {
		t.Errorf("moments: %v", series[0].Values)
	}
	for _, s := range series { // half of 20/s passes a limit of 10/s
		for _, v := range s.Values {
			var rate float64
			if err := json.Unmarshal([]byte(v[1].(string)), &rate); err != nil || math.Abs(rate-10) > .6 {
				t.Errorf("code %s: rate %v at %v, want about 10", s.Metric["code"], v[1], v[0])
			}
		}
	}
}

func TestSourceGivesTheRows(t *testing.T) {
	sc, err := Load("../testdata/pcaps/retry-after-ignored/scenario.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := Run(sc)
	src := r.Source("sim")
	if info := src.Info(); info.Kind != "capture" || info.Name != "sim" || info.Live {
		t.Errorf("info %+v", info)
	}
	for range 2 { // it can be read again
		n, refused, mark, done := 0, 0, int64(0), 0.0
		err = src.Run(context.Background(), func(b *capture.Batch) error {
			for i := range b.Exchanges {
				x, row := &b.Exchanges[i], &r.Rows[n]
				if x.Start < mark {
					t.Fatalf("exchange %d starts before the watermark", n)
				}
				if x.Start != row.Start || x.End != row.End || x.Status != row.Status || x.ConnSeq != row.ConnSeq ||
					x.Src.String() != r.Conns[row.Conn].Src.String() || string(b.Bytes(x.Target)) != row.Path || b.Names.Text(x.Agent) != r.Group(row).Agent {
					t.Fatalf("exchange %d is %+v, want %+v", n, x, row)
				}
				if x.Refused() {
					refused++
					if !x.Hint.Usable() || x.Hint.Wait != int64(row.Wait) || x.Hint.Wait < 2e9 || x.Hint.Wait > 5e9 {
						t.Fatalf("exchange %d: hint %+v, want %s", n, x.Hint, row.Wait)
					}
				} else if x.Hint.State != capture.Absent {
					t.Fatalf("exchange %d: hint %+v on a success", n, x.Hint)
				}
				n++
			}
			if b.Health != nil && (!b.Health.SeesHints || !b.Health.SeesPorts || b.Health.Resolution != 1) {
				t.Errorf("health %+v", b.Health)
			}
			mark, done = b.Watermark, b.Done
			return nil
		})
		if err != nil || n != len(r.Rows) || refused == 0 || done != 1 {
			t.Errorf("%d of %d exchanges, %d refused, done %v, %v", n, len(r.Rows), refused, done, err)
		}
	}
	stop := errors.New("stop")
	if err := src.Run(context.Background(), func(*capture.Batch) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the sink's error became %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := src.Run(ctx, func(*capture.Batch) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("the context's error became %v", err)
	}
}

// What a request carries besides reaches the exchange as it would from packets:
// who asks, by which key, for which time, and what it writes.
func TestSourceReadsWhatIsAsked(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 1, window: 1h, refuse: 200}}
layers: [{name: edge, policy: none, counter: x-envoy-attempt-count, forwarded: true}]
groups:
  - {name: a, count: 2, method: PUT, policy: fixed base=1s attempts=2, retry_on: [body], through: [edge], identity: {key: each}, idempotency: same, paths: [/a], demand: [{to: 1s, units: 1}]}
  - {name: b, count: 1, policy: immediate attempts=2, retry_on: [body], counter: amz-sdk-request, identity: {key: one, header: X-Api-Key, ipv6: true}, paths: [/b], demand: [{from: 5s, to: 6s, units: 1}]}
`)
	var all []capture.Exchange
	var forwarded []string
	err := r.Source("sim").Run(context.Background(), func(b *capture.Batch) error {
		all = append(all, b.Exchanges...)
		for i := range b.Exchanges {
			forwarded = append(forwarded, b.Names.Text(b.Exchanges[i].Forwarded))
		}
		return nil
	})
	if err != nil || len(all) != 5 { // granted; refused twice; refused twice
		t.Fatalf("%d exchanges, %v", len(all), err)
	}
	// FNV-1a of 64 bits, worked out by another program.
	bodies := map[uint64]uint64{0x36932efc229cf226: 1, 0x36962efc229f27fd: 2}
	for i, x := range all[:3] {
		if x.Credential == 0 || (x.Credential == all[0].Credential) != (i == 0) || forwarded[i] != r.Clients[r.Rows[i].Client].Addr.String() {
			t.Errorf("exchange %d: credential %x, forwarded for %s", i+1, x.Credential, forwarded[i])
		}
		if x.IdemKey == 0 || (x.IdemKey == all[0].IdemKey) != (i == 0) || x.Attempt != (capture.Attempt{N: 1, Counter: capture.EnvoyAttempts}) {
			t.Errorf("exchange %d: key %x, attempt %+v", i+1, x.IdemKey, x.Attempt)
		}
		if bodies[x.Body] != r.Rows[i].Chain {
			t.Errorf("exchange %d of chain %d: body %x", i+1, r.Rows[i].Chain, x.Body)
		}
		if x.Status != 200 || (x.Reason == capture.BodyRefusal) != (i > 0) || x.Failed() != (i > 0) {
			t.Errorf("exchange %d: status %d, %s", i+1, x.Status, x.Reason)
		}
	}
	for i, x := range all[3:] {
		if x.Credential != all[3].Credential || x.IdemKey != all[3].IdemKey || x.Attempt != (capture.Attempt{N: uint16(i + 1), Counter: capture.AmzAttempt}) || x.Body != 0 {
			t.Errorf("exchange %d: %+v", i+4, x)
		}
		if src := x.Src.Addr().String(); src != "2001:db8:0:2::1" || x.Dst.String() != "[2001:db8::1]:80" {
			t.Errorf("exchange %d: %s to %s", i+4, src, x.Dst)
		}
	}
}

// Of several headers the source reads the one that a capture would.
func TestSourceReadsHints(t *testing.T) {
	names := capture.NewInterner(100, 1000)
	for fields, want := range map[string]capture.Hint{
		"":                         {State: capture.Absent},
		"X-RateLimit-Reset: 5\r\n": {State: capture.Present, Kind: capture.ResetSeconds, Wait: 5e9},
		"Retry-After: 5\r\nretry-after-ms: 250\r\n":      {State: capture.Present, Kind: capture.RetryAfterMillis, Wait: 250e6},
		"Retry-After: 5\r\nretry-after-ms: x\r\n":        {State: capture.Present, Kind: capture.RetryAfterSeconds, Wait: 5e9},
		"x-ms-retry-after-ms: x\r\n":                     {State: capture.Present, Kind: capture.Malformed},
		"Retry-After: Mon, 02 Mar 2026 03:10:07 GMT\r\n": {State: capture.Present, Kind: capture.RetryAfterDate, Wait: 7e9},
	} {
		x := capture.Exchange{Status: 429, Reason: capture.Throttle, Date: 1772421000}
		(&Source{}).answered(capture.NewAnswers(names, &capture.Health{}), names, &x, &Row{Fields: fields}, "")
		got := x.Hint
		got.Raw = 0
		if got != want {
			t.Errorf("%q: %+v, want %+v", fields, got, want)
		}
	}
}

func TestSourceMasksSecrets(t *testing.T) {
	err := tiny(t).Source("sim").Run(context.Background(), func(b *capture.Batch) error {
		for i := range b.Exchanges {
			if target := string(b.Bytes(b.Exchanges[i].Target)); !strings.Contains(target, "token=***&n=") {
				t.Errorf("target %s", target)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every scenario of the repository gives the same bytes twice.
func TestSameSeedSameBytes(t *testing.T) {
	names, err := filepath.Glob("../testdata/*/*/scenario.yaml")
	if err != nil || len(names) < 24 {
		t.Fatalf("%d scenarios, %v", len(names), err)
	}
	for _, name := range names {
		var out [2]bytes.Buffer
		for i := range out {
			sc, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			r := Run(sc)
			for _, write := range []func(*Result, io.Writer) error{(*Result).WriteCapture, (*Result).WriteLog, (*Result).WriteRange, (*Result).WriteTruth} {
				if err := write(r, &out[i]); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
		if !bytes.Equal(out[0].Bytes(), out[1].Bytes()) {
			t.Errorf("%s: one seed, two outputs", name)
		}
	}
}

func TestOtherSeedOtherBytes(t *testing.T) {
	writers := map[string]func(*Result, io.Writer) error{
		"capture": (*Result).WriteCapture, "log": (*Result).WriteLog, "range": (*Result).WriteRange, "truth": (*Result).WriteTruth,
	}
	for name, write := range writers {
		var out [2]bytes.Buffer
		for i := range out {
			sc, err := Load("../testdata/pcaps/retry-after-ignored/scenario.yaml")
			if err != nil {
				t.Fatal(err)
			}
			sc.Seed += uint64(i)
			if err := write(Run(sc), &out[i]); err != nil {
				t.Fatal(err)
			}
		}
		if bytes.Equal(out[0].Bytes(), out[1].Bytes()) {
			t.Errorf("%s: two seeds, one output", name)
		}
	}
}

func TestMessages(t *testing.T) {
	r := tiny(t)
	row := r.Rows[1]
	request := string(r.appendRequest(nil, &row))
	if want := "GET " + row.Path + " HTTP/1.1\r\nHost: api.example.com\r\nUser-Agent: agent/1\r\n\r\n"; request != want {
		t.Errorf("request %q, want %q", request, want)
	}
	response := string(r.appendResponse(nil, &row))
	want := "HTTP/1.1 429 Too Many Requests\r\nDate: Mon, 02 Mar 2026 03:10:00 GMT\r\nContent-Length: 24\r\nRetry-After: 1\r\n\r\n{\"error\":\"rate limited\"}"
	if response != want {
		t.Errorf("response %q, want %q", response, want)
	}
	r.Scenario.Groups[0].Method = "HEAD"
	if head := string(r.appendResponse(nil, &row)); !strings.HasSuffix(head, "Content-Length: 24\r\nRetry-After: 1\r\n\r\n") {
		t.Errorf("answer to HEAD: %q", head)
	}
}
