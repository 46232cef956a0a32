package rules

import (
	"fmt"
	"strings"
)

// meant suggests the name that a misspelt one may stand for, as a part of a
// sentence, or "".
func meant(name string, known []string) string {
	best, least := "", 3 // two slips at most; more is another word
	for _, k := range known {
		if d := slips(name, k); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", meant %q?", best)
}

// slips is the Levenshtein distance of two names, at most 99 for long ones.
func slips(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 99
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// list writes names as a list to read.
func list[T ~string](names []T) string {
	text := make([]string, len(names))
	for i, n := range names {
		text[i] = string(n)
	}
	return strings.Join(text, ", ")
}
