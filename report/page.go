package report

import (
	"bytes"
	"strings"

	"stormwatch/capture"
)

// columns is the width of the text report; snippets are not wrapped, so that
// they can be copied.
const columns = 100

// page collects lines of text. Every text that is put on it is cleaned here.
type page struct{ bytes.Buffer }

func (p *page) line(s string) {
	p.WriteString(strings.TrimRight(s, " "))
	p.WriteByte('\n')
}

func (p *page) head(title, note string) {
	p.line("")
	if note != "" {
		title += "  (" + clean(note) + ")"
	}
	p.line(title)
}

// term puts a text behind a label, wrapped under itself. An empty text leaves
// the label out as well.
func (p *page) term(indent int, label string, column int, text string) {
	text = clean(text)
	if text == "" {
		return
	}
	label = clip(label, columns/2)
	lead := strings.Repeat(" ", indent) + label + strings.Repeat(" ", max(column-width(label), 1))
	room := max(columns-width(lead), 20)
	for _, part := range wrap(text, room) {
		p.line(lead + part)
		lead = strings.Repeat(" ", width(lead))
	}
}

// wrap cuts a text at spaces into lines of at most room columns; a word that is
// longer is cut where it must be.
func wrap(s string, room int) []string {
	var lines []string
	for {
		s = strings.TrimLeft(s, " ")
		head := truncate(s, room, "")
		if head == s || head == "" { // all of it, or not even one character, fits
			return append(lines, s)
		}
		cut := len(head)
		if !mayBreak(s, cut) {
			for space := cut; space > 0; {
				if space = strings.LastIndexByte(head[:space], ' '); space > 0 && mayBreak(s, space) {
					cut = space
					break
				}
			}
		}
		lines = append(lines, strings.TrimRight(s[:cut], " "))
		s = s[cut:]
	}
}

// mayBreak tells whether a line may end before s[i]: at a space, save one between
// a number and its per cent.
func mayBreak(s string, i int) bool { return s[i] == ' ' && !strings.HasPrefix(s[i:], " %") }

// cell fits a text into a column of the given width, to the left, or to the
// right where columns is negative.
func cell(s string, columns int) string {
	n := max(columns, -columns)
	s = truncate(clean(s), n, "…")
	pad := strings.Repeat(" ", max(n-width(s), 0))
	if columns < 0 {
		return pad + s
	}
	return s + pad
}

func clean(s string) string { return capture.Clean(s) }

// clip cleans a text and shortens it to n columns.
func clip(s string, n int) string { return truncate(clean(s), n, "…") }
