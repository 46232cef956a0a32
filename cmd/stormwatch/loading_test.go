package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stormwatch/capture"
	"stormwatch/capture/packet"
	"stormwatch/detect"
	"stormwatch/report"
)

// unhurried is a recorded source that takes its time: it tells its batches piece by
// piece, and how far it is by then.
type unhurried struct {
	capture.Source
	wait time.Duration // before each piece
}

func (s unhurried) Run(ctx context.Context, sink capture.Sink) error {
	was := 0.
	return s.Source.Run(ctx, func(b *capture.Batch) error {
		all, told, done, n := b.Exchanges, b.Watermark, b.Done, len(b.Exchanges)
		for len(all) > 50 {
			time.Sleep(s.wait)
			b.Exchanges, all = all[:50], all[50:]
			b.Done = was + (done-was)*float64(n-len(all))/float64(n)
			b.Watermark = all[0].Start
			for i := range all {
				b.Watermark = min(b.Watermark, all[i].Start)
			}
			if err := sink(b); err != nil {
				return err
			}
		}
		time.Sleep(s.wait)
		b.Exchanges, b.Watermark, b.Done, was = all, told, done, done
		return sink(b)
	})
}

func slowDemo(t *testing.T, wait time.Duration) []input {
	t.Helper()
	m := &meter{in: bytes.NewReader(incident), total: int64(len(incident))}
	src, err := packet.Open("demo", m, packet.Options{Size: int64(len(incident)), Secrets: capture.NewSecrets(), Vantage: "capture"})
	if err != nil {
		t.Fatal(err)
	}
	return []input{{Source: unhurried{src, wait}, read: m}}
}

// A recording that takes long to read is judged meanwhile, and how far it is, is
// told; snapshots go on in one row when it is played.
func TestLoadingShowsPartialResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := builtin(t)
		rec := detect.NewRecording(o)
		defer rec.Close()
		p := newReplayPlayer(rec, 1)
		ins := slowDemo(t, 2*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			err := p.load(ctx, ins, o)
			if err == nil {
				err = p.run(ctx)
			}
			done <- err
		}()
		judged, seq, estimated := detect.Unknown, uint64(0), false
		for range 2000 {
			time.Sleep(publishEvery)
			synctest.Wait()
			at, s := p.Progress(), p.Snapshot()
			if at.Doing == "" {
				break
			}
			if at.Doing == "reading" && s.Totals.Exchanges > 0 {
				judged = max(judged, s.Verdict.State)
				if s.Seq < seq {
					t.Fatalf("snapshot %d after %d", s.Seq, seq)
				}
				seq = s.Seq
			}
			if at.Left > 0 && at.Total == int64(len(incident)) && at.Bytes > 0 {
				estimated = true
			}
			if at.Share < 0 || at.Share > 1 || at.Bytes > at.Total {
				t.Fatalf("%+v", at)
			}
			if _, _, err := p.Report(); err == nil || !strings.Contains(err.Error(), "still being read") {
				t.Fatalf("a report of what is still being read: %v", err)
			}
		}
		if judged == detect.Unknown || seq == 0 {
			t.Errorf("nothing was judged while it was read: %v, %d", judged, seq)
		}
		if !estimated {
			t.Error("the time left was never told")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if s := p.Snapshot(); s.Seq <= seq || s.Loaded != 1 {
			t.Errorf("played, the snapshot is %d after %d, loaded %v", s.Seq, seq, s.Loaded)
		}
		cancel()
		<-done
	})
}

// What is told to be read has a moment to go to, from the first frame on: a key
// pressed at once is not lost.
func TestReadMeansThereIsAMoment(t *testing.T) {
	o := builtin(t)
	rec := detect.NewRecording(o)
	defer rec.Close()
	p := newReplayPlayer(rec, 1)
	if at := p.Progress(); at.Doing == "" {
		t.Error("before anything was read nothing is said to be under way")
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		err := p.load(ctx, slowDemo(t, 0), o)
		if err == nil {
			err = p.run(ctx)
		}
		done <- err
	}()
	for p.Progress().Doing != "" { // no pause between the looks: the moment is a short one
	}
	if s := p.Snapshot(); s.Start == 0 || s.End <= s.Start {
		t.Errorf("it is said to be read, and spans %d to %d", s.Start, s.End)
	}
	cancel()
	<-done
}

// The report that the console exports judges the recording up to the moment shown,
// and has examples of chains.
func TestPlayerReports(t *testing.T) {
	play(t, 1, func(p *playing) {
		p.Pause(true)
		p.SeekTo(p.start + 38e9)
		p.settled()
		s, _, err := p.Report()
		if err != nil {
			t.Fatal(err)
		}
		if s.Verdict.State != detect.Storm || len(s.Chains) == 0 || len(s.Timeline.Bins) < 30 || s.At > p.start+39e9 {
			t.Errorf("%v with %d chains, %d bins", s.Verdict.State, len(s.Chains), len(s.Timeline.Bins))
		}
		p.Want(detect.View{Filter: func(c *detect.Client) bool { return c.Label == s.Clients[1].Label }})
		if one, _, err := p.Report(); err != nil || len(one.Clients) != 1 {
			t.Errorf("filtered, %d clients, %v", len(one.Clients), err)
		}
	})
}

// Redacted, the console shows numbers that stay, and its wishes reach the clients
// meant.
func TestPlayerRedacts(t *testing.T) {
	play(t, 0, func(p *playing) {
		p.toEnd()
		p.redact = report.NewRedactor()
		p.Pause(true)
		p.Want(detect.View{TopK: 5})
		s := p.settled()
		name := s.Clients[2].Label
		if !strings.HasPrefix(name, "client-") {
			t.Fatalf("a client is shown as %s", name)
		}
		p.Want(detect.View{TopK: 5, Client: name, Filter: func(c *detect.Client) bool { return c.Label == name }})
		s = p.settled()
		if len(s.Clients) != 1 || s.Clients[0].Label != name || len(s.Chains) == 0 || s.Chains[0].Client != name {
			t.Errorf("%d clients, %d chains", len(s.Clients), len(s.Chains))
		}
	})
}
