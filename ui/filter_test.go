package ui

import (
	"strings"
	"testing"

	"stormwatch/detect"
)

func TestFilter(t *testing.T) {
	c := &detect.Client{
		Label: "10.1.2.3", Name: "acme", Agent: "go-resty/2.7.0", Route: "POST /v1/charge", Attempts: 40, OK: 10, Refused: 30,
		Amplification: detect.Some(2.5), EarlyShare: detect.Some(.6), GapMedianS: detect.Some(.5), Signatures: []string{"lockstep"}, Score: .9,
	}
	for text, want := range map[string]bool{
		"":                              true,
		"client:10.1.":                  true,
		"client:10.2.":                  false,
		"client:acme":                   true,
		"agent:RESTY":                   true,
		"!agent:resty":                  false,
		"sign:lockstep":                 true,
		"sign:hint":                     false,
		"route:/v1":                     true,
		"refused:>5":                    true,
		"refused:>30":                   false,
		"refused:>=30":                  true,
		"refused:30":                    true,
		"refused:=29":                   false,
		"amp:>2":                        true,
		"amp:<2x":                       false,
		"early:>50%":                    true,
		"early:>60":                     false,
		"gap:<1s":                       true,
		"gap:>=500ms":                   true,
		"score:>0.8":                    true,
		"avoidable:<5":                  false, // not known
		"!avoidable:<5":                 true,
		"charge":                        true,
		"Lock":                          true,
		"okhttp":                        false,
		"!okhttp":                       true,
		"agent:resty refused:>5":        true,
		"agent:resty refused:>50":       false,
		`route:"post /v1"`:              true,
		"client:10.1. !sign:lockstep":   false,
		"  amp:>2   early:>50%  charge": true,
		"fe80::1":                       false,
	} {
		f, err := parseFilter(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if f.match(c) != want {
			t.Errorf("%q: match is %v", text, !want)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	for text, want := range map[string]string{
		"refused:>x":     `refused: "x" is no number`,
		"refused:":       "refused: needs a value",
		"refused:>":      `refused: "" is no number`,
		"amp:>nan":       `amp: "nan" is no number`,
		"colour:red":     `no field "colour"`,
		`agent:"resty`:   "a quote is not closed",
		"!":              "a term is missing behind",
		"agent:":         "agent: needs a value",
		"early:>50%%":    "is no number",
		"refused:>1e999": "is no number",
	} {
		if _, err := parseFilter(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{"agent:resty refused:>5", `!"a b" gap:<1ms`, "::1", "!:>", "early:>50%"} {
		f.Add(s)
	}
	c := stormClient(0)
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parseFilter(s)
		if err != nil {
			return
		}
		p.match(&c)
		// Inverting every term of a one-term filter inverts the answer.
		if len(p.terms) == 1 && !p.terms[0].invert {
			inverted, err := parseFilter("!" + p.text)
			if err != nil || len(inverted.terms) != 1 || inverted.match(&c) == p.match(&c) {
				t.Errorf("%q: inverting does not invert (%v)", s, err)
			}
		}
	})
}

// The foot of the Clients screen tells of the clients that pass, or says that its sums
// are of all.
func TestClientsFootSaysOfWhom(t *testing.T) {
	foot := func(share float64) string {
		s := filteredSnapshot(share)
		s.Reach = []detect.Reach{{Clients: 3, Of: 15, Share: .9}}
		s.Growth = []detect.Growth{{Kind: "agent", Name: "axios/1.7", Before: 2, PerS: 9}}
		s.ClientsOthers = detect.Client{Label: "7 others", Attempts: 240, OK: 8, Refused: 230}
		return open(replay(s), Options{}, 120, 40, "2", "/", "agent:axios", "enter").View()
	}
	under, done := foot(.4), foot(1)
	for _, want := range []string{"grew most of all clients: agent axios/1.7", "7 others of all clients: 240 attempts"} {
		if !strings.Contains(under, want) || strings.Contains(done, want) {
			t.Errorf("while the pass is under way %q is to be said, and then no more:\n%s\n%s", want, under, done)
		}
	}
	for _, want := range []string{"the first 3 of 15 make 90%", "grew most: agent axios/1.7", "7 others: 240 attempts"} {
		if strings.Contains(under, want) || !strings.Contains(done, want) {
			t.Errorf("once the pass is done %q is to be said, and not before:\n%s\n%s", want, under, done)
		}
	}
}

// What is of the clients of the filter before is not said to be of all, nor of those
// of the present one.
func TestFiguresOfTheFilterBefore(t *testing.T) {
	s := filteredSnapshot(1)
	for _, text := range []string{"", "agent:curl"} {
		v := view{filter: filter{text: text}}
		if got := v.whose(s); got != "15 of 430 clients by the filter before" {
			t.Errorf("filter %q: figures of %q", text, got)
		}
		if got := v.unfiltered(s); got != " by the filter before" {
			t.Errorf("filter %q: a panel of%q", text, got)
		}
	}
	s.Filtered.From = 1772421000e9
	v := view{filter: filter{text: "agent:axios"}}
	if got := v.whose(s); got != "15 of 430 clients from 03:10:00" || v.unfiltered(s) != "" {
		t.Errorf("figures of %q, a panel of%q", got, v.unfiltered(s))
	}
}
