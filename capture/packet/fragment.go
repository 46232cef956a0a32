package packet

import "slices"

// Bounds of the reassembly of IP fragments: of at most 8 MiB in all.
const (
	maxDatagrams = 128
	maxDatagram  = 1<<16 - 1 // RFC 791 section 3.1
	// maxFragments of one datagram: a whole one takes 119 over links of 576 bytes,
	// the least that IPv4 hosts must take whole.
	maxFragments = 128
	// fragmentWait is how long the others are waited for, in capture time. A host
	// sends them at once; a hole in a byte stream is given up as soon (holeWait).
	fragmentWait = 2e9
	// recentWholes are remembered, so that copies of their fragments are known.
	recentWholes = 16
)

// What becomes of a packet that is neither used nor passed over.
const (
	packetHeld = "fragment held"  // it counts with those that it waits for
	packetCopy = "captured twice" // by another packet
)

// fragmentKey tells the fragments of one datagram from others (RFC 791 section
// 3.2, RFC 8200 section 4.5).
type fragmentKey struct {
	src, dst [16]byte
	id       uint32
	protocol byte // of IPv4
}

// fragment is a part of what an IP packet carries.
type fragment struct {
	from int
	more bool // it is not the last
	next byte // protocol of what is carried
	b    []byte
	wire int // bytes on the wire: b may be cut
}

type extent struct{ from, to int }

// datagram is a packet of which fragments have come.
type datagram struct {
	key   fragmentKey
	born  int64
	frame uint64 // of the fragment that came first
	held  int    // packets that wait in it
	got   []extent
	size  int // 0 as long as the last fragment is missing
	have  int
	whole int // bytes from the start that were captured, if none is missing
	next  byte
	data  []byte
}

// whole is a datagram that was put together.
type whole struct {
	key  fragmentKey
	t    int64
	size int
}

// fragments puts the fragments of IP packets together. What they lie over twice
// with different limits is no packet: such fragments are sent to deceive
// (RFC 5722 section 3), and their datagram is given up.
type fragments struct {
	now     int64
	frame   uint64
	waiting []*datagram // in order of their first fragment
	handed  []*datagram // their data is in use until the next packet
	spare   []*datagram
	wholes  [recentWholes]whole // the last ones, as a ring
	count   int                 // of them so far

	joined int      // packets held until now that the one being decoded made whole
	lost   []uint64 // packets given up: the frame in which their datagram began, once for each
}

// begin makes ready for a packet.
func (f *fragments) begin(now int64, frame uint64) {
	f.now, f.frame, f.joined = now, frame, 0
	if len(f.waiting)+len(f.handed) > 0 {
		f.expire()
	}
}

// expire gives up what has waited for too long, or since before the clock was set
// back, and takes back what was handed out.
func (f *fragments) expire() {
	f.spare = append(f.spare, f.handed...)
	f.handed = f.handed[:0]
	for len(f.waiting) > 0 && !near(f.now, f.waiting[0].born, fragmentWait) {
		f.giveUp(0)
	}
}

// add takes a fragment. It returns the whole payload, its length on the wire and
// its protocol once nothing is missing, and else what became of the fragment or
// why it is passed over. The payload is valid until the next packet.
func (f *fragments) add(k fragmentKey, p fragment) (b []byte, wire int, next byte, state string) {
	if p.wire <= 0 || p.from+p.wire > maxDatagram || p.more && p.wire%8 != 0 {
		return nil, 0, 0, skipNotIP
	}
	i := slices.IndexFunc(f.waiting, func(d *datagram) bool { return d.key == k })
	if i < 0 {
		if f.recent(k, p.from+p.wire) {
			return nil, 0, 0, packetCopy
		}
		i = f.start(k)
	}
	d := f.waiting[i]
	switch d.place(p) {
	case packetCopy:
		return nil, 0, 0, packetCopy
	case packetHeld:
	default:
		f.giveUp(i)
		return nil, 0, 0, skipFragment
	}
	d.held += 1 + f.joined // its own packet may have come in fragments
	f.joined = 0
	if d.size == 0 || d.have < d.size {
		return nil, 0, 0, packetHeld
	}
	f.waiting = slices.Delete(f.waiting, i, i+1)
	f.handed = append(f.handed, d)
	f.joined = d.held - 1
	f.wholes[f.count%recentWholes] = whole{k, f.now, d.size}
	f.count++
	return d.data[:min(d.whole, d.size)], d.size, d.next, ""
}

// recent tells whether a datagram was put together so lately that another
// fragment of it, up to an end, was captured twice.
func (f *fragments) recent(k fragmentKey, to int) bool {
	return slices.ContainsFunc(f.wholes[:min(f.count, recentWholes)], func(w whole) bool {
		return w.key == k && to <= w.size && near(f.now, w.t, copyWait)
	})
}

// start makes a datagram that waits for its fragments.
func (f *fragments) start(k fragmentKey) int {
	if len(f.waiting) == maxDatagrams {
		f.giveUp(0)
	}
	d := &datagram{}
	if n := len(f.spare); n > 0 {
		d, f.spare = f.spare[n-1], f.spare[:n-1]
	}
	*d = datagram{key: k, born: f.now, frame: f.frame, got: d.got[:0], data: d.data[:0], whole: maxDatagram}
	f.waiting = append(f.waiting, d)
	return len(f.waiting) - 1
}

// place puts a fragment where it belongs.
func (d *datagram) place(p fragment) string {
	to := p.from + p.wire
	i, _ := slices.BinarySearchFunc(d.got, p.from, func(e extent, from int) int { return e.from - from })
	if i < len(d.got) && d.got[i] == (extent{p.from, to}) {
		return packetCopy
	}
	switch {
	case i > 0 && d.got[i-1].to > p.from, i < len(d.got) && d.got[i].from < to, // it overlaps
		len(d.got) == maxFragments,
		!p.more && (d.size != 0 || len(d.got) > 0 && d.got[len(d.got)-1].to > to), // another end
		p.more && d.size != 0 && to >= d.size:
		return skipFragment
	}
	d.got = slices.Insert(d.got, i, extent{p.from, to})
	d.have += p.wire
	if !p.more {
		d.size = to
	}
	if p.from == 0 {
		d.next = p.next
	}
	b := clip(p.b, p.wire)
	if n := p.from + len(b); n > len(d.data) {
		d.data = slices.Grow(d.data, n-len(d.data))[:n]
	}
	copy(d.data[p.from:], b)
	if len(b) < p.wire {
		d.whole = min(d.whole, p.from+len(b))
	}
	return packetHeld
}

// giveUp forgets a datagram: its fragments count as passed over.
func (f *fragments) giveUp(i int) {
	d := f.waiting[i]
	for range d.held {
		f.lost = append(f.lost, d.frame)
	}
	f.waiting = slices.Delete(f.waiting, i, i+1)
	f.spare = append(f.spare, d)
}

// finish gives up all that waits.
func (f *fragments) finish() {
	for len(f.waiting) > 0 {
		f.giveUp(0)
	}
}
