package stub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/capture/packet"
	"stormwatch/detect"
	"stormwatch/rules"
)

// path is where the capture of a truth is kept.
func (t *truth) path() string { return filepath.Join(folder, t.Client+"-"+t.Mode+".pcap") }

// truths reads what is known of the kept captures.
func truths(t *testing.T) (all []truth) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, "truth.ndjson"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var one truth
		if err := d.Decode(&one); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
}

// TestCaptures reads the kept captures of real clients.
func TestCaptures(t *testing.T) {
	seen := map[string]bool{}
	for _, tr := range truths(t) {
		b, err := os.ReadFile(tr.path())
		if err != nil {
			t.Error(err)
			continue
		}
		c := find(tr.Client)
		if c == nil {
			t.Errorf("%s: no such client", tr.path())
			continue
		}
		seen[tr.Client+" "+tr.Mode] = true
		n, linked := judge(t, c, &tr, b, calm)
		if linked < n && c.missed == "" {
			t.Errorf("%s: the attempt number of %d requests of %d is wrong", tr.path(), n-linked, n)
		}
	}
	for _, c := range clients {
		for _, mode := range modes {
			if !seen[c.name+" "+mode] {
				t.Errorf("%s, %s: no capture is kept", c.name, mode)
			}
		}
	}
}

func find(name string) *client {
	for i := range clients {
		if clients[i].name == name {
			return &clients[i]
		}
	}
	return nil
}

// lateness is by how much a wait may exceed the documented one, in seconds: a
// client must be scheduled, and may open a connection anew.
type lateness float64

const (
	calm lateness = .15
	busy lateness = 5
)

// early is by how much a wait may fall short, in seconds: some timers count whole
// milliseconds from a time that is rounded down.
const slip = .005

// row is what the detector makes of one request.
type row struct {
	call       string
	start, end int64
	refused    bool
	hint       capture.Hint
	chain      string
	attempt    int
	evidence   detect.Level
	confidence float64
}

// judge holds what the product reads in a capture against what the stub served
// and the client's vendor documents. It returns how many requests were read, and
// of how many the detector knows which attempt of which call they are.
func judge(t *testing.T, c *client, tr *truth, b []byte, late lateness) (n, linked int) {
	t.Helper()
	rows, health, early := read(t, b)
	at := fmt.Sprintf("%s %s, %s", tr.Client, tr.Version, tr.Mode)
	if n := len(health.Skipped); n > 0 {
		t.Errorf("%s: skipped %v", at, health.Skipped)
	}
	if len(rows) != len(tr.Served) {
		t.Errorf("%s: %d requests read, %d were served", at, len(rows), len(tr.Served))
		return len(rows), 0
	}
	for i, r := range rows {
		if s := tr.Served[i]; r.call != s.Call || r.refused != s.Refused {
			t.Errorf("%s: request %d read as %q, refused %v; it was %q, %v", at, i+1, r.call, r.refused, s.Call, s.Refused)
		}
		hinted := r.refused && tr.Mode == "hint"
		if is := r.hint.Usable(); is != hinted || hinted && r.hint.Wait != hintSeconds*1e9 {
			t.Errorf("%s: request %d: hint %v of %d ns", at, i+1, r.hint.State, r.hint.Wait)
		}
	}
	if tr.Mode == "hint" {
		judgeHint(t, at, c, early)
	}
	for _, call := range []string{forever, served} {
		mine := of(rows, call)
		judgeCall(t, at+", "+call, c, tr, mine, late)
		for i, r := range mine {
			if r.chain == mine[0].chain && r.attempt == i+1 {
				linked++
			}
		}
	}
	return len(rows), linked
}

func of(rows []row, call string) (mine []row) {
	for _, r := range rows {
		if r.call == call {
			mine = append(mine, r)
		}
	}
	return mine
}

