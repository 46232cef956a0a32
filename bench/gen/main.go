// Command gen makes the traffic that stormwatch is measured on: an access log or
// a capture of many clients, with a retry storm in its middle. Equal flags give
// equal bytes.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("usage: gen log|capture|open [-n EXCHANGES] [-clients N] [-seed N] -o FILE")
	}
	var write func(io.Writer, *traffic) error
	switch args[0] {
	case "log":
		write = writeLog
	case "capture":
		write = writeCapture
	case "open":
		write = writeOpen
	default:
		return fmt.Errorf("%q is neither log nor capture nor open", args[0])
	}
	flags := flag.NewFlagSet("gen "+args[0], flag.ContinueOnError)
	n := flags.Int("n", 1_000_000, "exchanges")
	clients := flags.Int("clients", 50_000, "clients")
	seed := flags.Uint64("seed", 1, "seed of all that is random")
	out := flags.String("o", "", "file to write")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *n < 1 || *clients < 1 || *clients > 1<<24 || *out == "" {
		return errors.New("-n and -clients take 1 and more (clients at most 2^24), and -o names a file")
	}
	f, err := os.Create(*out)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(f, 1<<20)
	err = write(buffered, newTraffic(*n, *clients, *seed))
	return errors.Join(err, buffered.Flush(), f.Close())
}
