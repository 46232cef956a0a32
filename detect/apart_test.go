package detect

import (
	"strings"
	"testing"
)

// Sources that nobody named are not told apart by their names.
func TestUnnamedAreNotNamed(t *testing.T) {
	pcap := &Source{Name: "a.pcap", Kind: "capture", Vantage: "capture"}
	for _, c := range []struct {
		s    Source
		name bool
	}{
		{Source{Name: "access.log", Kind: "log", Vantage: "log"}, false},
		{Source{Name: "access.log", Kind: "log"}, false},
		{Source{Name: "edge", Kind: "log", Vantage: "edge"}, true},
	} {
		got := apartText(&c.s, pcap)
		if strings.Contains(got, "by its name") != c.name || !strings.Contains(got, c.s.Name) || !strings.Contains(got, "a.pcap") {
			t.Errorf("of a hop %q: %q", c.s.Vantage, got)
		}
	}
}
