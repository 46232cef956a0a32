package detect_test

import (
	"slices"
	"strings"
	"testing"

	"stormwatch/detect"
	"stormwatch/sim"
)

// long gives a stream five minutes.
func long(text string) string {
	text = strings.Replace(text, "duration: 100s", "duration: 300s", 1)
	return strings.Replace(text, "duration: 120s", "duration: 300s", 1)
}

// twice holds two storms of one kind with calm between them.
var twice = map[string]string{
	"lockstep": long(limited(10, "none", `
  - {name: job, count: 50, agent: job/1, policy: fixed base=2s attempts=8, paths: ["/j/{id}"], demand: [{from: 0s, to: 20s, units: 1}, {from: 31s, to: 31050ms, units: 2}, {from: 200s, to: 200050ms, units: 2}]}
  - {name: app, count: 20, agent: app/1, policy: full-jitter base=2s cap=10s attempts=4, paths: ["/a/{id}"], demand: [{rate: 0.1}]}`)),
	"deaf": long(limited(20, "4s..8s", `
  - {name: job, count: 50, agent: job/1, policy: hint-exact base=2s attempts=3, paths: ["/j/{id}"], demand: [{from: 0s, to: 30s, units: 1}]}
  - {name: deaf, count: 30, agent: deaf/1, policy: full-jitter base=300ms cap=2s attempts=8, paths: ["/j/{id}"], demand: [{rate: 0.2}, {from: 30s, to: 60s, rate: 1}, {from: 180s, to: 210s, rate: 1}]}`)),
}

// spell is a run of seconds of one state.
type spell struct {
	state   detect.State
	from    int64 // seconds since the start
	seconds int
	causes  map[detect.Cause]int
	since   int64
}

