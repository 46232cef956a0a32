package detect

import (
	"strings"
	"testing"
)

// What hides most comes first, whatever it is counted in. By hand: of 102 exchanges 2
// are in sealed connections; 90 % of an input lie behind damage.
func TestMostHidden(t *testing.T) {
	for name, c := range map[string]struct {
		h    hidden
		want string
	}{
		"damage":      {hidden{sealed: 2, seen: 100, unread: .9}, "90 % of an input"},
		"connections": {hidden{sealed: 100, seen: 100, unread: .1}, "100 connections are encrypted"},
		"packets":     {hidden{rejected: 2, seen: 100, quic: 900, used: 100}, "QUIC, 900 packets"},
		"few packets": {hidden{sealed: 90, seen: 10, quic: 900, used: 9100}, "90 connections are encrypted"},
	} {
		if got := most(c.h.kinds()).text; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: first comes %q, want %q", name, got, c.want)
		}
	}
}
