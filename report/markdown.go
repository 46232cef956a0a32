package report

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"stormwatch/detect"
)

// Markdown writes the incident report for a postmortem: the verdict, the timeline
// by the minute, findings with their formulas and error rates, clients, chains,
// what was marked, mitigations, how far the input can be trusted, and how to make
// the report again. Chains are those of the Snapshot.
func Markdown(w io.Writer, s *detect.Snapshot, o Options) error {
	s = prepared(s, o)
	var p paper
	p.verdict(s, o)
	p.figures(s)
	p.timeline(s)
	p.marks(s)
	p.findings(s)
	p.notJudged(s)
	p.clients(s, o.Top)
	p.grown(s)
	p.habits(s)
	p.chains(s)
	p.mitigations(s)
	p.health(s)
	p.origin(s, o)
	return write(w, &p.Buffer, o)
}

// paper is a page of Markdown.
type paper struct{ page }

func (p *paper) head(title string) {
	p.blank()
	p.line("## " + title + "\n")
}

// blank ends a paragraph.
func (p *paper) blank() {
	if !bytes.HasSuffix(p.Bytes(), []byte("\n\n")) {
		p.line("")
	}
}

// row writes cells that have been made safe.
func (p *paper) row(cells ...string) { p.line("| " + strings.Join(cells, " | ") + " |") }

// table begins one; a head that begins with a minus stands over numbers.
func (p *paper) table(heads ...string) {
	rule := make([]string, len(heads))
	for i, h := range heads {
		rule[i] = "---"
		if rest, ok := strings.CutPrefix(h, "-"); ok {
			heads[i], rule[i] = rest, "---:"
		}
	}
	p.row(heads...)
	p.row(rule...)
}

// item writes a point of a list, if there is something to say.
func (p *paper) item(label, text string) {
	if text != "" {
		p.line("- **" + label + "**: " + text)
	}
}

func (p *paper) verdict(s *detect.Snapshot, o Options) {
	v := &s.Verdict
	title := strings.ToUpper(v.State.String())
	if v.What != "" {
		title += ": " + md(v.What)
	}
	p.line("# Incident report: " + title + "\n")
	p.table("", "")
	for _, f := range append(verdictFacts(s), filterFact(s, o)) {
		if f.text != "" {
			p.row(f.label, md(f.text))
		}
	}
}

func (p *paper) figures(s *detect.Snapshot) {
	if s.Start == 0 {
		return
	}
	p.head("Figures")
	p.table("figure", "value")
	for _, f := range totalFacts(s) {
		p.row(f.label, md(f.text))
	}
}

func (p *paper) timeline(s *detect.Snapshot) {
	rows, width := minutes(s)
	if len(rows) == 0 {
		return
	}
	p.head("Timeline per " + rowName(width) + ", UTC")
	p.table("from", "-attempts", "-first", "-retries", "-ok", "-refused", "-failed", "-refused %", "-most in 1 s", "events")
	day := ""
	for i := range rows {
		r := &rows[i]
		from := clock(r.at)
		if d := date(r.at)[:10]; d != day {
			if day = d; i > 0 || date(rows[len(rows)-1].at)[:10] != d {
				from = d + " " + from
			}
		}
		p.row(from, Count(r.Attempts), Count(r.First), Count(r.Retries), Count(r.Success), Count(r.Refused), Count(r.OtherFail),
			percent(partOf(r.Refused, r.Success+r.Refused+r.OtherFail)), Count(r.MaxPerS), eventsOf(r, md))
	}
}

// marks lists what people marked, by when it all began.
func (p *paper) marks(s *detect.Snapshot) {
	if !slices.ContainsFunc(s.Events, func(e detect.Event) bool { return marked(&e) }) {
		return
	}
	p.head("Marks")
	p.table("at, UTC", "what", "")
	for i := range s.Events {
		if e := &s.Events[i]; marked(e) {
			p.row(date(e.At), md(eventText(e)), fromOnset(e, &s.Verdict))
		}
	}
}

