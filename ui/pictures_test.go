package ui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// arrivalsSnapshot is the storm with its arrivals: a fleet of fixed timers of one
// second, on a field of others.
func arrivalsSnapshot() *detect.Snapshot {
	s := stormSnapshot()
	s.Seq++
	rng := rand.New(rand.NewPCG(7, 7))
	a := &s.Arrivals
	*a = detect.Arrivals{
		Period: second, Spread: 3e6, Start: at("03:18:20"), Width: 50e6, Candidates: []int64{second, 2 * second, 500e6},
		Strength: detect.Some(.91), PeakOverMean: detect.Some(14.2), Coincidence: detect.Some(41), Excess: detect.Some(22.1),
		Jitter: detect.Some(.003), Peak50ms: detect.Some(131), Slots: detect.Some(3.1),
	}
	pulse := []int32{8, 96, 131, 40, 12, 5}
	for range 32 {
		row := make([]int32, 20)
		for x := range row {
			row[x] = rng.Int32N(3)
		}
		for i, n := range pulse {
			row[8+i] += n - rng.Int32N(4)
		}
		a.Rows = append(a.Rows, row)
	}
	for i := range 12 {
		k := detect.ClientArrivals{Label: stormClient(i).Label, Cells: make([]int32, 640)}
		for x := 9 + i%3; x < 640; x += 20 {
			k.Cells[x] = 1
		}
		a.Clients = append(a.Clients, k)
	}
	return s
}

// layersSnapshot is a storm of retries at two layers.
func layersSnapshot() *detect.Snapshot {
	s := stormSnapshot()
	s.Seq++
	s.NotJudged = nil
	s.Layers = detect.Layers{
		Rows: []detect.Layer{
			{Name: "user", PerRequest: detect.Some(1), Seen: true},
			{Name: "gateway (envoy)", PerRequest: detect.Some(1.04), Most: 2, Seen: true},
			{Name: "pay-sdk", PerRequest: detect.Some(4.88), Most: 6},
			{Name: "api.pay", PerRequest: detect.Some(4.88), Seen: true, Pressure: true},
		},
		Multiplier: detect.Some(4.88), Worst: detect.Some(12), Proof: "counters",
	}
	s.Behind = detect.Behind{Requests: 900, Attempts: 1200, Retries: 300, Amplification: detect.Some(1.33)}
	return s
}

// watchSnapshot and recoveringSnapshot are the storm before and after it.
func watchSnapshot() *detect.Snapshot {
	s := clearSnapshot()
	s.Verdict = detect.Verdict{
		State: detect.Watch, Cause: detect.CauseUnknown, Confidence: .66, Since: at("03:18:20"), Trend: "growing",
		What: "signs of trouble: hint-missing", Who: "12 of 430 clients refused → POST api.pay/v1/charge",
		Party: detect.Party{Clients: 12, Of: 430, Does: "refused", Route: "POST api.pay/v1/charge"},
		Do:    "send Retry-After with every 429 and 503", Dont: "do not send 0 or a fraction",
	}
	s.Findings = []detect.Finding{{Signature: "hint-missing", Scope: "population", Score: .5, Severity: detect.Medium, Onset: at("03:18:20"), Says: "100 % of 40 refusals do not say when to come back"}}
	return s
}

func recoveringSnapshot() *detect.Snapshot {
	s := stormSnapshot()
	s.Verdict.State, s.Verdict.Trend, s.Verdict.Confidence = detect.Recovering, "", .9
	s.Verdict.What = "the incident is over since 12 s, 1.2 % refused"
	s.Verdict.Do, s.Verdict.Dont = "Watch for the next burst before undoing what helped.", "Do not lift limits and restart clients at the same moment."
	s.Verdict.Who, s.Verdict.Party = "", detect.Party{}
	s.Recent.RefusedShare, s.Recent.RetryShare = detect.Some(.012), detect.Some(.03)
	for i := range s.Findings {
		s.Findings[i].Ended = at("03:18:38")
	}
	return s
}

