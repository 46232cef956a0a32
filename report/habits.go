package report

import (
	"fmt"
	"strings"

	"stormwatch/detect"
)

type jsonHints struct {
	Use   text    `json:"use"` // "honoured exactly", "floor and jitter", "longer of hint and own", "clipped", "ignored", "compatible"
	Share measure `json:"share"`
	N     int64   `json:"n"`
	Early number  `json:"early_s"`
	Idle  number  `json:"idle_s"`
	Clip  *number `json:"clip_s,omitempty"`
}

type jsonHabit struct {
	Agent    maybe       `json:"agent"`
	Clients  int         `json:"clients"`
	Retries  int64       `json:"retries"`
	Waits    int         `json:"waits"`
	Says     text        `json:"says"`
	Policy   *jsonPolicy `json:"policy"`
	RunnerUp maybe       `json:"runner_up"`
	Odd      measure     `json:"runner_up_probability"`
	Hints    *jsonHints  `json:"hints"`
}

func hintsOf(o *detect.Obedience) *jsonHints {
	if o.N == 0 {
		return nil
	}
	out := jsonHints{Use: text(o.Use.String()), Share: measure(o.Share), N: o.N, Early: number(o.Early), Idle: number(o.Idle)}
	if o.Clip.Known {
		n := number(o.Clip)
		out.Clip = &n
	}
	return &out
}

func habitOf(h *detect.Habit) jsonHabit {
	out := jsonHabit{
		Agent: maybe(h.Agent), Clients: h.Clients, Retries: h.Retries, Waits: h.Waits, Says: text(h.Says),
		RunnerUp: maybe(h.RunnerUp), Odd: measure(h.Odd), Hints: hintsOf(&h.Hints),
	}
	if h.Policy.Family != "" {
		out.Policy = &jsonPolicy{text(h.Policy.Family), text(h.Policy.Name), measure(h.Policy.Probability)}
	}
	return out
}

const maxHabits = 8 // agents whose habits are told; the JSON tells all

// habits says how each agent's clients wait before they try again.
func (p *page) habits(s *detect.Snapshot) {
	if len(s.Habits) == 0 {
		return
	}
	p.head("Retry habits", "by agent")
	shown := s.Habits[:min(len(s.Habits), maxHabits)]
	column, names := 0, make([]string, len(shown))
	for i := range shown {
		names[i] = clip(agentName(&shown[i]), 24)
		column = max(column, width(names[i])+2)
	}
	for i := range shown {
		p.term(2, names[i], column, habitText(&shown[i]))
	}
	if more := len(s.Habits) - maxHabits; more > 0 {
		p.line("  and " + several(more, "agent") + " more")
	}
}

func agentName(h *detect.Habit) string {
	if name := clean(h.Agent); name != "" {
		return name
	}
	return "(no agent)"
}

// habitText is a policy in a sentence: what is waited, what is made of hints, how
// sure that is and what else it may be.
func habitText(h *detect.Habit) string {
	of := several(h.Clients, "client") + ", " + Count(h.Retries) + " retries"
	if h.Sure {
		of = score(h.Policy.Probability) + ", " + of
	}
	use := useText(&h.Hints)
	if h.Waits == 0 && use != "" {
		return use + "; that hides its own policy (" + of + ")"
	}
	parts := []string{h.Says + " (" + of + ")"}
	if use != "" {
		parts = append(parts, use)
	}
	if h.Sure && h.RunnerUp != "" && h.Odd >= .005 {
		parts = append(parts, "runner-up "+h.RunnerUp+" "+score(h.Odd))
	}
	return strings.Join(parts, "; ")
}

// useText says what is made of hints, of how many, and how early or how idle that is.
func useText(o *detect.Obedience) string {
	early, idle := "", ""
	if Known(o.Early) {
		early = ", " + gap(o.Early) + " early"
	}
	if Known(o.Idle) && o.Idle.V >= .05 {
		idle = ", " + gap(o.Idle) + " after it"
	}
	n := fmt.Sprintf(" (%s of %s", percent(detect.Some(o.Share)), Count(o.N))
	switch o.Use {
	case detect.HintExact:
		return "keeps to the server's wait exactly" + n + ")"
	case detect.HintJittered:
		return "waits for as long as the server says, and a random time more" + n + idle + ")"
	case detect.HintMax:
		return "waits for the longer of the server's wait and its own" + n + idle + ")"
	case detect.HintClipped:
		return "keeps to the server's wait up to " + gap(o.Clip) + n + ")"
	case detect.HintIgnored:
		return "ignores the server's wait" + n + early + ")"
	case detect.HintCompatible:
		return "comes after the server's wait, by its own choice perhaps" + n + idle + ")"
	case detect.HintUnseen:
	}
	return ""
}
