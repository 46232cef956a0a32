package loadtest

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stormwatch/capture"
)

const (
	batchSize    = 512
	maxText      = 1 << 20
	maxNames     = 1 << 16
	maxNameBytes = 8 << 20
	maxName      = 512
	maxTarget    = 8 << 10
	second       = int64(time.Second)
)

// result is one request of a load test.
type result struct {
	start, end int64
	step       int64 // resolution of the times
	status     int   // 0: no answer
	method     string
	url        string
	agent      string
	client     string  // thread or virtual user
	logical    string  // id that all attempts at one request share
	attempt    int     // first 1; 0 not told
	asked      []field // headers of the request
	answer     []field // headers of the response, as far as they are known
	headers    bool    // all of these are
	media      string  // what kind of body the response has
	body       []byte  // and how that begins; it is looked at, and not kept
}

// field is a header, or a tag in the place of one.
type field struct{ Name, Value string }

// output turns results into batches.
type output struct {
	ctx    context.Context
	source *Source
	sink   capture.Sink
	names  *capture.Interner
	answer *capture.Answers
	batch  capture.Batch
	health capture.Health
	last   int64 // end of the latest result
	coarse int64
	place  uint64 // line or element
}

func newOutput(ctx context.Context, s *Source, sink capture.Sink) *output {
	o := &output{ctx: ctx, source: s, sink: sink, names: capture.NewInterner(maxNames, maxNameBytes)}
	o.health = capture.Health{Unit: "results", SeesHints: s.kind.hints, Nameless: s.kind.one}
	o.health.Note(s.kind.name)
	for _, n := range s.kind.notes {
		o.health.Note(n)
	}
	o.answer = capture.NewAnswers(o.names, &o.health)
	o.batch.Names = o.names
	o.batch.Exchanges = make([]capture.Exchange, 0, batchSize)
	return o
}

// skip counts a result that cannot be used.
func (o *output) skip(reason, text string) error {
	o.health.Read++
	o.health.Skip(reason, "line "+strconv.FormatUint(o.place, 10)+": "+text)
	return o.turn()
}

// aside passes over what is no result.
func (o *output) aside() error { return o.turn() }

func (o *output) turn() error {
	if o.ctx.Err() != nil {
		return errStopped
	}
	if len(o.batch.Exchanges) == batchSize || len(o.batch.Text) > maxText {
		return o.flush()
	}
	return nil
}

const (
	noTime   = "no time in it"
	noStatus = "no status in it"
	broken   = "torn or not of the form"
)

// add takes a result in.
func (o *output) add(r *result) error {
	if r.start <= 0 && r.step != relative {
		return o.skip(noTime, r.url)
	}
	o.health.Read++
	o.health.Used++
	o.last = max(o.last, r.end)
	o.coarse = max(o.coarse, r.step)
	o.batch.Exchanges = append(o.batch.Exchanges, capture.Exchange{Start: r.start, End: max(r.end, r.start)})
	x := &o.batch.Exchanges[len(o.batch.Exchanges)-1]
	x.At = capture.Provenance{A: o.place, Line: true}
	x.Method = o.intern(r.method)
	x.Agent = o.intern(r.agent)
	if r.client != "" {
		x.Forwarded = o.intern(r.client)
		x.Credential = o.source.opt.Secrets.Hash([]byte(r.client))
	}
	host, target := splitURL(r.url)
	x.Host = o.intern(host)
	x.Target.Off = uint32(len(o.batch.Text))
	o.batch.Text = capture.AppendMasked(o.batch.Text, []byte(target[:min(len(target), maxTarget)]))
	x.Target.Len = uint32(len(o.batch.Text)) - x.Target.Off
	if r.status >= 100 && r.status < 1000 {
		x.Status, x.Reason = uint16(r.status), capture.ReasonOf(uint16(r.status))
	} else {
		x.Outcome = capture.NoAnswer
	}
	o.signals(x, r)
	return o.turn()
}

// relative is the resolution of times that count from a run's start.
const relative = 100_000 // hey writes tenths of a millisecond

// signals takes what headers and tags say of attempts, waits and limits.
func (o *output) signals(x *capture.Exchange, r *result) {
	for _, f := range r.asked {
		name, value := []byte(f.Name), []byte(f.Value)
		x.Declare(name, value)
		if at := capture.AskFieldOf(name).Deadline(value, x.Start); at != 0 && (x.Deadline == 0 || at < x.Deadline) {
			x.Deadline = at
		}
	}
	if x.IdemKey == 0 && r.logical != "" {
		x.IdemKey = capture.HashID([]byte(r.logical))
	}
	if r.attempt > 0 && r.attempt < 1<<15 {
		// A client's own count from 1, which is what this counter is.
		x.Attempt = capture.Attempt{N: uint16(r.attempt), Counter: capture.AmzAttempt}
	}
	if x.Outcome == capture.Answered && (r.headers || len(r.answer) > 0) {
		o.answered(x, r)
	}
}

// answered takes what the server said.
func (o *output) answered(x *capture.Exchange, r *result) {
	o.health.SeesHints = true
	if t, err := http.ParseTime(valueOf(r.answer, "date")); err == nil {
		x.Date = t.Unix()
	}
	o.answer.Begin()
	for _, f := range r.answer {
		o.answer.Tell(capture.FieldOf([]byte(f.Name)), []byte(f.Value))
	}
	told := o.answer.Settle(x, true)
	if n := min(capture.LooksAt(x.Status, []byte(r.media), false), len(r.body)); n > 0 {
		d := capture.Decide(x.Status, r.body[:n])
		d.Apply(x, &told, o.names)
	}
	x.Conclude(told)
}

// valueOf is the value of the first field of a name, in any case.
func valueOf(all []field, name string) string {
	for _, f := range all {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

func (o *output) intern(s string) capture.Symbol {
	return o.names.InternString(strings.Clone(s[:min(len(s), maxName)]))
}

func (o *output) flush() error {
	o.batch.Health = o.health.Clone()
	o.batch.Health.Resolution = o.coarse
	err := o.sink(&o.batch)
	o.batch.Exchanges, o.batch.Tallies, o.batch.Text = o.batch.Exchanges[:0], o.batch.Tallies[:0], o.batch.Text[:0]
	return err
}

func (o *output) finish() error {
	if o.last > 0 {
		o.batch.Watermark = o.last + 1
	}
	return o.flush()
}

// splitURL takes scheme and host off a URL.
func splitURL(url string) (host, target string) {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return "", url
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return rest[:i], rest[i:]
	}
	return rest, "/"
}

// firstLine is the first line of a head.
func firstLine(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return strings.TrimRight(string(line), "\r")
}
