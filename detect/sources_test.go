package detect_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/sim"
)

// given is a source of a test: batches under a name.
type given struct {
	info capture.Info
	all  []*capture.Batch
}

func together(t *testing.T, o detect.Options, in ...given) *detect.Snapshot {
	t.Helper()
	rec := detect.NewRecording(withRules(t, o))
	defer rec.Close()
	for _, g := range in {
		inlet := rec.Inlet(g.info)
		for _, b := range g.all {
			take(t, inlet, b)
		}
	}
	if err := rec.Seal(); err != nil {
		t.Fatal(err)
	}
	p, err := detect.NewReplay(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.RunAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	return p.Snapshot(detect.View{Whole: true})
}

func from(t *testing.T, res *sim.Result, name, vantage string) given {
	return given{capture.Info{Name: name, Kind: "capture", Vantage: vantage}, batches(t, res)}
}

// portless are batches as a log gives them: no ports, and a coarse clock.
func portless(t *testing.T, res *sim.Result, name string, clock int64) given {
	g := given{capture.Info{Name: name, Kind: "log", Vantage: "log"}, batches(t, res)}
	for _, b := range g.all {
		for i := range b.Exchanges {
			x := &b.Exchanges[i]
			x.Src.Port, x.Dst.Port, x.ConnSeq = 0, 0, 0
			x.Start, x.End = x.Start-x.Start%clock, x.End-x.End%clock
		}
	}
	return g
}

// The same traffic seen twice at one hop is counted once, and the report says so.
func TestCopiesAreCountedOnce(t *testing.T) {
	for _, name := range captures {
		res := load(t, name)
		want := together(t, detect.Options{}, from(t, res, "a", "tap"))
		got := together(t, detect.Options{}, from(t, res, "a", "tap"), from(t, res, "b", "tap"))
		if !strings.Contains(got.Sources[1].Note, "counted once") {
			t.Errorf("%s: the second source's note: %q", name, got.Sources[1].Note)
		}
		agree(t, name, unplaced(got), unplaced(want))
		for _, clock := range []int64{1e6, 1e9} {
			want := together(t, detect.Options{}, portless(t, res, "a", clock))
			got := together(t, detect.Options{}, portless(t, res, "a", clock), portless(t, res, "b", clock))
			agree(t, name+" as a log", unplaced(got), unplaced(want))
		}
	}
}

// A copy that is a part of the other, and one that lost answers, count once too.
func TestPartialCopies(t *testing.T) {
	res := load(t, "lockstep-bare-429")
	want := together(t, detect.Options{}, from(t, res, "a", "tap"))
	part := from(t, cut(res, .6), "b", "tap")
	agree(t, "a part", unplaced(together(t, detect.Options{}, from(t, res, "a", "tap"), part)), unplaced(want))
	log := portless(t, cut(res, .6), "b", 1e6)
	agree(t, "a part of a log", unplaced(together(t, detect.Options{}, portless(t, res, "a", 1e6), log)),
		unplaced(together(t, detect.Options{}, portless(t, res, "a", 1e6))))
	lossy := from(t, res, "b", "tap")
	for _, b := range lossy.all {
		for i := range b.Exchanges {
			if x := &b.Exchanges[i]; i%3 == 0 {
				x.Status, x.Outcome, x.Reason, x.Hint, x.End = 0, capture.NoAnswer, capture.Unjudged, capture.Hint{}, x.End+1e9
			}
		}
	}
	agree(t, "the first lost answers", unplaced(together(t, detect.Options{}, lossy, from(t, res, "a", "tap"))), unplaced(want))
}

// Two hosts that serve one client at the same moments are no copies of each other.
func TestHostsAreNoCopies(t *testing.T) {
	res := play(t, crowd, 3)
	other := play(t, crowd, 4)
	a, b := portless(t, res, "a", 1e9), portless(t, other, "b", 1e9)
	s := together(t, detect.Options{}, a, b)
	if want := int64(len(res.Rows) + len(other.Rows)); s.Totals.Exchanges != want {
		t.Errorf("%d exchanges, want the %d of both: %q", s.Totals.Exchanges, want, s.Sources[1].Note)
	}
}

// Nor are two hosts of whose requests all look alike, from one proxy to one route
// in the same seconds: the lines differ in a byte.
func TestLinesThatLookAlikeAreNoCopies(t *testing.T) {
	log := func(name string, salt uint64) given {
		b := capture.Batch{Names: capture.NewInterner(10, 100)}
		for i := range int64(600) {
			b.Exchanges = append(b.Exchanges, capture.Exchange{
				Start: wall + i*1e9, End: wall + i*1e9, Status: 200, Reason: capture.OK, Outcome: capture.Answered, Line: uint64(i)<<8 | salt,
			})
		}
		return given{capture.Info{Name: name, Kind: "log", Vantage: "log"}, []*capture.Batch{&b}}
	}
	if s := together(t, detect.Options{}, log("a", 1), log("b", 2)); s.Totals.Exchanges != 1200 {
		t.Errorf("%d exchanges of two hosts, want 1200", s.Totals.Exchanges)
	}
	if s := together(t, detect.Options{}, log("a", 1), log("copy", 1)); s.Totals.Exchanges != 600 {
		t.Errorf("%d exchanges of a log and its copy, want 600", s.Totals.Exchanges)
	}
}

// Hosts behind a balancer, each with a log of its own, make one picture: as if all
// had been written to one log, whatever the sources are called.
func TestHostsAreSummed(t *testing.T) {
	for _, name := range captures {
		res := load(t, name)
		whole := batches(t, res)
		want := together(t, detect.Options{}, given{capture.Info{Name: "a", Kind: "log", Vantage: "a"}, whole})
		var hosts [3]given
		for h := range hosts {
			vantage := string(rune('a' + h))
			hosts[h] = given{info: capture.Info{Name: vantage, Kind: "log", Vantage: vantage}}
			for _, b := range batches(t, res) {
				part := *b
				part.Exchanges = nil
				for i := range b.Exchanges {
					if (b.Exchanges[i].At.A*7919/13)%3 == uint64(h) {
						part.Exchanges = append(part.Exchanges, b.Exchanges[i])
					}
				}
				hosts[h].all = append(hosts[h].all, &part)
			}
		}
		got := together(t, detect.Options{}, hosts[0], hosts[1], hosts[2])
		agree(t, name, unsure(unplaced(got)), unsure(unplaced(want)))
	}
}

// A capture and the log of the same host are one exchange each; the capture, which
// shows more, counts, and the log's clock is compared with it.
func TestCaptureAndItsOwnLog(t *testing.T) {
	for _, name := range captures {
		res := load(t, name)
		want := together(t, detect.Options{}, from(t, res, "tap", "capture"))
		log := portless(t, res, "access.log", 1e6)
		for _, b := range log.all {
			for i := range b.Exchanges {
				b.Exchanges[i].Start -= 2_400_000_000
				b.Exchanges[i].End -= 2_400_000_000
			}
		}
		for _, order := range [][]given{{from(t, res, "tap", "capture"), log}, {log, from(t, res, "tap", "capture")}} {
			got := together(t, detect.Options{}, order...)
			agree(t, name, unsure(unplaced(got)), unsure(unplaced(want)))
			for i := range got.Sources {
				if s := &got.Sources[i]; s.Primary != (s.Kind == "capture") || s.Kind == "log" && (s.OffsetSeconds < -2.41 || s.OffsetSeconds > -2.39 || !strings.Contains(s.Note, "same exchanges as tap")) {
					t.Errorf("%s: %s: primary %v, %+.3f s, %q", name, s.Name, s.Primary, s.OffsetSeconds, s.Note)
				}
			}
		}
	}
}

// Where too little tells that a capture and a log of one hop saw the same (all ask for
// two things, whole seconds, a handful of lines), they are told apart by their kinds:
// one of them counts, and the totals never double, whether the hop was named or not.
func TestCaptureAndItsOwnLogNeverDouble(t *testing.T) {
	alike := func(g given) given {
		for _, b := range popular(g).all {
			for i := range b.Exchanges {
				b.Exchanges[i].RequestID = 0
			}
		}
		return g
	}
	few := func(g given) given {
		g.all = g.all[:1]
		g.all[0].Exchanges = g.all[0].Exchanges[:12]
		return g
	}
	as := func(g given) given { return g }
	for _, name := range captures {
		res := load(t, name)
		for what, change := range map[string]func(given) given{"as it is": as, "all ask for two things": alike, "a handful": few} {
			for _, clock := range []int64{1e6, 1e9} {
				for _, vantage := range []string{"", "web"} {
					tap, log := change(from(t, res, "tap", "capture")), change(portless(t, res, "access.log", clock))
					if vantage != "" {
						tap.info.Vantage, log.info.Vantage = vantage, vantage
					}
					want := int64(0)
					for _, b := range tap.all {
						want += int64(len(b.Exchanges))
					}
					for i, order := range [][]given{{tap, log}, {log, tap}} {
						if got := together(t, detect.Options{}, order...).Totals.Exchanges; got != want {
							t.Errorf("%s, %s, clock %d ns, hop %q, order %d: %d exchanges, want the %d of the capture", name, what, clock, vantage, i, got, want)
						}
					}
				}
			}
		}
	}
}

// Edge and service both log a request: it is one request at two hops, in whatever
// order and under whatever names they are given.
func TestTwoHopsAreNotSummed(t *testing.T) {
	res := load(t, "retry-after-ignored")
	want := together(t, detect.Options{}, portless(t, res, "edge.log", 1e6))
	behind := portless(t, res, "service.log", 1e6)
	for _, b := range behind.all {
		kept := b.Exchanges[:0]
		for _, x := range b.Exchanges {
			if x.Status == 200 { // the edge refuses the others itself
				x.Start, x.End, x.Src.IP = x.Start+1e6, max(x.End-1e6, x.Start+1e6), [16]byte{15: 9}
				kept = append(kept, x)
			}
		}
		b.Exchanges = kept
	}
	got := together(t, detect.Options{}, portless(t, res, "edge.log", 1e6), behind)
	agree(t, "edge and service", unsure(unplaced(got)), unsure(unplaced(want)))
	if n := got.Sources[1].Note; !strings.Contains(n, "behind edge.log") {
		t.Errorf("the note of the service's log: %q", n)
	}
}

// What the operator knows of a clock is taken off before anything is compared.
func TestClockGivenByTheOperator(t *testing.T) {
	res := load(t, "lockstep-bare-429")
	want := together(t, detect.Options{}, from(t, res, "a", "tap"))
	late := from(t, res, "a", "tap")
	for _, b := range late.all {
		for i := range b.Exchanges {
			b.Exchanges[i].Start += 90e9
			b.Exchanges[i].End += 90e9
		}
	}
	got := together(t, detect.Options{Clock: map[string]int64{"a": 90e9}}, late)
	agree(t, "corrected", got, want)
	if got.Start != want.Start || got.Sources[0].OffsetSeconds != 90 {
		t.Errorf("starts %d, want %d; offset %.3f s, want 90", got.Start, want.Start, got.Sources[0].OffsetSeconds)
	}
}

// Where everybody asks for the same few things, what two sources saw cannot be
// compared, and names decide: another name is another hop, and nothing that is
// counted or concluded changes, save that this is told.
func TestAnotherHopChangesNothing(t *testing.T) {
	res := load(t, "retry-after-ignored")
	want := together(t, detect.Options{}, from(t, res, "edge", "edge"))
	far := from(t, play(t, crowd, 3), "inner", "inner")
	later := res.Rows[0].Start - far.all[0].Exchanges[0].Start + 10e9
	for _, b := range far.all {
		for i := range b.Exchanges {
			b.Exchanges[i].Start += later
			b.Exchanges[i].End += later
			b.Exchanges[i].Target = b.Exchanges[0].Target
		}
	}
	got := together(t, detect.Options{}, from(t, res, "edge", "edge"), far)
	if !slices.ContainsFunc(got.Verdict.NextEvidence, func(s string) bool { return strings.Contains(s, "inner") }) {
		t.Errorf("nothing near the headline says that inner is not counted: %q", got.Verdict.NextEvidence)
	}
	got.Verdict.NextEvidence, want.Verdict.NextEvidence = nil, nil
	agree(t, "beside another hop", unplaced(got), unplaced(want))
}

// A line of a broken clock does not stretch the recording.
func TestLineDatedYearsAheadIsSetAside(t *testing.T) {
	res := load(t, "lockstep-bare-429")
	want := together(t, detect.Options{}, from(t, res, "a", "tap"))
	for name, shift := range map[string]int64{"ahead": 4e8, "behind": -5e8, "a month": 30 * 86400} {
		g := from(t, res, "a", "tap")
		odd := g.all[0].Exchanges[0]
		odd.Start, odd.End = odd.Start+shift*1e9, odd.End+shift*1e9
		odd.At = capture.Provenance{A: 77}
		last := g.all[len(g.all)-1]
		last.Exchanges = append(last.Exchanges, odd)
		got := together(t, detect.Options{}, g)
		agree(t, name, unsure(got), unsure(want))
		if got.Start != want.Start || got.End != want.End {
			t.Errorf("%s: the recording is %d to %d, want %d to %d", name, got.Start, got.End, want.Start, want.End)
		}
		if k := got.Sources[0].Health.Skipped; len(k) != 1 || k[0].Count != 1 || k[0].Examples[0] != "frame 77" {
			t.Errorf("%s: health tells %v", name, k)
		}
	}
}

// unplaced leaves out where a finding was read, which names the source where there
// are several.
func unplaced(s *detect.Snapshot) *detect.Snapshot {
	out := *s
	out.Findings = slices.Clone(s.Findings)
	for i := range out.Findings {
		out.Findings[i].At = nil
	}
	return &out
}

// unsure leaves out confidence, which falls with each line that cannot be used.
func unsure(s *detect.Snapshot) *detect.Snapshot {
	out := *s
	out.Verdict.Confidence = 0
	out.Findings = slices.Clone(s.Findings)
	for i := range out.Findings {
		out.Findings[i].Confidence = 0
	}
	return &out
}

// A quiet service keeps every request, however far apart.
func TestSleepyServiceLosesNothing(t *testing.T) {
	var b capture.Batch
	b.Names = capture.NewInterner(10, 100)
	for i := range int64(120) {
		b.Exchanges = append(b.Exchanges, capture.Exchange{
			Start: wall + i*7*86400e9, End: wall + i*7*86400e9 + 1e6, Status: 200, Reason: capture.OK, Outcome: capture.Answered,
		})
	}
	s := together(t, detect.Options{}, given{capture.Info{Name: "weekly", Kind: "log", Vantage: "log"}, []*capture.Batch{&b}})
	if s.Totals.Exchanges != 120 || s.Sources[0].Health.SkippedTotal() != 0 {
		t.Errorf("%d exchanges, set aside %v, want all 120", s.Totals.Exchanges, s.Sources[0].Health.Skipped)
	}
}
