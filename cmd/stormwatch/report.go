package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"stormwatch/detect"
	"stormwatch/report"
)

func newReport(st *streams, f *flags) *cobra.Command {
	var format, failOn string
	var span time.Duration
	o := report.Options{Version: version()}
	c := &cobra.Command{
		Use:   "report SOURCE...",
		Short: "read to the end, report, and exit by the verdict",
		Long: `report reads the sources to their end and judges them as a whole: the verdict
is the worst there was. Exit codes: 0 below --fail-on, 3 at or above it, 1 error,
2 usage, 4 cannot judge.`,
		Args: f.sources,
		RunE: func(cmd *cobra.Command, args []string) error {
			write := report.FormOf(format)
			if write == nil {
				return usage{fmt.Errorf("--format %s: text, brief, json or throttle-list", format)}
			}
			limit, err := threshold(failOn)
			if err != nil {
				return err
			}
			if o.Top < 0 {
				return usage{fmt.Errorf("--top %d: a number of clients, 0 for as many as is usual", o.Top)}
			}
			if span <= 0 {
				return usage{fmt.Errorf("--for %s: a time above 0, such as 60s", span)}
			}
			if o.ClientBy = f.clientBy; format == throttleList {
				if err := listable(o); err != nil {
					return usage{err}
				}
			}
			o.ASCII, o.Color = f.ascii, colored(f.color, st.out)
			ctx := cmd.Context()
			if timed(cmd) { // streams too: they are judged as far as they were read
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, span)
				defer cancel()
			}
			s, err := judge(ctx, st, f, args, span, o.Top)
			if err != nil {
				return err
			}
			if err := write(st.out, s, o); err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
			return codeOf(s, limit)
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text, brief, json or throttle-list")
	c.Flags().StringVar(&failOn, "fail-on", "storm", "storm, overload, watch or never")
	c.Flags().Var(newReceiver(&span, &o.For), "for", "how long to watch live input; where given, also how long to read a stream or file. Of a throttle-list, what it is for: nginx, haproxy, envoy or csv")
	c.Flags().IntVar(&o.Top, "top", 0, "clients listed")
	c.Flags().BoolVar(&o.Redact, "redact-clients", false, "name clients client-1, client-2 ...; leave out examples of the input")
	c.Flags().BoolVar(&o.Snippets, "snippets", false, "text: configuration under each mitigation")
	return c
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
func judge(ctx context.Context, st *streams, f *flags, args []string, span time.Duration, top int) (*detect.Snapshot, error) {
	o, err := f.options(st)
	if err != nil {
		return nil, err
	}
	ins, err := f.openChecked(ctx, st, args, false)
	if err != nil {
		return nil, err
	}
	defer closeAll(ins)
	view := detect.View{Whole: true, TopK: max(top, 100)}
	for _, in := range ins {
		if in.Info().Live {
			return judgeLive(ctx, ins, o, span, view)
		}
	}
	var s *detect.Snapshot
	err = judgeRecorded(ctx, ins, o, func(p *detect.Replay) error {
		// Stopped while reading, it still reports what was read until then.
		if err := p.RunAll(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		s = p.Snapshot(view)
		return nil
	})
	return s, err
}

func judgeLive(ctx context.Context, ins []input, o detect.Options, span time.Duration, view detect.View) (*detect.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	l := newLivePlayer(o, ins)
	if err := l.run(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	l.live.Finish()
	return l.live.Snapshot(view), nil
}
