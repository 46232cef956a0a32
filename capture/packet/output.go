package packet

import (
	"bytes"
	"net/http"
	"time"

	"stormwatch/capture"
)

const (
	batchExchanges = 512
	batchText      = 1 << 20
	announceAfter  = 1e9 // a live request unanswered for so long is announced
	healthEvery    = 1e9 // capture time between two copies of Health
	maxWalk        = 256 // how far a start is sorted in; after a step of the clock it would be all the way
	maxNames       = 1 << 16
	maxNameBytes   = 8 << 20
)

// output collects finished exchanges into batches, and knows how far back an
// unfinished one reaches.
type output struct {
	sink    capture.Sink
	err     error // of the sink: ends the source
	live    bool
	batch   capture.Batch
	health  capture.Health
	names   *capture.Interner
	answers *capture.Answers
	secrets capture.Secrets
	client  capture.ClientField
	table   *table
	newest  int64 // the watermark when nothing waits
	told    int64 // when Health was last copied
	next    uint64
	done    func() float64

	first, last *message // unfinished, in order of start
	spare       *message // linked by next
	dateText    []byte   // the last Date field, and what it means
	dateValue   int64
}

func newOutput(opt Options, sink capture.Sink) *output {
	o := &output{
		sink: sink, live: opt.Live, secrets: opt.Secrets, client: opt.Client,
		names:  capture.NewInterner(maxNames, maxNameBytes),
		health: capture.Health{Unit: "packets", SeesPorts: true},
	}
	for _, m := range methods { // hostile texts must not crowd them out
		o.names.InternString(m)
	}
	o.answers = capture.NewAnswers(o.names, &o.health)
	o.batch.Exchanges = make([]capture.Exchange, 0, batchExchanges)
	o.batch.Names = o.names
	return o
}

// begin makes a message that holds the watermark back from its start on.
func (o *output) begin(start int64) *message {
	m := o.spare
	if m == nil {
		m = &message{}
	} else {
		o.spare = m.next
		m.drop()
		*m = message{target: m.target[:0], body: m.body}
	}
	m.x.Start, m.x.End, m.queued = start, start, true
	after := o.last
	for n := 0; n < maxWalk && after != nil && after.x.Start > start; n++ {
		after = after.prev
	}
	m.prev = after
	if after != nil {
		m.next, after.next = after.next, m
	} else {
		m.next, o.first = o.first, m
	}
	if m.next != nil {
		m.next.prev = m
	} else {
		o.last = m
	}
	return m
}

func (o *output) unqueue(m *message) {
	if !m.queued {
		return
	}
	if m.prev != nil {
		m.prev.next = m.next
	} else {
		o.first = m.next
	}
	if m.next != nil {
		m.next.prev = m.prev
	} else {
		o.last = m.prev
	}
	m.prev, m.next, m.queued = nil, nil, false
}

// free takes a message back.
func (o *output) free(m *message) {
	o.unqueue(m)
	if cap(m.target) > maxTarget {
		m.target = nil
	}
	m.next, o.spare = o.spare, m
}

// emit adds a finished exchange to the batch.
func (o *output) emit(m *message) {
	if m.x.ID == 0 && m.x.Start < o.batch.Watermark {
		m.x.Flags |= capture.Late
		o.health.Late++
	}
	m.x.Reason = m.reason()
	m.x.Refusal(m.told.Reset)
	if m.x.Hint.State != capture.NotObservable {
		o.health.SeesHints = true
	}
	m.x.End = max(m.x.End, m.x.Start) // the clock was set back, or the request captured late
	o.unqueue(m)
	o.add(m)
	o.free(m)
}

func (o *output) add(m *message) {
	m.x.Target = capture.Span{Off: uint32(len(o.batch.Text)), Len: uint32(len(m.target))}
	o.batch.Text = append(o.batch.Text, m.target...)
	o.batch.Exchanges = append(o.batch.Exchanges, m.x)
	if len(o.batch.Exchanges) == batchExchanges || len(o.batch.Text) > batchText {
		o.flush(false)
	}
}

// announce tells of live requests that have been waiting, so that they do not
// hold the watermark back.
func (o *output) announce(now int64) {
	if !o.live {
		return
	}
	for m := o.first; m != nil && now-m.x.Start > announceAfter; m = o.first {
		o.unqueue(m)
		if !m.named {
			continue // it will come late
		}
		o.next++
		m.x.ID = o.next
		end, outcome := m.x.End, m.x.Outcome
		m.x.End, m.x.Outcome = 0, capture.Pending
		o.add(m)
		m.x.End, m.x.Outcome = end, outcome
	}
}

// mark is the time before which no exchange of a later batch starts.
func (o *output) mark() int64 {
	mark := o.newest
	if o.first != nil {
		mark = min(mark, o.first.x.Start)
	}
	if c := o.table.holed.front(); c != nil {
		mark = min(mark, c.late.since)
	}
	return max(mark, o.batch.Watermark)
}

// flush hands the batch over. final adds the last Health.
func (o *output) flush(final bool) {
	o.batch.Watermark = o.mark()
	o.batch.Health = nil
	if final || o.told == 0 || o.newest-o.told > healthEvery {
		o.batch.Health = o.health.Clone()
		o.told = o.newest
	}
	o.batch.Done = o.done()
	if o.err == nil {
		o.err = o.sink(&o.batch)
	}
	o.batch.Exchanges, o.batch.Text = o.batch.Exchanges[:0], o.batch.Text[:0]
}

// date reads a Date field; servers repeat it for a whole second.
func (o *output) date(value []byte) int64 {
	if !bytes.Equal(value, o.dateText) {
		o.dateText = append(o.dateText[:0], clip(value, maxHint)...)
		o.dateValue = parseDate(value)
	}
	return o.dateValue
}

// parseDate reads an HTTP date (RFC 9110 section 5.6.7) as Unix seconds; 0 if it
// is none.
func parseDate(value []byte) int64 {
	const longest = len("Wednesday, 02-Jan-06 15:04:05 GMT")
	if len(value) > longest {
		return 0
	}
	t, err := http.ParseTime(string(value))
	if err != nil || t.Before(time.Unix(0, 0)) {
		return 0
	}
	return t.Unix()
}
