package packet

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"stormwatch/capture"
)

func logRows(t *testing.T, path string) (rows [][]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		rows = append(rows, strings.Split(lines.Text(), "\t"))
	}
	return rows
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lines gives the exchanges as the server's log does: port, ordinal on the
// connection, method, target, status, Retry-After.
func (r result) lines() map[string]int {
	got := map[string]int{}
	for _, x := range r.all {
		if x.Hint.State != capture.Present {
			x.raw = "-"
		}
		got[fmt.Sprint(x.Src.Port, " ", x.ConnSeq, " ", x.method, " ", x.target, " ", x.Status, " ", x.raw)]++
	}
	return got
}

func logLines(rows [][]string) (want []string) {
	for _, f := range rows {
		want = append(want, strings.Join([]string{f[5], f[3], f[8], f[10], f[11], f[12]}, " "))
	}
	return want
}

func TestHTTP2Log(t *testing.T) {
	want := logLines(logRows(t, "testdata/h2c.access.tsv"))
	r := readAll(t, contents(t, "testdata/h2c.pcap"), Options{})
	got := r.lines()
	for _, line := range want {
		if got[line] != 1 {
			t.Errorf("%d exchanges are %s", got[line], line)
		}
	}
	if len(want) != 96 || len(r.all) != len(want) {
		t.Errorf("%d lines, %d exchanges, want 96", len(want), len(r.all))
	}
	if r.health.Used != r.health.Read || len(r.health.Skipped) > 0 {
		t.Errorf("health %+v", r.health)
	}
}

// TestHTTP2Midstream reads the capture from some packet on: every request that
// begins later must come out right. Its clients put each new target into the table,
// and its server refers to nothing but the static one.
func TestHTTP2Midstream(t *testing.T) {
	all := readAll(t, contents(t, "testdata/h2c.pcap"), Options{})
	head, recs := records(contents(t, "testdata/h2c.pcap"))
	for _, first := range []int{60, 100, 120, 146, 200, 300} {
		b := bytes.Clone(head)
		for _, r := range recs[first:] {
			b = append(b, r...)
		}
		r := readAll(t, b, Options{})
		got := r.lines()
		want, hit := 0, 0
		for line := range (result{all: after(all.all, uint64(first))}).lines() {
			if want++; got[line] == 1 {
				hit++
			} else {
				t.Logf("from packet %d: missing %s", first, line)
			}
		}
		if t.Logf("from packet %d: %d of %d", first, hit, want); hit != want {
			t.Errorf("from packet %d: %d of %d", first, hit, want)
		}
	}
}

func after(all []seen, frame uint64) (out []seen) {
	for _, x := range all {
		if x.At.A > frame {
			out = append(out, x)
		}
	}
	return out
}

// TestHTTP2Loss drops one packet in fifty.
func TestHTTP2Loss(t *testing.T) {
	want := map[string]bool{}
	for _, line := range logLines(logRows(t, "testdata/h2c.access.tsv")) {
		want[line] = true
	}
	head, recs := records(contents(t, "testdata/h2c.pcap"))
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 2))
		b := bytes.Clone(head)
		lost := 0
		for _, r := range recs {
			if rng.IntN(50) == 0 {
				lost++
				continue
			}
			b = append(b, r...)
		}
		r := readAll(t, b, Options{})
		hit, wrong := 0, 0
		for line := range r.lines() {
			if want[line] {
				hit++
			}
		}
		for _, x := range r.all { // what was not seen is unknown; what is known must be right
			for l := range (result{all: []seen{x}}).lines() {
				if !want[l] && x.Status != 0 && x.Flags&(capture.Unnamed|capture.Orphan) == 0 {
					wrong++
					t.Logf("seed %d: wrong: %s", seed, l)
				}
			}
		}
		t.Logf("seed %d: %d packets lost, %d of %d right, %d wrong, %d exchanges", seed, lost, hit, len(want), wrong, len(r.all))
		if hit < 84 || wrong > 0 {
			t.Errorf("seed %d: %d of %d right, %d wrong; want 84 and 0", seed, hit, len(want), wrong)
		}
	}
}

