package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of a rotated log one file may be compressed twice over and another damaged: what
// can be read of all is, and the damaged one is named.
func TestRotatedLogPackedAndDamaged(t *testing.T) {
	dir := t.TempDir()
	line := func(at int) []byte {
		return fmt.Appendf(nil, "10.0.0.%d - - [30/Nov/2026:08:11:%02d +0000] \"GET /%d HTTP/1.1\" 200 25 \"-\" \"a\"\n", at, at, at)
	}
	damaged := packed(t, "gz", line(2))
	damaged[len(damaged)-8] ^= 0xff // its checksum
	for name, b := range map[string][]byte{
		"access.log.2.gz": packed(t, "gz", packed(t, "gz", line(1))),
		"access.log.1.gz": damaged,
		"access.log":      line(3),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, code := stormwatch(t, "exchanges", filepath.Join(dir, "access.log*"))
	if code != 0 || strings.Count(out, "\n") != 3 || !strings.Contains(out, `"path":"/1"`) || !strings.Contains(out, `"path":"/2"`) || !strings.Contains(out, `"path":"/3"`) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if out, _ := stormwatch(t, "report", filepath.Join(dir, "access.log*")); !strings.Contains(out, "access.log.1.gz: the gzip data is damaged") {
		t.Errorf("the damage is not told:\n%s", out)
	}
}
