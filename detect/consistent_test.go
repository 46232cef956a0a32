package detect_test

import (
	"slices"
	"strings"
	"testing"

	"stormwatch/detect"
)

// What a report says of one thing agrees wherever it stands: who is behind an incident
// has the number of the finding, what was found is not listed as not judged, and what
// to do first is what the list begins with.
func TestReportAgreesWithItself(t *testing.T) {
	s := judged(t, load(t, "budget-exceeded"), detect.Options{})
	k := slices.IndexFunc(s.Findings, func(f detect.Finding) bool { return f.Signature == "budget-exceeded" })
	if k < 0 {
		t.Fatalf("raised %v", raised(s))
	}
	if n := s.Findings[k].ClientCount; s.Verdict.Party.Clients != n {
		t.Errorf("%q, the finding names %d", s.Verdict.Who, n)
	}
	for _, n := range s.NotJudged {
		if slices.Contains(raised(s), n.Signature) {
			t.Errorf("%s is raised, and not judged: %s", n.Signature, n.Reason)
		}
	}
	if first := s.Mitigations[0]; !strings.HasPrefix(s.Verdict.Do, first.Title) || s.Verdict.Dont != first.Dont {
		t.Errorf("do %q, do not %q; the list begins with %q", s.Verdict.Do, s.Verdict.Dont, first.Title)
	}
	for i := 1; i < len(s.Clients); i++ {
		a, b := &s.Clients[i-1], &s.Clients[i]
		if a.AvoidablePerS.V < .05 && b.AvoidablePerS.V < .05 && a.Retries < b.Retries {
			t.Errorf("%s with %d retries before %s with %d", a.Label, a.Retries, b.Label, b.Retries)
		}
	}
}
