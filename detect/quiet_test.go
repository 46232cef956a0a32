package detect_test

import (
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// The caller's clock goes on where a source has fallen silent: for how long it has is
// told, though event time stands still.
func TestSilenceOfASourceIsTold(t *testing.T) {
	l := live(t, detect.Options{})
	in := l.Inlet(capture.Info{Name: "log", Kind: "log", Vantage: "sim", Live: true})
	advance(t, l, wall)
	if got := l.Snapshot(detect.View{}).Sources[0].Quiet; got != 0 {
		t.Errorf("quiet for %d ns before anything came", got)
	}
	take(t, in, &capture.Batch{Watermark: wall})
	advance(t, l, wall+1e9)
	advance(t, l, wall+15e9)
	if got := l.Snapshot(detect.View{}).Sources[0].Quiet; got != 14e9 {
		t.Errorf("quiet for %d ns, want 14 s", got)
	}
	take(t, in, &capture.Batch{Watermark: wall + 15e9})
	advance(t, l, wall+16e9)
	if got := l.Snapshot(detect.View{}).Sources[0].Quiet; got != 0 {
		t.Errorf("quiet for %d ns after it spoke again", got)
	}
}

// A log that ended months ago is told by its age, however lately it was read.
func TestAgeOfTheLatestEvent(t *testing.T) {
	const age = 273 * 24 * 3600 * int64(1e9)
	l := live(t, detect.Options{})
	in := l.Inlet(capture.Info{Name: "log", Kind: "log", Vantage: "sim", Live: true})
	take(t, in, &capture.Batch{Watermark: wall - age, Health: &capture.Health{From: wall - age - 1e9, To: wall - age}})
	advance(t, l, wall)
	if got := l.Snapshot(detect.View{}).Sources[0].Age; got != age {
		t.Errorf("age %d ns, want 273 days", got)
	}
}

// A party is told in one sentence, without what is not known of it.
func TestPartySentence(t *testing.T) {
	for want, p := range map[string]detect.Party{
		"388 of 430 clients in step, agent go-resty/2.7.0 → POST api.pay/v1/charge": {Clients: 388, Of: 430, Does: "in step", Agent: "go-resty/2.7.0", Route: "POST api.pay/v1/charge"},
		"12 of 22 clients refused": {Clients: 12, Of: 22, Does: "refused"},
		"GET api/a":                {Route: "GET api/a"},
		"":                         {},
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v is told as %q, want %q", p, got, want)
		}
	}
}
