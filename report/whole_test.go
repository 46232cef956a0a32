package report_test

import (
	"strings"
	"testing"

	"stormwatch/detect"
	"stormwatch/report"
)

// What an engine can say of an incident stands in every written form.
func TestEveryWrittenFormTellsAll(t *testing.T) {
	s := storm()
	s.Limit = detect.Limit{Scope: detect.ScopeAll, Why: "busy seconds of all are refused alike", Refused: 3680, Served: 1380}
	s.Layers = detect.Layers{
		Rows: []detect.Layer{
			{Name: "client", PerRequest: detect.Some(3), Most: 4, Seen: true},
			{Name: "proxy", PerRequest: detect.Some(7.5), Most: 12, Pressure: true},
		},
		Multiplier: detect.Some(7.5), Worst: detect.Some(12), Proof: "declared tries",
	}
	both := map[string][]string{ // of text, Markdown and HTML; then of JSON
		"habit":     {"like fetch-retry or haproxy", `"habits"`},
		"limit":     {"busy seconds of all are refused alike", `"limit"`},
		"victims":   {"4 clients refused at the first attempt", `"victims": 4`},
		"newcomers": {"12 % of the clients of the incident were not seen before it", `"newcomers_share": 0.12`},
		"stop":      {"peaks have not fallen after two waits", `"stop": "peaks have not fallen after two waits"`},
		"proof":     {"declared tries", `"proof": "declared tries"`},
		"worst":     {"12.0x at worst", `"worst": 12`},
		"layer":     {"the pressure arrives here", `"pressure": true`},
		"growth":    {"GET api.example/offer/N", `"before_per_s"`},
		"reach":     {"71 %", `"share": 0.71`},
	}
	for _, name := range report.Names() {
		at := 0
		switch name {
		case "json":
			at = 1
		case "text", "markdown", "html":
		default:
			continue // says one thing only, by design
		}
		got := strings.Join(strings.Fields(render(t, report.FormOf(name), s, report.Options{})), " ")
		for what, want := range both {
			if !strings.Contains(got, want[at]) {
				t.Errorf("%s lacks the %s: %q", name, what, want[at])
			}
		}
	}
	for _, want := range []string{`"name": "proxy", "per_request": 7.5, "most": 12, "seen": false, "pressure": true`, `"multiplier": 7.5`, `"inferred": false`} {
		if got := strings.Join(strings.Fields(render(t, report.JSON, s, report.Options{})), " "); !strings.Contains(got, want) {
			t.Errorf("json lacks %s", want)
		}
	}
}
