package rules

import "testing"

// What stands in brackets is told only where there is something to tell in it.
func TestPartsOfASentenceThatMayBeLeftOut(t *testing.T) {
	c := compiler{}
	v := &Values{}
	v.Set(Refusals, 7, 7)
	v.Set(RefusedClients, 0, 7)
	for text, want := range map[string]string{
		"{refusals} in all[, {refused_clients} of them late]: see":     "7 in all: see",
		"{refused_clients} in all[, {refusals} of them late]: see":     "0 in all, 7 of them late: see",
		"[{refusals} early; ][{refused_clients} late; ]no more":        "7 early; no more",
		"[{refusals} and {refused_clients}]":                           "7 and 0",
		"{refusals} [sic]":                                             "7 [sic]",
		"{refusals}[, of which {zero_share%} say nothing], {refusals}": "7, 7",
	} {
		words, err := c.sentence(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := fill(words, v); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"{refusals} [and", "{refusals} and]", "[a [{refusals}] b]", "[{refusals]}"} {
		if _, err := c.sentence(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
