package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"stormwatch/capture"
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
	var bad []string
	for _, path := range paths {
		problems := rules.Check(path)
		for _, p := range problems {
			bad = append(bad, p.Error())
			if picture := p.Picture(); picture != "" {
				bad = append(bad, picture)
			}
		}
		if len(problems) == 0 {
			fmt.Fprintf(w, "%s: good\n", capture.Clean(path))
		}
	}
	if bad != nil {
		return page{errors.New(strings.Join(bad, "\n"))}
	}
	return nil
}
