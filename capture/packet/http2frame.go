package packet

// frameType is the type of an HTTP/2 frame (RFC 9113 section 6).
type frameType uint8

const (
	frameData frameType = iota
	frameHeaders
	framePriority
	frameReset
	frameSettings
	framePush
	framePing
	frameGoAway
	frameWindow
	frameContinuation
	frameUnknown // and all above: to be ignored (RFC 9113 section 5.5)
)

// Flags of frames.
const (
	flagEndStream  = 0x1 // and ACK of SETTINGS and PING
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

const (
	frameHead     = 9
	defaultFrame  = 16 << 10  // SETTINGS_MAX_FRAME_SIZE before any SETTINGS (RFC 9113 section 6.5.2)
	largestFrame  = 1<<24 - 1 // the most it can be set to
	http2Preface  = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	maxHeaderText = 64 << 10 // what is read of a header list, in bytes
)

// frame2 is the head of a frame (RFC 9113 section 4.1).
type frame2 struct {
	length int
	kind   frameType
	flags  byte
	id     uint32
}

func readFrame(b []byte) frame2 {
	return frame2{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]),
		kind:   frameType(b[3]), flags: b[4], id: be.Uint32(b[5:]) & 0x7fffffff,
	}
}

// fits tells whether a frame breaks no rule that makes the peer close the
// connection: one that does is none, and the place of the frames is lost.
func (f *frame2) fits(largest int) bool {
	if f.length > largest {
		return false
	}
	switch f.kind {
	case frameData, frameHeaders, frameContinuation, framePush:
		return f.id != 0
	case framePriority:
		return f.id != 0 && f.length == 5
	case frameReset:
		return f.id != 0 && f.length == 4
	case frameSettings:
		return f.id == 0 && f.length%6 == 0 && (f.flags&flagEndStream == 0 || f.length == 0)
	case framePing:
		return f.id == 0 && f.length == 8
	case frameGoAway:
		return f.id == 0 && f.length >= 8
	case frameWindow:
		return f.length == 4
	}
	return f.length <= defaultFrame
}

// strict tells whether a frame is as senders make them: of a known type, without
// flags that have no meaning.
func (f *frame2) strict(largest int) bool {
	const padded = flagPadded | flagEndStream
	flags := [...]byte{
		padded, padded | flagEndHeaders | flagPriority, 0, 0, flagEndStream, flagPadded | flagEndHeaders,
		flagEndStream, 0, 0, flagEndHeaders,
	}
	return f.kind < frameUnknown && f.flags&^flags[f.kind] == 0 && f.fits(largest) && (f.kind != frameSettings || f.length <= 6*16)
}

// flow reads the frames of one direction. It keeps the payload only of frames
// that carry headers or control the connection, and only as far as it has to.
type flow struct {
	table   headerTable
	largest int // frame that this direction may send, as far as is known

	preface bool // the connection preface is still to come (RFC 9113 section 3.4)
	synced  bool // the place of the frames is known
	inFrame bool
	head    []byte // an unfinished frame head or preface; in place
	small   [len(http2Preface)]byte

	frame  frame2 // being read
	first  stamp  // of its first byte
	remain int    // bytes of its payload to come
	pad    int    // of which padding; -1: its length is the next byte
	keep   []byte // its payload, where it comes in pieces
	torn   bool   // bytes of it are missing

	open   bool   // a header block is not finished
	opener frame2 // the frame that began it
	begun  stamp  // of that frame
	block  []byte // of several frames
	holed  bool   // bytes of it are missing
}

// reset begins a direction. sized tells that the sizes in force are the first ones.
func (f *flow) reset(synced, sized bool) {
	*f = flow{table: f.table, synced: synced, largest: defaultFrame}
	if !sized {
		f.largest = largestFrame
	}
	f.head = f.small[:0]
	f.table.reset(!sized)
}

// data reads the frames in the next bytes of direction d.
func (h *http2conn) data(d int, c chunk) {
	f := &h.flow[d]
	h.expireOrphans()
	for len(c.b) > 0 {
		switch {
		case !f.synced:
			if !h.resync(d, &c) {
				return
			}
		case f.inFrame:
			h.payload(d, &c)
		case !h.frameHead(d, &c):
			return
		}
	}
}

