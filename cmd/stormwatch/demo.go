package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"

	"github.com/spf13/cobra"

	"stormwatch/capture/packet"
	"stormwatch/capture/witness"
)

// incident is testdata/pcaps/lockstep-bare-429/traffic.pcap, which a test keeps
// the same.
//
//go:embed demo/incident.pcap
var incident []byte

func newDemo(st *streams, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "the console on an embedded recorded incident",
		Args:  arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo(cmd.Context(), st, f)
		},
	}
}

func demo(ctx context.Context, st *streams, f *flags) error {
	o, err := f.options(st)
	if err != nil {
		return err
	}
	src, err := packet.Open("demo incident", bytes.NewReader(incident), packet.Options{
		Size: int64(len(incident)), Secrets: f.secrets, Client: f.who.Field(), Vantage: "capture",
	})
	if err != nil {
		return fmt.Errorf("the embedded incident: %w", err)
	}
	return watchRecording(ctx, st, f, o, []input{{Source: witness.New(src, witness.Options{Who: f.who})}}, !f.plain && terminal(st.out), demoSpeed)
}

// demoSpeed shows the incident's onset within ten seconds of the start.
const demoSpeed = 4
