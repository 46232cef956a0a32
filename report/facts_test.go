package report_test

import (
	"bytes"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/report"
)

// written is a snapshot in a form, its lines joined.
func written(t *testing.T, form report.Form, s *detect.Snapshot, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := form(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// What is said beside the verdict is the same in every form: how sure it is and what
// lowers that, and how big it is by now.
func TestFormsAgreeOnTheVerdict(t *testing.T) {
	s := storm()
	s.Sources = []detect.Source{{Name: "edge.pcap", Primary: true, Health: capture.Health{Unit: "packets", Read: 96, Dropped: 4}}}
	s.Verdict.Confidence = .61
	s.Totals.CapacityPerS = detect.Some(40)
	s.Recent = detect.Recent{
		Seconds: 10, Amplification: detect.Some(4.7), AmplificationBefore: detect.Some(1.03), RefusedShare: detect.Some(.79), GoodputPerS: detect.Some(39),
	}
	const sizes = "4.7x attempts per request, before 1.03x; 79 % refused; 39/s served well of 40/s"
	for name, form := range map[string]report.Form{"text": report.Text, "brief": report.Brief, "markdown": report.Markdown, "html": report.HTML} {
		text := written(t, form, s, report.Options{})
		if !strings.Contains(text, "0.61 medium: 4 % of the input lost") {
			t.Errorf("%s does not say how sure, and why not more", name)
		}
		if name != "text" && !strings.Contains(text, sizes) {
			t.Errorf("%s does not say %q:\n%.1500s", name, sizes, text)
		}
	}
	if got := report.Sizes(&detect.Snapshot{}); got != "" {
		t.Errorf("of nothing the sizes are %q", got)
	}
}

// A report says of whom its verdict is where a filter is on.
func TestFormsTellTheFilter(t *testing.T) {
	s := storm()
	for _, c := range []struct {
		filtered detect.Filtered
		text     string
		json     string
	}{
		{detect.Filtered{}, "agent:axios: clients, findings and chains are those that pass; verdict, sums and the timeline are of all", `"filter": { "terms": "agent:axios", "whole": false }`},
		{detect.Filtered{Name: "agent:axios", Whole: true, Clients: 15, Of: 430}, "agent:axios: the verdict and all below are of 15 of 430 clients, judged as if there were no others", `"filter": { "terms": "agent:axios", "whole": true, "clients": 15, "of": 430 }`},
	} {
		s.Filtered = c.filtered
		o := report.Options{Filter: "agent:axios"}
		for name, form := range map[string]report.Form{"text": report.Text, "markdown": report.Markdown, "html": report.HTML} {
			if text := written(t, form, s, o); !strings.Contains(text, c.text) {
				t.Errorf("%s does not say %q", name, c.text)
			}
		}
		if text := written(t, report.JSON, s, o); !strings.Contains(text, c.json) {
			t.Errorf("JSON does not say %s", c.json)
		}
	}
	s.Filtered = detect.Filtered{}
	if text := written(t, report.JSON, s, report.Options{}); strings.Contains(text, `"filter"`) {
		t.Error("JSON tells of a filter that is not on")
	}
}

// A 404 is neither a refusal nor a failure of the server's, and is told as what it is.
func TestTotalsTellOther4xx(t *testing.T) {
	s := storm()
	s.Totals.Exchanges, s.Totals.ClientErrors = 1000, 120
	for name, c := range map[string]struct {
		form report.Form
		want string
	}{
		"text":     {report.Text, "120 other 4xx (no refusals)"},
		"markdown": {report.Markdown, "| other 4xx | 120 (12 %), no refusals: 404 and the like |"},
		"html":     {report.HTML, "120 (12 %), no refusals: 404 and the like"},
		"json":     {report.JSON, `"client_errors": 120`},
	} {
		if text := written(t, c.form, s, report.Options{}); !strings.Contains(text, c.want) {
			t.Errorf("%s does not say %q", name, c.want)
		}
	}
}

// The limit is told in words that need no other knowledge.
func TestLimitText(t *testing.T) {
	for _, c := range []struct {
		limit detect.Limit
		want  string
	}{
		{detect.Limit{Scope: detect.ScopeAll, Refused: 90, Served: 1200, Why: "why"}, "everybody seems to share one: why (90 refused, 1,200 served)"},
		{detect.Limit{Scope: detect.ScopeCredential, Refused: 90, Served: 10, Why: "why"}, "each credential seems to have one of its own: why (90 refused, 10 served)"},
		{detect.Limit{Scope: detect.ScopeCredential, Or: detect.ScopeAddress, Refused: 90, Served: 10, Why: "why"}, "each credential, or each address, seems to have one of its own, and this traffic does not tell which: why (90 refused, 10 served)"},
		{detect.Limit{Refused: 3, Why: "too few"}, "cannot tell by what it counts: too few"},
		{detect.Limit{}, ""},
	} {
		s := storm()
		s.Limit = c.limit
		text := written(t, report.Text, s, report.Options{})
		if c.want == "" && strings.Contains(text, " limit ") || !strings.Contains(text, c.want) {
			t.Errorf("%+v: %q is not said:\n%.1500s", c.limit, c.want, text)
		}
	}
}
