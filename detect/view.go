package detect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stormwatch/capture"
	"stormwatch/detect/herd"
)

const (
	defaultTop  = 500
	defaultBins = 240
	rateSpan    = 10.0     // seconds at least over which a client's rate is taken: fewer make one request a flood
	herdClock   = herd.Bin // a coarser clock cannot show coincidence
)

// snapshot builds what a View asks for. It reads the engine between seconds.
func (e *engine) snapshot(v View) *Snapshot {
	if v.TopK <= 0 {
		v.TopK = defaultTop
	}
	if v.Bins <= 0 {
		v.Bins = defaultBins
	}
	j := &e.judge
	s := &Snapshot{
		At: e.now, Start: e.first, End: max(e.latest, e.first), Perspective: e.names.perspective(),
		Verdict: j.state.now, NotJudged: slices.Clone(j.notJudged), Events: slices.Clone(j.events),
		Totals: e.totals(), Behind: e.behind(), Matcher: e.matcher(), Recent: e.rates(), Timeline: e.pop.timeline.view(v.From, v.To, v.Bins),
	}
	slices.SortStableFunc(s.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	if v.Whole {
		s.Verdict = j.whole(e)
	}
	quality := e.quality()
	if h := e.hidden(); s.Verdict.State <= Recovering { // calm is as sure as it was seen
		quality = min(quality, 1-h.share())
	}
	s.Verdict.Confidence = hundredths(s.Verdict.Confidence, quality*(1-sharedDoubt*e.sharedOf()))
	if j.set != nil {
		s.Findings = j.findings(e, v.Whole)
		if v.Whole { // what held and ended was judged
			s.NotJudged = slices.DeleteFunc(s.NotJudged, func(n NotJudged) bool {
				return slices.ContainsFunc(s.Findings, func(f Finding) bool { return f.Signature == n.Signature })
			})
		}
		s.Mitigations = j.mitigations(s.Perspective, v.Whole)
	}
	if d := e.judge.detected(&s.Verdict); d > 0 {
		s.Totals.DetectS = Some(seconds(d))
	}
	s.Limit = e.scopes.reading()
	if d := e.judge.state.recovery(&s.Verdict); d > 0 {
		s.Totals.RecoverS = Some(seconds(d))
	}
	e.clientRows(s, v)
	s.Layers = e.shownLayers(v.Whole)
	if v.Arrivals {
		s.Arrivals = e.arrivals(v.Period)
	}
	grown := e.grownSoFar(v.Whole)
	s.Growth, s.Newcomers = grown.rows, grown.new
	if v.Client != "" {
		s.Chains = e.recent.chains(e, v.Client)
	}
	if e.onlyTallies() {
		e.tallySnapshot(s, v.Whole)
	} else if !e.begun {
		s.Verdict = e.unseen()
	}
	return s
}

func (e *engine) totals() Totals {
	p := &e.pop
	t := Totals{
		Exchanges: p.total.attempts, LogicalRequests: p.total.first, Retries: p.total.retries,
		Refused: p.total.refused, Failed: p.total.failed, Succeeded: p.total.good, ClientErrors: p.total.mistaken, Peak50ms: Some(float64(p.peak50)),
	}
	if t.Exchanges > 0 {
		t.RetryShare = Some(share(t.Retries, t.Exchanges))
		t.Wasted = Some(float64(p.total.failed))
	}
	if t.LogicalRequests > 0 {
		t.Amplification = Some(share(t.Exchanges, t.LogicalRequests))
	}
	if t.Succeeded > 0 {
		t.PerSuccess = Some(share(t.Exchanges, t.Succeeded))
	}
	if t.Exchanges > 0 {
		t.GaveUp = Some(float64(e.chains.Stats().GaveUp))
	}
	r := &e.judge.loop
	if p.judged > 0 {
		t.GoodputPerS = Some(float64(t.Succeeded) / max(1, seconds(max(e.latest, e.first)-e.first)))
	}
	t.CapacityPerS = Number{r.Capacity, r.CapacityKnown}
	t.HeadroomPerS = Number{r.Headroom, r.HeadroomKnown}
	t.TippingPerS = Number{r.Tipping, r.TippingKnown}
	return t
}

// detected is the time from the verdict's onset to the first grave finding; 0 where
// either is not known.
func (j *judge) detected(v *Verdict) (d int64) {
	if v.Since == 0 || v.SinceCensored {
		return 0
	}
	for i := range j.found {
		f := &j.found[i]
		if after := f.detected - v.Since; severity(f.said.Severity) >= High && after > 0 && (d == 0 || after < d) {
			d = after
		}
	}
	return d
}

func (e *engine) rates() Recent {
	w, n := e.pop.last(e.now, 10)
	r := Recent{Seconds: float64(n)}
	if n == 0 {
		return r
	}
	per := func(k int64) Number { return Some(float64(k) / float64(n)) }
	r.AttemptsPerS, r.FirstPerS, r.GoodputPerS = per(w.attempts), per(w.first), per(w.good)
	if w.ended > 0 {
		r.RefusedShare = Some(share(w.refused, w.ended))
	}
	if w.firstEnded > 0 {
		r.FailingShare = Some(share(w.firstFailed, w.firstEnded))
	}
	if w.attempts > 0 {
		r.RetryShare = Some(share(w.retries, w.attempts))
	}
	if incident := &e.judge.state; incident.since != 0 && incident.sum.requests() > 0 {
		r.Amplification = Some(share(incident.sum.attempts, incident.sum.requests()))
	} else if w.first > 0 {
		r.Amplification = Some(share(w.attempts, w.first))
	}
	e.judge.state.before(&r)
	return r
}

// clientRows fills the client table.
func (e *engine) clientRows(s *Snapshot, v View) {
	rows := make([]Client, 0, min(e.clients.len(), v.TopK+1))
	full := false // the first TopK of rows are the foremost of all before
	var others, row Client
	habits := e.readHabits()
	var reach reaching
	for id := range uint32(e.clients.len()) {
		c := e.clients.at(id)
		if c.attempts == 0 {
			continue
		}
		s.ClientCount++
		row = e.clientRow(int(id), c)
		row.Policy = habits[c.agentGroup].Policy
		habits[c.agentGroup].count(c, e.histories.of(c))
		reach.add(&row)
		if v.Filter != nil && !v.Filter(&row) {
			addRow(&others, &row)
			continue
		}
		s.ClientsMatched++
		if full && orderClients(&row, &rows[v.TopK-1]) > 0 { // most of many need never be sorted
			addRow(&others, &row)
			continue
		}
		rows = append(rows, row)
		if len(rows) > 2*v.TopK+1000 {
			rows, full = e.keepTop(rows, v.TopK, &others), true
		}
	}
	rows = e.keepTop(rows, v.TopK, &others)
	s.Clients = slices.Clip(rows)
	others.Label = fmt.Sprintf("%d others", s.ClientCount-len(rows))
	s.ClientsOthers = others
	s.Habits = told(&habits)
	if s.Victims = reach.victims; e.worthSparing(v.Whole) {
		s.Reach = reach.steps()
	}
	if text := reachText(s.Reach); text != "" && s.Verdict.State >= Watch {
		s.Verdict.Who = strings.TrimPrefix(s.Verdict.Who+"; "+text, "; ")
	}
}

func (e *engine) keepTop(rows []Client, k int, others *Client) []Client {
	slices.SortFunc(rows, func(a, b Client) int { return orderClients(&a, &b) })
	for i := k; i < len(rows); i++ {
		addRow(others, &rows[i])
	}
	return rows[:min(k, len(rows))]
}

// orderClients puts first who spares most if it is told to stop.
func orderClients(a, b *Client) int {
	return cmp.Or(-cmp.Compare(a.spares(), b.spares()), -cmp.Compare(a.Retries, b.Retries), -cmp.Compare(a.Failed, b.Failed),
		-cmp.Compare(a.Score, b.Score), -cmp.Compare(a.Attempts, b.Attempts), cmp.Compare(a.Label, b.Label))
}

// spares is the avoidable load that counts for the order: less than is shown is none.
func (c *Client) spares() float64 {
	const shown = .05
	if c.AvoidablePerS.V < shown {
		return 0
	}
	return c.AvoidablePerS.V
}

func addRow(sum, row *Client) {
	sum.Attempts += row.Attempts
	sum.OK += row.OK
	sum.Refused += row.Refused
	sum.Failed += row.Failed
	sum.Retries += row.Retries
	sum.First += row.First
	sum.AvoidablePerS = Some(sum.AvoidablePerS.V + row.AvoidablePerS.V)
}

func (e *engine) clientRow(id int, c *client) Client {
	row := Client{
		Label: e.names.labels[id], Name: e.names.title(uint32(id)), Agent: e.names.texts.Text(c.agent), Route: e.names.texts.Text(e.names.routeOf[c.route]),
		Attempts: int64(c.attempts), OK: int64(c.ok), Refused: int64(c.refused), Failed: int64(c.failed + c.refused),
		Retries: int64(c.retries), First: int64(c.first), LastSeen: c.lastSeen,
		Victim: c.victims > 0 && c.retries == 0,
	}
	if c.first > 0 {
		row.Amplification = Some(float64(c.attempts) / float64(c.first))
	}
	h := e.histories.of(c)
	if m, mad, ok := h.gapStats(); ok {
		row.GapMedianS, row.GapMADS = Some(m), Some(mad)
		row.EvenP = h.even(m, e.clock())
	}
	if h.did[hinted] > 0 {
		row.EarlyShare = Some(float64(h.did[early]) / float64(h.did[hinted]))
	}
	from := max(c.firstSeen, e.judge.state.since)
	row.Hints = h.obeys.reading()
	if e.shared(c) {
		row.Behind, _ = c.behind.clients()
	}
	row.AvoidablePerS = Some(float64(c.avoidable) / max(rateSpan, seconds(e.now-from)))
	e.signatures(c, &row)
	return row
}

// signatures names the findings a client has a part in, mere remarks last; its score
// is the highest of the others, or the share of what it sent for nothing.
func (e *engine) signatures(c *client, row *Client) {
	j := &e.judge
	var remarks []string
	for i := range j.found {
		f := &j.found[i]
		if !j.takesPart(f, c, e.histories.of(c)) {
			continue
		}
		names := &row.Signatures
		if severity(f.said.Severity) == Info {
			names = &remarks
		} else {
			row.Score = max(row.Score, f.said.Score)
		}
		if !slices.Contains(*names, f.sig.ID) {
			*names = append(*names, f.sig.ID)
		}
	}
	row.Signatures = append(row.Signatures, remarks...)
	if row.Score == 0 && c.retries > 0 {
		row.Score = .3 * float64(c.avoidable) / float64(c.attempts)
	}
}

// bounds tells which bounds of the engine were reached, and what was given up.
func (e *engine) bounds() (out []capture.Skip) {
	chains, layers := e.chains.Stats(), &e.pop.layering
	for _, b := range []struct {
		n    int64
		what string
	}{
		{int64(chains.Evicted + chains.Capped), "failures and requests forgotten early, too many being open or new at once: a retry that came later counts as a new request"},
		{e.pop.quotas.left, fmt.Sprintf("refusals of credentials beyond %d at once: whether they draw on one quota was not looked at", quotaSlots)},
		{layers.chains.left + layers.across.left, fmt.Sprintf("chains and operations for which there was no place among the %d followed at once: bursts within bursts were looked for in the others", watchedRuns)},
		{e.scopes.left, fmt.Sprintf("times an answer's credential, address or route was beyond the first %d: by what the limit counts was told from the others", scopeValues)},
		{e.lot.left, fmt.Sprintf("clients that did not come back, beyond %d at once: they are not named", maxParked)},
		{e.judge.left, fmt.Sprintf("seconds in which a finding held, beyond %d of them: it is not told", maxFound)},
	} {
		if b.n > 0 {
			out = append(out, capture.Skip{Reason: b.what, Count: uint64(b.n)})
		}
	}
	return out
}

// crowded says on the primary source how many exchanges came from clients beyond
// the bound, which share one row, and which other bounds were reached.
func (e *engine) crowded(sources []Source) []Source {
	bounds := e.bounds()
	if e.names.excess+e.left == 0 && len(bounds) == 0 || len(sources) == 0 {
		return sources
	}
	out := slices.Clone(sources)
	p := &out[primaryOf(out)]
	p.Health.Bounds = slices.Concat(p.Health.Bounds, bounds)
	notes := []string{p.Note}
	if e.left > 0 {
		notes = append(notes, fmt.Sprintf("%d clients silent for two hours left the table for others; what they did is in the row %s", e.left, otherClients))
	}
	if e.names.excess > 0 {
		notes = append(notes, fmt.Sprintf("%d exchanges of clients beyond the first %d share the row %s", e.names.excess, e.names.max, otherClients))
	}
	p.Note = strings.TrimPrefix(strings.Join(notes, "; "), "; ")
	return out
}

// place names where an exchange was read.
func (e *engine) place(f *flight) string { return e.at(&f.rec.At, f.rec.source) }

func (e *engine) at(p *capture.Provenance, source uint8) string {
	if len(e.sources) > 1 && int(source) < len(e.sources) {
		return e.sources[source].Name + " " + p.String()
	}
	return p.String()
}

// row is an exchange in the normal form.
func (e *engine) row(f *flight, target []byte, chainID string) Row {
	n := e.names
	return Row{
		X: &f.rec.Exchange, Client: n.labels[f.rec.client], Method: n.texts.Text(f.rec.Method), Host: n.texts.Text(f.rec.Host),
		Path: string(target), Agent: n.texts.Text(f.rec.Agent), HintRaw: n.texts.Text(f.rec.Hint.Raw),
		Source: e.sources[f.rec.source].Name, Chain: chainID, Attempt: int(max(f.link.Attempt, 1)),
		Evidence: Level(f.link.Level), Confidence: float64(f.link.Confidence), Tried: n.tried(f.rec.TryAt),
	}
}

// seesHints tells whether any source shows response headers.
func (e *engine) seesHints() bool {
	return slices.ContainsFunc(e.sources, func(s Source) bool { return s.Primary && s.Health.SeesHints })
}

// sampled tells whether exchanges are missing from what is judged.
func (e *engine) sampled() bool {
	return slices.ContainsFunc(e.sources, func(s Source) bool { return s.Primary && s.Health.Sampled > 0 && s.Health.Sampled < 1 })
}

// failuresOnly tells whether successes are missing from what is judged.
func (e *engine) failuresOnly() bool {
	return slices.ContainsFunc(e.sources, func(s Source) bool { return s.Primary && s.Health.FailuresOnly })
}

// clock is the coarsest resolution of the sources that are judged.
func (e *engine) clock() int64 {
	r := int64(1)
	for i := range e.sources {
		if e.sources[i].Primary {
			r = max(r, e.sources[i].Health.Resolution)
		}
	}
	return r
}

func (e *engine) resolution(source uint8) int64 {
	if int(source) < len(e.sources) {
		return e.sources[source].Health.Resolution
	}
	return 0
}

// quality is how much of the input could be used: the share of units that were
// neither dropped nor unreadable.
func (e *engine) quality() float64 {
	var read, lost float64
	for i := range e.sources {
		h := &e.sources[i].Health
		read += float64(h.Read + h.Dropped)
		lost += float64(h.Dropped + h.Unreadable())
	}
	if read == 0 {
		return 1
	}
	return max(0, 1-lost/read)
}
