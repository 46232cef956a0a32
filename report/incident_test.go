package report_test

import (
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"golang.org/x/net/html"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/report"
)

// incident is the storm with all that an incident report tells beside it.
func incident() *detect.Snapshot {
	s := storm()
	s.Timeline = detect.Timeline{Start: at(0), Width: 1e9}
	for i := range int64(55) {
		b := detect.Bin{Attempts: 8, First: 8, Success: 8, MaxPerS: 8}
		if i >= 30 {
			b = detect.Bin{Attempts: 60, First: 8, Retries: 52, Success: 5, Refused: 53, OtherFail: 2, MaxPerS: 60}
		}
		s.Timeline.Bins = append(s.Timeline.Bins, b)
	}
	s.Events = []detect.Event{
		{At: at(30), Kind: "onset", Text: "storm"},
		{At: at(33), Kind: "on", Text: "lockstep"},
		{At: at(35), Kind: "peak", Text: "60 attempts per second"},
	}
	refusal := func(n int, start float64) detect.Attempt {
		return detect.Attempt{
			N: n, Start: at(start), End: at(start + .02), Status: 429, Reason: capture.Throttle, Evidence: 2, Confidence: .97, At: "frame 578/637",
			Hint: capture.Hint{State: capture.Present, Kind: capture.RetryAfterSeconds, Wait: 3e9},
		}
	}
	first, second := refusal(1, 30), refusal(2, 31.02)
	second.Gap, second.Early = detect.Some(1), detect.Some(2)
	s.Chains = []detect.Chain{{
		ID: "10.1.0.36#4", Client: "10.1.0.36", Agent: "batch-sync/1.4", Method: "GET", Host: "api.example.com", Path: "/v1/export?cursor=8812&key=***",
		Attempts: []detect.Attempt{first, second}, Ended: "gave up", Policy: detect.PolicyEstimate{Family: "fixed", Name: "fixed 1 s", Probability: .97},
	}}
	s.Layers = detect.Layers{
		Rows:       []detect.Layer{{Name: "app", PerRequest: detect.Some(1.1), Most: 2, Seen: true}, {Name: "gateway", PerRequest: detect.Some(4.9), Most: 6, Pressure: true}},
		Multiplier: detect.Some(4.9), Worst: detect.Some(12), Inferred: true,
	}
	s.Growth = []detect.Growth{{Kind: "agent", Name: "batch-sync/1.4", Before: .5, PerS: 8, New: detect.Some(.9)}}
	s.Reach = []detect.Reach{{Clients: 12, Of: 67, Share: .8}}
	s.Arrivals = detect.Arrivals{Period: 1e9, Width: 1e8, Rows: [][]int32{{0, 9, 1, 0}, {0, 8, 2, 0}}, Strength: detect.Some(.91)}
	return report.WithMarks(s, []detect.Event{{At: at(28), Kind: report.Mark, Text: "deploy batch-sync 1.4"}, {At: at(41), Kind: report.Bookmark, Text: "limit raised?"}})
}

func incidentOptions() report.Options {
	return report.Options{Version: "v0", Rules: "2 signatures, built in", Command: "stormwatch report --format markdown 'a b.pcap'"}
}

func TestIncidentGolden(t *testing.T) {
	for name, s := range map[string]*detect.Snapshot{"incident": incident(), "empty": {}, "unknown": unknown()} {
		for _, form := range []string{"markdown", "html", "junit", "openmetrics"} {
			golden(t, name+"."+form, render(t, forms[form], s, incidentOptions()))
		}
	}
	golden(t, "incident.text", render(t, report.Text, incident(), report.Options{}))
}

