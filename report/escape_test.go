package report

import "testing"

// A bar ends a cell even inside code, so it is escaped there; elsewhere the backslash
// would be copied with a command.
func TestBarsInCode(t *testing.T) {
	const command = "zcat a.gz | stormwatch report - && echo `date`"
	if got, want := code(command), "`` "+command+" ``"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := code("a|b"), "`a|b`"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := codeCell("a|b"), "`a\\|b`"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := code("") + codeCell(""); got != "" {
		t.Errorf("%q of nothing", got)
	}
}

// What means nothing in Markdown stays as it is.
func TestMarkdownLeavesPlainPunctuation(t *testing.T) {
	for in, want := range map[string]string{
		"{a} (b) +c": "{a} (b) +c",
		"(a|b)":      "(a\\|b)",
		"{*} +":      "{\\*} +",
	} {
		if got := md(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
