package report

import (
	"fmt"
	"strings"

	"stormwatch/detect"
)

type jsonLimit struct {
	Scope   maybe   `json:"scope"` // "global", "per credential", "per address", "per route"; null: cannot tell
	Or      maybe   `json:"or"`
	Why     text    `json:"why"`
	Gain    measure `json:"gain_nats"`
	Refused int64   `json:"refused"`
	Served  int64   `json:"served"`
}

func limitOf(l *detect.Limit) *jsonLimit {
	if l.Refused == 0 {
		return nil
	}
	return &jsonLimit{maybe(l.Scope.String()), maybe(l.Or.String()), text(l.Why), measure(l.Gain), l.Refused, l.Served}
}

// limitText says by what the limit counts, as far as refusals show it.
func limitText(l *detect.Limit) string {
	of := fmt.Sprintf(" (%s refused, %s served)", Count(l.Refused), Count(l.Served))
	switch {
	case l.Refused == 0:
		return ""
	case l.Scope == detect.ScopeUnknown:
		return "cannot tell by what it counts: " + l.Why
	case l.Scope == detect.ScopeAll:
		return "everybody seems to share one: " + l.Why + of
	case l.Or != detect.ScopeUnknown:
		return eachOf(l.Scope) + ", or " + eachOf(l.Or) + ", seems to have one of its own, and this traffic does not tell which: " + l.Why + of
	}
	return eachOf(l.Scope) + " seems to have one of its own: " + l.Why + of
}

// eachOf is what has a limit of its own where limits are per something.
func eachOf(s detect.LimitScope) string { return strings.Replace(s.String(), "per ", "each ", 1) }