// What a postmortem asks for stands in the report, in this order.
func TestIncidentOrder(t *testing.T) {
	for form, want := range map[string][]string{
		"markdown": {
			"# Incident report: STORM", "2026-03-02 03:10:30 UTC; growing", "5,070", "Timeline per 2s", "03:10:28", "**03:10:28 deploy batch-sync 1.4**",
			"03:10:30 onset: storm", "**03:10:41 bookmark: limit raised?**", "lockstep", "`jitter < 0.05 && z >= 5 && rho >= 2.5`", "0 in 60 runs",
			"`z >= 5`", "1,200", "1e-09", "rising-share-after-burst", "`acme`", "cursor=•", "2.000s too early", "spread-hint", "12 dropped by the kernel",
			"stormwatch v0", "2 signatures, built in", "`stormwatch report --format markdown 'a b.pcap'`",
		},
		"html": {
			"<title>STORM", "color-scheme", "answered well", "<svg", "deploy batch-sync 1.4", "2s before the onset", "jitter &lt; 0.05", "acme", "2.000s too early",
			"spread-hint", "12 dropped by the kernel", "2 signatures, built in", "&#39;a b.pcap&#39;", "</html>",
		},
	} {
		text, from := render(t, forms[form], incident(), incidentOptions()), 0
		for _, w := range want {
			i := strings.Index(text[from:], w)
			if i < 0 {
				t.Errorf("%s: %q is not there after what comes before it", form, w)
				continue
			}
			from += i
		}
	}
}

// The rows of a timeline lose no attempt, whatever the length of the input, and
// stand for whole minutes where that is long enough.
func TestTimelineRows(t *testing.T) {
	row := regexp.MustCompile(`(?m)^\| [0-9 :-]+ \| ([0-9,]+) \|`)
	for _, c := range []struct {
		bins  int
		width int64
		name  string
	}{{1, 1e9, "second"}, {55, 1e9, "2s"}, {300, 1e9, "10s"}, {1200, 1e9, "minute"}, {3600, 1e9, "minute"}, {200, 3e10, "minute"}, {240, 3.6e12, "4h0m"}, {86400, 1e9, "15m"}} {
		s := incident()
		s.Timeline = detect.Timeline{Start: at(0), Width: c.width, Bins: make([]detect.Bin, c.bins)}
		for i := range s.Timeline.Bins {
			s.Timeline.Bins[i].Attempts = 1
		}
		text := render(t, report.Markdown, s, report.Options{})
		if !strings.Contains(text, "Timeline per "+c.name+",") {
			t.Errorf("%d bins of %d: %s", c.bins, c.width, regexp.MustCompile("Timeline per.*").FindString(text))
		}
		sum := 0
		_, table, _ := strings.Cut(text, "Timeline per")
		table, _, _ = strings.Cut(table, "\n## ")
		for _, m := range row.FindAllStringSubmatch(table, -1) {
			n := 0
			for _, d := range strings.ReplaceAll(m[1], ",", "") {
				n = 10*n + int(d-'0')
			}
			sum += n
		}
		if sum != c.bins {
			t.Errorf("%d bins of %d: the rows have %d attempts", c.bins, c.width, sum)
		}
	}
}

// parts are the names of elements and attributes of a page.
func parts(t *testing.T, text string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Fatal(z.Err())
			}
			return out
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := z.Token()
			out[tag.Data] = true
			for _, a := range tag.Attr {
				out[tag.Data+" "+a.Key] = true
				if a.Key == "src" || a.Key == "href" || strings.HasPrefix(a.Key, "on") {
					t.Errorf("<%s %s=%q>", tag.Data, a.Key, a.Val)
				}
			}
		case html.CommentToken:
			t.Error("a comment")
		}
	}
}

