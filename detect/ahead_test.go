package detect

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
	"stormwatch/capture/packet"
	"stormwatch/rules"
	"stormwatch/sim"
)

// outcome is what a recording came to.
type outcome struct {
	whole, end *Snapshot
	start, to  int64
}

// onceJudged records what deliver hands over, and judges it. With records above 0
// it is judged while it is read: from the first exchange on, with so many waiting.
func onceJudged(t *testing.T, o Options, info capture.Info, records int, deliver func(capture.Sink) error) (out outcome, err error) {
	t.Helper()
	if o.Rules, err = rules.Load(); err != nil {
		t.Fatal(err)
	}
	o.TempDir, o.Once = t.TempDir(), records > 0
	rec := NewRecording(o)
	defer func() {
		if failed := rec.Close(); failed != nil {
			t.Error(failed)
		}
	}()
	take := rec.Inlet(info).Take
	if records > 0 {
		rec.ahead.begin, rec.ahead.win = 1, newSorter(records)
	}
	if err = deliver(take); err != nil {
		return out, err
	}
	if err = rec.Seal(); err != nil {
		return out, err
	}
	p, err := NewReplay(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.RunAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	out.whole, out.end = p.Snapshot(View{Whole: true}), p.Snapshot(View{})
	out.start, out.to = p.Span()
	return out, nil
}

// agree judges an input both ways and tells whether it could be judged while it was
// read; if so, both must have come to the same.
func agree(t *testing.T, what string, o Options, info capture.Info, records int, deliver func(capture.Sink) error) bool {
	t.Helper()
	got, err := onceJudged(t, o, info, records, deliver)
	if errors.Is(err, ErrReread) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	want, err := onceJudged(t, o, info, 0, deliver)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); d != "" {
		t.Errorf("%s, judged while read, %d waiting (-want +got):\n%.3000s", what, records, d)
	}
	return true
}

// from is a source over batches, each a copy.
func from(all []capture.Batch) func(capture.Sink) error {
	return func(take capture.Sink) error {
		for i := range all {
			b := all[i]
			b.Exchanges = slices.Clone(b.Exchanges)
			if err := take(&b); err != nil {
				return err
			}
		}
		return nil
	}
}

func busyBatches(t *testing.T) (all []capture.Batch, info capture.Info) {
	t.Helper()
	sc, err := sim.Parse([]byte(busy))
	if err != nil {
		t.Fatal(err)
	}
	src := sim.Run(sc).Source("busy")
	err = src.Run(context.Background(), func(b *capture.Batch) error {
		c := *b
		c.Exchanges, c.Text = slices.Clone(b.Exchanges), slices.Clone(b.Text)
		if b.Health != nil {
			c.Health = b.Health.Clone()
		}
		all = append(all, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	last := all[len(all)-1].Health
	all = all[:len(all)/3] // a third of the storm is as good
	for i := range all {
		all[i].Health = last
	}
	return all, src.Info()
}

// What is judged while it is read comes out as what is sorted first, however many
// exchanges wait and however many shards there are.
func TestJudgedWhileRead(t *testing.T) {
	all, info := busyBatches(t)
	bare := slices.Clone(all)
	for i := range bare {
		bare[i].Watermark = 0
	}
	for shards, records := range map[int]int{1: 4096, 2: windowRecords, 7: 4096} {
		for name, in := range map[string][]capture.Batch{"with watermarks": all, "without": bare} {
			if !agree(t, fmt.Sprintf("%s, %d shards", name, shards), Options{Shards: shards}, info, records, from(in)) {
				t.Errorf("%s, %d waiting: it could not be judged while it was read", name, records)
			}
		}
	}
	if !agree(t, "by key", Options{ClientBy: "key"}, info, 4096, from(all)) {
		t.Error("by key: it could not be judged while it was read")
	}
}

// Exchanges that come later than any window are told as such, never dropped.
func TestWhatComesTooLateIsReadAgain(t *testing.T) {
	all, info := busyBatches(t)
	r := rand.New(rand.NewPCG(1, 8))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i := range all {
		all[i].Watermark = 0
	}
	if agree(t, "shuffled", Options{}, info, 1024, from(all)) {
		t.Error("shuffled batches went through a window of 1024")
	}
	if !agree(t, "shuffled", Options{}, info, 1<<20, from(all)) {
		t.Error("a window that holds all of them did not do")
	}
}

// Lines of a broken clock are set aside alike, or the input is read again.
func TestBrokenClocksWhileRead(t *testing.T) {
	for name, shift := range map[string]int64{"a year ahead": 365 * 24 * 3600 * tick, "a year back": -365 * 24 * 3600 * tick, "an hour ahead": 3600 * tick} {
		for _, at := range []int{0, -1} {
			all, info := busyBatches(t)
			for i := range all {
				all[i].Watermark = 0
			}
			b := &all[(at+len(all))%len(all)]
			b.Exchanges[0].Start += shift
			b.Exchanges[0].End += shift
			once := agree(t, fmt.Sprintf("%s in batch %d", name, at), Options{}, info, 4096, from(all))
			t.Logf("%s in batch %d: judged while read: %v", name, at, once)
			b.Exchanges[0].Start -= shift // an end alone
			agree(t, fmt.Sprintf("an end %s in batch %d", name, at), Options{}, info, 4096, from(all))
		}
	}
}

// What a source turns out to see late on is a reason to read again; how much of it
// could be read is not.
func TestWhatIsSeenLate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*capture.Health)
		once   bool
	}{
		"hints":      {func(h *capture.Health) { h.SeesHints = !h.SeesHints }, false},
		"clock":      {func(h *capture.Health) { h.Resolution = tick }, false},
		"encryption": {func(h *capture.Health) { h.Encrypted = 9 }, false},
		"successes":  {func(h *capture.Health) { h.FailuresOnly = true }, false},
		"a sample":   {func(h *capture.Health) { h.Sampled = .5 }, false},
		"unreadable": {func(h *capture.Health) { h.SkipMany("broken", h.Read/7) }, true},
	} {
		all, info := busyBatches(t)
		last := all[len(all)-1].Health.Clone()
		c.change(last)
		all[len(all)-1].Health = last
		if once := agree(t, name, Options{}, info, 4096, from(all)); once != c.once {
			t.Errorf("%s: judged while read: %v", name, once)
		}
	}
}

