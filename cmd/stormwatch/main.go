// Command stormwatch tells from traffic whether a retry storm is under way, who
// sustains it, how sure that is, and what to do first.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
)

// Exit codes, as the README lists them.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitAlarm       = 3
	exitCannotJudge = 4
)

func main() {
	if os.Getenv("GOGC") == "" {
		// State is large and holds few pointers, so collecting it more often costs
		// little: report over a million log lines of 50,000 clients peaks at 85 MB,
		// at 50 per cent at 90, in a time that did not change measurably.
		debug.SetGCPercent(25)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// exit is an error that only carries an exit code; what there is to say has been
// said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// usage is an error in how the command was called.
type usage struct{ err error }

func (u usage) Error() string { return u.err.Error() }
func (u usage) Unwrap() error { return u.err }

// run is main with everything it touches given to it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(&streams{in: stdin, out: stdout, err: stderr})
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var code exit
	var wrong usage
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &wrong):
		fmt.Fprintf(stderr, "stormwatch: %s\nRun 'stormwatch --help' for the verbs and flags.\n", plainText(err))
		return exitUsage
	}
	fmt.Fprintln(stderr, "stormwatch: "+plainText(err))
	return exitError
}

// page is an error whose text has several lines on purpose.
type page struct{ error }

func (p page) Unwrap() error { return p.error }

// plainText is an error made safe to show: one line, unless it is meant to have
// more.
func plainText(err error) string {
	var several page
	var at *accesslog.FormatError
	if !errors.As(err, &several) && !errors.As(err, &at) {
		return capture.Clean(err.Error())
	}
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = capture.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// streams are what a run is given from outside, and how it reads logs.
type streams struct {
	in       io.Reader
	out, err io.Writer
	logs     logFlags
}

func newRoot(st *streams) *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:   "stormwatch SOURCE...",
		Short: "tell a retry storm from an overload, and what to do first",
		Long: `stormwatch reads packet captures, access logs and Prometheus, reconstructs each
client's chain of attempts, and tells whether a retry storm is under way, who
sustains it, how sure that is, and what to do first.

A SOURCE is a file (what it is, is found by its content), - for standard input,
a FIFO, NAME=SOURCE, or the http(s) address of a Prometheus server.`,
		Example: `  stormwatch demo
  tcpdump -U -w - 'tcp port 8080' | stormwatch -
  stormwatch report incident.pcap
  stormwatch watch /var/log/nginx/access.log`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true, SilenceUsage: true,
		Version: version(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && len(f.exec) == 0 {
				return usage{errors.New("no source: name a file, - or an address, or try 'stormwatch demo'")}
			}
			f.called(cmd, args)
			return orVerb(cmd, append(args, "")[0], watch(cmd.Context(), st, f, args))
		},
		SuggestionsMinimumDistance: 2,
	}
	root.SetOut(st.out)
	root.SetErr(st.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage{err} })
	f.input(root)
	st.logs.add(root)
	f.screen(root)
	root.AddCommand(newWatch(st, f), newReport(st, f), newExchanges(st, f), newExplain(st), newFormats(st), newRules(st, f), newDemo(st, f))
	return root
}

// orVerb adds to the error of a source that is not there the verb that may have
// been meant: what is no verb is taken for a source.
func orVerb(cmd *cobra.Command, word string, err error) error {
	if verbs := cmd.SuggestionsFor(word); word != "" && errors.Is(err, fs.ErrNotExist) && len(verbs) > 0 {
		return fmt.Errorf("%w; or is the verb %s meant?", err, strings.Join(verbs, " or "))
	}
	return err
}

// sources requires at least one argument, or --exec.
func (f *flags) sources(_ *cobra.Command, args []string) error {
	if len(args) == 0 && len(f.exec) == 0 {
		return usage{errors.New("no source: name a file, - or an address")}
	}
	return nil
}

// arguments makes a wrong number of arguments an error of usage.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usage{err}
		}
		return nil
	}
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
