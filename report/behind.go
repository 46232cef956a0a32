package report

import (
	"strconv"
	"strings"

	"stormwatch/detect"
)

// behind tells what the logging hop did behind itself, who refused, and on what
// the chains rest, as far as the traffic says so.
func (p *page) behind(s *detect.Snapshot) {
	if b := &s.Behind; b.Attempts > b.Requests {
		text := several(b.Attempts, "attempt") + " at the servers for " + several(b.Requests, "request") + ", " + times(b.Amplification) + ": " +
			retries(b.Retries) + " by the hop itself; " + Count(b.Rescued) + " of " + several(b.Retried, "request") + " retried so came out well"
		if s.Totals.Retries > 0 && Known(b.PerLogical) {
			text += "; both layers together " + times(b.PerLogical) + " attempts at the servers per logical request"
		}
		p.term(2, "behind it", labels, text)
	}
	p.term(2, "refused", labels, RefusedBy(s))
	p.term(2, "layers", labels, Layers(&s.Matcher))
	p.term(2, "evidence", labels, Evidence(&s.Matcher))
}

// RefusedBy says who refused, as far as the log tells it; "" where it does not.
func RefusedBy(s *detect.Snapshot) string {
	b := &s.Behind
	if b.RefusedByHop+b.RefusedByUpstream == 0 {
		return ""
	}
	parts := []string{Count(b.RefusedByHop) + " by the logging hop itself", Count(b.RefusedByUpstream) + " by servers behind it"}
	if rest := s.Totals.Refused - b.RefusedByHop - b.RefusedByUpstream; rest > 0 {
		parts = append(parts, Count(rest)+" not told")
	}
	return strings.Join(parts, ", ")
}

// Layers says what two counters on one request prove; "" where no two layers retry.
func Layers(m *detect.Matcher) string {
	if m.Layered == 0 || m.ClientAttempts < 2 || m.ProxyAttempts < 2 {
		return ""
	}
	return "two counters on " + several(m.Layered, "request") + ": the client makes up to " + Count(m.ClientAttempts) + " attempts, and a proxy on the way up to " +
		Count(m.ProxyAttempts) + " of each, " + Count(m.ClientAttempts*m.ProxyAttempts) + " in all"
}

// Evidence says how many retries requests declare themselves, and how well timing
// does beside that; "" where none does.
func Evidence(m *detect.Matcher) string {
	if m.Declared == 0 {
		return ""
	}
	text := retries(m.Declared) + " told by the requests themselves, " + Count(m.Inferred) + " inferred from timing"
	if m.Found == 0 || m.Retries == 0 {
		return text
	}
	return text + "; where both can be compared (n " + Count(m.Compared) + ") timing alone finds " + Count(m.Found) + " of " + retries(m.Retries) +
		" and is right in " + percent(detect.Some(float64(m.Right)/float64(m.Found)))
}

func retries(n int64) string {
	if n == 1 {
		return "1 retry"
	}
	return Count(n) + " retries"
}

type jsonBehind struct {
	Requests      int64  `json:"requests"`
	Attempts      int64  `json:"attempts"`
	Retries       int64  `json:"retries"`
	Retried       int64  `json:"retried_requests"`
	Rescued       int64  `json:"rescued_requests"`
	Amplification number `json:"amplification"`
	PerLogical    number `json:"per_logical"`
}

type jsonRefusedBy struct {
	Hop      int64 `json:"hop"`
	Upstream int64 `json:"upstream"`
}

type jsonMatcher struct {
	Declared int64 `json:"declared_retries"`
	Inferred int64 `json:"inferred_retries"`
	Compared int64 `json:"compared"`
	Retries  int64 `json:"compared_retries"`
	Found    int64 `json:"found"`
	Right    int64 `json:"right"`
	Layered  int64 `json:"two_counters"`
	Client   int   `json:"client_attempts"`
	Proxy    int   `json:"proxy_attempts"`
}

func (t *jsonTotals) behind(s *detect.Snapshot) {
	if b := &s.Behind; b.Requests > 0 {
		t.Behind = &jsonBehind{b.Requests, b.Attempts, b.Retries, b.Retried, b.Rescued, number(b.Amplification), number(b.PerLogical)}
	}
	if b := &s.Behind; b.RefusedByHop+b.RefusedByUpstream > 0 {
		t.RefusedBy = &jsonRefusedBy{b.RefusedByHop, b.RefusedByUpstream}
	}
	if m := &s.Matcher; m.Declared > 0 || m.Compared > 0 || m.Layered > 0 {
		t.Matcher = &jsonMatcher{m.Declared, m.Inferred, m.Compared, m.Retries, m.Found, m.Right, m.Layered, m.ClientAttempts, m.ProxyAttempts}
	}
}

// appendBehind writes what the logging hop declares of a request, if anything.
func appendBehind(b []byte, r *detect.Row) []byte {
	if x := r.X; x.Origin != 0 {
		b = appendText(append(b, `,"made_by":`...), x.Origin.String())
	}
	if r.X.Tries == 0 {
		return b
	}
	b = strconv.AppendUint(append(b, `,"upstream":{"attempts":`...), uint64(r.X.Tries), 10)
	b = strconv.AppendUint(append(b, `,"retries":`...), uint64(r.X.Again), 10)
	if len(r.Tried) > 0 {
		b = append(b, `,"tries":[`...)
		for i, t := range r.Tried {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(append(b, `{"status":`...), int64(t.Status), 10)
			b = appendMaybe(append(b, `,"server":`...), t.Server)
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	return append(b, '}')
}
