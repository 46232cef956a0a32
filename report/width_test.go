package report

import "testing"

// Widths by hand: the chart of UAX 11 for single characters.
func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "né–…": 4, "日本": 4, "ｱ": 1, "Ａ": 2, "🙂": 2, "한글": 4, "▲●◌✓·": 5} {
		if got := width(s); got != want {
			t.Errorf("width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 6, "日本語"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"日本語", 1, "…"}, {"a b", 2, "a…"}, {"", 0, ""},
	} {
		if got := truncate(c.s, c.n, "…"); got != c.want || width(got) > c.n {
			t.Errorf("truncate(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func TestWrapKeepsEveryWord(t *testing.T) {
	for _, c := range []struct {
		s    string
		want []string
	}{
		{"one two three", []string{"one two", "three"}},
		{"onetwothree", []string{"onetwoth", "ree"}},
		{"日本語日本語", []string{"日本語日", "本語"}},
		{"a  b", []string{"a  b"}},
		{"", []string{""}},
		{"a of 25 % b", []string{"a of", "25 % b"}},
		{"spread 5 %", []string{"spread", "5 %"}},
	} {
		got := wrap(c.s, 8)
		if len(got) != len(c.want) {
			t.Errorf("wrap(%q) = %q, want %q", c.s, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("wrap(%q) = %q, want %q", c.s, got, c.want)
			}
		}
	}
}
