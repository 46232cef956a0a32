package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
	"stormwatch/capture/loadtest"
	"stormwatch/capture/packet"
	"stormwatch/capture/prometheus"
	"stormwatch/capture/witness"
	"stormwatch/detect"
)

// input is an opened source.
type input struct {
	capture.Source
	close func() error
	piece string                // the file, where it is a recorded capture without a name of its own: it may be a piece of one
	again func() (input, error) // opens it anew; nil where it cannot be read again
	read  *meter                // how much of it has been read; nil where that is not known
}

// openAll opens every source named, or none. Files of a folder that are no source
// are passed over, and told.
func (f *flags) openAll(ctx context.Context, st *streams, args []string, follow bool) (ins []input, err error) {
	defer func() {
		if err != nil {
			closeAll(ins)
		}
	}()
	all, err := targets(args)
	if err != nil {
		return nil, err
	}
	trusted, err := st.logs.trusted()
	if err != nil {
		return nil, err
	}
	passed := map[string][]string{} // files that are no source, by folder
	for _, t := range f.separate(ctx, st, all) {
		in, err := f.open(ctx, st, &t, follow)
		if err != nil && t.folder != "" && !errors.As(err, new(usage)) && ctx.Err() == nil {
			passed[t.folder] = append(passed[t.folder], capture.Clean(err.Error()))
			continue
		}
		if err != nil {
			return ins, err
		}
		ins = append(ins, in)
	}
	if len(f.clock) == 0 { // else each has its own clock
		if ins, err = f.join(ctx, st, ins); err != nil {
			return ins, err
		}
	}
	for i := range ins {
		ins[i] = f.witnessed(ins[i], trusted)
	}
	for _, e := range f.exec {
		in, err := f.execute(ctx, st, e, trusted)
		if err != nil {
			return ins, err
		}
		ins = append(ins, in)
	}
	for _, folder := range slices.Sorted(maps.Keys(passed)) {
		if len(ins) == 0 {
			return nil, fmt.Errorf("%s: no file in it can be read: %s", folder, passed[folder][0])
		}
		ins[0] = ins[0].noted(passedOver(passed[folder]))
	}
	return ins, nil
}

// execute follows what a command prints.
func (f *flags) execute(ctx context.Context, st *streams, arg string, trusted []netip.Prefix) (input, error) {
	name, text, ok := strings.Cut(arg, "=")
	if !ok || name == "" || strings.TrimSpace(text) == "" {
		return input{}, usage{fmt.Errorf("--exec %s: NAME=COMMAND, as in 'web1=ssh web1 tail -F /var/log/nginx/access.log'", arg)}
	}
	t := target{name: name, paths: []string{"-"}}
	o, err := f.logOptions(st, &t, nil)
	if err != nil {
		return input{}, err
	}
	o.Live, o.Until, o.Vantage = true, time.Now(), "log" // hosts of one tier
	c := newCommand(ctx, name, text)
	src, err := accesslog.Open(name, c, o)
	if err != nil {
		return input{}, err
	}
	return f.witnessed(input{Source: &attended{Source: src, of: c}, close: c.Close}, trusted), nil
}

// witnessed puts a witness before the sink of a source, and of the same one when
// it is opened anew.
func (f *flags) witnessed(in input, trusted []netip.Prefix) input {
	o := witness.Options{Who: f.who}
	if in.Info().Kind == "capture" { // logs see to it line by line
		o.Trusted = trusted
	}
	in.Source = witness.New(in.Source, o)
	return in.anew(func(in input) input { return f.witnessed(in, trusted) })
}

// noted adds a remark to the Health of a witnessed source.
func (in input) noted(text string) input {
	in.Source.(*witness.Source).Note(text)
	return in.anew(func(in input) input { return in.noted(text) })
}

// anew has the input made what it is when it is opened anew.
func (in input) anew(do func(input) input) input {
	again := in.again
	if again == nil {
		return in
	}
	in.again = func() (input, error) {
		in, err := again()
		if err != nil {
			return in, err
		}
		return do(in), nil
	}
	return in
}

// separate takes sets apart whose files are no logs: captures, for instance, are
// not read as one.
func (f *flags) separate(ctx context.Context, st *streams, all []target) (out []target) {
	for _, t := range all {
		if len(t.paths) > 1 && !f.areLogs(ctx, st, &t) {
			for _, p := range t.paths {
				out = append(out, target{t.name, []string{p}, t.folder})
			}
			continue
		}
		out = append(out, t)
	}
	return out
}

// areLogs tells whether each file of a set is a log; empty ones, which a rotation
// has just left, are dropped.
func (f *flags) areLogs(ctx context.Context, st *streams, t *target) bool {
	var kept []string
	for _, p := range t.paths {
		in, err := look(ctx, st, p)
		if errors.Is(err, errEmpty) {
			continue
		}
		if err != nil {
			return false
		}
		ok := in.regular && !packet.Detect(in.first) && !prometheus.DetectRange(in.first) && (st.logs.named() || !loadtest.Detect(in.first) && accesslog.Unreadable(in.first) == "" && in.isLog())
		if err := in.Close(); err != nil || !ok {
			return false
		}
		kept = append(kept, p)
	}
	if len(kept) == 0 {
		return false
	}
	t.paths = kept
	return true
}