// eventsOf tells the events of a row, what people marked in bold.
func eventsOf(r *minute, safe func(string) string) string {
	var out []string
	for _, e := range r.events {
		if len(out) == 8 {
			out = append(out, "and "+Count(len(r.events)-len(out))+" more")
			break
		}
		text := clock(e.At) + " " + safe(eventText(e))
		if marked(e) {
			text = "**" + text + "**"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func (p *paper) findings(s *detect.Snapshot) {
	p.head("Findings")
	if len(s.Findings) == 0 {
		p.line("No signature is raised.")
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		p.line("### " + md(f.Signature) + ", score " + score(f.Score) + ", " + f.Severity.String() + "\n")
		if f.Says != "" {
			p.line(md(f.Says) + "\n")
		}
		p.item("scope", md(f.Scope)+"; confidence "+Confidence(f.Confidence))
		p.item("when", md(findingTimes(f)))
		p.item("who", md(findingWho(f)))
		p.item("formula", code(f.When))
		p.item("score", md(partsText(f)))
		p.item("error rate", md(f.FalsePositives))
		p.item("read at", md(strings.Join(f.At, ", ")))
		p.item("mitigations", md(strings.Join(f.Mitigations, ", ")))
		p.evidence(f.Evidence)
		p.blank()
	}
}

func (p *paper) evidence(list []detect.Evidence) {
	if len(list) == 0 {
		return
	}
	p.line("")
	p.table("measured", "-value", "threshold", "-n", "-p", "meaning")
	for i := range list {
		e := &list[i]
		n, chance := "", ""
		if e.N > 0 {
			n = Count(e.N)
		}
		if Known(e.P) {
			chance = Figure(e.P.V, "")
		}
		p.row(md(e.Name), md(Figure(e.Value, e.Unit)), codeCell(e.Threshold), n, chance, md(e.Meaning))
	}
}

func (p *paper) notJudged(s *detect.Snapshot) {
	if len(s.NotJudged) == 0 {
		return
	}
	p.head("Not judged")
	p.table("signature", "why")
	for _, n := range s.NotJudged {
		p.row(md(n.Signature), md(n.Reason))
	}
}

const incidentTop = 20 // clients listed in an incident report

func (p *paper) clients(s *detect.Snapshot, top int) {
	if top <= 0 {
		top = incidentTop
	}
	s = topped(s, top)
	if len(s.Clients) == 0 {
		return
	}
	p.head("Clients: " + Count(len(s.Clients)) + " of " + Count(max(s.ClientCount, len(s.Clients))) + ", by what they need not have sent")
	p.table("client", "agent", "-sent", "-ok", "-refused", "-amp", "-gap", "-early", "-avoidable", "policy, by timing", "signatures")
	for i := range s.Clients {
		c := &s.Clients[i]
		p.row(codeCell(label(c)), codeCell(c.Agent), Count(c.Attempts), Count(c.OK), Count(c.Refused), times(c.Amplification), gap(c.GapMedianS),
			percent(c.EarlyShare), perSecond(c.AvoidablePerS), md(Policy(&c.Policy)), md(signs(c)))
	}
	if others := s.ClientCount - len(s.Clients); others > 0 {
		o := &s.ClientsOthers
		p.row(Count(others)+" others", "", Count(o.Attempts), Count(o.OK), Count(o.Refused), "", "", "", perSecond(o.AvoidablePerS), "", "")
	}
}

// grown tells what grew, and how many clients it would take to act on.
func (p *paper) grown(s *detect.Snapshot) {
	if len(s.Growth) > 0 {
		p.head("What grew")
		p.table("", "name", "-before", "-at the incident", "-new clients")
		for i := range s.Growth {
			g := &s.Growth[i]
			p.row(md(g.Kind), codeCell(g.Name), perSecond(detect.Some(g.Before)), perSecond(detect.Some(g.PerS)), percent(g.New))
		}
	}
	if len(s.Layers.Rows) > 0 {
		p.head("Layers of retries" + md(layersNote(&s.Layers)))
		p.table("layer", "-attempts per request", "-at most", "")
		for i := range s.Layers.Rows {
			l := &s.Layers.Rows[i]
			p.row(md(l.Name), times(l.PerRequest), mostText(l.Most), layerText(l))
		}
	}
	p.blank()
	p.item("reach", Reach(s.Reach, percent))
	p.item("victims", md(victimsText(s)))
	p.item("new", md(newText(s)))
}

// habits says how each agent's clients wait before they try again.
func (p *paper) habits(s *detect.Snapshot) {
	if len(s.Habits) == 0 {
		return
	}
	p.head("Retry habits, by agent")
	p.table("agent", "habit")
	for i := range s.Habits[:min(len(s.Habits), maxHabits)] {
		p.row(codeCell(agentName(&s.Habits[i])), md(habitText(&s.Habits[i])))
	}
	if more := len(s.Habits) - maxHabits; more > 0 {
		p.row("and "+several(more, "agent")+" more", "")
	}
}
