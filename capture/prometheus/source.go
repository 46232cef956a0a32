// Package prometheus reads rates of HTTP answers from Prometheus: a saved
// query_range answer, or the query API of a server, followed live. Each step
// becomes a capture.Tally; metrics know no single requests.
//
// Values are per-second rates by status code, as this query gives them (w is the
// rate's window; the label may also be status, status_code or http_status):
//
//	sum by (code) (rate(http_requests_total[w]))
//
// A value at time t stands for the step that ends at t. Which attempts are
// retries, and how many logical requests there were, such a metric does not say:
// those counts stay unknown. A step for which a sample is missing gives no Tally:
// there is a gap, nothing is interpolated.
package prometheus

import (
	"context"

	"stormwatch/capture"
)

// Source reads one saved answer or one server. It implements capture.Source.
type Source struct {
	info capture.Info
	run  func(ctx context.Context, sink capture.Sink) error
}

var _ capture.Source = (*Source)(nil)

// Info describes the source.
func (s *Source) Info() capture.Info { return s.info }

// Run hands the tallies over in the order of time, until the input or ctx ends;
// the end of ctx is no error.
func (s *Source) Run(ctx context.Context, sink capture.Sink) error { return s.run(ctx, sink) }

// batchSize is the most tallies in one batch.
const batchSize = 512

// deliver hands over tallies in batches. last says that nothing comes after them.
func deliver(ctx context.Context, sink capture.Sink, tallies []capture.Tally, h *capture.Health, last bool) error {
	names := capture.NewInterner(2, 0) // tallies name no service or client yet
	all := len(tallies)
	for {
		b := capture.Batch{Names: names, Tallies: tallies[:min(len(tallies), batchSize)]}
		tallies = tallies[len(b.Tallies):]
		if len(tallies) == 0 || ctx.Err() != nil {
			b.Health = h.Clone()
			if n := len(b.Tallies); n > 0 {
				b.Watermark = b.Tallies[n-1].End
			}
			if last && ctx.Err() == nil {
				b.Done = 1
			}
			return sink(&b)
		}
		if last {
			b.Done = float64(all-len(tallies)) / float64(all)
		}
		if err := sink(&b); err != nil {
			return err
		}
	}
}
