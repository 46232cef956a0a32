package detect

// tape keeps the latest exchanges of a live input, in the order in which they were
// judged, for a pass that a filter asks for.
type tape struct {
	chunks []chunk
	bytes  int64
	first  uint64 // place of the oldest that is left
	next   uint64 // place of the next
	newest int64  // latest start
}

const (
	tapeChunk = 1 << 10 // exchanges that are dropped at once
	tapeBytes = 64 << 20
	tapeFor   = 3600 * tick // shorter than clients that leave keep their number
)

// add appends an exchange; the oldest make room.
func (t *tape) add(r *record, target []byte) {
	if n := len(t.chunks); n == 0 || len(t.chunks[n-1].recs) == tapeChunk {
		t.chunks = append(t.chunks, chunk{recs: make([]record, 0, tapeChunk)})
	}
	last := &t.chunks[len(t.chunks)-1]
	last.add(r, target)
	t.next++
	t.newest = max(t.newest, r.Start)
	t.bytes += recordBytes + int64(len(target))
	for len(t.chunks) > 1 && (t.bytes > tapeBytes || r.Start-t.chunks[0].recs[len(t.chunks[0].recs)-1].Start > tapeFor) {
		t.drop()
	}
}

func (t *tape) drop() {
	oldest := &t.chunks[0]
	t.bytes -= int64(len(oldest.recs))*recordBytes + int64(len(oldest.text))
	t.first += uint64(len(oldest.recs))
	*oldest = chunk{}
	t.chunks = t.chunks[1:]
}

// begin is where the last hour begins that is left, and when; with cut, something came
// before it.
func (t *tape) begin() (place uint64, at int64, cut bool) {
	place = t.first
	t.from(place, func(r *record, _ []byte) bool {
		if at = r.Start; t.newest-at > tapeFor {
			place++
			return true
		}
		return false
	})
	return place, at, place > 0
}

// from tells the exchanges from a place on, until hear takes one no more, and returns
// the place of that one.
func (t *tape) from(place uint64, hear func(*record, []byte) bool) uint64 {
	place = max(place, t.first)
	for ; place < t.next; place++ {
		c := &t.chunks[(place-t.first)/tapeChunk]
		if r := &c.recs[(place-t.first)%tapeChunk]; !hear(r, c.target(r)) {
			break
		}
	}
	return place
}
