package prometheus

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"stormwatch/capture"
)

// OpenRange reads a saved answer of /api/v1/query_range whole, at most 64 MiB.
// Its values are per-second rates (see the package comment). It is an error if r
// holds anything else, a server's error, raw counters, or fewer than two moments.
func OpenRange(name string, r io.Reader) (*Source, error) {
	b, err := readAll(r, maxAnswer)
	if err != nil {
		return nil, fmt.Errorf("prometheus answer %s: %w", name, err)
	}
	h := &capture.Health{}
	tallies, err := readRange(b, h)
	if err != nil {
		return nil, fmt.Errorf("prometheus answer %s: %w", name, err)
	}
	return &Source{
		info: capture.Info{Name: name, Kind: "prometheus"},
		run: func(ctx context.Context, sink capture.Sink) error {
			return deliver(ctx, sink, tallies, h, true)
		},
	}, nil
}

func readRange(b []byte, h *capture.Health) ([]capture.Tally, error) {
	a, err := open(b)
	if err != nil {
		return nil, err
	}
	all, coded, err := a.series(h)
	if err != nil {
		return nil, err
	}
	width, err := stepOf(all)
	if err != nil {
		return nil, err
	}
	return newSteps(width, h).tallies(all, coded), nil
}

// DetectRange tells whether head, the first bytes of an input, begins an answer
// of the query API, its errors included: those are for OpenRange to explain.
func DetectRange(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n\ufeff")
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	has := func(key string) bool { return bytes.Contains(head, []byte(`"`+key+`"`)) }
	return has("resultType") || has("errorType") && has("status") ||
		has("data") && has("result") && has("metric")
}
