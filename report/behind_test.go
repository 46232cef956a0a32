package report

import (
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

func TestWhatALogDeclaresIsSaid(t *testing.T) {
	s := &detect.Snapshot{
		Start: 1, End: 60e9,
		Totals: detect.Totals{Exchanges: 100, LogicalRequests: 50, Retries: 50, Refused: 30, Amplification: detect.Some(2)},
		Behind: detect.Behind{
			Requests: 80, Attempts: 120, Retries: 40, Retried: 30, Rescued: 20, Amplification: detect.Some(1.5), PerLogical: detect.Some(2.4),
			RefusedByHop: 20, RefusedByUpstream: 4,
		},
		Matcher: detect.Matcher{Declared: 1, Inferred: 49, Compared: 100, Retries: 50, Found: 40, Right: 38, Layered: 9, ClientAttempts: 3, ProxyAttempts: 3},
	}
	var b strings.Builder
	if err := Text(&b, s, Options{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"120 attempts at the servers for 80 requests, 1.50x: 40 retries by the hop itself; 20 of 30 requests retried so came out well",
		"both layers together 2.4x attempts at the servers per logical request",
		"two counters on 9 requests: the client makes up to 3 attempts, and a proxy on the way up to 3 of each, 9 in all",
		"20 by the logging hop itself, 4 by servers behind it, 6 not told",
		"1 retry told by the requests themselves, 49 inferred from timing; where both can be compared (n 100) timing alone finds 40 of 50 retries and is right in 95 %",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := JSON(&b, s, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"behind": {`, `"retried_requests": 30`, `"refused_by": {`, `"upstream": 4`, `"matcher": {`, `"right": 38`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("JSON has no %s", want)
		}
	}
	// Nothing is said of what no log tells.
	b.Reset()
	if err := Text(&b, &detect.Snapshot{Start: 1, End: 2, Totals: detect.Totals{Exchanges: 1, Refused: 1}}, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, not := range []string{"behind it", "hop itself", "evidence"} {
		if strings.Contains(b.String(), not) {
			t.Errorf("%q is said in\n%s", not, b.String())
		}
	}
}

func TestRowsTellTries(t *testing.T) {
	var b strings.Builder
	r := &detect.Row{X: &capture.Exchange{Origin: capture.OriginUpstream, Tries: 2, Again: 1}, Tried: []detect.Tried{{Server: "10.0.0.7:80", Status: 502, Fresh: true}, {Status: 200}}}
	if err := Exchanges(&b)(r); err != nil {
		t.Fatal(err)
	}
	want := `"made_by":"upstream","upstream":{"attempts":2,"retries":1,"tries":[{"status":502,"server":"10.0.0.7:80"},{"status":200,"server":null}]},"source"`
	if !strings.Contains(b.String(), want) {
		t.Errorf("%s", b.String())
	}
}
