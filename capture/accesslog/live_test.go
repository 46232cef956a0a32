package accesslog

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stormwatch/capture"
)

// line gives a log line that ends at so many ms after 08:11:06 and took so long.
func line(end, took int64) string {
	ms := 1796026266000 + end
	at := time.UnixMilli(ms).UTC().Format("02/Jan/2006:15:04:05 -0700")
	return fmt.Sprintf(`192.0.2.10 - - [%s] "GET /%d HTTP/1.1" 429 25 "-" "a" %d.%03d %d.%03d`+"\n", at, end, took/1000, took%1000, ms/1000, ms%1000)
}

// follow runs a live source; batches arrive on the channel.
func follow(ctx context.Context, t *testing.T, r io.Reader) (rows chan row, ended chan error) {
	t.Helper()
	s, err := Open("live.log", r, Options{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	rows, ended = make(chan row, 10000), make(chan error, 1)
	go func() {
		ended <- s.Run(ctx, func(b *capture.Batch) error {
			var o read
			err := o.sink(b)
			for _, x := range o.rows {
				rows <- x
			}
			return err
		})
	}()
	return rows, ended
}

func expect(t *testing.T, rows chan row, targets ...string) {
	t.Helper()
	for _, want := range targets {
		select {
		case x := <-rows:
			if x.target != want {
				t.Fatalf("got %s, want %s", x.target, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s did not come", want)
		}
	}
}

// A line on a pipe that stays open is told at once, and the end of the context
// ends a source whose pipe is silent.
func TestPipeIsToldAtOnce(t *testing.T) {
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rows, ended := follow(ctx, t, r)
	for i := range int64(3) {
		if _, err := io.WriteString(w, line(i, 0)+"192.0.2"); err != nil {
			t.Fatal(err)
		}
		expect(t, rows, fmt.Sprintf("/%d", i))
		if _, err := io.WriteString(w, ".9 half a line\n"); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the source did not end")
	}
}

func TestLiveWatermark(t *testing.T) {
	var out read
	b := newBuilder(Options{Live: true, Secrets: capture.NewSecrets()}, out.sink)
	give := func(lines ...string) {
		t.Helper()
		for _, l := range lines {
			if err := b.line([]byte(strings.TrimSpace(l)), whole); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.flush(); err != nil {
			t.Fatal(err)
		}
	}
	const origin = 1796026266 * second
	last := func() int64 { return out.marks[len(out.marks)-1] - origin }
	ms := func(n int64) int64 { return n * int64(time.Millisecond) }

	give(line(5000, 4))
	if last() != ms(4000) {
		t.Errorf("the mark trails by a second at least: %d", last())
	}
	give(line(5000, 900), line(4100, 0))
	if out.health.Late != 0 || last() != ms(4000) {
		t.Errorf("nothing was late: %+v, mark %d", out.health, last())
	}
	give(line(6000, 2500)) // it began at 3.5 s
	if x := out.rows[3]; x.Flags&capture.Late == 0 || out.health.Late != 1 {
		t.Errorf("a long request comes late: flags %v, health %+v", x.Flags, out.health)
	}
	if last() != ms(4000) {
		t.Errorf("the mark never goes back: %d", last())
	}
	give(line(9000, 10))
	if last() != ms(6500) {
		t.Errorf("after a request of 2.5 s the mark trails by as much: %d", last())
	}
	give(line(20000, 15000)) // beyond any slack: waiting longer would not help
	if last() != ms(17500) {
		t.Errorf("a long poll must not hold the picture back: %d", last())
	}
	give(line(200_000, 10))
	if last() != ms(199_000) {
		t.Errorf("long requests are forgotten after two minutes: %d", last())
	}
	if err := b.finish(); err != nil {
		t.Fatal(err)
	}
	if last() != ms(200_000)+1 {
		t.Errorf("at the end nothing is waited for: %d", last())
	}
	for i := 1; i < len(out.marks); i++ {
		if out.marks[i] < out.marks[i-1] {
			t.Errorf("the mark went back: %v", out.marks)
		}
	}
}

func TestClockThatGoesBack(t *testing.T) {
	out := mustRead(t, line(10000, 0)+line(9000, 0)+line(1000, 0)+line(2000, 0), Options{})
	if out.health.ClockSteps != 1 {
		t.Errorf("%d clock steps, want 1", out.health.ClockSteps)
	}
}

// logFile is a log that a test writes and rotates.
type logFile struct {
	t    *testing.T
	path string
}

func newLogFile(t *testing.T, text string) *logFile {
	l := &logFile{t, filepath.Join(t.TempDir(), "access.log")}
	l.write(l.path, text, os.O_CREATE|os.O_WRONLY)
	return l
}

func (l *logFile) write(path, text string, flags int) {
	l.t.Helper()
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		l.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		l.t.Fatal(err)
	}
}

func (l *logFile) add(text string) { l.t.Helper(); l.write(l.path, text, os.O_APPEND|os.O_WRONLY) }

// follow follows the log with short pauses.
func (l *logFile) follow() (rows chan row) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Follow(ctx, l.path)
	if err != nil {
		l.t.Fatal(err)
	}
	r.every, r.grace = 5*time.Millisecond, 50*time.Millisecond
	rows, ended := follow(ctx, l.t, r)
	l.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			l.t.Error(err)
		}
		time.Sleep(20 * time.Millisecond) // the reading goroutine lets go of the file
		_ = r.Close()
	})
	return rows
}

