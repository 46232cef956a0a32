// Package ui is the console: it draws Snapshots on a terminal and turns keys
// into wishes to whoever runs the engine.
//
// Panels are plain functions of a canvas, a Snapshot and the view the operator
// has chosen; only model.go and run.go know Bubble Tea. Nothing here reads a
// clock: what the screen says depends on the Snapshot alone, so replay, tests
// and screenshots look the same.
package ui

import (
	"io"
	"time"

	"stormwatch/detect"
	"stormwatch/report"
)

// Feed is whoever runs the engine. All methods are safe from the console's
// goroutine and return at once.
type Feed interface {
	// Snapshot is the latest published one, never nil.
	Snapshot() *detect.Snapshot
	// Want names the view that later snapshots shall answer.
	Want(detect.View)
	// Transport steers a replay; nil for live input.
	Transport() Transport
	// Progress tells how far a recording is read and judged.
	Progress() Progress
	// Report is a Snapshot with all that an incident report shows, judged as a whole
	// up to the present moment, with chains as examples; and of that moment and the
	// same clients the one that the view wanted last is answered by. It may take a
	// while, and may be called from any goroutine.
	Report() (whole, screen *detect.Snapshot, err error)
}

// Progress is how far a recording is read, or judged, before it can be played.
type Progress struct {
	Doing string // "reading", "judging"; "" when there is nothing to wait for
	// Bytes of Total were read; Total is 0 where it is not known.
	Bytes, Total int64
	Share        float64       // 0..1
	Left         time.Duration // until it is done, estimated; 0 not known yet
}

// Transport steers the clock of a replay.
type Transport interface {
	Pause(bool)
	Paused() bool
	// SetSpeed sets event seconds per second; 0 is as fast as possible.
	SetSpeed(x float64)
	Speed() float64
	// SeekTo goes to an event time, Unix ns.
	SeekTo(t int64)
}

// Options set up a console. The zero value is usable.
type Options struct {
	Input  io.Reader // keys; nil is the terminal, also when stdin is a pipe
	Output io.Writer // nil is stdout
	FPS    int       // frames per second, 1 to 30; 0 is 10, over SSH 4
	Theme  string    // "dark", "light", "mono"; else as the terminal is
	Color  string    // "always", "never"; else as NO_COLOR and the terminal say
	ASCII  bool      // draw with ASCII only
	Title  string    // what is watched; "" names the sources
	// Version is shown in the help.
	Version string
	Report  report.Options // of what is exported: version, rules, command to reproduce
	Folder  string         // where exports go; "" is the current one
}
