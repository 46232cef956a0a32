package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stormwatch/capture"
	"stormwatch/capture/witness"
	"stormwatch/detect"
	"stormwatch/report"
	"stormwatch/rules"
)

// flags are those that several verbs share.
type flags struct {
	clientBy, names, capacity, color, theme string
	perspective                             string
	since, until                            string
	rules, clock, exec                      []string
	shards, fps                             int
	ascii, plain, redact                    bool
	events                                  string

	who     witness.Who // what clientBy says
	from    detect.Bound
	clocks  map[string]int64 // what clock says, by source
	secrets capture.Secrets  // one for all sources: a credential is the same in every one
	marks   *marks           // what events says; nil none

	ruleNames string // what is judged by, for reports
	command   string // the command that makes the report again
}

func (f *flags) input(c *cobra.Command) {
	p := c.PersistentFlags()
	p.StringVar(&f.clientBy, "client-by", "auto", "what a client is: addr (auto), addr/24, key (its credential), agent, header:NAME, jwt:CLAIM or path:N")
	p.StringVar(&f.names, "names", "", "FILE of names for clients: 10.0.0.7,checkout or 10.2.0.0/16,batch or KEY,tenant")
	p.StringVar(&f.since, "since", "", "look from here on: 2026-03-02T03:10:00Z, '2026-03-02 03:10', 03:10, or 15m before the end (live: before now)")
	p.StringVar(&f.until, "until", "", "and up to here")
	p.StringVar(&f.perspective, "perspective", "auto", "whose side the input was seen from: server, client (what is told apart is whom we call, and by which key) or auto")
	p.StringVar(&f.events, "events", "", "FILE of what is known to have happened, a time and a text a line: 03:10:00 deploy of api 4.2; shown on the timeline and in reports")
	p.StringVar(&f.capacity, "capacity", "", "what the server can serve, e.g. 40/s, if you know")
	p.StringArrayVar(&f.rules, "rules", nil, "folder with rules that add to or replace the built-in ones")
	p.StringArrayVar(&f.clock, "clock", nil, "NAME=OFFSET: the clock of the source NAME is ahead by OFFSET, such as -2.4s")
	p.StringArrayVar(&f.exec, "exec", nil, "NAME=COMMAND whose output is followed, run anew when it ends: 'web1=ssh web1 tail -F /var/log/nginx/access.log'")
	p.IntVar(&f.shards, "shards", min(runtime.GOMAXPROCS(0), 8), "parts of the state worked on at once; the result is the same")
	_ = p.MarkHidden("shards") // fails only for a flag that does not exist
}

func (f *flags) screen(c *cobra.Command) {
	p := c.PersistentFlags()
	p.StringVar(&f.color, "color", "auto", "auto, always or never")
	p.StringVar(&f.theme, "theme", "", "dark, light or mono")
	p.BoolVar(&f.ascii, "ascii", false, "draw with ASCII characters only")
	p.BoolVar(&f.plain, "plain", false, "lines instead of a screen")
	p.BoolVar(&f.redact, "redact-clients", false, "name clients client-1, client-2 ...; leave out examples of the input")
	p.IntVar(&f.fps, "fps", 0, "frames per second, 1 to 30")
}

func (f *flags) options(st *streams) (detect.Options, error) {
	o := detect.Options{Shards: f.shards, Perspective: f.perspective}
	if err := f.check(); err != nil {
		return o, usage{err}
	}
	if err := f.clients(&o); err != nil {
		return o, err
	}
	if err := f.window(st, &o); err != nil {
		return o, err
	}
	if f.capacity != "" {
		n, err := strconv.ParseFloat(strings.TrimSuffix(f.capacity, "/s"), 64)
		if err != nil || !(n > 0 && n <= 1e9) { // so that NaN is none either
			return o, usage{fmt.Errorf("--capacity %s: a number per second above 0, such as 40/s", f.capacity)}
		}
		o.Capacity = n
	}
	f.clocks = map[string]int64{}
	o.Clock = f.clocks
	for _, c := range f.clock {
		name, value, _ := strings.Cut(c, "=")
		d, err := time.ParseDuration(value)
		if err != nil || name == "" {
			return o, usage{fmt.Errorf("--clock %s: NAME=OFFSET, such as web1=-2.4s", c)}
		}
		f.clocks[name] = int64(d)
	}
	set, err := rules.Load(f.rules...)
	if err != nil {
		return o, err
	}
	o.Rules = set
	f.ruleNames = rulesName(set, f.rules)
	f.marks, err = f.eventMarks(st)
	return o, err
}

// redactor hides who clients are, where that is asked for.
func (f *flags) redactor() *report.Redactor {
	if !f.redact {
		return nil
	}
	return report.NewRedactor()
}

// clients reads what a client is, and what clients are called.
func (f *flags) clients(o *detect.Options) (err error) {
	if f.who, err = witness.ParseWho(f.clientBy); err != nil {
		return usage{fmt.Errorf("--client-by %w", err)}
	}
	if f.secrets = capture.NewSecrets(); f.who.ByKey() {
		o.ClientBy = "key"
	}
	if f.names == "" {
		return nil
	}
	file, err := os.Open(f.names)
	if err != nil {
		return fmt.Errorf("--names: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if o.Names, err = detect.ReadNaming(file, f.secrets, f.who.ByKey()); err != nil {
		return usage{fmt.Errorf("--names %s: %w", f.names, err)}
	}
	return nil
}

// check looks at the flags whose values are few.
func (f *flags) check() error {
	for _, choice := range []struct {
		flag, value string
		of          []string
	}{
		{"color", f.color, []string{"auto", "always", "never"}},
		{"perspective", f.perspective, []string{"server", "client", "auto"}},
		{"theme", f.theme, []string{"", "dark", "light", "mono"}},
	} {
		if !slices.Contains(choice.of, choice.value) {
			return fmt.Errorf("--%s %s: %s", choice.flag, choice.value, strings.TrimPrefix(strings.Join(choice.of, ", "), ", "))
		}
	}
	if f.fps < 0 || f.fps > 30 {
		return fmt.Errorf("--fps %d: 1 to 30", f.fps)
	}
	if f.shards < 1 {
		return fmt.Errorf("--shards %d: at least 1", f.shards)
	}
	return nil
}