// openChecked opens every source named, and fails where a flag names one that is
// not among them.
func (f *flags) openChecked(ctx context.Context, st *streams, args []string, follow bool) ([]input, error) {
	ins, err := f.openAll(ctx, st, args, follow)
	if err != nil {
		return nil, err
	}
	if !f.who.ByAddress() && !slices.ContainsFunc(ins, func(in input) bool { return in.Info().Kind != "prometheus" }) {
		closeAll(ins)
		return nil, usage{fmt.Errorf("--client-by %s: counts do not tell clients apart; add a log or a capture of the same time", f.clientBy)}
	}
	for _, z := range st.logs.zones {
		if name, _, named := strings.Cut(z, "="); named && !slices.ContainsFunc(ins, func(in input) bool { return calls(name, in.Info().Name) }) {
			closeAll(ins)
			return nil, usage{fmt.Errorf("--tz %s: no source has this name; a file is named by what follows its last slash, or NAME=FILE", z)}
		}
	}
	for _, c := range f.clock {
		name, _, _ := strings.Cut(c, "=")
		if !slices.ContainsFunc(ins, func(in input) bool { return calls(name, in.Info().Name) }) {
			closeAll(ins)
			return nil, usage{fmt.Errorf("--clock %s: no source has this name; a file is named by what follows its last slash, or NAME=FILE", c)}
		}
		for _, in := range ins {
			if calls(name, in.Info().Name) {
				f.clocks[in.Info().Name] = f.clocks[name]
			}
		}
	}
	return ins, nil
}

func closeAll(ins []input) {
	for _, in := range ins {
		if in.close != nil {
			_ = in.close() // opened for reading: nothing is lost
		}
	}
}

// split takes NAME=SOURCE apart. A file of that whole name is meant where there
// is one.
func split(arg string) (name, path string) {
	if _, err := os.Lstat(arg); err == nil {
		return "", arg
	}
	if i := strings.IndexByte(arg, '='); i > 0 && !strings.ContainsAny(arg[:i], "/\\:.") {
		return arg[:i], arg[i+1:]
	}
	return "", arg
}

// replay reads recorded sources once, never to go back, and hands f the replay of
// them.
func replay(ctx context.Context, ins []input, o detect.Options, f func(*detect.Replay) error) error {
	o.MaxCheckpoints = -1
	rec := detect.NewRecording(o)
	defer func() { _ = rec.Close() }() // temporary files: nothing is lost
	if err := record(ctx, ins, rec); err != nil {
		return err
	}
	p, err := detect.NewReplay(rec)
	if err != nil {
		return err
	}
	return f(p)
}

// judgeRecorded is replay for those who ask for no rows. One file is judged while
// it is read, and is read again where that turns out not to do.
func judgeRecorded(ctx context.Context, ins []input, o detect.Options, f func(*detect.Replay) error) error {
	// With a limited time what was read shall be told: it must not run out twice.
	if _, limited := ctx.Deadline(); limited || len(ins) != 1 || ins[0].again == nil {
		return replay(ctx, ins, o, f)
	}
	o.Once = true
	err := replay(ctx, ins, o, f)
	if !errors.Is(err, detect.ErrReread) {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stopped while reading: %w", err)
	}
	in, err := ins[0].again()
	if err != nil {
		return err
	}
	defer closeAll([]input{in})
	o.Once = false
	return replay(ctx, []input{in}, o, f)
}

// unnamed is the error of inputs that cannot tell who the clients are.
func unnamed(ins []input) error {
	var sources []*witness.Source
	for _, in := range ins {
		if w, ok := in.Source.(*witness.Source); ok {
			sources = append(sources, w)
		}
	}
	return witness.None(sources)
}

// record reads recorded sources to their end, all at once. Failed sources are
// told; what they gave until then is kept when any of it could be used.
func record(ctx context.Context, ins []input, rec *detect.Recording) error {
	return recordWith(ctx, ins, rec, func(_ capture.Info, sink capture.Sink) capture.Sink { return sink })
}

// recordWith is record through sinks that are put before those of the recording.
func recordWith(ctx context.Context, ins []input, rec *detect.Recording, before func(capture.Info, capture.Sink) capture.Sink) error {
	errs := make(chan error, len(ins))
	for _, in := range ins {
		sink := before(in.Info(), rec.Inlet(in.Info()).Take)
		go func() {
			var err error
			defer func() { errs <- err }()
			defer guard(&err) // a fault in a source must not leave the terminal raw
			err = in.Run(ctx, sink)
		}()
	}
	var failed error
	for range ins {
		failed = errors.Join(failed, <-errs)
	}
	if failed != nil {
		return failed
	}
	if err := unnamed(ins); err != nil {
		return err
	}
	debug.FreeOSMemory() // what reading needed is free: judging shall not be added to it
	return rec.Seal()
}
