package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"stormwatch/detect"
)

// HTML writes the incident report as one file that needs nothing else: charts are
// SVG inside it, there are no scripts, and a policy forbids the page to load
// anything. It is light or dark as the reader's system is, and light in print.
func HTML(w io.Writer, s *detect.Snapshot, o Options) error {
	s = prepared(s, o)
	var d sheet
	d.top(s, o)
	d.facts(totalFacts(s), "Figures")
	d.timeline(s)
	d.arrivals(s)
	d.findings(s)
	d.clients(s, o.Top)
	d.grown(s)
	d.habits(s)
	d.chains(s)
	d.mitigations(s)
	d.health(s)
	d.facts(originFacts(o), "Made by")
	d.line("</main>\n</body>\n</html>")
	return write(w, &d.Buffer, o)
}

// sheet is a page of HTML.
type sheet struct{ page }

// Colours are those of Okabe and Ito, as in the console: darkened for white paper
// and as they are on a dark ground.
const style = `
:root{--ink:#1b1f24;--dim:#5c6370;--paper:#fff;--line:#d0d4da;--soft:#f4f5f7;--ok:#00735c;--refused:#b34a00;--failed:#8f3f6f;--retry:#9a6700;--mark:#0072b2;--floor:#e2c98f}
@media (prefers-color-scheme:dark){:root{--ink:#e6e6e6;--dim:#9a9fa8;--paper:#101418;--line:#343a42;--soft:#191f25;--ok:#009e73;--refused:#d55e00;--failed:#cc79a7;--retry:#e69f00;--mark:#56b4e9;--floor:#5e4c1c}}
@media print{:root{--ink:#000;--dim:#444;--paper:#fff;--line:#aaa;--soft:#fff;--ok:#00735c;--refused:#b34a00;--failed:#8f3f6f;--retry:#9a6700;--mark:#0072b2;--floor:#e2c98f}
main{max-width:none;padding:0}h2,h3{break-after:avoid}tr,svg,pre{break-inside:avoid}details::details-content{content-visibility:visible;block-size:auto}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif;print-color-adjust:exact}
main{max-width:1080px;margin:0 auto;padding:24px}
h1{font-size:1.5em;line-height:1.25;margin:0 0 .5em;padding:.5em .7em;border-left:.4em solid var(--dim);background:var(--soft)}
h1.storm{border-color:var(--refused)}h1.overload{border-color:var(--failed)}h1.watch,h1.recovering{border-color:var(--retry)}h1.clear{border-color:var(--ok)}
h2{font-size:1.15em;margin:2em 0 .5em;border-bottom:1px solid var(--line)}h3{font-size:1em;margin:1.5em 0 .4em}
table{border-collapse:collapse;width:100%;font-size:.93em;font-variant-numeric:tabular-nums}td,th{text-align:left;vertical-align:top;padding:.2em .6em .2em 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{color:var(--dim);font-weight:600}.n{text-align:right;overflow-wrap:normal}.k{width:12em;color:var(--dim)}
code,pre{font-family:ui-monospace,monospace;font-size:.92em}pre{background:var(--soft);padding:.7em;overflow-x:auto;white-space:pre-wrap}
svg.chart{display:block;width:100%;height:auto;margin:.4em 0}svg text{font-size:11px;fill:var(--dim)}
.ok{fill:var(--ok)}.refused{fill:var(--refused)}.failed{fill:var(--failed)}.floor{fill:var(--floor)}.line{fill:none;stroke-width:1.5}.line.refused{stroke:var(--refused)}.line.retries{stroke:var(--retry);stroke-dasharray:4 2}
.axis,.tick{stroke:var(--dim)}.capacity{stroke:var(--ink);stroke-dasharray:6 3}line.event{stroke:var(--retry);stroke-dasharray:2 3}line.mark{stroke:var(--mark);stroke-width:1.5}svg text.mark{fill:var(--mark);font-weight:700}
.legend{color:var(--dim);font-size:.9em}.sw{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em}.b{font-weight:600}
`

