package sim

import (
	"context"
	"hash/fnv"
	"net/netip"
	"strings"

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
	name    string
	result  *Result
	secrets capture.Secrets
}

// Source returns the traffic as a recorded source of that name.
func (r *Result) Source(name string) *Source {
	return &Source{name: name, result: r, secrets: capture.NewSecrets()}
}

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
	answers := capture.NewAnswers(b.Names, &health)
	for from := 0; ; from += batchSize {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+batchSize, len(rows))
		b.Exchanges, b.Text = b.Exchanges[:0], b.Text[:0]
		for i := from; i < to; i++ {
			s.append(&b, answers, &health, i)
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
func (s *Source) append(b *capture.Batch, answers *capture.Answers, health *capture.Health, i int) {
	r, row := s.result, &s.result.Rows[i]
	g, conn, frame := r.Group(row), &r.Conns[row.Conn], health.Read+1
	x := capture.Exchange{
		Start: row.Start, End: row.End,
		Src: endpoint(conn.Src), Dst: endpoint(conn.Dst),
		ConnSeq: row.ConnSeq,
		Method:  b.Names.InternString(g.Method),
		Host:    b.Names.InternString(r.Scenario.Server.Host),
		Agent:   b.Names.InternString(g.Agent),
		Status:  row.Status, Outcome: row.Outcome, Reason: capture.ReasonOf(row.Status),
		At: capture.Provenance{A: frame},
	}
	if body := r.requestBody(row); body != "" {
		x.Body = digest(body)
	}
	if row.Asked != "" {
		s.asked(b.Names, &x, row.Asked)
	}
	off := len(b.Text)
	b.Text = capture.AppendMasked(b.Text, []byte(row.Path))
	x.Target = capture.Span{Off: uint32(off), Len: uint32(len(b.Text) - off)}
	health.Read++
	if row.Outcome == capture.Answered {
		health.Read++
		x.At.B = frame + 1
		x.Date = r.date(row).Unix()
		s.answered(answers, b.Names, &x, row, r.body(row))
	}
	if r.Scenario.Server.Protocol == overGRPC {
		asRPC(b.Names, &x, row)
	}
	health.Used = health.Read
	b.Exchanges = append(b.Exchanges, x)
}

// asked takes what the further header lines of a request tell.
func (s *Source) asked(names *capture.Interner, x *capture.Exchange, fields string) {
	for line := range strings.SplitSeq(fields, "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch name = strings.ToLower(name); name {
		case "authorization":
			x.Credential = s.secrets.Hash([]byte(value))
		case "x-api-key":
			if x.Credential == 0 {
				x.Credential = s.secrets.Hash([]byte(value))
			}
		case "x-forwarded-for":
			x.Forwarded = names.InternString(value)
		default:
			x.Declare([]byte(name), []byte(value))
		}
		if at := capture.AskFieldOf([]byte(name)).Deadline([]byte(value), x.Start); at != 0 {
			x.Deadline = at
		}
	}
}

// answered takes what the fields and the body of an answer tell.
func (s *Source) answered(a *capture.Answers, names *capture.Interner, x *capture.Exchange, row *Row, body string) {
	a.Begin()
	media, encoded := []byte(nil), false
	for line := range strings.SplitSeq(row.Fields, "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		if strings.EqualFold(name, "content-type") {
			media = []byte(value)
		}
		a.Tell(capture.FieldOf([]byte(name)), []byte(value))
	}
	told := a.Settle(x, true)
	look := capture.LooksAt(x.Status, media, encoded)
	d := capture.Decide(x.Status, []byte(body[:min(len(body), look)]))
	d.Apply(x, &told, names)
	x.Reason = x.Reason.Because(told.Mark)
	x.Refusal(told.Reset)
}

func digest(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// endpoint converts an address to the form of an Exchange.
func endpoint(a netip.AddrPort) capture.Endpoint {
	return capture.Endpoint{IP: a.Addr().As16(), Port: a.Port()}
}
