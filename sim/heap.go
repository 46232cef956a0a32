package sim

// what an event of the simulation does when its time comes.
type what uint8

const (
	unitDue  what = iota // a client has a new unit of work
	send                 // a hop makes an attempt
	paced                // one that waited for its token is made
	arrive               // a request reaches the server
	answered             // an answer reaches who asked
	returned             // an answer of a layer reaches who asked
	expire               // patience with an attempt ends
	hedge                // copies of an unanswered attempt are sent
)

// event is one entry of the queue; seq keeps events of one moment in the order
// in which they were made, so that a run does not depend on the heap's shape.
type event struct {
	at   int64
	seq  uint64
	what what
	try  uint32 // of the call, where that may have gone on
	call *call
	shot *shot
	feed *feed
}

// queue is a binary heap of events by time. It is written out because
// container/heap boxes every event, and quality runs play millions of them.
type queue struct {
	events []event
	seq    uint64
}

func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	q.events = append(q.events, e)
	for i := len(q.events) - 1; i > 0; {
		parent := (i - 1) / 2
		if !before(&q.events[i], &q.events[parent]) {
			return
		}
		q.events[i], q.events[parent] = q.events[parent], q.events[i]
		i = parent
	}
}

func (q *queue) pop() (e event, ok bool) {
	n := len(q.events) - 1
	if n < 0 {
		return e, false
	}
	e = q.events[0]
	q.events[0], q.events[n] = q.events[n], event{}
	q.events = q.events[:n]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < n; child++ {
			if before(&q.events[child], &q.events[least]) {
				least = child
			}
		}
		if least == i {
			return e, true
		}
		q.events[i], q.events[least] = q.events[least], q.events[i]
		i = least
	}
}

func before(a, b *event) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.seq < b.seq
}