// frameHead reads the head of a frame, or the preface. It is false where that
// ends the reading of these bytes.
func (h *http2conn) frameHead(d int, c *chunk) bool {
	f := &h.flow[d]
	want := frameHead
	if f.preface {
		want = len(http2Preface)
	}
	if len(f.head) == 0 {
		f.first = c.at
	}
	n := min(want-len(f.head), len(c.b))
	f.head = append(f.head, c.b[:n]...)
	c.take(n)
	if len(f.head) < want {
		return false
	}
	b := f.head
	f.head = f.small[:0]
	if f.preface {
		if f.preface = false; string(b) != http2Preface {
			h.lose(d, c.at)
		}
		return true
	}
	f.frame = readFrame(b)
	if !f.frame.fits(f.largest) || f.open != (f.frame.kind == frameContinuation) || f.open && f.frame.id != f.opener.id {
		h.lose(d, c.at)
		return true
	}
	f.inFrame, f.remain, f.pad, f.torn = true, f.frame.length, 0, false
	if f.frame.kind == frameData && f.frame.flags&flagPadded != 0 {
		f.pad = -1
	}
	h.started(d)
	if f.remain == 0 {
		h.ended(d, nil, c.at)
	}
	return true
}

// payload reads bytes of a frame's payload.
func (h *http2conn) payload(d int, c *chunk) {
	f := &h.flow[d]
	n := min(f.remain, len(c.b))
	p := c.b[:n]
	c.take(n)
	f.remain -= n
	switch f.frame.kind {
	case frameData:
		h.body(d, p, c.at)
		p = nil
	case frameHeaders, framePush, frameContinuation, frameReset, frameSettings, frameGoAway:
		if f.torn || f.remain > 0 || len(f.keep) > 0 {
			h.hold(f, p, c.at)
			p = f.keep
		}
	}
	if f.remain == 0 {
		h.ended(d, p, c.at)
	}
}

// hold keeps a part of a frame's payload.
func (h *http2conn) hold(f *flow, p []byte, at stamp) {
	if f.torn {
		return
	}
	if len(f.keep)+len(p) > maxHeaders {
		f.torn = true
		h.note(skipHeaderBlock, at)
		return
	}
	if f.keep == nil {
		f.keep = h.s.t.buffer()
	}
	f.keep = append(f.keep, p...)
	h.s.t.buffered += len(p)
}

// ended takes a frame that has been read to its end, with what was kept of it.
func (h *http2conn) ended(d int, p []byte, at stamp) {
	f := &h.flow[d]
	f.inFrame = false
	h.take(d, p, at)
	h.let(&f.keep)
}

// let gives a buffer back.
func (h *http2conn) let(b *[]byte) {
	h.s.t.buffered -= len(*b)
	h.s.t.recycle(*b)
	*b = nil
}

// gap tells that n bytes of direction d are missing. Where they are all payload
// of one frame, the next frame's place is still known.
func (h *http2conn) gap(d, n int, t int64) {
	f := &h.flow[d]
	at := stamp{t: t, frame: f.first.frame}
	if !f.synced || !f.inFrame || n > f.remain {
		h.lose(d, at)
		return
	}
	f.torn = true
	f.remain -= n
	if f.frame.kind == frameData {
		h.tear(d)
		f.pad = 0 // what is missing may have told it
	}
	if f.remain == 0 {
		h.ended(d, f.keep, at)
	}
}

// lose gives up the place of the frames in direction d, and with it the table. Of
// a header block that had begun what was read is used.
func (h *http2conn) lose(d int, at stamp) {
	f := &h.flow[d]
	if f.synced {
		h.note(skipFrames, at)
		h.salvage(d, at)
	}
	f.synced, f.inFrame, f.open, f.preface = false, false, false, false
	f.head = f.small[:0]
	h.let(&f.keep)
	h.let(&f.block)
	f.table.forget()
	h.s.lost = true
	h.doubt(d)
}
