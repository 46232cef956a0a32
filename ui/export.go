package ui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stormwatch/detect"
	"stormwatch/report"
)

// kinds of files an export writes, by the end of the name.
var exports = [...]string{".md", ".json", ".html", ".svg"}

// ErrFilterChanged is for a Feed.Report under another filter than it was asked for.
var ErrFilterChanged = errors.New("the filter was changed meanwhile: export again")

// export writes the incident report and the screen as it is: into a file of the
// name given, or one of each kind, named by the time of the input. All are of one
// moment, that at which the report is made; the screen of a frozen view alone stays
// what it was frozen for. A file that is there is never written over.
func (c *console) export(name string) effect {
	if c.snap.At == 0 {
		return c.flash("nothing to export yet")
	}
	c.v.editing, c.v.flash, c.dirty = false, "", true
	// What the job needs is handed over: it must not look at the console.
	job := exporting{feed: c.feed, v: c.v, w: c.w, h: c.h, marks: c.bookmarks, opt: c.opt, name: name}
	if c.v.play.frozen {
		job.frozen = c.snap
	}
	e := c.flash("exporting ...")
	e.job = func() string {
		name, err := job.write()
		if err != nil {
			return "export: " + err.Error()
		}
		return "written: " + name
	}
	return e
}

// exporting is an export under way.
type exporting struct {
	feed   Feed
	v      view
	w, h   int              // of the terminal
	frozen *detect.Snapshot // what the screen shows, where it does not go on
	marks  []detect.Event
	opt    Options
	name   string // of the file; "" one of each kind
}

// write returns what was written.
func (x *exporting) write() (string, error) {
	f := &x.v.filter
	whole, shown, err := x.feed.Report()
	if err == nil && whole.Filtered.Name != "" && whole.Filtered.Name != f.text {
		err = ErrFilterChanged
	}
	if err != nil {
		return "", err
	}
	whole, shown = f.apply(report.WithMarks(whole, x.marks)), f.apply(report.WithMarks(shown, x.marks))
	if x.frozen != nil {
		shown = x.frozen
	}
	screen, err := x.picture(shown)
	if err != nil {
		return "", err
	}
	o := x.opt.Report
	o.Filter = f.text
	if x.name != "" {
		return x.name, exportOne(filepath.Join(x.opt.Folder, x.name), whole, o, screen)
	}
	return exportAll(x.opt.Folder, whole.At, whole, o, screen)
}

// picture is the screen of a Snapshot as SVG; nothing where no screen has been drawn.
func (x *exporting) picture(s *detect.Snapshot) ([]byte, error) {
	if x.w <= 0 || x.h <= 0 {
		return nil, nil
	}
	x.v.arrangeRows(s)
	cells := newCanvas(x.w, x.h)
	drawFrame(cells, s, &x.v)
	var out bytes.Buffer
	err := cells.svg(&out, x.opt.Theme, x.opt.ASCII)
	return out.Bytes(), err
}

func parseExport(c *console, arg string) (func() effect, error) {
	if arg != "" && formOf(arg) == nil && !strings.HasSuffix(arg, ".svg") {
		return nil, fmt.Errorf("%q: a file that ends in .md, .html, .json, .txt or .svg", arg)
	}
	return func() effect { return c.export(arg) }, nil
}

func formOf(name string) report.Form {
	switch filepath.Ext(name) {
	case ".md":
		return report.Markdown
	case ".html":
		return report.HTML
	case ".json":
		return report.JSON
	case ".txt":
		return report.Text
	}
	return nil
}

func writeExport(w io.Writer, name string, s *detect.Snapshot, o report.Options, screen []byte) error {
	if form := formOf(name); form != nil {
		return form(w, s, o)
	}
	_, err := w.Write(screen)
	return err
}

func exportOne(path string, s *detect.Snapshot, o report.Options, screen []byte) error {
	err := create(path, func(w io.Writer) error { return writeExport(w, path, s, o, screen) })
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: choose another name", path)
	}
	return err
}

// exportAll writes a file of each kind under one name that is free for all of
// them.
func exportAll(folder string, at int64, s *detect.Snapshot, o report.Options, screen []byte) (string, error) {
	base := "stormwatch-" + time.Unix(0, at).UTC().Format("20060102T150405Z")
	const tries = 1000
	for n := 1; n <= tries; n++ {
		name := base
		if n > 1 {
			name += fmt.Sprintf("-%d", n)
		}
		taken := slices.ContainsFunc(exports[:], func(ext string) bool {
			_, err := os.Lstat(filepath.Join(folder, name+ext))
			return !errors.Is(err, fs.ErrNotExist)
		})
		if taken {
			continue
		}
		for _, ext := range exports {
			if err := exportOne(filepath.Join(folder, name+ext), s, o, screen); err != nil {
				return "", err
			}
		}
		return name + " " + strings.Join(exports[:], " "), nil
	}
	return "", fmt.Errorf("%s and %d more of that name are there already", base, tries)
}

// create writes a new file, whole or not at all. Others may not read it: it names
// clients.
func create(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
