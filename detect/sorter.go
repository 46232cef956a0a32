package detect

import (
	"cmp"
	"slices"

	"stormwatch/capture"
)

// sorter puts exchanges that come nearly in order into order. What leaves it was
// earlier than all that is still in it; what comes later than that is too late.
// It is bounded, and takes no new memory once it has been full.
type sorter struct {
	blocks []*block // all there are
	free   []uint32 // those that are empty
	lent   int      // those that are empty, and whose exchanges are still read
	fill   uint32   // the one being filled
	max    int      // of blocks with exchanges that wait

	order []queued // exchanges in it, in order from head on
	head  int
	fresh int    // from here on order is yet to be sorted in
	left  queued // the latest that left, and where it was read
	leftA [2]uint64
	begun bool     // one has left
	count uint64   // exchanges so far
	side  []queued // scratch
}

// block keeps exchanges in the order in which they came. It is free again when
// all of them have left and have been given back.
type block struct {
	recs []record
	text []byte
	left int
}

const (
	blockRecords = 512
	blockText    = 128 << 10 // bytes of targets, and one more target at most
	noBlock      = 1<<32 - 1
)

func newSorter(records int) *sorter {
	return &sorter{max: max(records/blockRecords, 2), fill: noBlock}
}

// rec is the exchange that p stands for: at says in which block, and where there.
func (w *sorter) rec(p *queued) *record { return &w.blocks[p.at/blockRecords].recs[p.at%blockRecords] }

// compare orders by start. Where starts are alike, provenance decides, which is looked
// up, and then who came first.
func (w *sorter) compare(p, q *queued) int {
	if p.t != q.t {
		return cmp.Compare(p.t, q.t)
	}
	a, b := &w.rec(p).At, &w.rec(q).At
	return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B), cmp.Compare(p.n, q.n))
}

// late tells whether an exchange comes before one that has left.
func (w *sorter) late(x *capture.Exchange) bool {
	return w.begun && cmp.Or(cmp.Compare(x.Start, w.left.t), cmp.Compare(x.At.A, w.leftA[0]), cmp.Compare(x.At.B, w.leftA[1])) < 0
}

// room returns the block in which there is room for one exchange more; nil when
// the window is full.
func (w *sorter) room() *block {
	if w.fill != noBlock {
		if b := w.blocks[w.fill]; len(b.recs) < blockRecords && len(b.text) < blockText {
			return b
		}
	}
	n := len(w.free)
	switch {
	case len(w.blocks)-w.lent-n >= w.max:
		return nil
	case n > 0:
		w.fill, w.free = w.free[n-1], w.free[:n-1]
	default:
		w.fill = uint32(len(w.blocks))
		w.blocks = append(w.blocks, &block{recs: make([]record, 0, blockRecords)})
	}
	return w.blocks[w.fill]
}

// put takes an exchange in; false where it is too late, or there is no room.
func (w *sorter) put(x *capture.Exchange, source uint8, target []byte) bool {
	if w.late(x) {
		return false
	}
	b := w.room()
	if b == nil {
		return false
	}
	b.recs = b.recs[:len(b.recs)+1]
	r := &b.recs[len(b.recs)-1] // all of it is set: a literal would be built and copied
	r.Exchange, r.client, r.route, r.agent, r.source = *x, 0, 0, 0, source
	r.Target = capture.Span{Off: uint32(len(b.text)), Len: uint32(len(target))}
	b.text = append(b.text, target...)
	b.left++
	w.count++
	w.order = append(w.order, queued{x.Start, w.count, w.fill*blockRecords + uint32(len(b.recs)-1)})
	return true
}

// len returns how many exchanges are in it.
func (w *sorter) len() int { return len(w.order) - w.head }

// settle sorts in what has come of late.
func (w *sorter) settle() {
	late := w.order[w.fresh:]
	w.fresh = len(w.order)
	if len(late) == 0 {
		return
	}
	w.side = putInOrder(late, w.side, func(p, q queued) int { return w.compare(&p, &q) })
	old := w.order[w.head : len(w.order)-len(late)]
	if len(old) == 0 || w.compare(&old[len(old)-1], &late[0]) < 0 {
		return
	}
	w.side = append(w.side[:0], late...) // merged from the end: only what comes after the first of them moves
	i, j := len(old)-1, len(w.side)-1
	for k := len(w.order) - 1; j >= 0; k-- {
		if i >= 0 && w.compare(&old[i], &w.side[j]) > 0 {
			w.order[k] = old[i]
			i--
		} else {
			w.order[k] = w.side[j]
			j--
		}
	}
}

// first returns the earliest exchange and its target; settle comes before.
func (w *sorter) first() (*record, []byte) {
	p := &w.order[w.head]
	r := w.rec(p)
	return r, w.blocks[p.at/blockRecords].text[r.Target.Off:][:r.Target.Len]
}

// before counts the exchanges that start before t, up to n.
func (w *sorter) before(t int64, n int) int {
	in := w.order[w.head:]
	in = in[:min(n, len(in))]
	i, _ := slices.BinarySearchFunc(in, t, func(p queued, t int64) int { return cmp.Compare(p.t, t) })
	return i
}

// next lets the earliest exchange leave. Where its block is empty then, that is
// added to emptied: what has left may be read until reuse.
func (w *sorter) next(emptied []uint32) []uint32 {
	w.left, w.begun = w.order[w.head], true
	at := &w.rec(&w.left).At
	w.leftA = [2]uint64{at.A, at.B}
	w.head++
	k := w.left.at / blockRecords
	b := w.blocks[k]
	if b.left--; b.left == 0 {
		emptied = append(emptied, k)
		w.lent++
		if k == w.fill {
			w.fill = noBlock
		}
	}
	if w.head == len(w.order) {
		w.order, w.head, w.fresh = w.order[:0], 0, 0
	} else if w.head >= 4*blockRecords && w.head > len(w.order)/2 {
		n := copy(w.order, w.order[w.head:])
		w.order, w.head, w.fresh = w.order[:n], 0, w.fresh-w.head
	}
	return emptied
}

// reuse takes blocks back of which nothing is read any more.
func (w *sorter) reuse(emptied []uint32) {
	for _, k := range emptied {
		b := w.blocks[k]
		b.recs, b.text = b.recs[:0], b.text[:0]
	}
	w.free = append(w.free, emptied...)
	w.lent -= len(emptied)
}
