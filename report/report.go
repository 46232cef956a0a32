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

	For      string // throttle-list: one of Products
	ClientBy string // throttle-list: what a client is, as --client-by
}

// Form writes a report. Errors are those of the writer.
type Form func(w io.Writer, s *detect.Snapshot, o Options) error

// FormOf returns the form of a name: text, brief or json; nil for others.
func FormOf(name string) Form {
	switch name {
	case "text":
		return Text
	case "brief":
		return Brief
	case "json":
		return JSON
	case "throttle-list":
		return ThrottleList
	}
	return nil
}

// Names lists the forms that FormOf knows.
func Names() []string { return []string{"text", "brief", "json", "throttle-list"} }

// write hands a finished report over in one piece.
func write(w io.Writer, b *bytes.Buffer, o Options) error {
	text := b.Bytes()
	if o.ASCII {
		text = plain(text)
	}
	_, err := w.Write(text)
	return err
}