// tenantsSnapshot is the storm with named clients, and what acting on few spares.
func tenantsSnapshot() *detect.Snapshot {
	s := stormSnapshot()
	for i := range s.Clients {
		s.Clients[i].Name = []string{"checkout", "batch-eu", "mobile"}[i%3]
	}
	s.Clients[2].EarlyShare = detect.Some(0)
	s.Clients[3].Victim, s.Clients[3].Signatures, s.Clients[3].Policy = true, nil, detect.PolicyEstimate{}
	s.Reach = []detect.Reach{{Clients: 1, Of: 430, Share: .04}, {Clients: 12, Of: 430, Share: .51}, {Clients: 50, Of: 430, Share: .7}, {Clients: 120, Of: 430, Share: .8}}
	s.Growth = []detect.Growth{{Kind: "route", Name: "POST api.pay/v1/charge", Before: 12, PerS: 40, New: detect.Some(.6)}}
	return s
}

// sourcesSnapshot is a live storm seen by four sources, three of them ailing.
func sourcesSnapshot() *detect.Snapshot {
	s := stormSnapshot()
	s.Live = true
	edge := captureSource()
	edge.Health.From, edge.Health.To = at("03:11:10"), at("03:18:51")
	edge.Health.Dropped, edge.Health.GapBytes = 21_000, 88_120
	log := detect.Source{Name: "app=web1/access.log", Kind: "log", Vantage: "app", OffsetSeconds: .412, PerRequest: detect.Some(1.02)}
	log.Health = capture.Health{
		Unit: "lines", Read: 61_310, Used: 61_204, Resolution: 1e6, From: at("03:11:12"), To: at("03:18:10"),
		Skipped: []capture.Skip{{Reason: "no time stamp", Count: 106, Examples: []string{"line 7: oops", "line 9: again"}}},
		Bounds:  []capture.Skip{{Reason: "routes beyond 4,096 are told as one", Count: 3, Examples: []string{"/v1/a/9"}}},
	}
	log.Quiet = 42 * second
	down := detect.Source{Name: "prom", Kind: "prometheus", Vantage: "gateway", Note: "not summed: it counts what edge.pcap holds"}
	down.Health = capture.Health{Unit: "samples", Read: 900, Used: 900, From: at("03:11:10"), To: at("03:18:30"), Down: "connection refused by 10.0.0.9:9090, tried 12 times"}
	s.Sources = []detect.Source{edge, log, down}
	return s
}

// A fold keeps its total: what is drawn is what came, at any width.
func TestFoldKeepsTheCount(t *testing.T) {
	cells := make([]int32, 137)
	total := int64(0)
	for i := range cells {
		cells[i] = int32(i % 7)
		total += int64(cells[i])
	}
	for w := 1; w < 300; w++ {
		z := newColumns(len(cells), w)
		got := int64(0)
		for _, n := range z.sum(cells) {
			got += n
		}
		if got != total || z.n*z.repeat > w {
			t.Fatalf("width %d: %d of %d in %d columns of %d", w, got, total, z.n, z.repeat)
		}
	}
}

// A fleet in step is an upright bar: the same columns are darkest in each row.
func TestLockstepIsABar(t *testing.T) {
	m := open(replay(arrivalsSnapshot()), Options{}, 120, 40, "4")
	rows := 0
	for _, l := range strings.Split(m.View(), "\n") {
		if at := strings.IndexRune(l, '█'); at > 0 && strings.HasPrefix(l, "03:18:") {
			rows++
			if r := []rune(l); r[10+3*10] != '█' { // phase 0.5 s is cell 10 of 20, three columns each
				t.Errorf("not dark at half the period: %q", l)
			}
		}
	}
	if rows < 20 {
		t.Errorf("%d rows with a bar:\n%s", rows, m.View())
	}
}

