package report

import (
	"strconv"
	"strings"

	"stormwatch/capture"
	"stormwatch/detect"
)

// exampleAttempts are shown of a chain.
const exampleAttempts = 20

// chainTitle names a chain: whose it is, and what was asked for. Values of a
// query are left out, for reports are passed on.
func chainTitle(k *detect.Chain) string {
	return strings.TrimSpace(k.Client + " " + k.Method + " " + k.Host + BlankQuery(k.Path))
}

// BlankQuery hides the values of a query: "?cursor=8812" becomes "?cursor=•", for what
// is shown is read over shoulders and passed on.
func BlankQuery(path string) string {
	at := strings.IndexByte(path, '?')
	if at < 0 {
		return path
	}
	params := strings.Split(path[at+1:min(len(path), at+513)], "&")
	for i, q := range params {
		if name, value, ok := strings.Cut(q, "="); ok && value != "" {
			params[i] = name + "=•"
		}
	}
	return path[:at+1] + strings.Join(params, "&")
}

func chainFacts(k *detect.Chain) string {
	parts := []string{several(len(k.Attempts)+k.More, "attempt")}
	if k.Ended != "" {
		parts = append(parts, "ended "+k.Ended)
	}
	if k.Agent != "" {
		parts = append(parts, "agent "+k.Agent)
	}
	if text := Policy(&k.Policy); text != "" {
		parts = append(parts, "timing of "+text)
	}
	return strings.Join(parts, "; ")
}

// Answer tells in at most six columns how an attempt was answered: by a status, or
// not at all.
func Answer(a *detect.Attempt) string {
	if code, ok := a.RPC.Code(); ok {
		return "rpc " + strconv.Itoa(code)
	}
	if a.Status != 0 {
		return strconv.Itoa(a.Status)
	}
	switch a.Outcome {
	case capture.Reset:
		return "reset"
	case capture.Truncated:
		return "cut"
	case capture.Pending:
		return "open"
	case capture.NoAnswer, capture.Answered:
	}
	return "none"
}

// Asked tells in at most six columns what wait an answer named: "3s", "1.500s",
// "never", "?" where it cannot be read.
func Asked(a *detect.Attempt) string {
	switch h := &a.Hint; {
	case h.State == capture.NotObservable:
		return unknown
	case h.State == capture.Absent:
		return "none"
	case h.Kind == capture.Malformed:
		return "?"
	case h.Kind == capture.DoNotRetry:
		return "never"
	case h.Wait%1e9 == 0, h.Wait >= 60e9, h.Wait > 0 && h.Wait < 1e9:
		return span(h.Wait)
	}
	return gap(detect.Some(float64(a.Hint.Wait) / 1e9))
}

// asked is Asked with the words that cannot be read.
func asked(a *detect.Attempt) string {
	if a.Hint.State == capture.Present && a.Hint.Kind == capture.Malformed {
		return Asked(a) + " " + clip(a.HintRaw, 40)
	}
	return Asked(a)
}

// kept tells whether a retry kept to the wait that was named.
func kept(a *detect.Attempt) string {
	switch {
	case !Known(a.Early):
		return ""
	case a.Early.V > 0:
		return gap(a.Early) + " too early"
	}
	return "kept"
}

func (p *paper) chains(s *detect.Snapshot) {
	if len(s.Chains) == 0 {
		return
	}
	p.head("Chains, as examples")
	for i := range s.Chains {
		k := &s.Chains[i]
		p.line("### " + code(chainTitle(k)) + "\n")
		p.line(md(chainFacts(k)) + ".\n")
		p.table("-#", "sent", "-after", "answer", "wait named", "", "evidence", "read at")
		for n := range k.Attempts {
			if n == exampleAttempts {
				p.line("\nand " + Count(len(k.Attempts)-n+k.More) + " more")
				break
			}
			a := &k.Attempts[n]
			p.row(strconv.Itoa(a.N), utc(a.Start).Format("15:04:05.000"), gap(a.Gap), Answer(a), md(asked(a)), kept(a), a.Evidence.String(), md(a.At))
		}
		p.blank()
	}
}

// floorEnd is the earliest moment that an answer allowed; 0 where it named none.
func floorEnd(a *detect.Attempt) int64 {
	if !a.Hint.Usable() || a.Hint.Wait <= 0 || a.End+a.Hint.Wait < a.End {
		return 0
	}
	return a.End + a.Hint.Wait
}

// Failed tells whether a client may have wanted to send the attempt again.
func Failed(a *detect.Attempt) bool {
	x := capture.Exchange{Outcome: a.Outcome, Status: uint16(a.Status), Reason: a.Reason}
	return x.Failed()
}
