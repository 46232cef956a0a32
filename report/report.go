// Package report writes a Snapshot in the forms that people and programs read.
// Each form is a function of a writer, a snapshot and options. Whatever came
// from traffic passes capture.Clean on its way out.
package report

import (
	"bytes"
	"io"

	"stormwatch/detect"
)

// Options are what the forms have in common.
type Options struct {
	Version  string
	Top      int  // clients listed; 0 means 10 in text, all there are in JSON
	Redact   bool // clients appear as client-1, client-2 ...; examples from the input are left out
	Color    bool // text: the verdict's line in colour
	ASCII    bool // text and brief: no other characters
	Snippets bool // text: configuration under each mitigation

	FailOn   detect.State // JUnit: the verdict from which the gate fails
	Command  string       // Markdown, HTML: how to make the report again
	Filter   string       // which clients are listed; "" all
	Rules    string       // Markdown, HTML: what was judged by
	For      string       // throttle-list: one of Products
	ClientBy string       // throttle-list: what a client is, as --client-by
}

// Form writes a report. Errors are those of the writer.
type Form func(w io.Writer, s *detect.Snapshot, o Options) error

// FormOf returns the form of a name; nil where there is none.
func FormOf(name string) Form {
	switch name {
	case "text":
		return Text
	case "brief":
		return Brief
	case "json":
		return JSON
	case "markdown":
		return Markdown
	case "html":
		return HTML
	case "junit":
		return JUnit
	case "openmetrics":
		return OpenMetrics
	case "throttle-list":
		return ThrottleList
	}
	return nil
}

// Names lists the forms that FormOf knows.
func Names() []string {
	return []string{"text", "brief", "json", "markdown", "html", "junit", "openmetrics", "throttle-list"}
}

// Written tells whether a form is an incident report, which shows chains, a fine
// timeline and the arrivals as well.
func Written(name string) bool { return name == "markdown" || name == "html" }

// write hands a finished report over in one piece.
func write(w io.Writer, b *bytes.Buffer, o Options) error {
	text := b.Bytes()
	if o.ASCII {
		text = plain(text)
	}
	_, err := w.Write(text)
	return err
}
