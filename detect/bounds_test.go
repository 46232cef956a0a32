package detect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/rules"
)

// What there is no room for is counted where the reader of the input's health sees it.
func TestBoundsAreTold(t *testing.T) {
	e := newEngine(Options{}, &newNames(Options{MaxClients: 10}.withDefaults()).roster)
	if b := e.bounds(); len(b) > 0 {
		t.Fatalf("nothing was dropped yet: %+v", b)
	}
	l := &e.pop.layering
	l.begin(0)
	for i := range uint64(5 * watchedRuns) {
		l.chains.begin(i+1, 1, 0, tick, tick)
	}
	followed := uint64(0)
	for i := range l.chains.runs {
		followed += uint64(bit(l.chains.runs[i].key != 0))
	}
	var r record
	r.Status, r.Reason = 429, capture.Throttle
	for i := range uint64(scopeValues + 7) {
		r.Credential = i + 1
		e.scopes.add(&r)
	}
	var p parking
	for range maxParked + 3 {
		e.lot.park(&p, 1)
	}
	for range maxFound {
		e.judge.found = append(e.judge.found, found{sig: &rules.Signature{ID: "x"}})
	}
	e.judge.hold(e, &rules.Signature{ID: "one-more"}, 0, &e.judge.values)
	want := map[string]uint64{
		"chains and operations":  5*watchedRuns - followed,
		"an answer's credential": 7,
		"did not come back":      3,
		"a finding held":         1,
	}
	for _, b := range e.bounds() {
		for text, n := range want {
			if strings.Contains(b.Reason, text) {
				if delete(want, text); b.Count != n {
					t.Errorf("%d %s, want %d", b.Count, b.Reason, n)
				}
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
}

// folderOf holds so many rules for single clients, beside the built-in ones.
func folderOf(t *testing.T, n int) string {
	dir := t.TempDir()
	for i := range n {
		text := fmt.Sprintf("signature: rule-%d\nscope: client\nabout: many\nwhen: retries > 5\nparts: [{name: one, points: '1', max: 1}]\nseverity: low\n"+
			"false_positive_rate: not measured\nsays: many\nmitigations: [throttle-early]\n", i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// More rules for single clients than can be judged are said not to be judged.
func TestClientRulesBeyondTheBound(t *testing.T) {
	set, err := rules.Load(folderOf(t, maxClientSigns))
	if err != nil {
		t.Fatal(err)
	}
	j := newJudge(set)
	if len(j.clientSig) != maxClientSigns || len(j.spare) == 0 {
		t.Fatalf("%d are judged, %d are not", len(j.clientSig), len(j.spare))
	}
	e := newEngine(Options{Rules: set}, &newNames(Options{}.withDefaults()).roster)
	e.judge.second(e)
	told := 0
	for _, n := range e.judge.notJudged {
		if n.Reason == spareWhy {
			told++
		}
	}
	if told != len(j.spare) {
		t.Errorf("%d of %d are told", told, len(j.spare))
	}
}