// No text of the traffic becomes an element, and the page loads nothing.
func TestHTMLHostile(t *testing.T) {
	mine := parts(t, render(t, report.HTML, incident(), incidentOptions()))
	for _, s := range []string{
		`</style><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='x`, `<!-- `, `]]>`, `&lt;b&gt;`, `</title><svg/onload=x>`, `javascript:x`,
	} {
		snap := incident()
		fill(snap, s)
		snap.Timeline, snap.Arrivals.Rows = incident().Timeline, incident().Arrivals.Rows
		snap.Verdict.State = detect.Storm
		text := render(t, report.HTML, snap, report.Options{Command: s, Rules: s, Version: s})
		for part := range parts(t, text) {
			if !mine[part] {
				t.Errorf("%q brings <%s> in", s, part)
			}
		}
		if strings.Contains(text, "alert(1)<") {
			t.Errorf("%q stands as it is", s)
		}
	}
	page := render(t, report.HTML, incident(), incidentOptions())
	for _, bad := range []string{"<script", "<link", "@import", "url(", "http:", "https:"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

var escaped = regexp.MustCompile(`\\[[:punct:]]`)

// A text of the traffic cannot break out of its cell, nor become a link, an
// element, a mention or a heading in Markdown.
func TestMarkdownHostile(t *testing.T) {
	for _, s := range []string{
		"a | b", "`` ` |", "<img src=x>", "https://evil.example/x", "www.evil.example", "@everyone", "[x](y)", "# big", "*bold* _it_ ~~no~~", "&amp; &lt;", "\\| \\`", "$x$", "![a](b)",
	} {
		snap := incident()
		fill(snap, s)
		snap.Timeline, snap.Verdict.State = incident().Timeline, detect.Storm
		text := render(t, report.Markdown, snap, report.Options{Command: s})
		fenced, columns := false, 0
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if fenced {
				continue
			}
			bare := spans(escaped.ReplaceAllString(line, ""))
			if n := strings.Count(bare, "|"); strings.HasPrefix(line, "|") {
				if columns != 0 && n != columns {
					t.Errorf("%q: %d bars, not %d, in %s", s, n, columns, line)
				}
				columns = n
			} else {
				columns = 0
			}
			for _, bad := range []string{"<", "https://", "www.", "@everyone", "](b", "](y", " *bold", " _it", "~~no", "# big"} {
				if strings.Contains(bare, bad) {
					t.Errorf("%q: %q in %s", s, bad, line)
				}
			}
		}
		if fenced {
			t.Errorf("%q: a fence is left open", s)
		}
	}
}

var span = regexp.MustCompile("(`+)(.*?[^`])(`+)")

// spans takes code spans out of a line.
func spans(line string) string {
	return span.ReplaceAllStringFunc(line, func(s string) string {
		m := span.FindStringSubmatch(s)
		if m[1] == m[3] {
			return ""
		}
		return s
	})
}

type suite struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Cases    []struct {
		Name    string    `xml:"name,attr"`
		Failure *struct{} `xml:"failure"`
		Error   *struct{} `xml:"error"`
		Skipped *struct{} `xml:"skipped"`
	} `xml:"testsuite>testcase"`
}

func readSuite(t *testing.T, s *detect.Snapshot, o report.Options) (all suite) {
	t.Helper()
	text := render(t, report.JUnit, s, o)
	if err := xml.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var n suite
	for _, c := range all.Cases {
		n.Failures += b2i(c.Failure != nil)
		n.Errors += b2i(c.Error != nil)
		n.Skipped += b2i(c.Skipped != nil)
	}
	if all.Tests != len(all.Cases) || all.Failures != n.Failures || all.Errors != n.Errors || all.Skipped != n.Skipped {
		t.Errorf("it counts %d tests, %d failures, %d errors, %d skipped, and has %+v of %d", all.Tests, all.Failures, all.Errors, all.Skipped, n, len(all.Cases))
	}
	return all
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A suite fails where the gate fails, is an error where nothing could be judged,
// and never fails where the gate passed.
func TestJUnitGate(t *testing.T) {
	for _, c := range []struct {
		s                *detect.Snapshot
		limit            detect.State
		failures, errors int
	}{
		{storm(), detect.Unknown, 3, 0}, // the verdict and two findings
		{storm(), detect.Storm, 3, 0},
		{storm(), detect.Storm + 1, 0, 0},
		{overload(), detect.Storm, 0, 0},
		{overload(), detect.Overloaded, 1, 0},
		{clear(), detect.Watch, 0, 0},
		{unknown(), detect.Storm, 0, 1},
		{&detect.Snapshot{}, detect.Storm, 0, 1},
	} {
		if all := readSuite(t, c.s, report.Options{FailOn: c.limit}); all.Failures != c.failures || all.Errors != c.errors {
			t.Errorf("%v against %v: %d failures, %d errors", c.s.Verdict.State, c.limit, all.Failures, all.Errors)
		}
	}
	for name, text := range hostileTexts {
		snap := storm()
		fill(snap, text)
		snap.Verdict.State = detect.Storm
		if all := readSuite(t, snap, report.Options{Version: text}); all.Failures == 0 {
			t.Errorf("%s: no failure", name)
		}
	}
}

// scrape reads metrics as Prometheus does.
func scrape(t *testing.T, text string) map[string]float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	list, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%.2000s", err, text)
	}
	out := map[string]float64{}
	for name, f := range list {
		for _, m := range f.Metric {
			key := name
			for _, l := range m.Label {
				key += " " + l.GetName() + "=" + l.GetValue()
			}
			if _, twice := out[key]; twice {
				t.Errorf("%s is there twice", key)
			}
			out[key] = m.GetGauge().GetValue() + m.GetUntyped().GetValue() + m.GetCounter().GetValue()
		}
	}
	return out
}

