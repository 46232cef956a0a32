package report

import (
	"encoding/json"
	"io"

	"stormwatch/capture"
	"stormwatch/detect"
)

// Schema names the version of the JSON report; changes are additive.
const Schema = "stormwatch.report/1"

type jsonReport struct {
	Schema        text             `json:"schema"`
	Version       text             `json:"version"`
	Perspective   text             `json:"perspective"`
	Sources       []jsonSource     `json:"sources"`
	Window        jsonWindow       `json:"window"`
	Filter        *jsonFilter      `json:"filter,omitempty"`
	Verdict       jsonVerdict      `json:"verdict"`
	Totals        jsonTotals       `json:"totals"`
	Findings      []jsonFinding    `json:"findings"`
	NotJudged     []jsonNotJudged  `json:"not_judged"`
	Clients       []jsonClient     `json:"clients"`
	ClientsOthers jsonClient       `json:"clients_others"`
	Reach         []jsonReach      `json:"reach"`
	Victims       int              `json:"victims"`
	Growth        []jsonGrowth     `json:"growth"`
	Newcomers     number           `json:"newcomers_share"`
	Mitigations   []jsonMitigation `json:"mitigations"`
	Habits        []jsonHabit      `json:"habits,omitempty"`
	Limit         *jsonLimit       `json:"limit,omitempty"`
	Layers        *jsonLayers      `json:"layers,omitempty"`
	Events        []jsonEvent      `json:"events"`
}

type jsonSource struct {
	Name       text       `json:"name"`
	Kind       text       `json:"kind"`
	Vantage    text       `json:"vantage"`
	Primary    bool       `json:"primary"`
	Note       maybe      `json:"note"`
	Offset     measure    `json:"offset_s"`
	PerRequest *number    `json:"per_request,omitempty"`
	Health     jsonHealth `json:"health"`
}

type jsonHealth struct {
	Unit       text       `json:"unit"`
	Read       uint64     `json:"read"`
	Used       uint64     `json:"used"`
	Skipped    []jsonSkip `json:"skipped"`
	Repeated   uint64     `json:"repeated,omitempty"`
	Bounds     []jsonSkip `json:"bounds,omitempty"`
	Dropped    uint64     `json:"dropped"`
	Copies     uint64     `json:"copies,omitempty"`
	GapBytes   uint64     `json:"gap_bytes"`
	Late       uint64     `json:"late"`
	ClockSteps uint64     `json:"clock_steps"`
	Encrypted  uint64     `json:"encrypted"`
	Rejected   uint64     `json:"refused_connections,omitempty"`
	Cut        uint64     `json:"cut_connections,omitempty"`
	QUIC       uint64     `json:"quic_packets,omitempty"`
	Unasked    uint64     `json:"unasked_answers,omitempty"`
	Truncated  bool       `json:"truncated"`
	Unread     *number    `json:"unread,omitempty"`
	Resolution number     `json:"resolution_s"`
	Notes      []text     `json:"notes,omitempty"`
	Retries    uint64     `json:"hop_retries,omitempty"`
	Sampled    *number    `json:"sampled,omitempty"`
	Failures   bool       `json:"failures_only,omitempty"`
	SeesHints  bool       `json:"sees_hints"`
	SeesPorts  bool       `json:"sees_ports"`
	First      moment     `json:"first"`
	Last       moment     `json:"last"`
	Silence    number     `json:"longest_silence_s"`
	SilentAt   moment     `json:"silent_from"`
	Crowded    bool       `json:"crowded,omitempty"`
	Down       text       `json:"down,omitempty"`
}

type jsonSkip struct {
	Reason   text   `json:"reason"`
	Count    uint64 `json:"count"`
	Examples []text `json:"examples"`
}

type jsonWindow struct {
	Start moment `json:"start"`
	End   moment `json:"end"`
}

// jsonFilter says what a filter has left. Of the whole: all there is, else the rows
// of clients, findings, mitigations and chains.
type jsonFilter struct {
	Terms   text   `json:"terms"`
	Whole   bool   `json:"whole"`
	Clients int    `json:"clients,omitempty"`
	Of      int    `json:"of,omitempty"`
	From    moment `json:"from,omitzero"`
}

