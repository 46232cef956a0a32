package detect

import (
	"cmp"
	"fmt"
	"slices"

	"stormwatch/detect/herd"
	"stormwatch/rules"
)

func severity(name string) Severity {
	for s := Info; s <= Critical; s++ {
		if s.String() == name {
			return s
		}
	}
	return Info
}

func evidenceOf(f *found, feature rules.FeatureID) float64 {
	for _, ev := range f.said.Evidence {
		if ev.Feature == feature {
			return ev.Value
		}
	}
	return 0
}

// findings tells what was found, at a moment or over the whole of the input.
func (j *judge) findings(e *engine, whole bool) []Finding {
	list := j.episodes()
	out := make([]Finding, 0, len(list))
	for i := range list {
		out = append(out, j.finding(e, &list[i]))
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return inOrder(&a, &b, whole) })
	return out
}

// oneEpisode is how long the behaviour behind a finding may be absent before it
// counts as another one that has come: as long as the calm that ends an incident.
const oneEpisode = recoverHold

// episodes are what was found, with those of one signature and scope as one where
// what shows the later began before the earlier was over, or soon after: it began
// and was proven with the first, and tells and ends as the last.
func (j *judge) episodes() []found {
	out := make([]found, 0, len(j.found))
	for i := range j.found {
		f := j.found[i]
		k := len(out) - 1
		for k >= 0 && (out[k].sig.ID != f.sig.ID || scopeName(&out[k]) != scopeName(&f)) {
			k--
		}
		if k < 0 || out[k].over == 0 || f.onset-out[k].over >= oneEpisode {
			out = append(out, f)
			continue
		}
		first := &out[k]
		f.onset, f.detected, f.censored, f.at = min(first.onset, f.onset), first.detected, first.censored, first.at
		f.groups |= first.groups
		out[k] = f
	}
	return out
}

// inOrder compares findings by what matters most: at a moment what still holds, over the
// whole what was gravest.
func inOrder(a, b *Finding, whole bool) int {
	live, severity := 0, -cmp.Compare(a.Severity, b.Severity)
	if a.Active() != b.Active() {
		live = compare(a.Active())
	}
	if !whole {
		live, severity = severity, live
	}
	return cmp.Or(severity, live, -cmp.Compare(a.Score, b.Score), cmp.Compare(a.Signature, b.Signature))
}

func (j *judge) finding(e *engine, f *found) Finding {
	out := Finding{
		Signature: f.sig.ID, Scope: scopeName(f), Score: f.said.Score, Severity: severity(f.said.Severity),
		Confidence: min(.99, .5+.5*f.said.Score) * e.quality(),
		Onset:      f.onset, Detected: f.detected, Ended: f.over, OnsetCensored: f.censored,
		Says: f.said.Says, When: f.sig.When, FalsePositives: f.sig.FalsePositives,
		At: f.at, Mitigations: j.serving(e, f.sig),
	}
	for _, p := range f.said.Parts {
		out.Parts = append(out.Parts, Part{p.Name, p.Points, p.Max})
	}
	features := rules.Features()
	for _, ev := range f.said.Evidence {
		ft := features[ev.Feature]
		out.Evidence = append(out.Evidence, Evidence{
			Name: ft.Name, Unit: ft.Unit, Meaning: ft.Meaning, Value: ev.Value, N: ev.N, Threshold: ev.Threshold, P: Number{ev.P, ev.HasP},
		})
	}
	if g := onlyGroup(f.groups); g > 0 {
		out.Agent = e.agentName(g)
	}
	out.Clients, out.ClientCount = j.involved(e, f)
	if r := e.pop.worstRoute(); r > 0 && againSigns[f.sig.ID] == nil {
		out.Route = e.names.texts.Text(e.names.routeOf[r])
	}
	out.Layer = j.layer(e, f)
	return out
}

// layer is what was seen of who repeats: of layers that retry the one whose attempts are
// in the input; of the clients of one agent what their timing is like, which is no proof
// of a library.
func (j *judge) layer(e *engine, f *found) string {
	if f.layer != "" {
		return f.layer
	}
	if f.sig.ID == layersSign {
		for i := len(j.layers.Rows) - 1; i >= 0; i-- {
			if l := &j.layers.Rows[i]; l.Seen {
				return l.Name
			}
		}
	}
	g := onlyGroup(f.groups)
	if g == 0 || !e.habits.read[g].Sure {
		return ""
	}
	p := estimate(&e.habits.read[g].Reading)
	return fmt.Sprintf("timing of %s, %.2f", cmp.Or(p.Name, p.Family), p.Probability)
}

// serving lists what a signature calls for from the side of who looks.
func (j *judge) serving(e *engine, s *rules.Signature) (ids []string) {
	for _, id := range s.Mitigations {
		if m := j.set.Mitigation(id); m != nil && m.Serves(e.names.perspective()) {
			ids = append(ids, id)
		}
	}
	return ids
}

// scopeName is the scope of a finding: a client signature that holds for most
// of those it could hold for is the population's.
func scopeName(f *found) string {
	switch {
	case f.sig.Scope == rules.Client:
		return "client"
	case f.groups != 0:
		return "group"
	}
	return string(f.sig.Scope)
}