func TestOpenMetrics(t *testing.T) {
	text := render(t, report.OpenMetrics, incident(), report.Options{Version: "v0", Top: 1})
	got := scrape(t, text)
	for key, want := range map[string]float64{
		"stormwatch_state state=storm": 1, "stormwatch_state state=clear": 0, "stormwatch_confidence": .94,
		"stormwatch_exchanges_total": 5070, "stormwatch_retries_total": 3670, "stormwatch_amplification_ratio": 3.621, "stormwatch_since_seconds": 1772421030,
		"stormwatch_finding_score signature=lockstep scope=agent severity=high route=GET api.example.com/v1/export/N agent=batch-sync/1.4": .985,
		"stormwatch_client_attempts_total client=10.1.0.36 name=acme agent=batch-sync/1.4":                                                 10,
		"stormwatch_source_dropped_total source=web1 kind=capture unit=packets":                                                            12,
		"stormwatch_source_skipped_total source=web1 kind=capture unit=packets reason=no HTTP":                                             80,
	} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s is %v, %v, want %v", key, v, ok, want)
		}
	}
	for key := range got {
		if strings.Contains(key, "hint-ignored") || strings.Contains(key, "10.2.0.5") {
			t.Errorf("%s: ended, or beyond --top", key)
		}
	}
	checkOpenMetrics(t, text)
	for name, s := range hostileTexts {
		snap := incident()
		fill(snap, s)
		snap.Verdict.State = detect.Storm
		text := render(t, report.OpenMetrics, snap, report.Options{Version: s})
		scrape(t, text)
		checkOpenMetrics(t, text)
		checkClean(t, "openmetrics, "+name, text)
	}
}

// What looks alike, once names are made clean and cut, is numbered: nothing is left
// out, and no two samples have the same labels.
func TestOpenMetricsOfNamesakes(t *testing.T) {
	snap := incident()
	snap.Clients = nil
	for i, label := range []string{"job", "job", "job\x1b", "job"} {
		snap.Clients = append(snap.Clients, detect.Client{Label: label, Attempts: int64(10 + i)})
	}
	snap.Sources = append(snap.Sources, snap.Sources[0])
	snap.Sources[0].Health.Bounds = []capture.Skip{{Reason: "chains", Count: 7}}
	text := render(t, report.OpenMetrics, snap, report.Options{})
	got := scrape(t, text)
	sum := 0.
	for key, v := range got {
		if strings.HasPrefix(key, "stormwatch_client_attempts_total ") {
			sum += v
		}
	}
	if sum != 10+11+12+13 {
		t.Errorf("the clients sent %v requests together, want 46", sum)
	}
	src := " source=" + snap.Sources[0].Name + " kind=" + snap.Sources[0].Kind + " unit=packets"
	read := float64(snap.Sources[0].Health.Read)
	if a, b := got["stormwatch_source_read_total"+src], got["stormwatch_source_read_total"+src+" namesake=2"]; a != read || b != read {
		t.Errorf("two sources of one name read %v and %v, want %v each", a, b, read)
	}
	if n := got["stormwatch_source_bound_total"+src+" reason=chains"]; n != 7 {
		t.Errorf("a bound was reached %v times, want 7", n)
	}
	checkOpenMetrics(t, text)
}