func filterOf(s *detect.Snapshot, o Options) *jsonFilter {
	f := &s.Filtered
	switch {
	case f.Whole:
		return &jsonFilter{Terms: text(f.Name), Whole: true, Clients: f.Clients, Of: f.Of, From: moment(f.From)}
	case o.Filter != "":
		return &jsonFilter{Terms: text(o.Filter)}
	}
	return nil
}

type jsonVerdict struct {
	State         text    `json:"state"`
	Cause         text    `json:"cause"`
	Confidence    measure `json:"confidence"`
	Since         moment  `json:"since"`
	SinceCensored bool    `json:"since_censored"`
	Trend         maybe   `json:"trend"`
	What          text    `json:"what"`
	Who           text    `json:"who"`
	Do            text    `json:"do"`
	Dont          text    `json:"dont"`
	NextEvidence  []text  `json:"next_evidence"`
}

type jsonTotals struct {
	Exchanges     int64          `json:"exchanges"`
	Logical       number         `json:"logical_requests"`
	Retries       number         `json:"retries"`
	RetryShare    number         `json:"retry_share"`
	Refused       int64          `json:"refused"`
	ClientErrors  int64          `json:"client_errors,omitempty"`
	Amplification number         `json:"amplification"`
	PerSuccess    number         `json:"per_success"`
	GaveUp        number         `json:"gave_up"`
	Wasted        number         `json:"wasted"`
	Goodput       number         `json:"goodput_per_s"`
	Capacity      number         `json:"capacity_per_s"`
	Headroom      number         `json:"headroom_per_s"`
	Tipping       number         `json:"tipping_per_s"`
	Peak50ms      number         `json:"peak_50ms"`
	Recover       number         `json:"recover_s"`
	Detect        number         `json:"detect_s"`
	Behind        *jsonBehind    `json:"behind,omitempty"`
	RefusedBy     *jsonRefusedBy `json:"refused_by,omitempty"`
	Matcher       *jsonMatcher   `json:"matcher,omitempty"`
}

type jsonFinding struct {
	Signature   text           `json:"signature"`
	Scope       text           `json:"scope"`
	Score       measure        `json:"score"`
	Parts       []jsonPart     `json:"parts"`
	Severity    text           `json:"severity"`
	Confidence  measure        `json:"confidence"`
	Onset       moment         `json:"onset"`
	Censored    bool           `json:"onset_censored"`
	Detected    moment         `json:"detected"`
	Ended       moment         `json:"ended"`
	Clients     []text         `json:"clients"`
	ClientCount int            `json:"client_count"`
	Route       maybe          `json:"route"`
	Layer       maybe          `json:"layer"`
	Agent       maybe          `json:"agent"`
	Says        text           `json:"says"`
	At          []text         `json:"at"`
	Evidence    []jsonEvidence `json:"evidence"`
	Mitigations []text         `json:"mitigations"`
}

type jsonPart struct {
	Name   text    `json:"name"`
	Points measure `json:"points"`
	Max    measure `json:"max"`
}

type jsonEvidence struct {
	Name      text   `json:"name"`
	Value     number `json:"value"`
	Unit      text   `json:"unit"`
	N         int64  `json:"n"`
	Threshold text   `json:"threshold"`
	P         number `json:"p"`
}

type jsonNotJudged struct {
	Signature text `json:"signature"`
	Reason    text `json:"reason"`
}

type jsonClient struct {
	Client        text        `json:"client"`
	Name          maybe       `json:"name"`
	Agent         maybe       `json:"agent"`
	Attempts      int64       `json:"attempts"`
	OK            int64       `json:"ok"`
	Refused       int64       `json:"refused"`
	Amplification number      `json:"amplification"`
	GapMedian     number      `json:"gap_median_s"`
	EvenP         number      `json:"gap_even_p"`
	EarlyShare    number      `json:"early_share"`
	Avoidable     number      `json:"avoidable_per_s"`
	Victim        bool        `json:"victim"`
	Policy        *jsonPolicy `json:"policy"`
	Hints         *jsonHints  `json:"hints,omitempty"`
	Behind        int         `json:"clients_behind,omitempty"`
	Score         measure     `json:"score"`
}

