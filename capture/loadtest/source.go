// Package loadtest reads what load generators write: vegeta, k6, JMeter, hey,
// Locust, Gatling and HAR. They see a storm from the side of the clients, and
// each leaves something out, which Health says.
package loadtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"stormwatch/capture"
)

// Options of a Source.
type Options struct {
	Size    int64           // bytes of the input, for Batch.Done; 0 unknown
	Vantage string          // the hop that saw the traffic
	Secrets capture.Secrets // compares clients; drawn anew if zero
}

// Source reads the results of one load test. It implements capture.Source.
type Source struct {
	name string
	kind *kind
	r    *bufio.Reader
	opt  Options
}

var _ capture.Source = (*Source)(nil)

// kind is one program's output.
type kind struct {
	name   string
	detect func(head []byte) bool
	read   func(r *bufio.Reader, o *output) error
	shows  string   // of retries
	notes  []string // what it cannot tell
	hints  bool     // response headers are in it
	one    bool     // it tells no client from another
}

var kinds = []kind{
	{name: "vegeta JSON", shows: vegetaShows, detect: isVegetaJSON, read: readVegetaJSON, hints: true, one: true, notes: vegetaNotes},
	{name: "vegeta CSV", shows: vegetaShows, detect: isVegetaCSV, read: readVegetaCSV, hints: true, one: true, notes: vegetaNotes},
	{name: "vegeta gob", shows: vegetaShows, detect: isVegetaGob, read: readVegetaGob, hints: true, one: true, notes: vegetaNotes},
	{name: "k6 JSON", shows: k6Shows, detect: isK6JSON, read: readK6JSON, notes: k6Notes},
	{name: "k6 CSV", shows: k6Shows, detect: isK6CSV, read: readK6CSV, notes: k6Notes},
	{name: "JMeter XML", shows: "client (thread); headers of both sides and the body, where the plan has them saved", detect: isJMeterXML, read: readJMeterXML, notes: jmeterXMLNotes},
	{name: "JMeter CSV", shows: "client (thread)", detect: isJMeterCSV, read: readJMeterCSV, notes: jmeterNotes},
	{name: "hey CSV", shows: "none", detect: isHey, read: readHey, one: true, notes: []string{
		"hey leaves out requests that failed in transport, and stops writing rows at a million: totals are too low in a storm",
		"hey writes times since its start only: they count from 1970",
	}},
	{name: "Locust history", shows: "none", detect: isLocust, read: readLocust, notes: []string{"Locust writes counts of each second only: no chains, no waits, no statuses"}},
	{name: "Gatling text", shows: "none", detect: isGatling, read: readGatling, notes: []string{"Gatling writes OK or KO: an OK is taken for 200, a KO for the status in its message"}},
	{name: "HAR", shows: "headers of both sides and bodies: Retry-After, limits, ids, attempt counters", detect: isHAR, read: readHAR, hints: true, notes: []string{"a HAR is what one browser saw: all of it is one client"}},
}

const (
	vegetaShows = "headers and body of each answer: Retry-After, limits, why it was refused"
	k6Shows     = "attempt, logical request, client and retry_after, where tags carry them"
)

// Guide lists the outputs that are read, and what each shows of retries.
func Guide(w io.Writer) error {
	text := "\nResults of load tests, found by content\n\n"
	for _, k := range kinds {
		text += fmt.Sprintf("  %-20s %s\n", k.name, strings.Join(k.notes, "; "))
		text += fmt.Sprintf("  %-20s   retries: %s\n", "", k.shows)
	}
	_, err := io.WriteString(w, text)
	return err
}

const window = 64 << 10 // bytes by which an output is known

// Detect tells whether head, the first bytes of an input, are the results of a
// load test that this package reads.
func Detect(head []byte) bool { return find(head) != nil }

func find(head []byte) *kind {
	head = bytes.TrimPrefix(head[:min(len(head), window)], []byte("\xef\xbb\xbf"))
	for i := range kinds {
		if kinds[i].detect(head) {
			return &kinds[i]
		}
	}
	return nil
}

// Totals says what an input is that holds the totals of a load test, and no
// requests with their times; "" if it is none.
func Totals(head []byte) string {
	for _, k := range [...]struct{ head, what string }{
		{"Type,Name,Request Count,Failure Count", "Locust's table of totals"},
		{"Method,Name,Error,Occurrences", "Locust's table of failures"},
		{"Count,Message,Traceback,Nodes", "Locust's table of exceptions"},
	} {
		if bytes.HasPrefix(bytes.ReplaceAll(bytes.TrimPrefix(head[:min(len(head), window)], []byte("\xef\xbb\xbf")), []byte(`"`), nil), []byte(k.head)) {
			return k.what + ", which has no times: give the file ending in _stats_history.csv"
		}
	}
	return ""
}

// Open returns the source of results. It reads the first bytes of r.
func Open(name string, r io.Reader, opt Options) (*Source, error) {
	if opt.Secrets == (capture.Secrets{}) {
		opt.Secrets = capture.NewSecrets()
	}
	b := bufio.NewReaderSize(r, window)
	head, err := b.Peek(window)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("load test %s: %w", name, err)
	}
	k := find(head)
	if k == nil {
		return nil, fmt.Errorf("load test %s: not an output of vegeta, k6, JMeter, hey, Locust or Gatling, nor a HAR", name)
	}
	return &Source{name: name, kind: k, r: b, opt: opt}, nil
}

// Info describes the source.
func (s *Source) Info() capture.Info {
	return capture.Info{Name: s.name, Kind: "load test", Vantage: s.opt.Vantage}
}

// Run reads the results to their end, or until ctx ends, which is no error.
func (s *Source) Run(ctx context.Context, sink capture.Sink) error {
	o := newOutput(ctx, s, sink)
	err := s.kind.read(s.r, o)
	switch {
	case errors.Is(err, errStopped), errors.Is(err, io.EOF):
		err = nil
	case o.health.Short(err):
		err = nil
	}
	if failed := o.finish(); failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("load test %s: after result %d: %w", s.name, o.health.Read, err)
	}
	return nil
}

var errStopped = errors.New("stopped")

// errTorn is the end of an input inside a document.
var errTorn = io.ErrUnexpectedEOF