// policy lets the page show itself and load nothing.
const policy = "default-src 'none'; style-src 'unsafe-inline'"

func (d *sheet) top(s *detect.Snapshot, o Options) {
	v := &s.Verdict
	word := strings.ToUpper(v.State.String())
	d.line(`<!doctype html>` + "\n" + `<html lang="en">` + "\n<head>\n" + `<meta charset="utf-8">` + "\n" +
		`<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n" +
		`<meta http-equiv="Content-Security-Policy" content="` + policy + `">` + "\n" +
		`<meta name="color-scheme" content="light dark">` + "\n<title>" + esc(word+": "+v.What) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<main>")
	title := glyph(v.State) + " " + word
	if v.What != "" {
		title += ": " + v.What
	}
	d.line(`<h1 class="` + v.State.String() + `">` + esc(title) + "</h1>")
	d.facts(append(verdictFacts(s)[1:], filterFact(s, o)), "")
}

func (d *sheet) head(title string) { d.line("<h2>" + esc(title) + "</h2>") }

// facts writes labels and their texts, those that have one.
func (d *sheet) facts(list []fact, title string) {
	if title != "" && len(list) > 0 {
		d.head(title)
	}
	d.line("<table>")
	for _, f := range list {
		if f.text != "" {
			d.line(`<tr><th class="k" scope="row">` + esc(f.label) + "</th><td>" + esc(f.text) + "</td></tr>")
		}
	}
	d.line("</table>")
}

// table begins one; a head that begins with a minus stands over numbers.
func (d *sheet) table(heads ...string) *grid {
	g := &grid{d: d, numbers: make([]bool, len(heads))}
	d.line("<table>\n<thead><tr>")
	for i, h := range heads {
		if h, g.numbers[i] = strings.CutPrefix(h, "-"); g.numbers[i] {
			d.line(`<th class="n" scope="col">` + esc(h) + "</th>")
			continue
		}
		d.line(`<th scope="col">` + esc(h) + "</th>")
	}
	d.line("</tr></thead>\n<tbody>")
	return g
}

// grid is a table being written.
type grid struct {
	d       *sheet
	numbers []bool
}

func (g *grid) row(cells ...string) {
	g.d.WriteString("<tr>")
	for i, c := range cells {
		class := ""
		if g.numbers[i] {
			class = ` class="n"`
		}
		g.d.WriteString("<td" + class + ">" + esc(c) + "</td>")
	}
	g.d.line("</tr>")
}

func (g *grid) end() { g.d.line("</tbody></table>") }

func (d *sheet) legend(entries ...[2]string) {
	d.WriteString(`<p class="legend">`)
	for _, e := range entries {
		d.WriteString(`<svg class="sw" viewBox="0 0 1 1" aria-hidden="true"><rect class="` + e[0] + `" width="1" height="1"/></svg>` + esc(e[1]))
	}
	d.line("</p>")
}

func (d *sheet) timeline(s *detect.Snapshot) {
	rows, width := minutes(s)
	if len(rows) == 0 {
		return
	}
	d.head("Timeline, UTC")
	d.legend([2]string{"ok", "answered well"}, [2]string{"refused", "refused"}, [2]string{"failed", "failed otherwise; answers per second"})
	d.WriteString(timelineChart(s))
	d.line(`<p class="legend">share refused (line), share of retries (dashes)</p>`)
	d.WriteString(shareChart(s))
	if len(s.Events) > 0 {
		g := d.table("-#", "at", "event", "")
		for i := range s.Events {
			e := &s.Events[i]
			g.row(strconv.Itoa(i+1), date(e.At), eventText(e), fromOnset(e, &s.Verdict))
		}
		g.end()
	}
	d.line("<details open><summary>per " + rowName(width) + "</summary>")
	g := d.table("from", "-attempts", "-first", "-retries", "-ok", "-refused", "-failed", "-refused %", "-most in 1 s")
	for i := range rows {
		r := &rows[i]
		g.row(date(r.at), Count(r.Attempts), Count(r.First), Count(r.Retries), Count(r.Success), Count(r.Refused), Count(r.OtherFail),
			percent(partOf(r.Refused, r.Success+r.Refused+r.OtherFail)), Count(r.MaxPerS))
	}
	g.end()
	d.line("</details>")
}

func (d *sheet) arrivals(s *detect.Snapshot) {
	a := &s.Arrivals
	chart := arrivalsChart(a)
	if chart == "" {
		return
	}
	d.head("Arrivals of retries, folded at " + span(a.Period))
	d.facts([]fact{
		{"strength", figureOf(a.Strength)},
		{"peak over mean", figureOf(a.PeakOverMean)},
		{"coincidence z", figureOf(a.Coincidence)},
		{"excess", figureOf(a.Excess)},
		{"jitter", figureOf(a.Jitter)},
		{"peak in 50 ms", figureOf(a.Peak50ms)},
	}, "")
	d.WriteString(chart)
}

func figureOf(n detect.Number) string {
	if !Known(n) {
		return ""
	}
	return Figure(n.V, "")
}

func (d *sheet) findings(s *detect.Snapshot) {
	d.head("Findings")
	if len(s.Findings) == 0 {
		d.line("<p>No signature is raised.</p>")
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		d.line("<h3>" + esc(f.Signature+", score "+score(f.Score)+", "+f.Severity.String()) + "</h3>")
		if f.Says != "" {
			d.line("<p>" + esc(f.Says) + "</p>")
		}
		d.facts([]fact{
			{"scope", f.Scope + "; confidence " + Confidence(f.Confidence)},
			{"when", findingTimes(f)},
			{"who", findingWho(f)},
			{"formula", f.When},
			{"score", partsText(f)},
			{"error rate", f.FalsePositives},
			{"read at", strings.Join(f.At, ", ")},
			{"mitigations", strings.Join(f.Mitigations, ", ")},
		}, "")
		if len(f.Evidence) > 0 {
			d.evidence(f.Evidence)
		}
	}
	if len(s.NotJudged) == 0 {
		return
	}
	d.line("<details><summary>" + esc(several(len(s.NotJudged), "signature")+" not judged") + "</summary>")
	g := d.table("signature", "why")
	for _, n := range s.NotJudged {
		g.row(n.Signature, n.Reason)
	}
	g.end()
	d.line("</details>")
}

func (d *sheet) evidence(list []detect.Evidence) {
	g := d.table("measured", "-value", "threshold", "-n", "-p", "meaning")
	for i := range list {
		e := &list[i]
		n, chance := "", ""
		if e.N > 0 {
			n = Count(e.N)
		}
		if Known(e.P) {
			chance = Figure(e.P.V, "")
		}
		g.row(e.Name, Figure(e.Value, e.Unit), e.Threshold, n, chance, e.Meaning)
	}
	g.end()
}

func (d *sheet) clients(s *detect.Snapshot, top int) {
	if top <= 0 {
		top = incidentTop
	}
	s = topped(s, top)
	if len(s.Clients) == 0 {
		return
	}
	d.head("Clients: " + Count(len(s.Clients)) + " of " + Count(max(s.ClientCount, len(s.Clients))) + ", by what they need not have sent")
	g := d.table("client", "agent", "-sent", "-ok", "-refused", "-amp", "-gap", "-early", "-avoidable", "policy, by timing", "signatures")
	for i := range s.Clients {
		c := &s.Clients[i]
		g.row(label(c), c.Agent, Count(c.Attempts), Count(c.OK), Count(c.Refused), times(c.Amplification), gap(c.GapMedianS),
			percent(c.EarlyShare), perSecond(c.AvoidablePerS), Policy(&c.Policy), signs(c))
	}
	if others := s.ClientCount - len(s.Clients); others > 0 {
		o := &s.ClientsOthers
		g.row(Count(others)+" others", "", Count(o.Attempts), Count(o.OK), Count(o.Refused), "", "", "", perSecond(o.AvoidablePerS), "", "")
	}
	g.end()
	for _, text := range []string{Reach(s.Reach, percent), victimsText(s), newText(s)} {
		if text != "" {
			d.line("<p>" + esc(text) + "</p>")
		}
	}
}

func (d *sheet) grown(s *detect.Snapshot) {
	if len(s.Growth) > 0 {
		d.head("What grew")
		g := d.table("", "name", "-before", "-at the incident", "-new clients")
		for i := range s.Growth {
			r := &s.Growth[i]
			g.row(r.Kind, r.Name, perSecond(detect.Some(r.Before)), perSecond(detect.Some(r.PerS)), percent(r.New))
		}
		g.end()
	}
	if len(s.Layers.Rows) > 0 {
		d.head("Layers of retries" + layersNote(&s.Layers))
		g := d.table("layer", "-attempts per request", "-at most", "")
		for i := range s.Layers.Rows {
			l := &s.Layers.Rows[i]
			g.row(l.Name, times(l.PerRequest), mostText(l.Most), layerText(l))
		}
		g.end()
	}
}

// habits says how each agent's clients wait before they try again.
func (d *sheet) habits(s *detect.Snapshot) {
	if len(s.Habits) == 0 {
		return
	}
	d.head("Retry habits, by agent")
	g := d.table("agent", "habit")
	for i := range s.Habits[:min(len(s.Habits), maxHabits)] {
		g.row(agentName(&s.Habits[i]), habitText(&s.Habits[i]))
	}
	if more := len(s.Habits) - maxHabits; more > 0 {
		g.row("and "+several(more, "agent")+" more", "")
	}
	g.end()
}

func (d *sheet) chains(s *detect.Snapshot) {
	if len(s.Chains) == 0 {
		return
	}
	d.head("Chains, as examples")
	d.legend([2]string{"refused", "attempt that failed"}, [2]string{"ok", "that succeeded"}, [2]string{"floor", "wait that the answer named"})
	for i := range s.Chains {
		k := &s.Chains[i]
		d.line("<h3><code>" + esc(chainTitle(k)) + "</code></h3>\n<p>" + esc(chainFacts(k)) + "</p>")
		d.WriteString(chainChart(k))
		g := d.table("-#", "sent", "-after", "answer", "wait named", "", "evidence", "read at")
		for n := range min(len(k.Attempts), exampleAttempts) {
			a := &k.Attempts[n]
			g.row(strconv.Itoa(a.N), utc(a.Start).Format("15:04:05.000"), gap(a.Gap), Answer(a), asked(a), kept(a), a.Evidence.String(), a.At)
		}
		g.end()
		if more := len(k.Attempts) - exampleAttempts + k.More; len(k.Attempts) > exampleAttempts {
			d.line("<p>and " + Count(more) + " more</p>")
		}
	}
}

func (d *sheet) mitigations(s *detect.Snapshot) {
	if len(s.Mitigations) == 0 {
		return
	}
	d.head("What to do, in this order")
	for i := range s.Mitigations {
		m := &s.Mitigations[i]
		d.line("<h3>" + esc(fmt.Sprintf("%d. %s: %s (%s)", i+1, strings.ToUpper(m.When), m.Title, m.ID)) + "</h3>")
		d.facts(remedyFacts(m), "")
		for _, sn := range m.Snippets {
			d.line("<details><summary>" + esc(sn.For) + "</summary><pre>" + escSnippet(sn.Text) + "</pre></details>")
		}
	}
}

func escSnippet(s string) string {
	lines := strings.Split(snippetText(s), "\n")
	for i := range lines {
		lines[i] = esc(lines[i])
	}
	return strings.Join(lines, "\n")
}

func (d *sheet) health(s *detect.Snapshot) {
	d.head("Health of the input")
	for i := range s.Sources {
		src := &s.Sources[i]
		d.line("<h3>" + esc(src.Name+" ("+src.Kind+")") + "</h3>\n<p>" + esc(healthText(&src.Health)) + "</p>")
		if facts := healthFacts(src); len(facts) > 0 {
			d.facts(facts, "")
		}
	}
}