type jsonPolicy struct {
	Family      text    `json:"family"`
	Name        text    `json:"name"`
	Probability measure `json:"probability"`
}

type jsonMitigation struct {
	ID       text          `json:"id"`
	Title    text          `json:"title"`
	Who      text          `json:"who"`
	When     text          `json:"when"`
	Effect   *struct{}     `json:"effect"` // null: no effect is predicted
	Expect   text          `json:"expect"`
	Risk     text          `json:"risk"`
	Dont     text          `json:"dont"`
	Undo     text          `json:"undo"`
	Check    text          `json:"check"`
	Stop     text          `json:"stop"`
	Because  []text        `json:"because"`
	Snippets []jsonSnippet `json:"snippets"`
}

type jsonSnippet struct {
	For  text  `json:"for"`
	Text lines `json:"text"`
}

// JSON writes the report that programs read, of schema Schema. Keys are always
// there; what is not known is null, and arrays are never null.
func JSON(w io.Writer, s *detect.Snapshot, o Options) error {
	s = topped(prepared(s, o), o.Top)
	r := jsonReport{
		Schema: Schema, Version: text(o.Version), Perspective: text(s.Perspective),
		Window: jsonWindow{moment(s.Start), moment(s.End)}, Filter: filterOf(s, o), Verdict: verdictOf(&s.Verdict), Totals: totalsOf(s),
		Sources:       each(s.Sources, sourceOf),
		Findings:      each(s.Findings, findingOf),
		NotJudged:     each(s.NotJudged, func(n *detect.NotJudged) jsonNotJudged { return jsonNotJudged{text(n.Signature), text(n.Reason)} }),
		Clients:       each(s.Clients, clientOf),
		ClientsOthers: clientOf(&s.ClientsOthers),
		Reach:         each(s.Reach, reachOf),
		Victims:       s.Victims,
		Growth:        each(s.Growth, growthOf),
		Newcomers:     number(s.Newcomers),
		Mitigations:   each(s.Mitigations, mitigationOf),
		Habits:        each(s.Habits, habitOf),
		Limit:         limitOf(&s.Limit),
		Layers:        layersOf(&s.Layers),
		Events:        each(s.Events, eventOf),
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(&r)
}

// each maps a slice, never to nil: arrays of the report are not null.
func each[T, U any](in []T, f func(*T) U) []U {
	out := make([]U, len(in))
	for i := range in {
		out[i] = f(&in[i])
	}
	return out
}

func texts(in []string) []text { return each(in, func(s *string) text { return text(*s) }) }

// part is a share that is told only where something is missing.
func part(v float64) *number {
	if v > 0 && v < 1 {
		return &number{V: v, Known: true}
	}
	return nil
}

func sourceOf(s *detect.Source) jsonSource {
	h := &s.Health
	out := jsonSource{
		Name: text(s.Name), Kind: text(s.Kind), Vantage: text(s.Vantage), Primary: s.Primary, Note: maybe(s.Note), Offset: measure(s.OffsetSeconds),
		Health: jsonHealth{
			Unit: text(h.Unit), Read: h.Read, Used: h.Used, Dropped: h.Dropped, Copies: h.Copies, GapBytes: h.GapBytes, Late: h.Late, ClockSteps: h.ClockSteps,
			Encrypted: h.Encrypted, Rejected: h.Rejected, Cut: h.Cut, QUIC: h.QUIC, Unasked: h.Unasked, Truncated: h.Truncated, Resolution: number{V: float64(h.Resolution) / 1e9, Known: h.Resolution > 0},
			SeesHints: h.SeesHints, SeesPorts: h.SeesPorts, Notes: texts(h.Notes), Retries: h.Retries, Sampled: part(h.Sampled), Failures: h.FailuresOnly, Unread: part(h.Unread),
			First: moment(h.From), Last: moment(h.To), Silence: number{V: float64(h.Silence) / 1e9, Known: h.From != 0}, SilentAt: moment(h.SilentAt),
			Crowded: h.Crowded, Down: text(h.Down),
			Skipped: each(h.Skipped, skipOf), Repeated: h.Repeated, Bounds: each(h.Bounds, skipOf),
		},
	}
	if n := number(s.PerRequest); n.Known {
		out.PerRequest = &n
	}
	return out
}

func skipOf(k *capture.Skip) jsonSkip { return jsonSkip{text(k.Reason), k.Count, texts(k.Examples)} }

func verdictOf(v *detect.Verdict) jsonVerdict {
	return jsonVerdict{
		text(v.State.String()), text(v.Cause.String()), measure(v.Confidence), moment(v.Since), v.SinceCensored, maybe(v.Trend),
		text(v.What), text(v.Who), text(v.Do), text(v.Dont), texts(v.NextEvidence),
	}
}

func totalsOf(s *detect.Snapshot) jsonTotals {
	t := &s.Totals
	chains := t.Amplification.Known
	out := jsonTotals{
		Exchanges: t.Exchanges, Refused: t.Refused, ClientErrors: t.ClientErrors,
		Logical: number{V: float64(t.LogicalRequests), Known: chains}, Retries: number{V: float64(t.Retries), Known: chains},
		RetryShare: number(t.RetryShare), Amplification: number(t.Amplification), PerSuccess: number(t.PerSuccess),
		GaveUp: number(t.GaveUp), Wasted: number(t.Wasted), Goodput: number(t.GoodputPerS), Capacity: number(t.CapacityPerS),
		Headroom: number(t.HeadroomPerS), Tipping: number(t.TippingPerS), Peak50ms: number(t.Peak50ms),
		Recover: number(t.RecoverS), Detect: number(t.DetectS),
	}
	out.behind(s)
	return out
}

func findingOf(f *detect.Finding) jsonFinding {
	return jsonFinding{
		Signature: text(f.Signature), Scope: text(f.Scope), Score: measure(f.Score), Severity: text(f.Severity.String()), Confidence: measure(f.Confidence),
		Onset: moment(f.Onset), Censored: f.OnsetCensored, Detected: moment(f.Detected), Ended: moment(f.Ended),
		Clients: texts(f.Clients), ClientCount: f.ClientCount, Route: maybe(f.Route), Layer: maybe(f.Layer), Agent: maybe(f.Agent),
		Says: text(f.Says), At: texts(f.At), Mitigations: texts(f.Mitigations),
		Parts: each(f.Parts, func(p *detect.Part) jsonPart { return jsonPart{text(p.Name), measure(p.Points), measure(p.Max)} }),
		Evidence: each(f.Evidence, func(e *detect.Evidence) jsonEvidence {
			return jsonEvidence{text(e.Name), number(detect.Some(e.Value)), text(e.Unit), e.N, text(e.Threshold), number(e.P)}
		}),
	}
}

func clientOf(c *detect.Client) jsonClient {
	out := jsonClient{
		Client: text(c.Label), Name: maybe(c.Name), Agent: maybe(c.Agent), Attempts: c.Attempts, OK: c.OK, Refused: c.Refused,
		Amplification: number(c.Amplification), GapMedian: number(c.GapMedianS), EvenP: number(c.EvenP), EarlyShare: number(c.EarlyShare),
		Avoidable: number(c.AvoidablePerS), Victim: c.Victim, Score: measure(c.Score),
	}
	if c.Policy.Family != "" {
		out.Policy = &jsonPolicy{text(c.Policy.Family), text(c.Policy.Name), measure(c.Policy.Probability)}
	}
	out.Hints, out.Behind = hintsOf(&c.Hints), c.Behind
	return out
}

func mitigationOf(m *detect.Mitigation) jsonMitigation {
	out := jsonMitigation{
		ID: text(m.ID), Title: text(m.Title), Who: text(m.Who), When: text(m.When), Expect: text(m.Expect), Risk: text(m.Risk),
		Dont: text(m.Dont), Undo: text(m.Undo), Check: text(m.Check), Stop: text(m.Stop), Because: texts(m.Because),
		Snippets: each(m.Snippets, func(s *detect.Snippet) jsonSnippet { return jsonSnippet{text(s.For), lines(s.Text)} }),
	}
	return out
}
