package packet

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stormwatch/capture"
)

// TestAccessLog compares captures with what the server itself logged: port,
// ordinal on the connection, method, target, status and hint.
func TestAccessLog(t *testing.T) {
	dir := os.Getenv("STORMWATCH_CORPUS")
	if dir == "" {
		t.Skip("STORMWATCH_CORPUS names no folder")
	}
	logs, err := filepath.Glob(filepath.Join(dir, "pcap/storm/storm-h1*.access.tsv"))
	if err == nil && len(logs) == 0 {
		logs, err = filepath.Glob(filepath.Join(dir, "storm/storm-h1*.access.tsv"))
	}
	if err != nil || len(logs) == 0 {
		t.Fatalf("no logs in %s (%v)", dir, err)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		r, ok := corpusFile(t, strings.TrimSuffix(log, ".access.tsv")+".pcap")
		if !ok {
			t.Fatalf("%s: no capture beside it", log)
		}
		got := map[string]bool{}
		for _, x := range r.all {
			if x.Hint.State != capture.Present {
				x.raw = "-"
			}
			line := fmt.Sprint(x.Src.Port, " ", x.ConnSeq, " ", x.method, " ", x.target, " ", x.Status)
			if got[line+" "+x.raw] = true; x.Hint.State == capture.NotObservable {
				got[line+" cut off"] = true
			}
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			f := strings.Split(line, "\t")
			want := strings.Join([]string{f[5], f[3], f[8], f[10], f[11]}, " ")
			if n++; !got[want+" "+f[12]] && !got[want+" cut off"] {
				t.Errorf("%s: no exchange is %s %s", filepath.Base(log), want, f[12])
			}
		}
		if n != len(r.all) {
			t.Errorf("%s: %d lines, %d exchanges", filepath.Base(log), n, len(r.all))
		}
	}
}

// TestLossAgainstLog reads captures of the same traffic that miss packets, or the
// beginning: no pair may contradict the server's own log.
func TestLossAgainstLog(t *testing.T) {
	dir := os.Getenv("STORMWATCH_CORPUS")
	if dir == "" {
		t.Skip("STORMWATCH_CORPUS names no folder")
	}
	dir = filepath.Join(dir, "pcap/storm")
	text, err := os.ReadFile(filepath.Join(dir, "storm-h1.access.tsv"))
	if err != nil {
		t.Skip(err)
	}
	logged := map[string]int{}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(line, "\t")
		logged[strings.Join([]string{f[5], f[8], f[10], f[11], f[12]}, " ")]++
	}
	for _, name := range []string{"storm-h1-drop2.pcap", "storm-h1-midstream.pcap"} {
		r, ok := corpusFile(t, filepath.Join(dir, name))
		if !ok {
			t.Fatal(name)
		}
		n := 0
		left := maps.Clone(logged)
		for _, x := range r.all {
			if x.method == "" || x.Status == 0 {
				continue
			}
			if x.Hint.State != capture.Present {
				x.raw = "-"
			}
			line := fmt.Sprint(x.Src.Port, " ", x.method, " ", x.target, " ", x.Status, " ", x.raw)
			if left[line]--; left[line] < 0 && x.Hint.State != capture.NotObservable {
				t.Errorf("%s: the server's log has no %s", name, line)
			}
			n++
		}
		t.Logf("%s: %d pairs, all in the server's log of %d", name, n, len(logged))
	}
}

func corpusFile(t *testing.T, path string) (r result, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var in io.Reader = bufio.NewReader(f)
	if head, _ := in.(*bufio.Reader).Peek(2); string(head) == "\x1f\x8b" {
		if in, err = gzip.NewReader(in); err != nil {
			return r, false
		}
	}
	s, err := Open(path, in, Options{})
	if err != nil {
		t.Logf("%v", err)
		return r, false
	}
	if err := s.Run(context.Background(), collect(&r)); err != nil {
		t.Logf("%v", err)
	}
	if r.health.Used+r.health.SkippedTotal()+r.health.Copies < r.health.Read {
		t.Errorf("%s: %d packets read, %d used, %d skipped, %d copies: some are not accounted for", path, r.health.Read, r.health.Used, r.health.SkippedTotal(), r.health.Copies)
	}
	return r, true
}