func TestFollowAppends(t *testing.T) {
	l := newLogFile(t, line(0, 0)+line(1, 0))
	rows := l.follow()
	expect(t, rows, "/0", "/1")
	half := line(2, 0)
	l.add(half[:40])
	time.Sleep(20 * time.Millisecond)
	l.add(half[40:] + line(3, 0))
	expect(t, rows, "/2", "/3")
}

func TestFollowRename(t *testing.T) {
	l := newLogFile(t, line(0, 0))
	rows := l.follow()
	expect(t, rows, "/0")
	for i := int64(1); i < 4; i++ {
		old := fmt.Sprintf("%s.%d", l.path, i)
		if err := os.Rename(l.path, old); err != nil {
			t.Fatal(err)
		}
		l.write(old, line(10*i, 0), os.O_APPEND|os.O_WRONLY) // the server has not reopened yet
		time.Sleep(15 * time.Millisecond)
		l.write(l.path, line(10*i+2, 0), os.O_CREATE|os.O_WRONLY)
		l.write(old, line(10*i+1, 0), os.O_APPEND|os.O_WRONLY) // another worker, within the grace
		expect(t, rows, fmt.Sprintf("/%d", 10*i), fmt.Sprintf("/%d", 10*i+1), fmt.Sprintf("/%d", 10*i+2))
	}
}

func TestFollowCopyTruncate(t *testing.T) {
	l := newLogFile(t, line(0, 0)+line(1, 0)+"cut here")
	rows := l.follow()
	expect(t, rows, "/0", "/1")
	time.Sleep(20 * time.Millisecond)
	if err := os.Truncate(l.path, 0); err != nil {
		t.Fatal(err)
	}
	l.add(line(2, 0))
	expect(t, rows, "/2")
	// Written anew beyond the old length between two looks: known by its head.
	l.write(l.path, line(3, 0)+line(4, 0)+line(5, 0), os.O_TRUNC|os.O_WRONLY)
	expect(t, rows, "/3", "/4", "/5")
	time.Sleep(20 * time.Millisecond)
	// And to the very length it had.
	l.write(l.path, line(6, 0)+line(7, 0)+line(8, 0), os.O_TRUNC|os.O_WRONLY)
	expect(t, rows, "/6", "/7", "/8")
}

func TestFollowNeedsTheFile(t *testing.T) {
	if _, err := Follow(context.Background(), filepath.Join(t.TempDir(), "none.log")); err == nil || !strings.Contains(err.Error(), "none.log") {
		t.Errorf("error %v", err)
	}
}

// A pipe given by name is read to its end, not followed.
func TestFollowReadsPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	go func() {
		if w, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			_, _ = io.WriteString(w, line(1, 0)+line(2, 0))
			_ = w.Close()
		}
	}()
	r, err := Follow(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	rows, ended := follow(context.Background(), t, r)
	expect(t, rows, "/1", "/2")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A log that tells when requests came, but not for how long they lasted, tells
// by the order of its lines how long a mark must wait.
func TestLiveMarkOfStarts(t *testing.T) {
	f, err := ParseFormat("<start> <status> <uri>")
	if err != nil {
		t.Fatal(err)
	}
	var out read
	b := newBuilder(Options{Live: true, Format: f, Secrets: capture.NewSecrets()}, out.sink)
	// Written in the order of their ends: the fourth comes 2 s after a later start,
	// so that from then on the mark waits for as long.
	const origin = 1796026266 * second
	for i, ms := range []int{0, 100, 5000, 3000, 9000, 7100, 12000} {
		if err := b.line(fmt.Appendf(nil, "%d.%03d 200 /%d", 1796026266+ms/1000, ms%1000, i), whole); err != nil {
			t.Fatal(err)
		}
		if err := b.flush(); err != nil {
			t.Fatal(err)
		}
	}
	if last := out.marks[len(out.marks)-1] - origin; last != 10*second {
		t.Errorf("the mark trails by as much as a line came late: %d", last)
	}
	if len(out.rows) != 7 || out.health.ClockSteps != 0 || out.health.Late != 1 {
		t.Errorf("%d rows, %+v", len(out.rows), out.health)
	}
}
