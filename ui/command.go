package ui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormwatch/detect"
)

// verb is a command with arguments; what a key does without any is a command as
// well, by the name its help begins with.
type verb struct {
	name, args string
	takes      func(v *view, s *detect.Snapshot) []string // arguments that can be named
	parse      func(c *console, arg string) (func() effect, error)
}

func verbs() []verb {
	return []verb{
		{"goto", "TIME, +30s, -1m, start, end, onset or peak", gotoWords, parseGoto},
		{"speed", "1/4 to 64, or max", func(*view, *detect.Snapshot) []string { return speedWords() }, parseSpeed},
		{"zoom", "in, out, all, or FROM TO", words("in", "out", "all"), parseZoom},
		{"filter", "terms as behind /", nil, parseFilterCommand},
		{"sort", "a column", func(*view, *detect.Snapshot) []string { return orderWords() }, parseSort},
		{"theme", "dark, light or mono", words("dark", "light", "mono"), parseTheme},
		{"export", "nothing, or FILE.md, .html, .json, .svg or .txt", nil, parseExport},
		{"bookmark", "a text, or nothing", nil, func(c *console, arg string) (func() effect, error) {
			return func() effect { return c.bookmark(arg) }, nil
		}},
	}
}

func words(list ...string) func(*view, *detect.Snapshot) []string {
	return func(*view, *detect.Snapshot) []string { return list }
}

// nameOf is what the action of a key is called when it is typed: the word before
// the colon of its help; "" where it has none.
func nameOf(r *keyRow) string {
	switch r.act {
	case actHelp:
		return "help"
	case actQuit:
		return "quit"
	case actHealth:
		return "health"
	}
	name, _, ok := strings.Cut(r.bind.Help().Desc, ":")
	if !ok || strings.ContainsFunc(name, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' }) {
		return ""
	}
	return strings.ToLower(name)
}

