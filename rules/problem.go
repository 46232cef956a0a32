package rules

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Problem is what is wrong with a rule file.
type Problem struct {
	File    string
	Line    int // 0 where the whole file or folder is meant
	Column  int // in characters, from 1; 0 where the whole line is meant
	Message string
	Source  string // that line, as it is written
}

// Error tells the problem as file:line:column: message.
func (p Problem) Error() string {
	switch {
	case p.Line == 0:
		return p.File + ": " + p.Message
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// shownColumns is how much of a long line Picture shows.
const shownColumns = 96

// Picture is the line with a caret under what is meant, in two lines; "" where no
// line is. Characters that do not print are shown as "?", so that both agree.
func (p Problem) Picture() string {
	if p.Source == "" || p.Column == 0 {
		return ""
	}
	line := []rune(p.Source)
	for i, r := range line {
		switch {
		case r == '\t':
			line[i] = ' '
		case !unicode.IsPrint(r):
			line[i] = '?'
		}
	}
	at := min(p.Column-1, len(line))
	if from := at - shownColumns/2; from > 0 && len(line) > shownColumns {
		line, at = append([]rune{'…'}, line[from:]...), at-from+1
	}
	if len(line) > shownColumns {
		line = append(line[:shownColumns:shownColumns], '…')
	}
	return "    " + string(line) + "\n    " + strings.Repeat(" ", at) + "^"
}

// slip is a mistake inside an expression or a sentence.
type slip struct {
	at int // characters before it
	error
}

func (s slip) Unwrap() error { return s.error }

// located puts a mistake at a place, unless it has one.
func located(at int, err error) error {
	if err == nil || errors.As(err, new(slip)) {
		return err
	}
	return slip{at, err}
}

// failInside notes a mistake inside the text of n, at the place in the file where
// it is written. The text is that of n with its line breaks folded.
func (d *document) failInside(n *yaml.Node, key, text string, err error) {
	var s slip
	if !errors.As(err, &s) {
		d.fail(n, "%s: %v", key, err)
		return
	}
	line, column := d.find(n, text, s.at)
	d.problems = append(d.problems, Problem{File: d.file, Line: line, Column: column, Message: key + ": " + err.Error()})
}

// find tells where in the file the character is that follows n others of a node's
// text: as many characters that are no space stand before it in both.
func (d *document) find(n *yaml.Node, text string, at int) (line, column int) {
	line, column = n.Line, n.Column
	switch n.Style {
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		column++
	case yaml.LiteralStyle, yaml.FoldedStyle:
		line, column = line+1, 1
	}
	before := 0
	for i, r := range []rune(text) {
		if i >= at {
			break
		}
		if !unicode.IsSpace(r) {
			before++
		}
	}
	for ; line <= len(d.lines); line, column = line+1, 1 {
		source := []rune(d.lines[line-1])
		for ; column <= len(source); column++ {
			if unicode.IsSpace(source[column-1]) {
				continue
			}
			if before == 0 {
				return line, column
			}
			before--
		}
	}
	if last := n.Line; last <= len(d.lines) { // past its end, as where something is missing
		return last, utf8.RuneCountInString(strings.TrimRight(d.lines[last-1], " \t\r")) + 1
	}
	return n.Line, n.Column
}
