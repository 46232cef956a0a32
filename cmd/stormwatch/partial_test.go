package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// frames takes a capture of the repository (little endian, 24 bytes of head) apart.
func frames(t *testing.T, name string) (head []byte, out [][]byte) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/pcaps/" + name + "/traffic.pcap")
	if err != nil {
		t.Fatal(err)
	}
	head, text = text[:24], text[24:]
	for len(text) > 0 {
		n := 16 + binary.LittleEndian.Uint32(text[8:])
		out = append(out, text[:n])
		text = text[n:]
	}
	return head, out
}

// What a capture does not hold says nothing of the server: half of it, or packets
// cut before the status, is neither a storm nor an outage, and not calm.
func TestPartialCapturesAreUnknown(t *testing.T) {
	const ip = 16 + 14 // record and Ethernet headers
	toServer := func(f []byte) bool { return f[ip+16] == 10 && f[ip+17] == 0 && f[ip+18] == 0 && f[ip+19] == 1 }
	whole := func(f []byte) []byte { return f }
	cases := map[string]struct {
		keep func([]byte) bool
		cut  func([]byte) []byte
		says string
	}{
		"requests alone": {toServer, whole, "cannot be read"},
		"answers alone":  {func(f []byte) bool { return !toServer(f) }, whole, "without their request"},
		"cut at 64":      {func([]byte) bool { return true }, cutAt(64), "cannot be read"},
	}
	for name, c := range cases {
		for _, capture := range []string{"healthy", "retry-after-ignored"} {
			head, all := frames(t, capture)
			made := append([]byte(nil), head...)
			for _, f := range all {
				if c.keep(f) {
					made = append(made, c.cut(f)...)
				}
			}
			file := filepath.Join(t.TempDir(), "part.pcap")
			if err := os.WriteFile(file, made, 0o600); err != nil {
				t.Fatal(err)
			}
			out, code := stormwatch(t, "report", file)
			if code != exitCannotJudge || !strings.Contains(strings.Join(strings.Fields(out), " "), c.says) {
				t.Errorf("%s of %s: exit code %d\n%.600s", name, capture, code, out)
			}
		}
	}
}

// cutAt shortens frames as a snaplen does.
func cutAt(n uint32) func([]byte) []byte {
	return func(f []byte) []byte {
		out := append([]byte(nil), f[:min(len(f), 16+int(n))]...)
		binary.LittleEndian.PutUint32(out[8:], uint32(len(out)-16))
		return out
	}
}