// actionNames are the names of actions in the order of the key map.
func actionNames(rows []keyRow) (out []string) {
	for i := range rows {
		if name := nameOf(&rows[i]); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func actionNamed(rows []keyRow, name string) (action, bool) {
	for i := range rows {
		if n := nameOf(&rows[i]); n != "" && n == name {
			return rows[i].act, true
		}
	}
	return 0, false
}

// commandNames are all commands.
func commandNames(v *view) (out []string) {
	for _, k := range verbs() {
		out = append(out, k.name)
	}
	for _, name := range actionNames(v.keys) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// parseCommand reads a command and returns what it does. It changes nothing.
func (c *console) parseCommand(text string) (func() effect, error) {
	name, arg, _ := strings.Cut(strings.TrimSpace(text), " ")
	arg = strings.TrimSpace(arg)
	for _, k := range verbs() {
		if k.name == name {
			run, err := k.parse(c, arg)
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return run, err
		}
	}
	if name == "q" {
		name = "quit"
	}
	act, ok := actionNamed(c.v.keys, name)
	switch {
	case !ok:
		return nil, fmt.Errorf("no command %q: %s", name, strings.Join(commandNames(&c.v), " "))
	case arg != "":
		return nil, fmt.Errorf("%s: takes nothing behind it", name)
	}
	return func() effect { return c.do(act) }, nil
}

// completeCommand lists what the last word of a command may become.
func completeCommand(v *view, s *detect.Snapshot, draft string) []string {
	name, arg, spaced := strings.Cut(draft, " ")
	if !spaced {
		return offered(commandNames(v), name)
	}
	for _, k := range verbs() {
		switch {
		case k.name != name:
		case name == "filter":
			return completeFilter(s, arg)
		case k.takes != nil:
			return offered(k.takes(v, s), arg)
		}
	}
	return nil
}

func gotoWords(_ *view, s *detect.Snapshot) []string {
	out := []string{"start", "end"}
	for i := range s.Events {
		if k := s.Events[i].Kind; (k == "onset" || k == "peak") && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func parseGoto(c *console, arg string) (func() effect, error) {
	t, err := c.moment(arg)
	if err != nil {
		return nil, err
	}
	if c.feed.Transport() == nil {
		return nil, errors.New("works only in replay")
	}
	return func() effect { return c.seekTo(t) }, nil
}

// seekTo goes to a moment that was typed, and says so where the recording does not
// reach it.
func (c *console) seekTo(t int64) effect {
	e := c.jump(t)
	switch end := max(c.snap.End, c.snap.At); {
	case c.snap.Start == 0:
	case t >= end+second && c.v.loading.Doing != "":
		return c.flash("it is read up to " + clock(end) + " so far: go there again once it is read")
	case t >= end+second:
		return c.flash("the recording ends at " + clock(end))
	case t <= c.snap.Start-second:
		return c.flash("the recording starts at " + clock(c.snap.Start))
	}
	return e
}

// moment reads a time of the recording, UTC: a time of day within it, an RFC 3339
// time, a step from the present one, or a word.
func (c *console) moment(arg string) (int64, error) {
	s := c.snap
	switch arg {
	case "":
		return 0, errors.New("where to? A time such as 03:12:40, +30s, start, end, onset or peak")
	case "start":
		return s.Start, nil
	case "end":
		return max(s.End, s.At), nil
	}
	for i := range s.Events {
		if e := &s.Events[i]; e.Kind == arg {
			return e.At, nil
		}
	}
	if arg[0] == '+' || arg[0] == '-' {
		if d, err := time.ParseDuration(arg); err == nil {
			return c.position() + int64(d), nil
		}
	}
	if t, err := time.Parse(time.RFC3339Nano, arg); err == nil {
		return t.UnixNano(), nil
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		t, err := time.Parse(layout, arg)
		if err != nil {
			continue
		}
		day := time.Unix(0, s.Start).UTC().Truncate(24 * time.Hour)
		at := day.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())).UnixNano()
		if end := max(s.End, s.At); at < s.Start-second && at+24*3600*second <= end {
			at += 24 * 3600 * second // of the next day, which the input reaches
		}
		return at, nil
	}
	return 0, fmt.Errorf("%q is no time: 03:12:40, 2026-03-02T03:12:40Z, +30s, -1m, start, end, onset or peak", arg)
}

func speedWords() (out []string) {
	for _, x := range speeds() {
		out = append(out, strings.TrimPrefix(speedName(x), "x"))
	}
	return out
}

func parseSpeed(c *console, arg string) (func() effect, error) {
	if arg != speedName(0) {
		arg = strings.Trim(arg, "x")
	}
	t := c.feed.Transport()
	if t == nil {
		return nil, errors.New("works only in replay")
	}
	x := -1.0
	for _, known := range speeds() {
		if arg == strings.TrimPrefix(speedName(known), "x") {
			x = known
		}
	}
	if v, err := strconv.ParseFloat(arg, 64); err == nil && v >= .25 && v <= 64 {
		x = v
	}
	if x < 0 {
		return nil, fmt.Errorf("%q: 1/4 to 64, or max", arg)
	}
	return func() effect {
		t.SetSpeed(x)
		c.refresh()
		return effect{}
	}, nil
}

func orderWords() (out []string) {
	for o := range orders {
		out = append(out, o.String())
	}
	return out
}

func parseSort(c *console, arg string) (func() effect, error) {
	name, reverse := strings.CutPrefix(arg, "-")
	at := slices.Index(orderWords(), name)
	if at < 0 {
		return nil, fmt.Errorf("no column %q: %s; a minus before it reverses the order", arg, strings.Join(orderWords(), " "))
	}
	return func() effect {
		c.v.order, c.v.reverse = order(at), reverse
		c.v.arrangeRows(c.snap)
		return effect{}
	}, nil
}

func parseTheme(c *console, arg string) (func() effect, error) {
	if arg != "dark" && arg != "light" && arg != "mono" {
		return nil, fmt.Errorf("%q: dark, light or mono", arg)
	}
	return func() effect {
		c.opt.Theme = arg
		c.pal = newPalette(c.opt.Output, arg, c.opt.Color, c.opt.ASCII)
		return effect{}
	}, nil
}

func parseFilterCommand(c *console, arg string) (func() effect, error) {
	f, err := parseFilter(arg)
	return func() effect {
		c.apply(f)
		return effect{}
	}, err
}

func parseZoom(c *console, arg string) (func() effect, error) {
	acts := map[string]action{"in": actZoomIn, "out": actZoomOut, "all": actZoomAll, "": actZoomIn}
	if act, ok := acts[arg]; ok {
		return func() effect { return c.zoom(act) }, nil
	}
	a, b, ok := strings.Cut(arg, " ")
	if !ok {
		return nil, fmt.Errorf("%q: in, out, all, or from when to when, such as 03:12 03:14", arg)
	}
	from, err := c.moment(a)
	if err != nil {
		return nil, err
	}
	to, err := c.moment(strings.TrimSpace(b))
	if err != nil {
		return nil, err
	}
	if to-from < leastZoom {
		return nil, errors.New("the end is to be at least 10 s after the start")
	}
	return func() effect { return c.zoomTo(from, to) }, nil
}