const (
	maxNamed = 50 // clients named in a finding; the count tells of the rest
	several  = 3  // clients below which nobody is everybody
	mostOf   = .8 // share of those exposed from which a finding is everybody's (signatures-trial, scope)
)

// involved names the clients behind a finding, none when it is nearly all of
// those that could show it.
func (j *judge) involved(e *engine, f *found) (labels []string, count int) {
	exposed, ok := j.exposed(e, f)
	if !ok {
		return nil, e.counted(f)
	}
	for id := range uint32(e.clients.len()) {
		if c := e.clients.at(id); j.takesPart(f, c, e.histories.of(c)) {
			count++
			if len(labels) < maxNamed {
				labels = append(labels, e.names.labels[id])
			}
		}
	}
	if count >= several && float64(count) >= mostOf*float64(exposed) {
		labels = nil
	}
	return labels, count
}

// exposed is how many clients could have a part in a finding; ok is false for
// findings that are not about single clients.
func (j *judge) exposed(e *engine, f *found) (n int, ok bool) {
	if k := j.clientIndex(f.sig.ID); k >= 0 {
		return int(e.pop.did[occasion[j.fault[k]]]), true
	}
	if !slices.Contains(bandSigns, f.sig.ID) || f.layer != "" {
		return 0, false
	}
	for id := range uint32(e.clients.len()) {
		if c := e.clients.at(id); c.retries > 0 || f.sig.ID == "armed" && f.has(c) {
			n++
		}
	}
	return n, true
}

// bandSigns are about clients that do something together.
var bandSigns = []string{"lockstep", "armed", layersSign}

// has tells whether a client is of the agent groups that a finding names.
func (f *found) has(c *client) bool { return f.groups>>c.agentGroup&1 == 1 }

// counted is how many clients a finding of everybody is about.
func (e *engine) counted(f *found) int {
	switch f.sig.ID {
	case "sync-start":
		return int(evidenceOf(f, rules.StartingClients))
	case "shared-quota":
		return int(evidenceOf(f, rules.QuotaInstances))
	case "redirect-unfollowed":
		return int(evidenceOf(f, rules.ElsewhereClients))
	case "session-dies":
		return int(evidenceOf(f, rules.BriefClients))
	}
	return int(sum(&e.pop.refusedBy))
}

// takesPart tells whether a client has a part in a finding.
func (j *judge) takesPart(f *found, c *client, h *history) bool {
	if f.sig.ID == "budget-exceeded" && f.sig.Scope == rules.Population {
		return c.overspent(h)
	}
	if k := j.clientIndex(f.sig.ID); k >= 0 {
		return c.flags>>k&1 == 1
	}
	switch f.sig.ID {
	case "lockstep":
		rounds := int(c.rounds)
		if evidenceOf(f, rules.WithinMs) > float64(herd.Bin.Milliseconds()) {
			rounds = c.herd.Waves()
		}
		return rounds >= 2 && (f.groups == 0 || f.has(c))
	case "armed": // those who have not retried yet have the policy of those who have
		return f.has(c) || f.groups == 0 && c.retries > 0
	case layersSign:
		return f.layer == "" && c.retries > 0 && (f.groups == 0 || f.has(c))
	}
	return false
}

// clientIndex is the place of a signature among the client signatures, -1 if it
// is none.
func (j *judge) clientIndex(id string) int {
	return slices.IndexFunc(j.clientSig, func(s *rules.Signature) bool { return s.ID == id })
}

// mitigations collects what the findings call for, what can be done now first.
func (j *judge) mitigations(perspective string, all bool) []Mitigation {
	var out []Mitigation
	order := make([]*found, len(j.found))
	for i := range j.found {
		order[i] = &j.found[i]
	}
	slices.SortStableFunc(order, func(a, b *found) int {
		return -cmp.Compare(severity(a.said.Severity), severity(b.said.Severity))
	})
	for _, f := range order {
		if f.over != 0 && !all {
			continue
		}
		for _, id := range f.sig.Mitigations {
			if k := slices.IndexFunc(out, func(m Mitigation) bool { return m.ID == id }); k >= 0 {
				if !slices.Contains(out[k].Because, f.sig.ID) {
					out[k].Because = append(out[k].Because, f.sig.ID)
				}
				continue
			}
			if m := j.set.Mitigation(id); m != nil && m.Serves(perspective) {
				out = append(out, mitigation(m, f.sig.ID))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Mitigation) int {
		return cmp.Compare(turn(j.set.Mitigation(a.ID)), turn(j.set.Mitigation(b.ID)))
	})
	return out
}

func mitigation(m *rules.Mitigation, because string) Mitigation {
	out := Mitigation{
		ID: m.ID, Title: m.Title, Who: m.Who, When: m.When, Expect: m.Expect, Risk: m.Risk, Dont: m.Dont, Undo: m.Undo, Check: m.Check, Stop: m.Stop,
		Because: []string{because},
	}
	for _, s := range m.Snippets {
		out.Snippets = append(out.Snippets, Snippet{s.For, s.Text})
	}
	return out
}

// turn orders mitigations by when they can be done; of those, what only who runs the
// clients can do comes first, since it is in no other's hands.
func turn(m *rules.Mitigation) int {
	t := 2 * slices.Index([]string{"now", "client release", "server release"}, m.When)
	if m.Perspective != "client" {
		t++
	}
	return t
}
