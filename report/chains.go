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
	if text := policyText(k.Policy); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// answer tells how an attempt was answered.
func answer(a *detect.Attempt) string {
	if code, ok := a.RPC.Code(); ok {
		return "gRPC " + strconv.Itoa(code)
	}
	if a.Status != 0 {
		return strconv.Itoa(a.Status)
	}
	if a.Outcome == capture.Answered {
		return "no status"
	}
	return a.Outcome.String()
}

// asked tells the wait that an answer named.
func asked(a *detect.Attempt) string {
	switch {
	case a.Hint.State == capture.NotObservable:
		return unknown
	case a.Hint.State == capture.Absent:
		return "none"
	case a.Hint.Kind == capture.Malformed:
		return "unreadable: " + clip(a.HintRaw, 40)
	case a.Hint.Kind == capture.DoNotRetry:
		return "do not retry"
	}
	return gap(detect.Some(float64(a.Hint.Wait) / 1e9))
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
			p.row(strconv.Itoa(a.N), utc(a.Start).Format("15:04:05.000"), gap(a.Gap), answer(a), md(asked(a)), kept(a), a.Evidence.String(), md(a.At))
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