// TestRPCLog compares with what the gRPC server logged: time, call, status code
// and the attempts before.
func TestRPCLog(t *testing.T) {
	want := map[string]int{}
	for _, f := range logRows(t, "testdata/grpc.server.tsv") {
		attempt := 1
		if _, err := fmt.Sscanf(f[3], "[%d]", &attempt); err == nil {
			attempt++
		}
		want[fmt.Sprint(f[2], " attempt ", attempt)]++
	}
	r := readAll(t, contents(t, "testdata/grpc.pcap"), Options{})
	got := map[string]int{}
	for _, x := range r.all {
		code, ok := x.RPC.Code()
		if !ok || x.Attempt.Counter != capture.RPCAttempts {
			t.Errorf("%v: status %d, attempt %v", x, x.RPC, x.Attempt)
		}
		got[fmt.Sprint(code, " attempt ", x.Attempt.N)]++
		switch named := x.Hint.State == capture.Present && x.Hint.Kind == capture.RPCPushback && x.Hint.Wait == 120*ms; {
		case code != 0 && !named:
			t.Errorf("%v: refused with hint %+v, want 120 ms", x, x.Hint)
		case code == 0 && x.Hint.State != capture.Absent:
			t.Errorf("%v: hint %+v", x, x.Hint)
		}
		if x.method != "POST" || x.target != "/grpc.health.v1.Health/Check" || x.Status != 200 {
			t.Errorf("%v", x)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(r.all) != 120 {
		t.Errorf("%d calls, %v; the server's log: %v", len(r.all), got, want)
	}
	by := map[capture.Reason]int{}
	for _, x := range r.all {
		by[x.Reason]++
	}
	if by[capture.OK] != 40 || by[capture.Throttle] != 60 || by[capture.Overload] != 20 {
		t.Errorf("reasons %v", by)
	}
}

// TestRPCMidstream reads the gRPC capture from some packet on. What the peers refer
// to was sent before: calls and how long they took are there, what they were and
// how they ended is unknown, and nothing is guessed.
func TestRPCMidstream(t *testing.T) {
	whole := contents(t, "testdata/grpc.pcap")
	all := readAll(t, whole, Options{})
	head, recs := records(whole)
	const first = 160
	r := readAll(t, append(bytes.Clone(head), bytes.Join(recs[first:], nil)...), Options{})
	byStream := map[string]seen{}
	for _, x := range r.all {
		byStream[fmt.Sprint(x.Src.Port, " ", x.ConnSeq)] = x
	}
	unknown := 0
	for _, x := range after(all.all, first) {
		y, ok := byStream[fmt.Sprint(x.Src.Port, " ", x.ConnSeq)]
		switch {
		case !ok || y.Start != x.Start || y.End != x.End || y.Outcome != capture.Answered:
			t.Errorf("%v of %d to %d: %v of %d to %d", x, x.Start, x.End, y, y.Start, y.End)
		case y.Flags&capture.Unnamed == 0 && (y.target != x.target || y.method != x.method):
			t.Errorf("%v is taken for %v", x, y)
		}
		if code, ok := y.RPC.Code(); ok {
			if want, _ := x.RPC.Code(); code != want {
				t.Errorf("%v: status %d, want %d", x, code, want)
			}
			continue
		}
		if unknown++; y.Reason != capture.Unjudged || y.Failed() || y.Judged() {
			t.Errorf("%v: its status was not seen, yet %v", y, y.Reason)
		}
		if y.Hint.State == capture.Absent {
			t.Errorf("%v: hint %v: it cannot be known", y, y.Hint.State)
		}
	}
	t.Logf("%d calls, the outcome of %d unknown", len(after(all.all, first)), unknown)
}