// spells judges a run second by second.
func spells(t *testing.T, res *sim.Result) (out []spell) {
	t.Helper()
	p := recording(t, res, detect.Options{})
	start, end := p.Span()
	start -= start % 1e9
	for at := start; at < end+1e9; at += 1e9 {
		if err := p.RunTo(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		v := p.Snapshot(detect.View{}).Verdict
		if len(out) == 0 || out[len(out)-1].state != v.State {
			out = append(out, spell{state: v.State, from: (at - start) / 1e9, causes: map[detect.Cause]int{}, since: (v.Since - start) / 1e9})
		}
		last := &out[len(out)-1]
		last.seconds++
		last.causes[v.Cause]++
	}
	return out
}

func states(all []spell) (out []detect.State) {
	for _, s := range all {
		out = append(out, s.state)
	}
	return out
}

// A storm ends through recovering and then is clear, each once, and a second one is
// told as a second one.
func TestTwoStormsInOneRecording(t *testing.T) {
	for name, text := range twice {
		for seed := 1; seed <= 2; seed++ {
			res := play(t, text, seed)
			all := spells(t, res)
			first := slices.IndexFunc(all, func(s spell) bool { return s.state == detect.Storm })
			if first < 0 {
				t.Fatalf("%s, seed %d: no storm: %v", name, seed, states(all))
			}
			var rest []spell
			for _, s := range all[first:] {
				if s.state != detect.Overloaded && s.state != detect.Watch || len(rest) > 0 && rest[len(rest)-1].state != detect.Clear {
					rest = append(rest, s) // before the second storm there may be lesser words
				}
			}
			want := []detect.State{detect.Storm, detect.Recovering, detect.Clear, detect.Storm, detect.Recovering, detect.Clear}
			if !slices.Equal(states(rest), want) {
				t.Errorf("%s, seed %d: %v, want %v", name, seed, states(rest), want)
				continue
			}
			for _, i := range []int{1, 4} {
				if n := rest[i].seconds; n < 20 || n > 40 {
					t.Errorf("%s, seed %d: recovering for %d s", name, seed, n)
				}
			}
			if rest[0].since > 60 || rest[3].since < 170 {
				t.Errorf("%s, seed %d: the storms are said to begin %d and %d s after the start", name, seed, rest[0].since, rest[3].since)
			}
			s := judged(t, res, detect.Options{})
			onsets := 0
			for _, ev := range s.Events {
				if ev.Kind == "onset" {
					onsets++
				}
			}
			if onsets != 2 {
				t.Errorf("%s, seed %d: %d onsets, want 2", name, seed, onsets)
			}
			if s.Verdict.State != detect.Storm || s.Verdict.Cause != detect.CauseClients || s.Verdict.Trend != "ended" {
				t.Errorf("%s, seed %d: as a whole %s of %s, %s", name, seed, s.Verdict.State, s.Verdict.Cause, s.Verdict.Trend)
			}
		}
	}
}

// A finding ends when what it speaks of does: no retry, no lockstep; and the second
// storm has findings of its own.
func TestFindingsEndWithTheBehaviour(t *testing.T) {
	for name, text := range twice {
		signature := map[string]string{"lockstep": "lockstep", "deaf": "hint-ignored"}[name]
		group := map[string]string{"lockstep": "job", "deaf": "deaf"}[name]
		res := play(t, text, 1)
		start := res.Scenario.Start.UnixNano()
		s := judged(t, res, detect.Options{})
		var got []*detect.Finding
		for i := range s.Findings {
			if f := &s.Findings[i]; f.Signature == signature && f.Detected > start+29e9 {
				got = append(got, f)
			}
		}
		if len(got) != 2 {
			t.Errorf("%s was found %d times, want 2", signature, len(got))
			continue
		}
		slices.SortFunc(got, func(a, b *detect.Finding) int { return int(a.Detected - b.Detected) })
		for i, f := range got {
			from, to := start+int64(i)*150e9, start+int64(i+1)*150e9
			last := int64(0)
			for k := range res.Rows {
				if r := &res.Rows[k]; r.Attempt > 1 && res.Group(r).Name == group && r.Start >= from && r.Start < to {
					last = r.Start
				}
			}
			if f.Ended == 0 || f.Ended > last+8e9 || f.Ended < last-12e9 {
				t.Errorf("%s %d ended %d ms after the last retry", signature, i+1, (f.Ended-last)/1e6)
			}
			if f.Onset < from || f.Onset > f.Detected {
				t.Errorf("%s %d: onset %d s, detected %d s", signature, i+1, (f.Onset-start)/1e9, (f.Detected-start)/1e9)
			}
		}
	}
}

const both = `
name: both
start: 2026-03-02T03:10:00Z
duration: 300s
server: {capacity: {rate: 10, workers: 2, queue: 6, refuse: 503}, hint: 2s..5s}
groups:
  - {name: app, count: 60, agent: app/1, policy: hint-floor base=1s cap=8s attempts=3, paths: ["/a/{id}"], demand: [{from: 0s, to: 40s, rate: 0.1}, {from: 40s, to: 80s, rate: 0.1, grow_to: 0.3}, {from: 80s, to: 200s, rate: 0.3}, {from: 200s, to: 290s, rate: 0.05}]}
  - {name: deaf, count: 20, agent: deaf/1, policy: fixed base=200ms attempts=6, paths: ["/d/{id}"], demand: [{from: 0s, to: 200s, rate: 0.1}]}
`

// Demand beyond capacity and clients that make it worse, both for minutes: the cause
// is both, the word does not go up and down with the share of impatient retries, and
// what is left behind in the last minute is no incident of its own.
func TestMixedCauses(t *testing.T) {
	for seed := 1; seed <= 2; seed++ {
		res := play(t, both, seed)
		all := spells(t, res)
		storms, mixed, named := 0, 0, 0
		for _, s := range all {
			if s.state != detect.Storm {
				continue
			}
			storms++
			mixed += s.causes[detect.CauseMixed]
			named += s.seconds
		}
		if storms != 1 {
			t.Errorf("seed %d: %d storms of one: %v", seed, storms, states(all))
		}
		if 2*mixed < named {
			t.Errorf("seed %d: mixed in %d of %d s", seed, mixed, named)
		}
		if end := all[len(all)-1].state; end != detect.Clear {
			t.Errorf("seed %d: %s at the end: %v", seed, end, states(all))
		}
		if n := len(all); n < 3 || all[n-2].state != detect.Recovering {
			t.Errorf("seed %d: %v", seed, states(all))
		}
		if v := judged(t, res, detect.Options{}).Verdict; v.State != detect.Storm || v.Cause != detect.CauseMixed {
			t.Errorf("seed %d: as a whole %s of %s", seed, v.State, v.Cause)
		}
	}
}

// Joined in the middle of the storm, its beginning is not known, and nor is what the
// server could do before it.
func TestJoiningInTheStorm(t *testing.T) {
	for name, share := range map[string]float64{"lockstep": 35. / 300, "deaf": 40. / 300} {
		res := cut(play(t, twice[name], 1), share)
		p := recording(t, res, detect.Options{})
		start, _ := p.Span()
		if err := p.RunTo(t.Context(), start+8e9); err != nil {
			t.Fatal(err)
		}
		v := p.Snapshot(detect.View{}).Verdict
		if v.State != detect.Storm || !v.SinceCensored || v.Cause == detect.CauseCapacity || v.Cause == detect.CauseMixed {
			t.Errorf("%s: %s of %s, censored %v", name, v.State, v.Cause, v.SinceCensored)
		}
		if !slices.ContainsFunc(v.NextEvidence, func(e string) bool { return strings.Contains(e, "earlier log") }) {
			t.Errorf("%s: next evidence %q", name, v.NextEvidence)
		}
	}
}
