package sim

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// scene is a committed capture's run, looked at for what its text promises.
type scene struct {
	*Result
	t *testing.T
}

func play(t *testing.T, name string) scene {
	t.Helper()
	sc, err := Load(filepath.Join("../testdata/pcaps", name, "scenario.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return scene{Run(sc), t}
}

// of returns the rows of a group; "" of all.
func (s scene) of(group string) (rows []Row) {
	for _, row := range s.Rows {
		if group == "" || s.Group(&row).Name == group {
			rows = append(rows, row)
		}
	}
	return rows
}

// retry is an attempt and the one before it.
type retry struct{ before, row Row }

func (r retry) gap() time.Duration { return time.Duration(r.row.Start - r.before.End) }

func (s scene) retries(group string) (all []retry) {
	last := map[uint64]Row{}
	for _, row := range s.of(group) {
		if before, again := last[row.Chain]; again && !row.Copy {
			all = append(all, retry{before, row})
		}
		last[row.Chain] = row
	}
	return all
}

// want fails unless n lies within bounds.
func (s scene) want(what string, n, low, high int) {
	s.t.Helper()
	if n < low || n > high {
		s.t.Errorf("%s: %d, want %d to %d", what, n, low, high)
	}
}

const many = 1 << 30

// gaps wants at least so many retries of a group, all within bounds.
func (s scene) gaps(group string, least int, low, high time.Duration) {
	s.t.Helper()
	all := s.retries(group)
	for _, r := range all {
		if r.gap() < low || r.gap() > high {
			s.t.Errorf("%s: a retry after %s, want %s to %s", group, r.gap(), low, high)
			return
		}
	}
	s.want("retries of "+group, len(all), least, many)
}

// early counts retries before the wait that was named, by more than slack.
func (s scene) early(group string, slack time.Duration) (n int) {
	for _, r := range s.retries(group) {
		if r.before.Hinted && r.gap() < r.before.Wait-slack {
			n++
		}
	}
	return n
}

// clients counts the distinct clients of rows for which f holds.
func (s scene) clients(group string, f func(*Row) bool) int {
	seen := map[int]bool{}
	for _, row := range s.of(group) {
		if f(&row) {
			seen[row.Client] = true
		}
	}
	return len(seen)
}

func count[T any](all []T, f func(T) bool) (n int) {
	for _, x := range all {
		if f(x) {
			n++
		}
	}
	return n
}

// lengths returns the number of attempts of each chain of a group, sorted.
func (s scene) lengths(group string) (n []int) {
	of := map[uint64]int{}
	for _, row := range s.of(group) {
		of[row.Chain] = max(of[row.Chain], row.Attempt)
	}
	for _, attempts := range of {
		n = append(n, attempts)
	}
	slices.Sort(n)
	return n
}

// at returns when a row began, since the scenario's start.
func (s scene) at(row Row) time.Duration {
	return time.Duration(row.Start - s.Scenario.Start.UnixNano())
}

// refusedWith wants refusals enough to be judged, all with a header.
func (s scene) refusedWith(line string) {
	s.t.Helper()
	refused := count(s.Rows, func(r Row) bool { return r.Refused() })
	s.want("refusals", refused, 60, many)
	s.want("refusals with "+line, count(s.Rows, func(r Row) bool { return strings.Contains(r.Fields, line) }), refused, refused)
	s.want("clients refused", s.clients("", (*Row).Refused), 10, many)
	s.want("retries at once", count(s.retries(""), func(r retry) bool { return r.gap() < 50*time.Millisecond }), 0, 5)
}
