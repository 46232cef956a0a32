package packet

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stormwatch/capture"
)

// TestCorpus reads the captures of a folder that holds truth made with tshark
// (columns file, kind, proto, frame, ...). Not one may make the reader panic,
// and over captures of plain HTTP it must find nearly all messages.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("STORMWATCH_CORPUS")
	if dir == "" {
		t.Skip("STORMWATCH_CORPUS names no folder")
	}
	if _, err := os.Stat(filepath.Join(dir, "truth")); err != nil {
		dir = filepath.Join(dir, "pcap")
	}
	origins, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range origins {
		truth := corpusTruth(t, dir, o.Name())
		if truth == nil {
			continue
		}
		files, err := os.ReadDir(filepath.Join(dir, o.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var want, hit, got [2]int
		for _, f := range files {
			name := o.Name() + "/" + f.Name()
			r, ok := corpusFile(t, filepath.Join(dir, name))
			if !ok || r.health.Encrypted > 0 { // the truth was read with keys
				continue
			}
			n := r.messages()
			for i := range n {
				want[i] += truth[name][i]
				hit[i] += min(n[i], truth[name][i])
				got[i] += n[i]
				if n[i] < truth[name][i] {
					t.Logf("%s: %d of %d %s; skipped %v", name, n[i], truth[name][i], [...]string{"requests", "responses"}[i], r.health.Skipped)
				}
			}
		}
		t.Logf("%s: requests %d of %d (found %d), responses %d of %d (found %d)", o.Name(), hit[0], want[0], got[0], hit[1], want[1], got[1])
		if o.Name() == "storm" && hit != want {
			t.Errorf("storm: captures of plain HTTP must be read whole")
		}
		for i, n := range hit {
			if n*100 < want[i]*93 { // the rest is in tunnels and HTTP/0.9, which are not read
				t.Errorf("%s: %d of %d found, want 93 %%", o.Name(), n, want[i])
			}
		}
	}
}

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

// messages counts requests and responses.
func (r result) messages() (n [2]int) {
	for _, x := range r.all {
		if x.method != "" {
			n[0]++
		}
		if x.Status != 0 {
			n[1]++
		}
	}
	return n
}

// corpusTruth counts requests and responses by file: the larger count of
// tshark's two ways to reassemble.
func corpusTruth(t *testing.T, dir, origin string) map[string][2]int {
	var truth map[string][2]int
	for _, suffix := range []string{".tsv", ".inorder.tsv"} {
		f, err := os.Open(filepath.Join(dir, "truth", origin+suffix))
		if err != nil {
			continue
		}
		one := map[string][2]int{}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			c := strings.Split(lines.Text(), "\t")
			if len(c) < 3 || c[2] != "http1" && c[2] != "http2" {
				continue
			}
			n := one[c[0]]
			switch {
			case c[1] == "req":
				n[0]++
			case c[1] == "resp" && !strings.HasPrefix(c[14], "1"): // an interim response is no answer
				n[1]++
			}
			one[c[0]] = n
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if truth == nil {
			truth = map[string][2]int{}
		}
		for name, n := range one {
			old := truth[name]
			truth[name] = [2]int{max(old[0], n[0]), max(old[1], n[1])}
		}
	}
	return truth
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
