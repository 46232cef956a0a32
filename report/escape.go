package report

import (
	"html"
	"strings"
)

// longest is how many columns of any one text the written-out reports show.
const longest = 400

// md makes a text safe to stand in a line of Markdown or a cell of a table: what
// has a meaning there (CommonMark 0.31 section 2.4, GitHub's tables and
// autolinks) loses it.
func md(s string) string {
	s = clip(s, longest)
	if !strings.ContainsAny(s, "\\`*_[]<>#!|~&@:.$") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c == '&':
			b.WriteString("&amp;")
		case strings.IndexByte("\\`*_[]#|~$!", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '@': // neither a mention nor a mail address
			b.WriteString("`@`")
		case c == ':' && strings.HasPrefix(s[i:], "://"): // nor a link
			b.WriteString("`:`")
		case c == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"):
			b.WriteString("`.`")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// code makes a text of the traffic stand as it is in Markdown: in a code span
// whose fence is longer than any in it.
func code(s string) string { return fenced(clip(s, longest)) }

// codeCell is code in a cell of a table, where bars are escaped even in a code span
// (GitHub Flavored Markdown 0.29 section 4.10).
func codeCell(s string) string { return fenced(strings.ReplaceAll(clip(s, longest), "|", `\|`)) }

func fenced(s string) string {
	if s == "" {
		return ""
	}
	f := fence(s, 1)
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' {
		return f + " " + s + " " + f
	}
	return f + s + f
}

// fence is a run of backticks longer than any in s, at least n of them.
func fence(s string, n int) string {
	for strings.Contains(s, strings.Repeat("`", n)) {
		n++
	}
	return strings.Repeat("`", n)
}

// esc makes a text safe in HTML, as text and as a quoted attribute.
func esc(s string) string { return html.EscapeString(clip(s, longest)) }
