package report

import (
	"slices"
	"strings"

	"stormwatch/detect"
)

// reach tells whether acting on a few clients would do, and whom to leave alone.
func (p *page) reach(s *detect.Snapshot) {
	if len(s.Reach) > 0 {
		r, few := detect.Worthwhile(s.Reach)
		text := "throttle " + Count(r.Clients) + " of " + Count(r.Of) + " clients: " + shareOf(r.Share) + " of the avoidable load (--format throttle-list)"
		if !few {
			text = "the first " + Count(r.Clients) + " of " + Count(r.Of) + " clients make " + shareOf(r.Share) + " of the avoidable load: act on all of them, not on a few"
		}
		p.term(2, "reach", labels, text)
	}
	p.term(2, "victims", labels, victimsText(s))
	p.term(2, "new", labels, newText(s))
}

// Reach tells how few clients make half of the avoidable load and how few four
// fifths, or how much the most that are told of make; "" where nothing is told. show
// prints a share.
func Reach(list []detect.Reach, show func(detect.Number) string) string {
	var parts []string
	told := -1
	for _, least := range []float64{.5, .8} {
		at := slices.IndexFunc(list, func(r detect.Reach) bool { return r.Share >= least })
		if at < 0 {
			at = len(list) - 1
		}
		if at < 0 || at == told {
			continue
		}
		parts = append(parts, "the first "+Count(list[at].Clients)+" of "+Count(list[at].Of)+" make "+show(detect.Some(list[at].Share)))
		told = at
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, ", ") + " of the avoidable load"
}

func victimsText(s *detect.Snapshot) string {
	if s.Victims == 0 {
		return ""
	}
	return several(s.Victims, "client") + " refused at the first attempt and never retrying: leave them alone"
}

// newText tells how much of the demand is new, as far as clients show it.
func newText(s *detect.Snapshot) string {
	if !Known(s.Newcomers) {
		return ""
	}
	text := percent(s.Newcomers) + " of the clients of the incident were not seen before it"
	if s.Newcomers.V >= .5 {
		text += ": new demand, such as a campaign's, rather than the same clients asking again"
	}
	return text
}

func shareOf(v float64) string { return percent(detect.Some(v)) }

// growth tells what is asked for more than before the incident.
func (p *page) growth(s *detect.Snapshot) {
	if len(s.Growth) == 0 {
		return
	}
	p.head("Grown", "first attempts per second before the incident and in it")
	for i := range s.Growth {
		g := &s.Growth[i]
		text := clip(g.Name, 60) + "  " + perSecond(detect.Some(g.Before)) + " -> " + perSecond(detect.Some(g.PerS))
		if g.Kind != "client" && Known(g.New) {
			text += "; " + percent(g.New) + " of its clients new"
		} else if g.Kind == "client" && g.New.V > 0 {
			text += "; new"
		}
		p.term(2, g.Kind, labels, text)
	}
}

type jsonReach struct {
	Clients int     `json:"clients"`
	Of      int     `json:"of"`
	Share   measure `json:"share"`
}

type jsonGrowth struct {
	Kind   text    `json:"kind"`
	Name   text    `json:"name"`
	Before measure `json:"before_per_s"`
	PerS   measure `json:"per_s"`
	New    number  `json:"new_share"`
}

func reachOf(r *detect.Reach) jsonReach { return jsonReach{r.Clients, r.Of, measure(r.Share)} }

func growthOf(g *detect.Growth) jsonGrowth {
	return jsonGrowth{text(g.Kind), text(g.Name), measure(g.Before), measure(g.PerS), number(g.New)}
}
