package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The same traffic captured with less of each packet shows less, never more: what
// waits the servers named is not known where their answers are cut, so that retries
// are not held against a budget, and no verdict grows graver. Of layered-counted the
// cut takes the counter by which a request says that a proxy sent it again, and what
// the proxy does at once is then its client's.
func TestSnapshotLengthAddsNothing(t *testing.T) {
	grave := []string{"unknown", "clear", "recovering", "watch", "overload", "storm"}
	judge := func(file string) (state int, budget bool) {
		text, _ := stormwatch(t, "report", "--format", "json", file)
		var r struct {
			Verdict  struct{ State string }
			Findings []struct{ Signature string }
		}
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			budget = budget || f.Signature == "budget-exceeded"
		}
		return slices.Index(grave, r.Verdict.State), budget
	}
	for _, file := range sampled(captures(t)) {
		name := filepath.Base(filepath.Dir(file))
		state, budget := judge(file)
		for _, snaplen := range []uint32{256, 128} {
			head, all := frames(t, name)
			made := append([]byte(nil), head...)
			for _, f := range all {
				made = append(made, cutAt(snaplen)(f)...)
			}
			short := filepath.Join(t.TempDir(), "short.pcap")
			if err := os.WriteFile(short, made, 0o600); err != nil {
				t.Fatal(err)
			}
			less, claims := judge(short)
			if claims && !budget {
				t.Errorf("%s, snapshot length %d: budget-exceeded, which the whole packets do not show", name, snaplen)
			}
			if less > state && name != "layered-counted" {
				t.Errorf("%s, snapshot length %d: %s, of whole packets %s", name, snaplen, grave[less], grave[state])
			}
		}
	}
}
