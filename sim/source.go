package sim

import (
	"context"
	"net/netip"
	"strconv"

	"stormwatch/capture"
)

// batchSize is how many exchanges a Source hands over at a time.
const batchSize = 512

// Bounds of the names of a Source, above what a scenario can hold in groups and
// hints.
const (
	maxNames     = 1 << 16
	maxNameBytes = 1 << 22
)

// Source reads a Result as a capture would be read, without packets. It may be
// run more than once, by one goroutine at a time.
type Source struct {
	name   string
	result *Result
}

// Source returns the traffic as a recorded source of that name.
func (r *Result) Source(name string) *Source { return &Source{name: name, result: r} }

// Info describes the source as a capture of one hop.
func (s *Source) Info() capture.Info {
	return capture.Info{Name: s.name, Kind: "capture", Vantage: s.name}
}

// Run hands over the exchanges in order of their start. It fails with the sink's
// error or the context's.
func (s *Source) Run(ctx context.Context, sink capture.Sink) error {
	rows := s.result.Rows
	b := capture.Batch{Names: capture.NewInterner(maxNames, maxNameBytes)}
	health := capture.Health{Unit: "packets", Resolution: 1, SeesHints: true, SeesPorts: true}
	for from := 0; ; from += batchSize {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+batchSize, len(rows))
		b.Exchanges, b.Text = b.Exchanges[:0], b.Text[:0]
		for i := from; i < to; i++ {
			s.append(&b, &health, i)
		}
		if to == len(rows) {
			b.Done, b.Health = 1, health.Clone()
			return sink(&b)
		}
		b.Watermark = rows[to].Start
		b.Done = float64(to) / float64(len(rows))
		if from == 0 {
			b.Health = health.Clone()
		}
		if err := sink(&b); err != nil {
			return err
		}
		b.Health = nil
	}
}

// append adds row i. Frames are numbered as if each message were one packet and
// nothing else were on the wire.
func (s *Source) append(b *capture.Batch, health *capture.Health, i int) {
	r, row := s.result, &s.result.Rows[i]
	g, frame := r.Group(row), health.Read+1
	x := capture.Exchange{
		Start: row.Start, End: row.End,
		Src: endpoint(r.Conns[row.Conn].Src), Dst: endpoint(r.Scenario.Server.Address),
		ConnSeq: row.ConnSeq,
		Method:  b.Names.InternString(g.Method),
		Host:    b.Names.InternString(r.Scenario.Server.Host),
		Agent:   b.Names.InternString(g.Agent),
		Status:  row.Status, Outcome: row.Outcome, Reason: capture.ReasonOf(row.Status),
		At: capture.Provenance{A: frame},
	}
	off := len(b.Text)
	b.Text = capture.AppendMasked(b.Text, []byte(row.Path))
	x.Target = capture.Span{Off: uint32(off), Len: uint32(len(b.Text) - off)}
	health.Read++
	if row.Outcome == capture.Answered {
		health.Read++
		x.At.B = frame + 1
		x.Date = row.End / 1e9
		x.Hint = hint(b.Names, row, x.Date)
	}
	health.Used = health.Read
	b.Exchanges = append(b.Exchanges, x)
}

func hint(names *capture.Interner, row *Row, date int64) capture.Hint {
	if !row.Hinted {
		return capture.Hint{State: capture.Absent}
	}
	raw := strconv.AppendInt(nil, row.RetryAfter, 10)
	h := capture.ParseRetryAfter(raw, date, 0)
	h.Raw = names.Intern(raw)
	return h
}

// endpoint converts an address to the form of an Exchange.
func endpoint(a netip.AddrPort) capture.Endpoint {
	return capture.Endpoint{IP: a.Addr().As16(), Port: a.Port()}
}
