package detect_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stormwatch/capture"
	"stormwatch/detect"
)

// of tells whether a client is of an agent.
func of(agent string) detect.ClientFilter {
	return func(c *detect.Client) bool { return c.Agent == agent }
}

// What is judged of some clients alone is what would be judged of an input that has
// no others, wherever the replay of all stands, and however it is gone through.
func TestOnlySomeClients(t *testing.T) {
	res := play(t, crowd, 1)
	p := recording(t, res, detect.Options{Shards: 2})
	runAll(t, p)
	all := p.Snapshot(detect.View{Whole: true})
	for _, agent := range []string{"deaf/1", "calm/1", "herd/1"} {
		alone := sealed(t, detect.Options{Shards: 2}, res.Source("sim").Info(), func(take capture.Sink) error {
			return res.Source("sim").Run(context.Background(), func(b *capture.Batch) error {
				kept := *b
				kept.Exchanges = nil
				for i := range b.Exchanges {
					if b.Names.Text(b.Exchanges[i].Agent) == agent {
						kept.Exchanges = append(kept.Exchanges, b.Exchanges[i])
					}
				}
				return take(&kept)
			})
		})
		to := all.Start + 30e9 // the herd's own input ends before the others'
		if err := alone.RunTo(context.Background(), to); err != nil {
			t.Fatal(err)
		}
		want := alone.Snapshot(detect.View{Whole: true})

		if err := p.Seek(context.Background(), all.Start+3e9); err != nil {
			t.Fatal(err)
		}
		pass := p.Passing(of(agent), true)
		if pass.Len() != want.ClientCount {
			t.Errorf("%s: %d clients pass, want %d", agent, pass.Len(), want.ClientCount)
		}
		q, err := p.Only(t.Context(), pass)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []int64{all.Start + 10e9, all.Start + 25e9, all.Start + 12e9, to} {
			if err := q.Seek(context.Background(), to); err != nil {
				t.Fatal(err)
			}
		}
		got := q.Snapshot(detect.View{Whole: true})
		if got.Start != all.Start || got.End != all.End {
			t.Errorf("%s: it spans %d to %d, the recording %d to %d", agent, got.Start, got.End, all.Start, all.End)
		}
		type told struct {
			Verdict  detect.Verdict
			Totals   detect.Totals
			Bins     []detect.Bin
			Findings []detect.Finding
			Clients  []detect.Client
		}
		tell := func(s *detect.Snapshot) told {
			x := told{s.Verdict, s.Totals, s.Timeline.Bins, s.Findings, s.Clients}
			x.Totals.GoodputPerS = detect.Number{} // of the time since the first request, which is another's
			return x
		}
		if d := cmp.Diff(tell(want), tell(got)); d != "" {
			t.Errorf("%s alone (-by itself +filtered):\n%s", agent, shorten(d))
		}
		if q.Clients() != want.ClientCount {
			t.Errorf("%s: %d clients seen, want %d", agent, q.Clients(), want.ClientCount)
		}
	}
}

// Who has a name or an agent is told of all clients of the recording, whatever the
// moment shown and however little memory there is for checkpoints.
func TestLastingFilterKnowsThoseToCome(t *testing.T) {
	res := play(t, crowd, 1)
	for _, memory := range []int64{0, 1, -1} {
		p := recording(t, res, detect.Options{MaxCheckpoints: memory})
		runAll(t, p)
		all := p.Snapshot(detect.View{TopK: 1 << 20})
		want := map[string]int{}
		for i := range all.Clients {
			want["agent "+all.Clients[i].Agent]++
			want["client "+all.Clients[i].Label]++
			want["route "+all.Clients[i].Route]++
		}
		if err := p.Seek(t.Context(), all.Start+1e9); err != nil {
			t.Fatal(err)
		}
		if now := p.Clients(); now == all.ClientCount {
			t.Fatalf("all %d clients have been seen after a second: too soon for this test", now)
		}
		for who, n := range want {
			filter := func(c *detect.Client) bool {
				return who == "agent "+c.Agent || who == "client "+c.Label || who == "route "+c.Route
			}
			if pass := p.Passing(filter, true); pass.Len() != n {
				t.Errorf("with %d bytes for checkpoints %d clients of %s pass, want %d", memory, pass.Len(), who, n)
			}
		}
	}
}

// Nobody passes, or all do.
func TestOnlyNobodyAndAll(t *testing.T) {
	p := recording(t, play(t, crowd, 2), detect.Options{})
	runAll(t, p)
	want := p.Snapshot(detect.View{})
	everybody, err := p.Only(t.Context(), p.Passing(func(*detect.Client) bool { return true }, false))
	if err != nil {
		t.Fatal(err)
	}
	runAll(t, everybody)
	got := everybody.Snapshot(detect.View{})
	got.Seq = want.Seq
	same(t, "all clients", got, want)
	nobody, err := p.Only(t.Context(), p.Passing(func(*detect.Client) bool { return false }, false))
	if err != nil {
		t.Fatal(err)
	}
	runAll(t, nobody)
	if s := nobody.Snapshot(detect.View{}); s.Totals.Exchanges != 0 || s.ClientCount != 0 || s.Verdict.State == detect.Storm {
		t.Errorf("nobody: %+v, %d clients, %v", s.Totals, s.ClientCount, s.Verdict.State)
	}
}
