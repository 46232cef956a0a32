package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pieces writes the packets of a classic capture to n files; which tells the file
// of a packet.
func pieces(t *testing.T, capture string, n int, which func(packet, of int, b []byte) int) string {
	t.Helper()
	b, err := os.ReadFile(capture)
	if err != nil {
		t.Fatal(err)
	}
	var recs [][]byte
	for rest := b[24:]; len(rest) > 0; {
		k := 16 + binary.LittleEndian.Uint32(rest[8:])
		recs, rest = append(recs, rest[:k]), rest[k:]
	}
	files := make([][]byte, n)
	for i := range files {
		files[i] = append(files[i], b[:24]...)
	}
	for i, r := range recs {
		f := which(i, len(recs), r[16:])
		files[f] = append(files[f], r...)
	}
	dir := t.TempDir()
	for i, f := range files {
		if err := os.WriteFile(filepath.Join(dir, "traffic.pcap"+string(rune('0'+i))), f, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "traffic.pcap*")
}

// Files of a rotating tcpdump, and the two directions of a tap, are one capture:
// each exchange counts once, answers find their requests, and the report says so.
func TestPiecesOfOneCapture(t *testing.T) {
	const whole = "../../testdata/pcaps/lockstep-bare-429/traffic.pcap"
	want, code := stormwatch(t, "exchanges", whole)
	for name, pattern := range map[string]string{
		"rotated": pieces(t, whole, 4, func(i, of int, _ []byte) int { return i * 4 / of }),
		"tap": pieces(t, whole, 2, func(_, _ int, b []byte) int { // from port 80 or to it
			if binary.BigEndian.Uint16(b[34:]) < binary.BigEndian.Uint16(b[36:]) {
				return 1
			}
			return 0
		}),
	} {
		got, c := stormwatch(t, "exchanges", pattern)
		if c != code || strings.Count(got, "\n") != strings.Count(want, "\n") || strings.Count(got, `"status":429`) != strings.Count(want, `"status":429`) {
			t.Errorf("%s: %d exchanges of %d, exit code %d", name, strings.Count(got, "\n"), strings.Count(want, "\n"), c)
		}
		if out, _ := stormwatch(t, "report", pattern); !strings.Contains(out, "files read as one") {
			t.Errorf("%s: not told\n%s", name, out)
		}
	}
}

// Pieces are joined wherever they are found, and it is then told who the clients
// are; the pieces of two named folders stay two hops.
func TestPiecesAndClients(t *testing.T) {
	const whole = "../../testdata/pcaps/office-nat/traffic.pcap"
	pattern := pieces(t, whole, 3, func(i, of int, _ []byte) int { return i * 3 / of })
	dir := filepath.Dir(pattern)
	for _, flags := range [][]string{{"--trusted-proxy", "203.0.113.7"}, {"--client-by", "agent"}, {"--client-by", "header:X-Forwarded-For"}} {
		want, _ := stormwatch(t, append([]string{"exchanges", whole}, flags...)...)
		for _, arg := range []string{pattern, dir, "edge=" + dir} {
			got, _ := stormwatch(t, append([]string{"exchanges", arg}, flags...)...)
			if of, clients := clientsIn(want), clientsIn(got); clients != of || strings.HasSuffix(of, ", 1") && flags[1] != "agent" {
				t.Errorf("%s %v: exchanges and clients %s, want %s", arg, flags, clients, of)
			}
		}
	}
	if out, _ := stormwatch(t, "report", "edge="+dir); !strings.Contains(out, "files read as one") {
		t.Errorf("in a named folder: not told\n%s", out)
	}
	one, two := t.TempDir(), t.TempDir()
	for to, from := range map[string]string{one: "traffic.pcap0", two: "traffic.pcap1"} {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(to, from)); err != nil {
			t.Fatal(err)
		}
	}
	if out, _ := stormwatch(t, "report", "edge="+one, "app="+two); strings.Contains(out, "read as one") {
		t.Errorf("pieces of two hops:\n%s", out)
	}
}

// clientsIn counts exchanges and the clients that sent them.
func clientsIn(lines string) string {
	seen, n := map[string]bool{}, 0
	for line := range strings.Lines(lines) {
		n++
		var x struct {
			Client string `json:"client"`
		}
		if json.Unmarshal([]byte(line), &x) == nil {
			seen[x.Client] = true
		}
	}
	return fmt.Sprint(n, ", ", len(seen))
}

// Captures of other traffic, and those that were given names, stay what they are.
func TestCapturesApart(t *testing.T) {
	const a, b = "../../testdata/pcaps/healthy/traffic.pcap", "../../testdata/pcaps/tides/traffic.pcap"
	if out, _ := stormwatch(t, "report", a, b); strings.Contains(out, "read as one") {
		t.Errorf("two captures of other traffic:\n%s", out)
	}
	pattern := pieces(t, a, 2, func(i, of int, _ []byte) int { return i * 2 / of })
	if out, _ := stormwatch(t, "report", "x="+strings.Replace(pattern, "*", "0", 1), "y="+strings.Replace(pattern, "*", "1", 1)); strings.Contains(out, "read as one") {
		t.Errorf("with names:\n%s", out)
	}
}
