package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"stormwatch/detect"
	"stormwatch/report"
	"stormwatch/ui"
)

func newWatch(st *streams, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "watch SOURCE...",
		Short: "the console: live for logs, streams and Prometheus, replay for captures",
		Args:  f.sources,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.called(cmd, args)
			return watch(cmd.Context(), st, f, args)
		},
	}
}

// watch shows sources in the console, or, where there is no terminal to draw
// on, reports recorded input and tells live input in lines.
func watch(ctx context.Context, st *streams, f *flags, args []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o, err := f.options(st)
	if err != nil {
		return err
	}
	screen := !f.plain && terminal(st.out)
	ins, err := f.openChecked(ctx, st, args, screen || f.plain)
	if err != nil {
		return err
	}
	defer closeAll(ins)
	for _, in := range ins {
		if in.Info().Live {
			return watchLive(ctx, st, f, o, ins, screen)
		}
	}
	return watchRecording(ctx, st, f, o, ins, screen, 1)
}

func watchLive(ctx context.Context, st *streams, f *flags, o detect.Options, ins []input, screen bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := newLivePlayer(o, ins)
	p.marks, p.redact = f.marks, f.redactor()
	done := make(chan error, 1)
	go func() {
		err := p.run(ctx)
		if err == nil && screen {
			err = p.linger(ctx)
		}
		if err != nil {
			cancel() // the console has nothing more to show
		}
		done <- err
	}()
	if !screen {
		return plain(ctx, st.out, p, done)
	}
	err := ui.Run(ctx, p, f.console(st))
	cancel()
	return errors.Join(ignoreCancel(err), ignoreCancel(<-done))
}

func watchRecording(ctx context.Context, st *streams, f *flags, o detect.Options, ins []input, screen bool, speed float64) error {
	if !screen {
		return judgeRecorded(ctx, ins, o, func(p *detect.Replay) error {
			if err := p.RunAll(ctx); err != nil {
				return err
			}
			s := f.marks.marked(p.Snapshot(detect.View{Whole: true}))
			return report.Text(st.out, s, report.Options{Version: version(), ASCII: f.ascii, Color: colored(f.color, st.out), Redact: f.redact})
		})
	}
	o.MaxCheckpoints = keptStates
	rec := detect.NewRecording(o)
	defer func() { _ = rec.Close() }() // temporary files: nothing is lost
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := newReplayPlayer(rec, speed)
	p.marks, p.redact = f.marks, f.redactor()
	done := make(chan error, 1)
	go func() {
		err := p.load(ctx, ins, o)
		if err == nil {
			defer sparing()()
			err = p.run(ctx)
		}
		if err != nil {
			cancel() // the console has nothing more to show
		}
		done <- err
	}()
	err := ui.Run(ctx, p, f.console(st))
	cancel()
	if err = ignoreCancel(err); err != nil {
		return err
	}
	return ignoreCancel(<-done)
}

// keptStates is how much the states may take to which a replay goes back: with what
// the collector leaves behind beside them, 256 MB.
const keptStates = 224 << 20

// sparing has what is no longer needed collected at once while states are kept, for
// they take so much that a quarter of it would be left lying about; they hold no
// pointers, so looking them through costs little. The function returned ends that.
func sparing() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(10)
	return func() { debug.SetGCPercent(before) }
}

// ignoreCancel drops the error of having been stopped, which is no failure.
func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (f *flags) console(st *streams) ui.Options {
	return ui.Options{
		Output: st.out, FPS: f.fps, Theme: f.theme, Color: f.color, ASCII: f.ascii, Version: version(),
		Report: report.Options{Version: version(), Rules: f.ruleNames, Command: f.shownCommand()},
	}
}

// shownCommand is the command as the console exports it. Its snapshots have been
// redacted where that is asked for: to do it again would number clients anew.
func (f *flags) shownCommand() string {
	if f.redact {
		return report.Unaddressed(f.command)
	}
	return f.command
}

func terminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}

// plainEvery is how often lines are told though nothing changed.
const plainEvery = 10 * time.Second

// plain tells a line at each change of state, and every ten seconds.
func plain(ctx context.Context, w io.Writer, p *livePlayer, done <-chan error) error {
	told, changed := time.Time{}, int64(0)
	look := time.NewTicker(publishEvery)
	defer look.Stop()
	for {
		var ended bool
		var err error
		select {
		case err = <-done:
			p.live.Finish()
			p.look()
			ended = true
		case <-look.C:
		}
		s := p.Snapshot()
		lines, last := ui.ChangeLines(s, changed)
		if last != changed || ended || time.Since(told) >= plainEvery {
			changed, told = last, time.Now()
			lines = append(lines, ui.PlainLine(s))
		}
		for _, line := range lines {
			if _, werr := fmt.Fprintln(w, line); werr != nil {
				return fmt.Errorf("writing a line: %w", werr)
			}
		}
		if ended {
			return ignoreCancel(err)
		}
		if ctx.Err() != nil {
			return ignoreCancel(<-done)
		}
	}
}
