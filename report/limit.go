package report

import (
	"fmt"

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
	case l.Or != detect.ScopeUnknown:
		return "seems to be " + l.Scope.String() + " or " + l.Or.String() + ", which here go together: " + l.Why + of
	}
	return "seems to be " + l.Scope.String() + ": " + l.Why + of
}
