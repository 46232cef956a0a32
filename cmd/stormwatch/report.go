package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stormwatch/detect"
	"stormwatch/report"
	"stormwatch/ui"
)

// reporting is what the verb report is asked for.
type reporting struct {
	format, failOn string
	screen, size   string // of an SVG
	span           time.Duration
	o              report.Options
}

func newReport(st *streams, f *flags) *cobra.Command {
	r := reporting{o: report.Options{Version: version()}}
	c := &cobra.Command{
		Use:   "report SOURCE...",
		Short: "read to the end, report, and exit by the verdict",
		Long: `report reads the sources to their end and judges them as a whole: the verdict
is the worst there was. Exit codes: 0 below --fail-on, 3 at or above it, 1 error,
2 usage, 4 cannot judge.`,
		Args: f.sources,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.called(cmd, args)
			return r.run(cmd, st, f, args)
		},
	}
	names := append(report.Names(), "svg")
	c.Flags().StringVar(&r.format, "format", "text", strings.Join(names[:len(names)-1], ", ")+" or svg")
	c.Flags().StringVar(&r.failOn, "fail-on", "storm", "storm, overload, watch or never")
	c.Flags().Var(newReceiver(&r.span, &r.o.For), "for", "how long to watch live input; where given, also how long to read a stream or file. Of a throttle-list, what it is for: nginx, haproxy, envoy or csv")
	c.Flags().IntVar(&r.o.Top, "top", 0, "clients listed")
	c.Flags().BoolVar(&r.o.Snippets, "snippets", false, "text: configuration under each mitigation")
	c.Flags().StringVar(&r.screen, "screen", "overview", "svg: the screen that is drawn, as in the console's command bar: overview, clients, chains, fix ...")
	c.Flags().StringVar(&r.size, "size", "120x40", "svg: columns and rows")
	return c
}

func (r *reporting) run(cmd *cobra.Command, st *streams, f *flags, args []string) error {
	write, err := r.form(f)
	if err != nil {
		return usage{err}
	}
	limit, err := threshold(r.failOn)
	if err != nil {
		return err
	}
	if r.o.Top < 0 {
		return usage{fmt.Errorf("--top %d: a number of clients, 0 for as many as is usual", r.o.Top)}
	}
	if r.span <= 0 {
		return usage{fmt.Errorf("--for %s: a time above 0, such as 60s", r.span)}
	}
	if r.o.ClientBy, r.o.Redact = f.clientBy, f.redact; r.format == throttleList {
		if err := listable(r.o); err != nil {
			return usage{err}
		}
	} else if r.o.For != "" {
		return usage{fmt.Errorf("--for %s: what a list is for, so it needs --format %s; a time such as 60s says how long to look", r.o.For, throttleList)}
	}
	for _, name := range []string{"screen", "size"} {
		if r.format != "svg" && cmd.Flags().Changed(name) {
			return usage{fmt.Errorf("--%s: of a drawn screen only, with --format svg", name)}
		}
	}
	ctx := cmd.Context()
	if timed(cmd) { // streams too: they are judged as far as they were read
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.span)
		defer cancel()
	}
	s, err := r.judge(ctx, st, f, args)
	if err != nil {
		return err
	}
	o := r.o
	o.ASCII, o.Color, o.Redact, o.FailOn = f.ascii, colored(f.color, st.out), f.redact, limit
	o.Command, o.Rules = f.command, f.ruleNames
	if err := write(st.out, f.marks.marked(s), o); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return codeOf(s, limit)
}

// form is how the report is written.
func (r *reporting) form(f *flags) (report.Form, error) {
	if r.format != "svg" {
		if form := report.FormOf(r.format); form != nil {
			return form, nil
		}
		return nil, fmt.Errorf("--format %s: %s or svg", r.format, strings.Join(report.Names(), ", "))
	}
	p := ui.Picture{Theme: f.theme, Screen: r.screen}
	if n, err := fmt.Sscanf(r.size, "%dx%d", &p.W, &p.H); n != 2 || err != nil || p.W < 1 || p.H < 1 {
		return nil, fmt.Errorf("--size %s: columns and rows, such as 120x40", r.size)
	}
	if !ui.HasScreen(r.screen) {
		return nil, fmt.Errorf("--screen %s: %s", r.screen, strings.Join(ui.Screens(), ", "))
	}
	return func(w io.Writer, s *detect.Snapshot, o report.Options) error {
		if o.Redact {
			s = report.NewRedactor().Snapshot(s)
		}
		p.ASCII, p.Version = o.ASCII, o.Version
		return ui.SVG(w, s, p)
	}, nil
}

// colored tells whether the verdict's line may be in colour, by the flag, then
// by NO_COLOR and CLICOLOR_FORCE, then by whether somebody looks.
func colored(mode string, w io.Writer) bool {
	switch {
	case mode != "auto":
		return mode == "always"
	case os.Getenv("NO_COLOR") != "":
		return false
	case os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return terminal(w)
}

// threshold is the state from which the exit code is 3.
func threshold(failOn string) (detect.State, error) {
	switch failOn {
	case "storm":
		return detect.Storm, nil
	case "overload":
		return detect.Overloaded, nil
	case "watch":
		return detect.Watch, nil
	case "never":
		return detect.Storm + 1, nil
	}
	return 0, usage{fmt.Errorf("--fail-on %s: storm, overload, watch or never", failOn)}
}

func codeOf(s *detect.Snapshot, limit detect.State) error {
	switch {
	case s.Verdict.State == detect.Unknown:
		return exit(exitCannotJudge)
	case s.Verdict.State >= limit:
		return exit(exitAlarm)
	}
	return nil
}

// judge reads sources and judges them as a whole.
func (r *reporting) judge(ctx context.Context, st *streams, f *flags, args []string) (*detect.Snapshot, error) {
	o, err := f.options(st)
	if err != nil {
		return nil, err
	}
	ins, err := f.openChecked(ctx, st, args, false)
	if err != nil {
		return nil, err
	}
	defer closeAll(ins)
	view, read := detect.View{Whole: true, TopK: max(r.o.Top, incidentTop)}, judgeRecorded
	written := r.format == "svg" || report.Written(r.format)
	if written {
		view, read = incidentView(r.o.Top, nil), replay // chains are told only of what can be replayed
	}
	look := func(snapshot func(detect.View) *detect.Snapshot) *detect.Snapshot {
		if written {
			return withExamples(snapshot, view)
		}
		return snapshot(view)
	}
	for _, in := range ins {
		if in.Info().Live {
			return judgeLive(ctx, ins, o, r.span, look)
		}
	}
	var s *detect.Snapshot
	err = read(ctx, ins, o, func(p *detect.Replay) error {
		// Stopped while reading, it still reports what was read until then.
		if err := p.RunAll(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		s = look(p.Snapshot)
		return nil
	})
	return s, err
}

func judgeLive(ctx context.Context, ins []input, o detect.Options, span time.Duration, look func(func(detect.View) *detect.Snapshot) *detect.Snapshot) (*detect.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	l := newLivePlayer(o, ins)
	if err := l.run(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	l.live.Finish()
	return look(l.live.Snapshot), nil
}
