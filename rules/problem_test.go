package rules

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A mistake inside an expression is told by its own line and column, however the
// text is written in the file; the columns here were counted by hand.
func TestMistakesInsideExpressions(t *testing.T) {
	for name, c := range map[string]struct {
		old, new     string
		line, column int
		under        string // what begins at the caret
	}{
		"plain":            {"missing_low >", "mising_low >", 7, 7, "mising_low"},
		"second":           {"when: missing_low > 0.9", "when: missing_low > 0.9 && refusal > 3", 7, 28, "refusal"},
		"folded":           {"when: missing_low > 0.9", "when: >-\n  missing_low > 0.9 &&\n    refusal > 3", 9, 5, "refusal"},
		"plain, two lines": {"when: missing_low > 0.9", "when: missing_low > 0.9 &&\n  refusal > 3", 8, 3, "refusal"},
		"quoted":           {`points: "missing_share"`, `points: "min(1, missing_shar)"`, 9, 35, "missing_shar"},
		"quoted once":      {`points: "missing_share"`, `points: '2 * missing_shar'`, 9, 32, "missing_shar"},
		"sentence":         {"{missing_share%} missing", "in all {missing_shar%} missing", 12, 16, "missing_shar"},
		"sentence, brace":  {"{missing_share%} missing", "ä {missing_share", 12, 10, "{missing_share"},
		"key":              {"severity:", "sevrity:", 10, 1, "sevrity"},
		"minimum":          {"refusals: 20", "refusal: 20", 6, 9, "refusal"},
		"mitigation":       {"[send-hint]", "[spread-hint, sendhint]", 13, 28, "sendhint"},
		"unfinished":       {"missing_low > 0.9", "missing_low >", 7, 19, ">"},
		"no condition":     {"missing_low > 0.9", "missing_low", 7, 7, "missing_low"},
		"unknown function": {"missing_low > 0.9", "missing_low > ceil(0.9)", 7, 21, "ceil"},
	} {
		if strings.Count(good, c.old) != 1 {
			t.Fatalf("%s: %q is not in the file once", name, c.old)
		}
		ps := Check(folder(t, "mine.yaml", strings.Replace(good, c.old, c.new, 1)))
		found := false
		for _, p := range ps {
			if p.Line != c.line || p.Column != c.column {
				continue
			}
			found = true
			if want := fmt.Sprintf("mine.yaml:%d:%d: ", c.line, c.column); !strings.HasPrefix(filepath.Base(p.Error()), want) && !strings.Contains(p.Error(), want) {
				t.Errorf("%s: %q, want %q in it", name, p.Error(), want)
			}
			line, caret, _ := strings.Cut(p.Picture(), "\n")
			if at := strings.IndexByte(caret, '^'); at < 0 || !strings.HasPrefix(string([]rune(line + " ")[at:]), c.under) {
				t.Errorf("%s: the caret is not under %q:\n%s", name, c.under, p.Picture())
			}
		}
		if !found {
			t.Errorf("%s: %v, want one at %d:%d", name, ps, c.line, c.column)
		}
	}
}

// A long line is shown around the mistake, and control characters do not get out.
func TestPictureOfHostileLines(t *testing.T) {
	p := Problem{Line: 1, Column: 301, Source: strings.Repeat("x", 300) + "\x1b]2;y\x07" + strings.Repeat("z", 300)}
	line, caret, _ := strings.Cut(p.Picture(), "\n")
	if len([]rune(line)) > shownColumns+8 || strings.ContainsAny(line, "\x1b\x07") {
		t.Errorf("%q", line)
	}
	if at := strings.IndexByte(caret, '^'); at < 0 || []rune(line)[at] != '?' {
		t.Errorf("the caret is not under the mistake:\n%s", p.Picture())
	}
	for _, p := range []Problem{{}, {Line: 1, Source: "x"}, {Line: 1, Column: 900, Source: "x"}, {Line: 1, Column: 1}} {
		_ = p.Picture()
	}
}
