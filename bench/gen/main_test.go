package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
	"stormwatch/capture/packet"
)

// produce runs the command and returns what it wrote.
func produce(t *testing.T, args ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "out")
	if err := run(append(args, "-o", file)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Equal flags give equal bytes, and another seed gives others.
func TestDeterministic(t *testing.T) {
	for _, kind := range []string{"log", "capture"} {
		a, b := produce(t, kind, "-n", "5000", "-clients", "600"), produce(t, kind, "-n", "5000", "-clients", "600")
		if !bytes.Equal(a, b) {
			t.Errorf("%s: two runs differ", kind)
		}
		if bytes.Equal(a, produce(t, kind, "-n", "5000", "-clients", "600", "-seed", "2")) {
			t.Errorf("%s: the seed changes nothing", kind)
		}
	}
}

// Both forms hold the same exchanges, and stormwatch reads every one of them.
func TestReadWhole(t *testing.T) {
	const n = 20_000
	flags := []string{"-n", "20000", "-clients", "18000"}
	log, err := accesslog.Open("log", bytes.NewReader(produce(t, append([]string{"log"}, flags...)...)), accesslog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pcap, err := packet.Open("capture", bytes.NewReader(produce(t, append([]string{"capture"}, flags...)...)), packet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var refused [2]int
	for i, source := range []capture.Source{log, pcap} {
		all, skipped := 0, uint64(0)
		err := source.Run(context.Background(), func(b *capture.Batch) error {
			all += len(b.Exchanges)
			for k := range b.Exchanges {
				if b.Exchanges[k].Refused() {
					refused[i]++
				}
			}
			if b.Health != nil {
				skipped = b.Health.SkippedTotal()
			}
			return nil
		})
		if err != nil || all != n || skipped != 0 {
			t.Errorf("%s: %d of %d exchanges, %d skipped, %v", source.Info().Name, all, n, skipped, err)
		}
	}
	if refused[0] != refused[1] || refused[0] < n/20 {
		t.Errorf("%d refusals in the log, %d in the capture: want the same, and a storm", refused[0], refused[1])
	}
}

// A log is written as a server writes it: in the order in which requests end.
func TestLogOrder(t *testing.T) {
	last := ""
	for line := range strings.Lines(string(produce(t, "log", "-n", "9000", "-clients", "500"))) {
		msec := line[strings.LastIndexByte(line, ' ')+1:]
		if msec < last {
			t.Fatalf("%s after %s", msec, last)
		}
		last = msec
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"tape"}, {"log"}, {"log", "-n", "0", "-o", "x"}, {"log", "-clients", "0", "-o", "x"}} {
		if err := run(args); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
	if err := writeLog(full{}, newTraffic(10, 2, 1)); err == nil {
		t.Error("a full disk was not told")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// Nobody answers what is open, and each request has a connection of its own.
func TestOpenRequests(t *testing.T) {
	const n = 3000
	s, err := packet.Open("open", bytes.NewReader(produce(t, "open", "-n", "3000")), packet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	err = s.Run(context.Background(), func(b *capture.Batch) error {
		for k := range b.Exchanges {
			x := &b.Exchanges[k]
			if x.Outcome != capture.NoAnswer || x.ConnSeq != 1 {
				t.Errorf("%v, request %d of its connection", x.Outcome, x.ConnSeq)
			}
			seen[x.Src.String()] = true
		}
		return nil
	})
	if err != nil || len(seen) != n {
		t.Errorf("%d connections of %d, %v", len(seen), n, err)
	}
}
