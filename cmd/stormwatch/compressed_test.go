package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// packers compress as gzip and zstd do.
var packers = map[string]func(w io.Writer) io.WriteCloser{
	"gz": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"zst": func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			panic(err)
		}
		return z
	},
}

func packed(t *testing.T, kind string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := packers[kind](&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is compressed is read as if it were not: captures, logs and saved answers,
// as a file and through a pipe, in one part and in several.
func TestCompressed(t *testing.T) {
	for _, file := range []string{"pcaps/lockstep-bare-429/traffic.pcap", "logs/nginx-first/access.log", "prometheus/first/range.json"} {
		text, err := os.ReadFile("../../testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		want, code := stormwatch(t, "report", "a=../../testdata/"+file)
		for kind := range packers {
			joined := append(packed(t, kind, text[:len(text)/3]), packed(t, kind, text[len(text)/3:])...)
			for what, b := range map[string][]byte{"whole": packed(t, kind, text), "joined": joined} {
				path := filepath.Join(t.TempDir(), "nameless")
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				if got, c := stormwatch(t, "report", "a="+path); got != want || c != code {
					t.Errorf("%s, %s %s: exit code %d, want %d\n%s", file, what, kind, c, code, got)
				}
				var out, errs bytes.Buffer
				if c := run(t.Context(), []string{"report", "a=-"}, &slow{Reader: bytes.NewReader(b), err: io.EOF}, &out, &errs); c != code || out.String() != want {
					t.Errorf("%s, %s %s through a pipe: exit code %d, want %d\n%s%s", file, what, kind, c, code, out.String(), errs.String())
				}
			}
		}
	}
}

// A compressed file that was cut off is reported as far as it goes, and says that
// it ends too early.
func TestCompressedCutOff(t *testing.T) {
	for _, file := range []string{"pcaps/healthy/traffic.pcap", "logs/nginx-first/access.log"} {
		text, err := os.ReadFile("../../testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for kind := range packers {
			n := len(text) * 3 / 4
			last := packed(t, kind, text[n:])
			b := append(packed(t, kind, text[:n]), last[:len(last)/2]...)
			path := filepath.Join(t.TempDir(), "cut")
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, code := stormwatch(t, "report", path); code == exitError || !strings.Contains(out, "ends inside a record") {
				t.Errorf("%s as %s: exit code %d\n%s", file, kind, code, out)
			}
		}
	}
}

// Compression within compression is undone three times over, and then refused
// with what to do.
func TestCompressedTwice(t *testing.T) {
	plain := "../../testdata/pcaps/lockstep-bare-429/traffic.pcap"
	b, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	want, code := stormwatch(t, "report", "a="+plain)
	for n, kind := range []string{"gz", "gz", "zst", "gz"} {
		b = packed(t, kind, b)
		path := filepath.Join(t.TempDir(), "several")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if n == maxPacked {
			if got := say(t, nil, "report", path); !strings.Contains(got, "more than 3 times over") {
				t.Errorf("%q", got)
			}
			return
		}
		if got, c := stormwatch(t, "report", "a="+path); got != want || c != code {
			t.Errorf("compressed %d times over: exit code %d, want %d\n%s", n+1, c, code, got)
		}
	}
}

// A compressed file whose checksum does not fit, or that is damaged on the way, is
// reported as far as it goes, and says so.
func TestCompressedDamaged(t *testing.T) {
	for _, file := range []string{"pcaps/healthy/traffic.pcap", "logs/nginx-first/access.log"} {
		text, err := os.ReadFile("../../testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := stormwatch(t, "report", "--format", "json", "a=../../testdata/"+file)
		for kind := range packers {
			n := len(text) * 3 / 4
			first := packed(t, kind, text[:n])
			last := packed(t, kind, text[n:])
			last[len(last)-6] ^= 0x55 // gzip: the checksum; zstd: the checksum or the block before it
			path := filepath.Join(t.TempDir(), "bad")
			if err := os.WriteFile(path, append(first, last...), 0o600); err != nil {
				t.Fatal(err)
			}
			out, code := stormwatch(t, "report", path)
			if code == exitError || !strings.Contains(out, "data is damaged") {
				t.Errorf("%s as %s: exit code %d\n%s", file, kind, code, out)
			}
			if kind == "gz" { // all bytes are there
				got, _ := stormwatch(t, "report", "--format", "json", "a="+path)
				if a, b := attempts(t, whole), attempts(t, got); a != b || a == 0 {
					t.Errorf("%s: %d attempts of %d", file, b, a)
				}
			}
		}
	}
}

// A stream that is compressed as it is written is shown as it comes: the program
// that sends it flushes.
func TestCompressedLive(t *testing.T) {
	text, err := os.ReadFile("../../testdata/logs/nginx-first/access.log")
	if err != nil {
		t.Fatal(err)
	}
	in, feed := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	st := &streams{in: in, out: &bytes.Buffer{}, err: io.Discard}
	opened := make(chan []input, 1)
	go func() {
		ins, err := (&flags{}).openAll(ctx, st, []string{"-"}, true)
		if err != nil {
			t.Error(err)
		}
		opened <- ins
	}()
	z := gzip.NewWriter(feed)
	if _, err := z.Write(text[:2000]); err != nil {
		t.Fatal(err)
	}
	if err := z.Flush(); err != nil {
		t.Fatal(err)
	}
	select {
	case ins := <-opened:
		if len(ins) != 1 || !ins[0].Info().Live || ins[0].Info().Kind != "log" {
			t.Errorf("opened %v", ins)
		}
	case <-time.After(20 * time.Second):
		t.Error("the first lines have come, yet nothing is opened")
	}
}

// attempts is how many exchanges a report in JSON counts.
func attempts(t *testing.T, report string) (n int) {
	t.Helper()
	var r struct {
		Totals struct{ Exchanges int }
	}
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		t.Fatal(err)
	}
	return r.Totals.Exchanges
}
