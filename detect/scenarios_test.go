package detect_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"stormwatch/detect"
	"stormwatch/sim"
)

func TestCapturesAreJudgedAsExpected(t *testing.T) {
	for _, name := range scenarios(t) {
		t.Run(name, func(t *testing.T) { judgesAsExpected(t, load(t, name)) })
	}
}

// scenarios are those of all captures of the repository.
func scenarios(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../testdata/pcaps/*/scenario.yaml")
	if err != nil || len(files) < len(captures) {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, f := range files {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	return names
}

// The built scenarios: those who give way, those who loop, and those who must
// not be taken for either.
func TestBuiltScenariosAreJudgedAsExpected(t *testing.T) {
	for name, text := range built {
		t.Run(name, func(t *testing.T) { judgesAsExpected(t, play(t, text, 5)) })
	}
}

var built = map[string]string{
	// Three times the limit from the start, and everybody obeys: no baseline, so the
	// cause stays open.
	"obedient, no calm before": `
name: obedient
start: 2026-03-02T03:10:00Z
duration: 60s
server: {limiter: {limit: 10, window: 1s}, hint: 2s..6s}
groups:
  - {name: app, count: 60, agent: app/1, policy: hint-floor base=1s attempts=3, paths: ["/a/{id}"], demand: [{rate: 0.5}]}
expect: {state: overload, cause: unknown}
`,
	// Pollers at a fixed pace, never refused.
	"pollers": `
name: pollers
start: 2026-03-02T03:10:00Z
duration: 60s
server: {limiter: {limit: 100, window: 1s}}
groups:
  - {name: poll, count: 50, agent: poll/1, policy: none, paths: ["/state/{client}"], demand: [{every: 2s}]}
expect: {state: clear, cause: none, quiet: true}
`,
	// A burst fills a limiter that counts what it refuses; full jitter without a
	// limit of attempts keeps it full after demand has fallen back.
	"self-sustaining loop": `
name: loop
start: 2026-03-02T03:10:00Z
duration: 120s
server: {limiter: {limit: 30, window: 1s, count_refused: true}, hint: none}
groups:
  - {name: app, count: 80, agent: app/1, policy: full-jitter base=300ms cap=1s, paths: ["/a/{id}"], demand: [{rate: 0.2}, {from: 30s, to: 36s, rate: 1.2}]}
expect:
  state: storm
  cause: sustaining-loop
  findings: [{signature: rising-share-after-burst, scope: population}, {signature: hint-missing, scope: population}, {signature: uncapped-attempts}, {signature: low-ceiling-backoff}, {signature: budget-exceeded}]
`,
}

func judgesAsExpected(t *testing.T, res *sim.Result) {
	t.Helper()
	want := res.Scenario.Expect
	s := judged(t, res, detect.Options{})
	var remarks []string
	for i := range s.Findings {
		if s.Findings[i].Severity == detect.Info {
			remarks = append(remarks, s.Findings[i].Signature)
		}
	}
	got := sim.Conclusion{State: s.Verdict.State.String(), Cause: s.Verdict.Cause.String(), Exit: -1, Raised: raised(s), Remarks: remarks}
	for _, miss := range want.Misses(got) {
		t.Errorf("%s (%s)", miss, s.Verdict.What)
	}
	if want.Later {
		t.Logf("later: %s of %s, want %s of %s", got.State, got.Cause, want.State, want.Cause)
		return
	}
	for _, f := range want.Findings {
		if !f.Later {
			namesTheGroup(t, res, s, f)
		}
	}
}

// namesTheGroup checks whom a finding names: the clients of the group at fault
// and nobody else, or nobody where it is said to be everybody's.
func namesTheGroup(t *testing.T, res *sim.Result, s *detect.Snapshot, want sim.Finding) {
	t.Helper()
	i := slices.IndexFunc(s.Findings, func(f detect.Finding) bool { return f.Signature == want.Signature })
	if i < 0 {
		return // told already
	}
	f := &s.Findings[i]
	if want.Scope != "" && f.Scope != want.Scope {
		t.Errorf("%s: scope %s, want %s", f.Signature, f.Scope, want.Scope)
	}
	sum := 0.0
	for _, p := range f.Parts {
		sum += p.Points
	}
	if math.Abs(min(sum, 1)-f.Score) > 1e-9 || f.Score <= 0 {
		t.Errorf("%s: score %v, the parts sum to %v", f.Signature, f.Score, sum)
	}
	if want.Clients == "" {
		return
	}
	var members []string
	agent := ""
	for _, c := range res.Clients {
		if g := &res.Scenario.Groups[c.Group]; g.Name == want.Clients {
			agent = g.Agent
			members = append(members, c.Addr.String())
		}
	}
	for _, c := range f.Clients {
		if !slices.Contains(members, c) {
			t.Errorf("%s names %s, which is not of group %s", f.Signature, c, want.Clients)
		}
	}
	if f.Agent != "" && f.Agent != agent {
		t.Errorf("%s names agent %s, want %s", f.Signature, f.Agent, agent)
	}
	if f.ClientCount < len(members)*4/5 || f.ClientCount > len(members) {
		t.Errorf("%s: %d clients, want nearly all of the %d of group %s and no more", f.Signature, f.ClientCount, len(members), want.Clients)
	}
	if len(f.At) == 0 {
		t.Errorf("%s shows no exchange", f.Signature)
	}
}

// place is an exchange of a chain, as rows tell it.
type place struct {
	chain   string
	attempt int
}

// The bars are those of short, mixed recordings.
func TestChainsOfTheCaptures(t *testing.T) {
	const pairBar, attemptBar = .96, .90
	for _, name := range scenarios(t) {
		res := load(t, name)
		p := recording(t, res, detect.Options{})
		var rows []place
		last := int64(0)
		p.OnRow(func(r *detect.Row) error {
			if r.X.Start < last {
				t.Errorf("%s: a row of %d after one of %d", name, r.X.Start, last)
			}
			last = r.X.Start
			rows = append(rows, place{r.Chain, r.Attempt})
			return nil
		})
		runAll(t, p)
		if len(rows) != len(res.Rows) {
			t.Fatalf("%s: %d rows, want %d", name, len(rows), len(res.Rows))
		}
		exact := 0
		truth := res.Rows
		rows, truth = withoutCopies(rows, truth)
		for i := range rows {
			if rows[i].attempt == truth[i].Attempt {
				exact++
			}
		}
		f1, share := pairF1(rows, truth), float64(exact)/float64(len(rows))
		t.Logf("%-20s pair F1 %.4f, attempts exact %.4f of %d", name, f1, share, len(rows))
		if (f1 < pairBar || share < attemptBar) && !res.Scenario.Expect.ChainsLater {
			t.Errorf("%s: pair F1 %.3f, attempts exact %.3f, want %.2f, %.2f", name, f1, share, pairBar, attemptBar)
		}
	}
}

// withoutCopies leaves out second copies that were sent before the first answer:
// they are no retries.
func withoutCopies(rows []place, truth []sim.Row) (keptRows []place, kept []sim.Row) {
	for i := range rows {
		if !truth[i].Copy {
			keptRows, kept = append(keptRows, rows[i]), append(kept, truth[i])
		}
	}
	return keptRows, kept
}

// pairF1 compares all pairs of exchanges that share a chain. Counting by cells
// of (chain found, true chain) avoids listing them.
func pairF1(got []place, want []sim.Row) float64 {
	type cell struct {
		chain string
		truth uint64
	}
	both, found, truth := map[cell]int{}, map[string]int{}, map[uint64]int{}
	for i := range got {
		both[cell{got[i].chain, want[i].Chain}]++
		found[got[i].chain]++
		truth[want[i].Chain]++
	}
	hit, said, real := 0, 0, 0
	for _, n := range both {
		hit += n * (n - 1) / 2
	}
	for _, n := range found {
		said += n * (n - 1) / 2
	}
	for _, n := range truth {
		real += n * (n - 1) / 2
	}
	if said+real == 0 {
		return 1
	}
	return 2 * float64(hit) / float64(said+real)
}
