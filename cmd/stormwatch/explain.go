package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
	"stormwatch/capture/loadtest"
	"stormwatch/capture/packet"
)

func newExplain(st *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "explain LOG",
		Short: "show how each line of a log is cut, and why others are not",
		Example: `  stormwatch explain access.log | head
  stormwatch explain --log-format 'nginx:$remote_addr [$time_local] "$request" $status' access.log`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, path := split(args[0])
			t := target{name: name, paths: []string{path}}
			in, err := look(cmd.Context(), st, path)
			if err != nil {
				return err
			}
			defer func() { _ = in.Close() }() // opened for reading: nothing is lost
			first := in.first
			switch {
			case packet.Detect(first):
				return fmt.Errorf("%s is a packet capture: 'stormwatch exchanges' shows what was read of it, frame by frame", path)
			case accesslog.Unreadable(first) != "":
				return unknown(path, first)
			}
			o, err := st.logs.options(t.called())
			if err != nil {
				return err
			}
			o.Secrets = capture.NewSecrets()
			in.ends(&o)
			if err := accesslog.Explain(cmd.Context(), st.out, t.called(), in.head, o); err != nil {
				return err
			}
			if g := accesslog.Sniff(first, o.Tail); o.Format == nil && !g.Sure() {
				return page{errors.New(capture.Clean(path) + ": " + g.Ask())}
			}
			return nil
		},
	}
}

func newFormats(st *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "formats",
		Short: "list the log and load test formats understood, and log lines to configure servers with",
		Args:  arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if err := accesslog.Guide(st.out); err != nil {
				return err
			}
			return loadtest.Guide(st.out)
		},
	}
}
