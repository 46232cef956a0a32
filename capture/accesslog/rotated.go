package accesslog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Order puts the files of rotated logs in the order in which they were written,
// the oldest first: access.log.2.gz, access.log.1, access.log. Other paths keep
// their places. What is named twice, in whatever way, is kept once, and so is a
// file beside its compressed self, which rotation leaves for a moment.
func Order(paths []string) []string {
	var kept []string
	for _, p := range paths {
		if !slices.ContainsFunc(kept, func(k string) bool { return sameLog(k, p) }) {
			kept = append(kept, p)
		}
	}
	sets := map[string][]int{}
	for i, p := range kept {
		if base, _ := generation(p); base != "" {
			sets[base] = append(sets[base], i)
		}
	}
	out := slices.Clone(kept)
	for _, places := range sets {
		members := make([]string, len(places))
		for i, at := range places {
			members[i] = kept[at]
		}
		slices.SortStableFunc(members, older)
		for i, at := range places {
			out[at] = members[i]
		}
	}
	return out
}

// Sets puts paths in the order of Order and joins those of each rotated log, the
// oldest first. A set stands where its first file does.
func Sets(paths []string) (out [][]string) {
	at := map[string]int{}
	for _, p := range Order(paths) {
		base, _ := generation(p)
		if i, ok := at[base]; ok && base != "" {
			out[i] = append(out[i], p)
			continue
		}
		at[base] = len(out)
		out = append(out, []string{p})
	}
	return out
}

// Rotated lists the files into which a log was rotated, the oldest first; those
// that are the log itself by another name are not among them.
func Rotated(path string) (before []string) {
	base, _ := generation(path)
	here, err := os.Stat(path)
	entries, lerr := os.ReadDir(filepath.Dir(path))
	if base == "" || lerr != nil {
		return nil
	}
	dir, _ := filepath.Split(path)
	for _, e := range entries {
		p := dir + e.Name()
		if of, _ := generation(p); of != base || p == path {
			continue
		}
		if there, serr := os.Stat(p); serr == nil && there.Mode().IsRegular() && (err != nil || !os.SameFile(here, there)) {
			before = append(before, p)
		}
	}
	return Order(before)
}

// sameLog tells whether two paths are one file, or one and its compressed self.
func sameLog(a, b string) bool {
	if a == "-" || b == "-" {
		return a == b
	}
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	switch {
	case err1 != nil || err2 != nil:
		return filepath.Clean(a) == filepath.Clean(b)
	case os.SameFile(x, y):
		return x.Mode().IsRegular()
	}
	plainA, plainB := uncompressed(a), uncompressed(b)
	return plainA == plainB && (plainA == a || plainB == b)
}

func uncompressed(path string) string {
	for _, ext := range []string{".gz", ".zst", ".bz2", ".xz"} {
		if rest, ok := strings.CutSuffix(path, ext); ok {
			return rest
		}
	}
	return path
}

// age is which of a set a file is: the current one, one with a date in its name,
// or one with a number that grows with age.
type age struct {
	date   string // of digits, with the hour if there is one
	number int    // -1 for the current one
}

// generation cuts a path into what all files of a set share and which one it is;
// base is "" where the path names no file.
func generation(path string) (base string, a age) {
	if path == "-" {
		return "", a
	}
	dir, name := filepath.Split(uncompressed(path))
	a.number = -1
	if ext := filepath.Ext(name); len(ext) > 1 && len(ext) <= 5 {
		if n, ok := count([]byte(ext[1:])); ok {
			a.number = n
			return dir + strings.TrimSuffix(name, ext), a
		}
	}
	if from, to := dateIn(name); to > from {
		for _, c := range name[from:to] {
			if c >= '0' && c <= '9' {
				a.date += string(c)
			}
		}
		rest := strings.TrimRight(name[:from], "-._") + name[to:]
		return dir + rest, a
	}
	return dir + name, a
}

// dateIn finds 20261130 or 2026-11-30 in a name, and an hour or a time after it.
func dateIn(name string) (from, to int) {
	for from = 0; from+8 <= len(name); from++ {
		rest := name[from:]
		switch {
		case from > 0 && isDigit(name[from-1]) || !strings.HasPrefix(rest, "19") && !strings.HasPrefix(rest, "20"):
			continue
		case allDigits(rest[:8]):
			to = from + 8
		case len(rest) >= 10 && rest[4] == '-' && rest[7] == '-' && allDigits(rest[:4]+rest[5:7]+rest[8:10]):
			to = from + 10
		default:
			continue
		}
		for to < len(name) && (isDigit(name[to]) || to+1 < len(name) && strings.IndexByte("-_.T", name[to]) >= 0 && isDigit(name[to+1])) {
			to++
		}
		return from, to
	}
	return 0, 0
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// older orders files of one set.
func older(p, q string) int {
	_, a := generation(p)
	_, b := generation(q)
	rank := func(a age) int {
		switch {
		case a.number >= 0:
			return 1 // between files with a date and the current one
		case a.date != "":
			return 0
		}
		return 2
	}
	if c := rank(a) - rank(b); c != 0 {
		return c
	}
	if a.number != b.number {
		return b.number - a.number
	}
	return strings.Compare(a.date, b.date)
}
