package ui

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"stormwatch/capture"
	"stormwatch/detect"
)

func stateOf(i int) detect.State { return detect.State(i) }

// hostile is a snapshot in which every text is s and the figures are absurd.
func hostile(s string, state int) *detect.Snapshot {
	snap := chainSnapshot()
	bad := detect.Some(math.Inf(1))
	snap.Sources[0].Name, snap.Sources[0].Kind, snap.Sources[0].Vantage, snap.Sources[0].Note = s, s, s, s
	snap.Sources[0].Health.Skipped = []capture.Skip{{Reason: s, Count: math.MaxUint64, Examples: []string{s, s}}}
	snap.Verdict.State = stateOf(state)
	snap.Verdict.What, snap.Verdict.Who, snap.Verdict.Do, snap.Verdict.Dont, snap.Verdict.Trend = s, s, s, s, s
	snap.Verdict.NextEvidence = []string{s, s}
	snap.Recent.Amplification, snap.Totals.CapacityPerS = bad, detect.Some(-1)
	for i := range snap.Clients {
		c := &snap.Clients[i]
		c.Label, c.Name, c.Agent, c.Route, c.Signatures = s, s, s, s, []string{s, s}
		c.Policy.Name, c.GapMedianS, c.GapMADS, c.AvoidablePerS, c.Score = s, detect.Some(1e300), bad, detect.Some(math.NaN()), math.NaN()
		c.Attempts = math.MaxInt64
	}
	snap.ClientsOthers.Label = s
	for i := range snap.Findings {
		f := &snap.Findings[i]
		f.Signature, f.Says, f.Agent, f.Route, f.Layer, f.When, f.FalsePositives = s, s, s, s, s, s, s
		f.Clients, f.At = []string{s}, []string{s}
		f.Parts = []detect.Part{{Name: s, Points: math.NaN(), Max: 1e9}}
		f.Evidence = []detect.Evidence{{Name: s, Unit: s, Meaning: s, Threshold: s, Value: math.Inf(-1)}}
	}
	snap.Verdict.Party = detect.Party{Clients: math.MaxInt, Of: -1, Does: s, Agent: s, Route: s}
	snap.Growth = []detect.Growth{{Kind: s, Name: s, Before: math.NaN(), PerS: 1e300, New: bad}}
	snap.Reach = []detect.Reach{{Clients: -1, Of: math.MaxInt, Share: math.Inf(-1)}}
	snap.Layers = detect.Layers{Rows: []detect.Layer{{Name: s, PerRequest: bad}, {Name: s, PerRequest: detect.Some(-1), Most: math.MaxInt, Pressure: true}}, Multiplier: bad, Worst: detect.Some(math.NaN()), Proof: s}
	snap.Arrivals = detect.Arrivals{
		Period: math.MaxInt64, Spread: -1, Start: math.MinInt64, Width: 1, Rows: [][]int32{nil, {math.MaxInt32, -1, 0}, make([]int32, 999)},
		Candidates: []int64{0, -1}, Strength: bad, Excess: bad, Jitter: detect.Some(math.NaN()), Clients: []detect.ClientArrivals{{Label: s}, {Label: s, Cells: []int32{-1, math.MaxInt32}}},
	}
	snap.NotJudged = []detect.NotJudged{{Signature: s, Reason: s}}
	for i := range snap.Mitigations {
		m := &snap.Mitigations[i]
		m.Title, m.Who, m.When, m.Risk, m.Because = s, s, s, s, []string{s}
		m.Snippets = []detect.Snippet{{For: s, Text: s}}
	}
	for i := range snap.Events {
		snap.Events[i].Text, snap.Events[i].Kind = s, s
	}
	for i := range snap.Chains {
		k := &snap.Chains[i]
		k.ID, k.Client, k.Agent, k.Method, k.Host, k.Path, k.Ended, k.Policy.Name = s, s, s, s, s, "/?"+s, s, s
		for j := range k.Attempts {
			a := &k.Attempts[j]
			a.At, a.HintRaw, a.Hint.Kind = s, s, capture.Malformed
			if j%2 == 1 {
				a.Hint = capture.Hint{State: capture.Present, Kind: capture.RetryAfterSeconds, Wait: math.MaxInt64}
				a.Gap, a.Early = detect.Some(-1e300), detect.Some(1e300)
			}
		}
	}
	return snap
}

func checkHostile(t *testing.T, s string, state, w, h int) {
	t.Helper()
	for _, keys := range [][]string{nil, {"2"}, {"enter"}, {"4"}, {"4", "u", "p"}, {"5"}, {"6"}, {"7"}, {"w"}, {"w", "G"}, {"H"}, {"?"}} {
		frame := open(replay(hostile(s, state)), Options{Color: "always", Theme: "dark", Title: s}, w, h, keys...).View()
		checkSize(t, frame, w, h)
		frame = ownSequence.ReplaceAllString(frame, "")
		checkText(t, strings.ReplaceAll(frame, "\n", ""))
	}
	checkText(t, PlainLine(hostile(s, state)))
}

func checkText(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatalf("not UTF-8: %q", text)
	}
	for _, r := range text {
		switch {
		case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff:
			t.Fatalf("%U passes: %q", r, text)
		}
	}
}

func hostileTexts() []string {
	return []string{
		"\x1b]2;pwned\x07\x1b[2J\x1b[31m", "\x1b]52;c;cm0gLXJm\x07", "\u202egnp.exe\u202c\u2066x", "日本語のクライアント名前", "👩‍👩‍👧‍👦👍🏽🇩🇪",
		"a\r\nb\tc\x00d", "\x9b31mC1 \u009b31m", "\xff\xfe\xc3\x28", "e\u0301\u0302\u0303 कि ำ \u1100\u1161\u11a8", strings.Repeat("A", 64<<10),
		strings.Repeat("日\x1b[m", 9000), "", "%s%d%!", "client:\"x",
	}
}

func TestHostileTexts(t *testing.T) {
	for i, s := range hostileTexts() {
		// A terminal may tell of no rows or columns at all, before it has a window.
		for _, size := range [][2]int{{80, 24}, {121, 39}, {61, 0}, {0, 17}, {0, 0}, {1, 1}} {
			checkHostile(t, s, i%6, size[0], size[1])
		}
	}
}

func FuzzView(f *testing.F) {
	for i, s := range hostileTexts() {
		if len(s) < 1000 {
			f.Add(s, uint8(i%6), uint8(61), uint8(17))
		}
	}
	f.Fuzz(func(t *testing.T, s string, state, w, h uint8) {
		checkHostile(t, s, int(state%6), int(w), int(h%80))
	})
}

// Every size gives exactly its rows and columns, on every screen.
func TestEverySize(t *testing.T) {
	pictures := arrivalsSnapshot()
	pictures.Layers, pictures.Chains = layersSnapshot().Layers, chainSnapshot().Chains
	feeds := []*fakeFeed{replay(pictures), live(emptySnapshot()), live(unknownSnapshot())}
	for _, keys := range [][]string{nil, {"2"}, {"3"}, {"4"}, {"4", "u"}, {"5"}, {"6"}, {"7"}, {"w"}, {"H"}, {"?"}, {"/", "a:b"}} {
		for _, f := range feeds {
			m := open(f, Options{}, 80, 24, keys...)
			for h := 1; h <= 60; h += 3 {
				for w := 1; w <= 200; w += 13 {
					m.c.resize(w, h)
					checkSize(t, m.View(), w, h)
				}
			}
		}
	}
}
