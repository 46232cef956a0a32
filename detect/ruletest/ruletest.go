// Package ruletest runs users' tests of rules: traffic, and what is to be found
// in it.
package ruletest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stormwatch/detect"
	"stormwatch/rules"
)

// Judge reads recordings and judges them as a whole.
type Judge func(ctx context.Context, t *rules.Test) (*detect.Snapshot, error)

// Check tells what is wrong with the exchanges of a file's tests.
func Check(f *rules.TestFile) (problems []rules.Problem) {
	for _, t := range f.Tests {
		for i := range t.Exchanges {
			if _, err := parse(t.Exchanges[i].Text); err != nil {
				var m mistake
				errors.As(err, &m) // else it is the whole line
				problems = append(problems, t.Exchanges[i].Problem(m.at, err))
			}
		}
	}
	return problems
}

// Run judges the traffic of a test and compares. The difference is told by lines
// that begin with "-", for what was expected, and "+", for what was found instead;
// none where the test passes.
func Run(ctx context.Context, t *rules.Test, set *rules.Set, files Judge) (diff []string, err error) {
	s, err := judge(ctx, t, set, files)
	if err != nil {
		return nil, err
	}
	return compare(t, s), nil
}

func judge(ctx context.Context, t *rules.Test, set *rules.Set, files Judge) (*detect.Snapshot, error) {
	if t.Files != nil {
		return files(ctx, t)
	}
	var lines []schedule
	for i := range t.Exchanges {
		s, err := parse(t.Exchanges[i].Text)
		if err != nil {
			return nil, t.Exchanges[i].Problem(0, err)
		}
		lines = append(lines, s)
	}
	sent, err := spread(lines)
	if err != nil {
		return nil, err
	}
	rec := detect.NewRecording(detect.Options{Rules: set, Capacity: t.Capacity, MaxCheckpoints: -1})
	s, err := replay(ctx, rec, sent)
	return s, errors.Join(err, rec.Close())
}

func replay(ctx context.Context, rec *detect.Recording, sent traffic) (*detect.Snapshot, error) {
	if err := sent.Run(ctx, rec.Inlet(sent.Info()).Take); err != nil {
		return nil, err
	}
	if err := rec.Seal(); err != nil {
		return nil, err
	}
	p, err := detect.NewReplay(rec)
	if err != nil {
		return nil, err
	}
	if err := p.RunAll(ctx); err != nil {
		return nil, err
	}
	return p.Snapshot(detect.View{Whole: true}), nil
}

// compare tells how a snapshot differs from what a test expects.
func compare(t *rules.Test, s *detect.Snapshot) (diff []string) {
	miss := func(want, got string) { diff = append(diff, "- "+want, "+ "+got) }
	if got := s.Verdict.State.String(); t.State != "" && got != t.State {
		miss("state "+t.State, "state "+got+": "+s.Verdict.What)
	}
	if got := s.Verdict.Cause.String(); t.Cause != "" && got != t.Cause {
		miss("cause "+t.Cause, "cause "+got)
	}
	for i := range t.Findings {
		want := &t.Findings[i]
		all := raised(s, want.Signature)
		if slices.ContainsFunc(all, func(f *detect.Finding) bool { return meets(want, f, s.Start) }) {
			continue
		}
		diff = append(diff, "- "+wanted(want))
		for _, f := range all {
			diff = append(diff, "+ "+told(f, s.Start))
		}
		if all == nil {
			diff = append(diff, "+ "+absent(s, want.Signature))
		}
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		expected := slices.ContainsFunc(t.Findings, func(e rules.Expected) bool { return e.Signature == f.Signature })
		switch {
		case slices.Contains(t.Never, f.Signature):
			diff = append(diff, "- never "+f.Signature, "+ "+told(f, s.Start))
		case t.Only && !expected && f.Severity > detect.Info:
			diff = append(diff, "- nothing else", "+ "+told(f, s.Start))
		}
	}
	return diff
}

func raised(s *detect.Snapshot, signature string) (out []*detect.Finding) {
	for i := range s.Findings {
		if s.Findings[i].Signature == signature {
			out = append(out, &s.Findings[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *detect.Finding) int { return cmp.Compare(a.Detected, b.Detected) })
	return out
}

func meets(want *rules.Expected, f *detect.Finding, from int64) bool {
	return (want.Severity == "" || want.Severity == f.Severity.String()) &&
		(want.Scope == "" || want.Scope == f.Scope) &&
		(want.Clients == 0 || want.Clients == f.ClientCount) &&
		(want.By == 0 || f.Detected-from <= int64(want.By))
}

func wanted(e *rules.Expected) string {
	var more []string
	if e.Severity != "" {
		more = append(more, e.Severity)
	}
	if e.Scope != "" {
		more = append(more, "of the "+e.Scope)
	}
	if e.Clients > 0 {
		more = append(more, fmt.Sprintf("%d clients", e.Clients))
	}
	if e.By > 0 {
		more = append(more, "by "+e.By.String())
	}
	if more == nil {
		return e.Signature
	}
	return e.Signature + ": " + strings.Join(more, ", ")
}

// told says the same of a finding, and more.
func told(f *detect.Finding, from int64) string {
	after := time.Duration(f.Detected - from).Round(time.Millisecond)
	return fmt.Sprintf("%s: %s, of the %s, %d clients, by %s: %s", f.Signature, f.Severity, f.Scope, f.ClientCount, after, f.Says)
}

// absent says why a signature was not raised, where that is known.
func absent(s *detect.Snapshot, signature string) string {
	for _, n := range s.NotJudged {
		if n.Signature == signature {
			return signature + " was not judged: " + n.Reason
		}
	}
	return signature + " was not raised"
}
