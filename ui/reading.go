package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/report"
)

// chainPage says in words what the picture shows, from its own numbers, and on
// which lines or frames it rests.
func chainPage(s *detect.Snapshot, k *detect.Chain, w int) (p page) {
	const label = 10
	p.gap()
	p.term(" reading", label, w, reading(k), styleText)
	est := policyFor(s, k)
	text := est.Says
	if text == "" && (est.Name != "" || est.Family != "") {
		text = "waits like " + report.Policy(est)
	}
	if text != "" {
		if same := samePolicy(s, k, est); same != "" {
			text += "; " + same
		}
	}
	p.term(" policy", label, w, text, styleText)
	p.term(" behind", label, w, behind(k), styleText)
	var at []string
	for i := range k.Attempts {
		if a := &k.Attempts[i]; a.At != "" && len(at) < 6 {
			at = append(at, a.At)
		}
	}
	if len(at) > 0 && len(at) < attempts(k) {
		at = append(at, "…")
	}
	p.term(" read at", label, w, strings.Join(at, ", "), styleDim)
	return p
}

// policyFor is the policy of a chain, else that of its client.
func policyFor(s *detect.Snapshot, k *detect.Chain) *detect.PolicyEstimate {
	if k.Policy != (detect.PolicyEstimate{}) {
		return &k.Policy
	}
	for i := range s.Clients {
		if s.Clients[i].Label == k.Client {
			return &s.Clients[i].Policy
		}
	}
	return &k.Policy
}

// samePolicy tells how many of the listed clients wait alike.
func samePolicy(s *detect.Snapshot, k *detect.Chain, p *detect.PolicyEstimate) string {
	if p.Name == "" && p.Family == "" {
		return ""
	}
	n := 0
	for i := range s.Clients {
		if q := &s.Clients[i].Policy; q.Name == p.Name && q.Family == p.Family {
			n++
		}
	}
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("so do %s of %s listed clients", report.Count(n), report.Count(len(s.Clients)))
}

// behind tells what the logging hop declares it did for the attempts at the
// servers behind it.
func behind(k *detect.Chain) string {
	var parts []string
	for i := range k.Attempts {
		a := &k.Attempts[i]
		switch {
		case len(a.Tried) > 0:
			var tries []string
			for _, t := range a.Tried {
				tries = append(tries, tried(t))
			}
			parts = append(parts, fmt.Sprintf("attempt %d: %s", a.N, strings.Join(tries, ", ")))
		case a.Tries > 1:
			parts = append(parts, fmt.Sprintf("attempt %d: %d tries", a.N, a.Tries))
		}
	}
	if parts == nil {
		return ""
	}
	return "the log declares (E3) " + strings.Join(parts, "; ")
}

func tried(t detect.Tried) string {
	text := "no status"
	if t.Status != 0 {
		text = strconv.Itoa(t.Status)
	}
	if t.Server != "" {
		text += " at " + t.Server
	}
	if t.Fresh {
		return text
	}
	return "again " + text
}

// reading is what the attempts show, in a sentence or two.
func reading(k *detect.Chain) string {
	early, hinted := earlyOf(k)
	var parts []string
	switch {
	case hinted == 0 && seesNoHint(k):
		parts = append(parts, "The source cannot show whether the server named a wait.")
	case hinted == 0 && len(k.Attempts) > 0 && k.Attempts[0].Status < 400 && k.Attempts[0].Outcome == capture.Answered:
	case hinted == 0:
		parts = append(parts, "The server named no wait the client could have kept.")
	case early == hinted:
		parts = append(parts, fmt.Sprintf("Every one of the %d retries came before the wait the server had named.", hinted))
	case early == 0:
		parts = append(parts, fmt.Sprintf("All %d retries kept to the wait the server had named.", hinted))
	default:
		parts = append(parts, fmt.Sprintf("%d of %d retries came before the wait the server had named.", early, hinted))
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range k.Attempts {
		if g := k.Attempts[i].Gap; report.Known(g) {
			low, high = min(low, g.V), max(high, g.V)
		}
	}
	switch {
	case high >= low && high-low <= .005*high:
		parts = append(parts, "It waited "+seconds(detect.Some(low))+" each time.")
	case high >= low:
		parts = append(parts, fmt.Sprintf("It waited between %s and %s.", seconds(detect.Some(low)), seconds(detect.Some(high))))
	}
	if n := polite(k); early > 0 && n < len(k.Attempts) {
		parts = append(parts, fmt.Sprintf("Keeping the waits, it would have sent %d of these %d attempts by then.", n, len(k.Attempts)))
	}
	return strings.Join(parts, " ")
}

// polite counts the attempts that a client would have sent of these, had it let
// those go that came before the wait named by the last it sent was over.
func polite(k *detect.Chain) (n int) {
	allowed := int64(math.MinInt64)
	for i := range k.Attempts {
		a := &k.Attempts[i]
		if a.Start < allowed {
			continue
		}
		n++
		if a.Hint.Usable() && a.Hint.Wait > 0 {
			if allowed = a.End + a.Hint.Wait; allowed < a.End {
				allowed = math.MaxInt64
			}
		}
	}
	return n
}

func seesNoHint(k *detect.Chain) bool {
	for i := range k.Attempts {
		if k.Attempts[i].Hint.State != capture.NotObservable {
			return false
		}
	}
	return true
}
