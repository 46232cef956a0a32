package policy

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	got, err := Parse(" full-jitter  cap=20s base=200ms attempts=4 ")
	want := Policy{Name: "full-jitter", Family: FullJitter, Base: 200 * time.Millisecond, Cap: 20 * time.Second, Attempts: 4}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if s := got.String(); s != "full-jitter base=200ms cap=20s attempts=4" {
		t.Errorf("written as %q", s)
	}
	if s := (Policy{}).String(); s != "none" {
		t.Errorf("the zero policy is written as %q", s)
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "policy is empty"},
		{"fixd base=1s", "use one of additive-jitter, decorrelated"},
		{"fixed", "base is missing"},
		{"fixed base=1", "base=1: want a duration"},
		{"fixed base=-1s", "want a duration above 0"},
		{"fixed base=1s base=2s", "base is given twice"},
		{"fixed base=1s cap=2s", `parameter "cap" is not one of its own (base, attempts)`},
		{"none attempts=2", `parameter "attempts" is not one of its own ()`},
		{"full-jitter base=1s multiplier=0.5", "want a number from 1"},
		{"full-jitter base=1s multiplier=NaN", "want a number from 1"},
		{"immediate attempts=0", "want a whole number from 1"},
		{"exponential base=1s growth=cubic", "growth=cubic: want one of linear, less-one, quadratic"},
		{"exponential base=1s cap=0s", "want a duration above 0 and up to 24h0m0s, such as 200ms, or none"},
		{"schedule", "waits is missing, such as waits=1s,5s"},
		{"schedule waits=1s,,2s", "waits=1s,,2s: want a duration"},
		{"schedule waits=1s,1s,1s,1s,1s,1s,1s,1s,1s", "want at most 8 waits"},
		{"scaled-jitter base=1s low=0.8", "high is missing, such as high=1.2"},
		{"scaled-jitter base=1s low=1.2 high=0.8", "low=1.2 high=0.8: want both, the lower one first"},
		{"hint-max base=1s low=1.2", "low=1.2 high=0: want both"},
		{"additive-jitter base=1s", "add is missing"},
		{"hint-exact", "base is missing"},
		{"hint-exact own=exponential", "base is missing"},
		{"hint-exact own=hint-floor base=1s", "own=hint-floor: want one of none, immediate"},
		{"hint-exact base=1s over=wait", "over=wait: want one of clip, own, stop"},
	}
	for _, tt := range tests {
		if _, err := Parse(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Parse(%q): %v, want an error with %q", tt.text, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("none")
	f.Add("fixed base=1s attempts=3")
	f.Add("exponential base=1s cap=8s multiplier=1.5")
	f.Add("hint-floor base=500ms")
	f.Add("schedule waits=1s,5s,30s attempts=4")
	f.Add("hint-max own=additive-jitter base=1s add=1s low=0 high=0.5 longest=none over=stop cap=none growth=quadratic")
	for _, l := range libraries {
		f.Add(l.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(p.String())
		if err != nil || again != p {
			t.Errorf("%q read as %+v, written as %q, read again as %+v, %v", text, p, p.String(), again, err)
		}
	})
}