var (
	metricLine = regexp.MustCompile(`^(stormwatch_[a-z0-9_]+)(\{([a-z_]+="([^"\\\n]|\\[\\n"])*",?)+\})? -?[0-9.e+-]+$`)
	headLine   = regexp.MustCompile(`^# (HELP|TYPE) (stormwatch_[a-z0-9_]+) (.+)$`)
)

// checkOpenMetrics holds a text against what OpenMetrics 1.0 asks beyond the format
// of Prometheus: families stay together, counters end in _total, and the last line
// is # EOF.
func checkOpenMetrics(t *testing.T, text string) {
	t.Helper()
	if !strings.HasSuffix(text, "\n# EOF\n") {
		t.Error("it does not end in # EOF")
	}
	kind, now := map[string]string{}, ""
	for line := range strings.Lines(strings.TrimSuffix(text, "# EOF\n")) {
		line = strings.TrimSuffix(line, "\n")
		if m := headLine.FindStringSubmatch(line); m != nil {
			if m[1] == "TYPE" {
				if kind[m[2]] != "" {
					t.Errorf("%s is told in two places", m[2])
				}
				kind[m[2]], now = m[3], m[2]
			}
			continue
		}
		m := metricLine.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("no sample: %.200q", line)
			continue
		}
		want := now
		if kind[now] == "counter" {
			want += "_total"
		}
		if m[1] != want {
			t.Errorf("%s under %s, a %s", m[1], now, kind[now])
		}
	}
}

// Clients are gone from every form of a redacted report: from chains, marks,
// layers and the command line too.
func TestRedactIncident(t *testing.T) {
	snap := incident()
	snap.Events[0].Text = "10.1.0.36 restarted by acme"
	snap.Growth = append(snap.Growth, detect.Growth{Kind: "client", Name: "acme-batch-7"})
	snap.Arrivals.Clients = []detect.ClientArrivals{{Label: "10.1.0.36"}}
	snap.Chains[0].Path = "/v1/acme/export?tenant=acme"
	snap.Sources[0].Health.Notes = []string{"10.9.9.9 is a proxy"}
	o := incidentOptions()
	o.Redact, o.Command = true, "stormwatch report 10.1.0.36.log"
	for name, form := range forms {
		text := render(t, form, snap, o)
		for _, secret := range []string{"10.1.0", "10.2.0.5", "10.9.9.9", "acme", "SSH-2.0", "8812"} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s: %s in %q", name, secret, text[max(0, i-40):min(len(text), i+40)])
			}
		}
	}
	text := render(t, report.Markdown, snap, o)
	if !strings.Contains(text, "client-1 restarted by client-1") || !strings.Contains(text, "/v1/client-1/export?tenant=•") {
		t.Error("a client's names are not replaced where they stand in a text")
	}
}

// A Redactor keeps its numbers from snapshot to snapshot, and can be asked back.
func TestRedactorKeepsNumbers(t *testing.T) {
	r := report.NewRedactor()
	first := r.Snapshot(incident())
	other := incident()
	other.Clients[0], other.Clients[1] = other.Clients[1], other.Clients[0]
	second := r.Snapshot(other)
	if first.Clients[0].Label != second.Clients[1].Label || first.Clients[0].Label != "client-1" {
		t.Errorf("%s became %s", first.Clients[0].Label, second.Clients[1].Label)
	}
	if got := r.Label("client-1"); got != "10.1.0.36" {
		t.Errorf("client-1 is %s", got)
	}
	row := r.Client(&other.Clients[1])
	if row.Label != "client-1" || row.Name != "" {
		t.Errorf("the row is of %s, %s", row.Label, row.Name)
	}
}