func TestArrivalKeys(t *testing.T) {
	f := replay(arrivalsSnapshot())
	m := open(f, Options{}, 100, 30, "4")
	if w := f.wanted[len(f.wanted)-1]; !w.Arrivals || w.Period != 0 {
		t.Fatalf("asked for %+v", w)
	}
	m = send(m, typed("p")...)
	if w := f.wanted[len(f.wanted)-1]; w.Period != 2*second {
		t.Errorf("p asks for a period of %d", w.Period)
	}
	m = send(m, typed("p", "p")...)
	if w := f.wanted[len(f.wanted)-1]; w.Period != second {
		t.Errorf("after the last candidate p asks for %d", w.Period)
	}
	folded := m.View()
	m = send(m, typed("u")...)
	if v := m.View(); !strings.Contains(v, "10.42.1.17") || !strings.Contains(v, "these 12 clients") {
		t.Errorf("u does not unfold:\n%s", v)
	}
	if m = send(m, typed("u")...); m.View() != folded {
		t.Error("u again does not fold")
	}
	if m = send(m, typed("k", "k")...); m.View() == folded {
		t.Error("k does not show earlier periods")
	}
	if m = send(m, typed("G")...); m.View() != folded {
		t.Error("G does not go back to the latest")
	}
	send(m, typed("1")...)
	if w := f.wanted[len(f.wanted)-1]; w.Arrivals {
		t.Error("arrivals are asked for where none are shown")
	}
	m = open(replay(stormSnapshot()), Options{}, 80, 24, "4", "p")
	if !strings.Contains(m.View(), "no other period") {
		t.Errorf("p without candidates says nothing:\n%s", m.View())
	}
}

// Where there is no picture, the screen says why, and what would give one.
func TestNoPictureSaysWhy(t *testing.T) {
	counts := clearSnapshot()
	counts.Clients, counts.ClientCount = nil, 0
	coarse := stormSnapshot()
	coarse.Sources[0].Health.Resolution = second
	quiet := clearSnapshot()
	quiet.Totals.Retries = 0
	for _, c := range []struct {
		name string
		s    *detect.Snapshot
		key  string
		want []string
	}{
		{"counts", counts, "4", []string{"counts, not single requests", "get next", "tcpdump"}},
		{"coarse", coarse, "4", []string{"too coarse, 1.000s", "millisecond"}},
		{"quiet", quiet, "4", []string{"no retries seen"}},
		{"empty", emptySnapshot(), "4", []string{"no traffic yet"}},
		{"layers", stormSnapshot(), "5", []string{"Not judged: no request carries a stable id", "x-request-id", "1.02x"}},
		{"no clients", counts, "2", []string{"counts, not clients"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "layers" {
				c.s.Totals.Amplification = detect.Some(1.02)
			}
			v := open(replay(c.s), Options{}, 100, 30, c.key).View()
			for _, want := range c.want {
				if !strings.Contains(v, want) {
					t.Errorf("%q is missing:\n%s", want, v)
				}
			}
		})
	}
}

func TestLayers(t *testing.T) {
	v := open(replay(layersSnapshot()), Options{}, 100, 30, "5").View()
	for _, want := range []string{
		"pay-sdk             4.88x  4.7x", "concluded, max 6 tries", "← pressure, seen", "proven by counters", "12.00x if every layer", "pay-sdk adds most, 4.7x",
	} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, v)
		}
	}
	s := layersSnapshot()
	s.Layers.Inferred, s.Layers.Proof = true, "timing"
	if v := open(replay(s), Options{}, 100, 30, "5").View(); !strings.Contains(v, "inferred, not proven: by timing") {
		t.Errorf("an inference is not told as one:\n%s", v)
	}
}

// Each source says whether it can be relied on, also above every other screen.
func TestAilingSources(t *testing.T) {
	f := &fakeFeed{snap: sourcesSnapshot()}
	v := open(f, Options{}, 120, 40, "7").View()
	for _, want := range []string{"LOSSY 4%", "IDLE 42s", "DOWN", "+0.412s", "tried 12 times", "88.1k"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, v)
		}
	}
	for _, keys := range []string{"1", "2", "6"} {
		v := open(f, Options{}, 80, 24, keys).View()
		if !strings.Contains(strings.Split(v, "\n")[0], "prom DOWN · 2 more ail") {
			t.Errorf("screen %s hides that sources ail:\n%s", keys, v)
		}
	}
	if v := open(f, Options{}, 120, 40).View(); !strings.Contains(v, "0.93 high: 4% lost") {
		t.Errorf("the confidence does not tell of the loss:\n%s", v)
	}
	if v := open(f, Options{}, 120, 40, "H").View(); !strings.Contains(v, "e.g. line 7: oops") || !strings.Contains(v, "e.g. /v1/a/9") {
		t.Errorf("health lacks an example:\n%s", v)
	}
}