// Every capture and log of the repository comes out alike.
func TestFilesJudgedWhileRead(t *testing.T) {
	captures, _ := filepath.Glob("../testdata/pcaps/*/traffic.pcap")
	logs, _ := filepath.Glob("../testdata/logs/*/*.log")
	if len(captures) < 4 {
		t.Fatal("no captures")
	}
	again := 0
	for _, name := range append(captures, logs...) {
		var info capture.Info
		deliver := func(take capture.Sink) error {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var src capture.Source
			if filepath.Ext(name) == ".pcap" {
				src, err = packet.Open("x", f, packet.Options{Secrets: capture.NewSecrets()})
			} else {
				src, err = accesslog.Open("x", f, accesslog.Options{Secrets: capture.NewSecrets()})
			}
			if err != nil {
				t.Fatal(err)
			}
			info = src.Info()
			return src.Run(context.Background(), take)
		}
		_ = deliver(func(*capture.Batch) error { return nil }) // for its Info
		if !agree(t, name, Options{}, info, 2048, deliver) {
			again++
		}
	}
	t.Logf("%d of %d are to be read again", again, len(captures)+len(logs))
}

// A recording that was judged as it was read says what it cannot do.
func TestOnceIsOnce(t *testing.T) {
	all, info := busyBatches(t)
	rec := NewRecording(Options{Once: true})
	defer rec.Close()
	if err := from(all)(rec.Inlet(info).Take); err != nil {
		t.Fatal(err)
	}
	if err := rec.Inlet(info).Take(&all[0]); err == nil {
		t.Error("a second source was taken")
	}
	if err := rec.Seal(); err != nil {
		t.Fatal(err)
	}
	p, err := NewReplay(rec)
	if err != nil {
		t.Fatal(err)
	}
	p.OnRow(func(*Row) error { return nil })
	if err := p.RunAll(context.Background()); err == nil {
		t.Error("rows were promised")
	}
	if _, err := NewReplay(rec); err == nil {
		t.Error("a second replay was promised")
	}
	p.OnRow(nil)
	if err := p.RunAll(context.Background()); err != nil {
		t.Error(err)
	}
	if err := p.Seek(context.Background(), rec.start); err == nil {
		t.Error("it went back")
	}
	empty := NewRecording(Options{Once: true})
	if err := errors.Join(empty.Seal(), empty.Close()); err != nil {
		t.Error(err)
	}
}
