package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stormwatch/report"
)

// throttleList is the format that names whom to act on.
const throttleList = "throttle-list"

// receiver is the value of --for: how long to look, or what a throttle list is for;
// both may be given.
type receiver struct {
	span    *time.Duration
	product *string
	timed   bool // a time was given
}

func newReceiver(span *time.Duration, product *string) *receiver {
	*span = time.Minute
	return &receiver{span: span, product: product}
}

// Set implements pflag.Value.
func (r *receiver) Set(text string) error {
	if slices.Contains(report.Products(), text) {
		*r.product = text
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("a time such as 60s, or one of %s", strings.Join(report.Products(), ", "))
	}
	*r.span, r.timed = d, true
	return nil
}

// String implements pflag.Value.
func (r *receiver) String() string {
	if r.span == nil {
		return ""
	}
	return r.span.String()
}

// Type implements pflag.Value.
func (r *receiver) Type() string { return "duration" }

// timed tells whether the command was told how long to look.
func timed(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup("for")
	if f == nil {
		return false
	}
	r, ok := f.Value.(*receiver)
	return ok && r.timed
}

// listable tells what is missing for a throttle list.
func listable(o report.Options) error {
	switch {
	case o.For == "":
		return fmt.Errorf("--format %s: say what for, with --for %s", throttleList, strings.Join(report.Products(), ", --for "))
	case o.Redact:
		return errors.New("--redact-clients leaves nobody that could be throttled")
	}
	return nil
}
