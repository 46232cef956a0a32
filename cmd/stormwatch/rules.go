package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/detect/ruletest"
	"stormwatch/rules"
)

func newRules(st *streams, f *flags) *cobra.Command {
	c := &cobra.Command{
		Use:   "rules",
		Short: "what is judged, by which rule, and what is advised",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(
		&cobra.Command{
			Use: "list", Short: "signatures, mitigations and the features rules may use", Args: arguments(cobra.NoArgs),
			RunE: func(*cobra.Command, []string) error { return listRules(st.out, f) },
		},
		&cobra.Command{
			Use: "show ID", Short: "one signature or mitigation, whole", Args: arguments(cobra.ExactArgs(1)),
			RunE: func(_ *cobra.Command, args []string) error { return showRule(st.out, f, args[0]) },
		},
		&cobra.Command{
			Use: "check DIR|FILE...", Short: "check rule files without running anything", Args: arguments(cobra.MinimumNArgs(1)),
			RunE: func(_ *cobra.Command, args []string) error { return checkRules(st.out, args) },
		},
		&cobra.Command{
			Use: "docs", Short: "all signatures and mitigations as Markdown", Args: arguments(cobra.NoArgs),
			RunE: func(*cobra.Command, []string) error {
				set, err := rules.Load(f.rules...)
				if err != nil {
					return err
				}
				return rules.Docs(st.out, set)
			},
		},
		&cobra.Command{
			Use: "test FILE...", Short: "run tests of rules: traffic, and what is to be found in it",
			Long: `test judges the traffic that a file of tests holds, written out or in recordings,
and compares what is found with what is expected. Exit codes: 0 all passed, 3 some
failed, 1 a file cannot be read, 2 usage.`,
			Args: arguments(cobra.MinimumNArgs(1)),
			RunE: func(cmd *cobra.Command, args []string) error { return testRules(cmd.Context(), st, f, args) },
		},
	)
	return c
}

func listRules(w io.Writer, f *flags) error {
	set, err := rules.Load(f.rules...)
	if err != nil {
		return err
	}
	for _, s := range set.Signatures() {
		fmt.Fprintf(w, "%-26s %-10s %-8s %s\n", s.ID, s.Scope, s.Severity, s.About)
	}
	fmt.Fprintln(w)
	for _, m := range set.Mitigations() {
		fmt.Fprintf(w, "%-26s %-15s %s\n", m.ID, m.When, m.Title)
	}
	fmt.Fprintln(w)
	for _, ft := range rules.Features() {
		fmt.Fprintf(w, "%-20s %-7s %s\n", ft.Name, ft.Unit, ft.Meaning)
	}
	return nil
}

func showRule(w io.Writer, f *flags, id string) error {
	set, err := rules.Load(f.rules...)
	if err != nil {
		return err
	}
	found := false
	for _, s := range set.Signatures() {
		if s.ID == id {
			found = true
			fmt.Fprintf(w, "%s (%s, %s)\n  %s\n  when   %s\n  errors %s\n  says   %s\n  calls for %v\n", s.ID, s.Scope, s.Severity, s.About, s.When, s.FalsePositives, s.Says, s.Mitigations)
		}
	}
	if m := set.Mitigation(id); m != nil {
		found = true
		fmt.Fprintf(w, "%s (%s)\n  %s\n  who    %s\n  expect %s\n  risk   %s\n  do not %s\n  undo   %s\n  check  %s\n", m.ID, m.When, m.Title, m.Who, m.Expect, m.Risk, m.Dont, m.Undo, m.Check)
		if m.Stop != "" {
			fmt.Fprintf(w, "  stop   %s\n", m.Stop)
		}
		for _, s := range m.Snippets {
			fmt.Fprintf(w, "\n-- %s\n%s", s.For, s.Text)
		}
	}
	if !found {
		return usage{fmt.Errorf("no signature or mitigation %q: 'stormwatch rules list' names them", id)}
	}
	return nil
}

// checkRules tells what is wrong with rule files, each mistake with its line and a
// caret under it.
func checkRules(w io.Writer, paths []string) error {
	var all []rules.Problem
	for _, path := range paths {
		problems := rules.Check(path)
		if len(problems) == 0 {
			fmt.Fprintf(w, "%s: good\n", capture.Clean(path))
		}
		all = append(all, problems...)
	}
	return pictured(all)
}

// pictured is an error that tells mistakes in files; nil where there are none.
func pictured(problems []rules.Problem) error {
	var text []string
	for _, p := range problems {
		text = append(text, p.Error())
		if picture := p.Picture(); picture != "" {
			text = append(text, picture)
		}
	}
	if text == nil {
		return nil
	}
	return page{errors.New(strings.Join(text, "\n"))}
}

// testRules runs files of tests. All are read before any is run.
func testRules(ctx context.Context, st *streams, f *flags, paths []string) error {
	var files []*rules.TestFile
	var problems []rules.Problem
	for _, path := range paths {
		file, wrong := rules.ReadTests(path, f.rules...)
		if file != nil {
			wrong = append(wrong, ruletest.Check(file)...)
		}
		files, problems = append(files, file), append(problems, wrong...)
	}
	if problems != nil {
		return pictured(problems)
	}
	run, failed := 0, 0
	for _, file := range files {
		for _, t := range file.Tests {
			diff, err := ruletest.Run(ctx, t, file.Set, func(ctx context.Context, t *rules.Test) (*detect.Snapshot, error) {
				return judgeFiles(ctx, st, f, file, t)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", t.Place(), err)
			}
			run++
			if diff == nil {
				fmt.Fprintf(st.out, "ok    %s\n", capture.Clean(t.Name))
				continue
			}
			failed++
			fmt.Fprintf(st.out, "FAIL  %s\n", capture.Clean(t.Place()))
			for _, line := range diff {
				fmt.Fprintf(st.out, "      %s\n", capture.Clean(line))
			}
		}
	}
	fmt.Fprintf(st.out, "%d of %d tests passed\n", run-failed, run)
	if failed > 0 {
		return exit(exitAlarm)
	}
	return nil
}

// judgeFiles judges the recordings that a test names, with the flags of the
// command and the rules and the capacity of the test.
func judgeFiles(ctx context.Context, st *streams, f *flags, file *rules.TestFile, t *rules.Test) (*detect.Snapshot, error) {
	own := *f
	own.rules = file.Dirs
	if t.Capacity > 0 {
		own.capacity = strconv.FormatFloat(t.Capacity, 'f', -1, 64)
	}
	r := reporting{span: time.Minute}
	return r.judge(ctx, st, &own, t.Files)
}
