package main

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"stormwatch/detect"
	"stormwatch/report"
)

func newExchanges(st *streams, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "exchanges SOURCE...",
		Short: "write each exchange with its chain as a line of JSON",
		Args:  f.sources,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(f.exec) > 0 {
				return usage{errors.New("--exec is live, and this verb reads to the end: use watch, or report --for")}
			}
			o, err := f.options(st)
			if err != nil {
				return err
			}
			ins, err := f.openChecked(cmd.Context(), st, args, false)
			if err != nil {
				return err
			}
			defer closeAll(ins)
			out := bufio.NewWriter(st.out)
			defer func() {
				if failed := out.Flush(); err == nil { // else it has been told
					err = failed
				}
			}()
			return replay(cmd.Context(), ins, o, func(p *detect.Replay) error {
				tell := report.Exchanges(out)
				if f.redact {
					tell = report.Redacted(tell)
				}
				p.OnRow(tell)
				return p.RunAll(cmd.Context())
			})
		},
	}
}