// Rows 1 to 4 answer the first questions in every state and at every size, each
// state by a word and a glyph of its own.
func TestBannerAnswers(t *testing.T) {
	states := map[string]*detect.Snapshot{
		"▲ STORM": stormSnapshot(), "■ OVERLOAD": overloadSnapshot(), "● WATCH": watchSnapshot(), "◌ RECOVERING": recoveringSnapshot(),
		"✓ CLEAR": clearSnapshot(), "? UNKNOWN": unknownSnapshot(),
	}
	for word, s := range states {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {61, 21}, {60, 16}} {
			for _, key := range []string{"1", "2", "3", "4", "5", "6", "7", "w", "H", "?"} {
				v := open(replay(s), Options{}, size[0], size[1], key).View()
				head := strings.Join(strings.Split(v, "\n")[1:5], "\n")
				want := []string{word, " do  "}
				if s.Verdict.State >= detect.Watch {
					want = append(want, " not ", "amp ", "ref", "good", "conf")
				}
				if s.Verdict.State == detect.Unknown {
					want = append(want, " get ", "seen ", "refused ")
				}
				for _, w := range want {
					if !strings.Contains(head, w) {
						t.Fatalf("%v, screen %s: no %q in\n%s", size, key, w, head)
					}
				}
			}
		}
	}
}

// Of who it is, the words go before the numbers, and the route stays.
func TestWhoIsCutFromTheWords(t *testing.T) {
	s := stormSnapshot()
	s.Verdict.Party = detect.Party{Clients: 388, Of: 430, Does: "in step", Agent: "go-resty/2.7.0", Route: "POST api.pay/v1/charge"}
	s.Verdict.Who = s.Verdict.Party.String()
	for w, want := range map[int]string{
		100: "388 of 430 clients in step, agent go-resty/2.7.0 → POST api.pay/v1/charge",
		70:  "388/430 clients in step go-resty/2.7.0 → POST api.pay/v1/charge",
		60:  "388/430 clients in step go-resty/2.7.0 → POST /v1/charge",
		50:  "388/430 in step go-resty/2.7.0 → POST /v1/charge",
		42:  "388/430 go-resty/2.7.0 → POST /v1/charge",
		36:  "388/430 go-resty → POST /v1/charge",
		26:  "388/430 → POST /v1/charge",
		20:  "388/430 → POST /v1/…",
	} {
		if got := who(s, w); got != want {
			t.Errorf("%d columns: %q, want %q", w, got, want)
		}
	}
}

func TestTenants(t *testing.T) {
	v := open(replay(tenantsSnapshot()), Options{}, 120, 40, "2").View()
	for _, want := range []string{"Tenants 60 of 430", "TENANT", "checkout", "victim", "kept", "the first 12 of 430 make 51%, the first 120 of 430 make 80% of the avoidable load", "grew most: route POST api.pay/v1/charge: 12/s before, now 40/s", "370 others"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, v)
		}
	}
	for w := 60; w <= 200; w++ { // what ranks a row, and how it treats hints, is shown at any width
		heads := fmt.Sprint(fields(stormSnapshot(), w, 15))
		for _, want := range []string{"AVOID", "EARLY", "SIGN", "CLIENT"} {
			if !strings.Contains(heads, want) {
				t.Fatalf("width %d lacks %s", w, want)
			}
		}
		if w >= 80 && !strings.Contains(heads, "POLICY") {
			t.Fatalf("width %d lacks the policy", w)
		}
	}
}
