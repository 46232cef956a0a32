package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

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

func TestSameSeedSameBytes(t *testing.T) {
	writers := map[string]func(*Result, io.Writer) error{
		"capture": (*Result).WriteCapture, "log": (*Result).WriteLog, "range": (*Result).WriteRange, "truth": (*Result).WriteTruth,
	}
	for name, write := range writers {
		var out [3]bytes.Buffer
		for i := range out {
			sc, err := Load("../testdata/pcaps/retry-after-ignored/scenario.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if i == 2 {
				sc.Seed++
			}
			if err := write(Run(sc), &out[i]); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(out[0].Bytes(), out[1].Bytes()) {
			t.Errorf("%s: one seed, two outputs", name)
		}
		if bytes.Equal(out[0].Bytes(), out[2].Bytes()) {
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