// judgeCall checks one logical call: how often it was tried, and how long the
// client waited.
func judgeCall(t *testing.T, at string, c *client, tr *truth, rows []row, late lateness) {
	t.Helper()
	if len(rows) == 0 {
		t.Errorf("%s: no request", at)
		return
	}
	want := spans(c.waits)
	if tr.Mode == "hint" && c.hinted != "" {
		want = spans(c.hinted)
	}
	if c.later != "" && rows[0].call == served {
		want = spans(c.later)
	}
	most, least := len(want), len(want)
	if c.least > 0 {
		least = c.least
	}
	if refusals := c.options(tr.Mode).Calls[rows[0].call]; refusals >= 0 { // then it is served
		most, least = min(most, refusals), min(least, refusals)
	}
	if n := len(rows) - 1; n < least || n > most {
		t.Errorf("%s: %d retries, want %d to %d", at, n, least, most)
		return
	}
	for i := 1; i < len(rows); i++ {
		w, s := gap(rows, i), want[i-1]
		if w < s.low-slip || w > s.high+float64(late) {
			t.Errorf("%s: waited %.3f s before retry %d, want %s s", at, w, i, s)
		}
	}
}

// judgeHint holds the share of retries that the product calls too early against
// what the client is known to make of the wait that the server names.
func judgeHint(t *testing.T, at string, c *client, early detect.Number) {
	t.Helper()
	own := spans(c.waits)
	switch {
	case !early.Known:
		t.Errorf("%s: nothing is said of the wait that the server named", at)
	case c.hint != ignored && early.V > 0:
		t.Errorf("%s: %.2f of the retries are called early; the client is known to wait", at, early.V)
	case c.hint == ignored && own[0].high < hintSeconds && early.V == 0:
		t.Errorf("%s: no retry is called early; the client is known to ignore the wait", at)
	case c.hint == ignored && own[0].low >= hintSeconds && early.V > 0:
		t.Errorf("%s: %.2f of the retries are called early; its own waits are longer", at, early.V)
	}
}

// gap is the wait before the ith request of a call: from the end of the refusal.
func gap(rows []row, i int) float64 { return float64(rows[i].start-rows[i-1].end) / 1e9 }

// span is a range of waits in seconds.
type span struct{ low, high float64 }

func (s span) String() string { return fmt.Sprintf("%g to %g", s.low, s.high) }

// spans reads the waits of a client.
func spans(text string) (all []span) {
	for word := range strings.FieldsSeq(text) {
		low, high, ok := strings.Cut(word, "-")
		if !ok {
			high = low
		}
		a, err1 := strconv.ParseFloat(low, 64)
		b, err2 := strconv.ParseFloat(high, 64)
		if err := errors.Join(err1, err2); err != nil {
			panic(err) // a slip in the table
		}
		all = append(all, span{a, b})
	}
	return all
}

// read runs the detector over a capture of one client, as the verb exchanges does.
// It returns also the share of retries that came before the wait that was named.
func read(t *testing.T, b []byte) (rows []row, health capture.Health, early detect.Number) {
	t.Helper()
	set, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	src, err := packet.Open("capture", bytes.NewReader(b), packet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rec := detect.NewRecording(detect.Options{Rules: set, TempDir: t.TempDir()})
	defer rec.Close()
	inlet := rec.Inlet(src.Info())
	err = src.Run(context.Background(), func(b *capture.Batch) error {
		if b.Health != nil {
			health = *b.Health
		}
		return inlet.Take(b)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.Seal(); err != nil {
		t.Fatal(err)
	}
	replay, err := detect.NewReplay(rec)
	if err != nil {
		t.Fatal(err)
	}
	replay.OnRow(func(r *detect.Row) error {
		rows = append(rows, rowOf(r))
		return nil
	})
	if err := replay.RunAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	if all := replay.Snapshot(detect.View{Whole: true}).Clients; len(all) == 1 {
		early = all[0].EarlyShare
	} else {
		t.Errorf("one client is taken for %d", len(all))
	}
	return rows, health, early
}

func rowOf(r *detect.Row) row {
	call := ""
	for _, name := range []string{forever, served} {
		if strings.Contains(r.Path, name) {
			call = name
		}
	}
	return row{call, r.X.Start, r.X.End, r.X.Failed(), r.X.Hint, r.Chain, r.Attempt, r.Evidence, r.Confidence}
}
