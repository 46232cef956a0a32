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
	blocks []*block // those in use, the one being filled last
	spare  []*block
	max    int // of blocks

	order []place // exchanges in it, in order from head on
	head  int
	fresh int     // from here on order is yet to be sorted in
	left  place   // the latest that left
	begun bool    // one has left
	count uint64  // exchanges so far
	side  []place // scratch
}

// block keeps exchanges in the order in which they came. It is free again when
// all of them have left.
type block struct {
	recs []record
	text []byte
	left int
}

// place is where an exchange stands in order, and where it is.
type place struct {
	start int64
	a, b  uint64 // provenance
	n     uint64 // of its coming
	block *block
	rec   int32
}

const (
	blockRecords = 512
	blockText    = 128 << 10 // bytes of targets, and one more target at most
)

func newSorter(records int) *sorter { return &sorter{max: max(records/blockRecords, 2)} }

func (p *place) compare(q *place) int {
	if p.start != q.start {
		return cmp.Compare(p.start, q.start)
	}
	return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b), cmp.Compare(p.n, q.n))
}

// room returns where to put one exchange more; nil when the window is full.
func (w *sorter) room() *block {
	if n := len(w.blocks); n > 0 {
		if b := w.blocks[n-1]; len(b.recs) < blockRecords && len(b.text) < blockText {
			return b
		}
	}
	if n := len(w.spare); n > 0 {
		w.blocks, w.spare = append(w.blocks, w.spare[n-1]), w.spare[:n-1]
	} else {
		if len(w.blocks) >= w.max {
			return nil
		}
		w.blocks = append(w.blocks, &block{recs: make([]record, 0, blockRecords)})
	}
	return w.blocks[len(w.blocks)-1]
}

// put takes an exchange in; false where it is too late, or there is no room.
func (w *sorter) put(x *capture.Exchange, source uint8, target []byte) bool {
	b := w.room()
	if b == nil {
		return false
	}
	b.recs = append(b.recs, record{Exchange: *x, source: source})
	r := &b.recs[len(b.recs)-1]
	r.Target = capture.Span{Off: uint32(len(b.text)), Len: uint32(len(target))}
	b.text = append(b.text, target...)
	b.left++
	w.count++
	p := place{x.Start, x.At.A, x.At.B, w.count, b, int32(len(b.recs) - 1)}
	if w.begun && p.compare(&w.left) < 0 {
		return false
	}
	w.order = append(w.order, p)
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
	after := func(p, q place) int { return p.compare(&q) }
	if !slices.IsSortedFunc(late, after) {
		slices.SortFunc(late, after)
	}
	old := w.order[w.head : len(w.order)-len(late)]
	if len(old) == 0 || old[len(old)-1].compare(&late[0]) < 0 {
		return
	}
	w.side = append(w.side[:0], late...) // merged from the end: only what comes after the first of them moves
	i, j := len(old)-1, len(w.side)-1
	for k := len(w.order) - 1; j >= 0; k-- {
		if i >= 0 && old[i].compare(&w.side[j]) > 0 {
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
	r := &p.block.recs[p.rec]
	return r, p.block.text[r.Target.Off:][:r.Target.Len]
}

// before counts the exchanges that start before t, up to n.
func (w *sorter) before(t int64, n int) int {
	in := w.order[w.head:]
	in = in[:min(n, len(in))]
	i, _ := slices.BinarySearchFunc(in, t, func(p place, t int64) int { return cmp.Compare(p.start, t) })
	return i
}

// next lets the earliest exchange leave.
func (w *sorter) next() {
	w.left, w.begun = w.order[w.head], true
	b := w.left.block
	w.left.block = nil
	w.head++
	if b.left--; b.left == 0 {
		w.release(b)
	}
	if w.head == len(w.order) {
		w.order, w.head, w.fresh = w.order[:0], 0, 0
	} else if w.head >= 4*blockRecords && w.head > len(w.order)/2 {
		n := copy(w.order, w.order[w.head:])
		w.order, w.head, w.fresh = w.order[:n], 0, w.fresh-w.head
	}
}

// release frees a block of which nothing is needed any more. The one being filled
// is used on.
func (w *sorter) release(b *block) {
	b.recs, b.text = b.recs[:0], b.text[:0]
	if i := slices.Index(w.blocks, b); i >= 0 && i < len(w.blocks)-1 {
		w.blocks = slices.Delete(w.blocks, i, i+1)
		w.spare = append(w.spare, b)
	}
}
