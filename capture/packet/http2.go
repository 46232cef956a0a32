package packet

import (
	"fmt"

	"stormwatch/capture"
)

// What HTTP/2 connections may cost, and what is told when that is not enough.
const (
	maxStreams = 1 << 10 // open on one connection; servers allow some hundreds
	http2Cost  = 1 << 10 // bookkeeping of a connection, in bytes
	// maxCancelled is how many streams a client may cancel within a second: as
	// many as the least that RFC 9113 section 6.5.2 recommends to let it open at
	// once. More of them is the pattern of CVE-2023-44487.
	maxCancelled = 100

	skipFrames      = "HTTP/2: bytes are missing or damaged, frames were looked for anew"
	skipHeaderBlock = "HTTP/2: header block longer than 64 KiB, read as far as that"
	skipHeaderList  = "HTTP/2: header list longer than 64 KiB when decoded, read as far as that"
	skipHPACK       = "HTTP/2: damaged header block"
	skipStreams     = "HTTP/2: more than 1024 streams open on a connection, the oldest given up"
	skipRapidReset  = "HTTP/2: more than 100 streams cancelled within a second on a connection (rapid reset)"
	skipPush        = "HTTP/2: pushed response, which no request asked for"
)

// Error codes (RFC 9113 section 7).
const (
	codeRefused = 0x7
	codeCalm    = 0xb
)

// Settings (RFC 9113 section 6.5.2).
const (
	settingTable = 1
	settingFrame = 5
)

// http2conn reads an HTTP/2 connection (RFC 9113): the frames of both directions,
// and the streams that are open.
type http2conn struct {
	s       *stream
	flow    [2]flow
	streams []*message // open ones, by id
	asking  *message   // the request whose headers are being read
	last    uint32     // highest stream of a request
	beyond  uint32     // streams above will not be answered (GOAWAY)
	skipped bool       // requests may be missing since the last one
	due     int64      // when a response without a request has waited long enough; 0 none

	cancelled [16]uint32 // streams that their client reset last: responses may still come
	next      int
	resets    int   // by the client, of streams without an answer, since
	since     int64 // this time
	charged   int   // bytes of the tables, as counted in the table's buffered
}

// http2pool is what the HTTP/2 connections of one capture share.
type http2pool struct {
	spare  []*http2conn
	reader headerReader
	probe  headerTable // for header blocks that may be none
	budget int         // bytes of such blocks that may still be looked at
	list   headerList
}

// speak takes the connection for HTTP/2 whose requests client sends. begun tells
// that its preface is still to come, so that its sizes and tables are those of the
// beginning.
func (s *stream) speak(client int, begun bool) {
	p := &s.t.http2
	var h *http2conn
	if n := len(p.spare); n > 0 {
		h, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		h = &http2conn{}
	}
	*h = http2conn{s: s, streams: h.streams[:0], flow: h.flow, beyond: 1<<32 - 1, skipped: !begun}
	s.kind, s.client, s.h2 = http2, client, h
	for d := range h.flow {
		h.flow[d].reset(begun && !s.lost && !s.c.mid, begun)
	}
	if c := &h.flow[client]; begun {
		c.preface, c.synced = true, true
	}
	p.reader.secrets = s.t.out.secrets
	s.t.buffered += http2Cost
	h.charge()
}

// charge counts what the tables hold.
func (h *http2conn) charge() {
	n := h.flow[0].table.kept() + h.flow[1].table.kept()
	h.s.t.buffered += n - h.charged
	h.charged = n
}

// release gives everything back.
func (h *http2conn) release() {
	const small, few = 2 << 10, 64 // what is larger is not kept for the next connection
	for d := range h.flow {
		f := &h.flow[d]
		h.let(&f.keep)
		h.let(&f.block)
		if f.table.forget(); f.table.kept() > small {
			f.table = headerTable{}
		}
	}
	h.s.t.buffered -= http2Cost + h.charged
	if cap(h.streams) > few {
		h.streams = nil
	}
	p := &h.s.t.http2
	h.s.h2, h.s = nil, nil
	if len(p.spare) < maxConns/16 {
		p.spare = append(p.spare, h)
	}
}

// closed takes the orderly end of a direction. A server that has closed will not
// answer any more; requests that a hole holds back may still come.
func (h *http2conn) closed(d int) {
	if d == h.s.client {
		return
	}
	h.salvage(d, stamp{t: h.s.t.now})
	for i := 0; i < len(h.streams); {
		if m := h.streams[i]; m.orphan {
			i++
		} else {
			h.cut(i, endClosed)
		}
	}
}

// end takes the end of the connection.
func (h *http2conn) end(why ending) {
	for d := range h.flow {
		h.salvage(d, stamp{t: h.s.t.now})
	}
	h.giveUp(why)
	h.release()
}

// note counts what was passed over or given up; the first few are named.
func (h *http2conn) note(reason string, at stamp) {
	health := &h.s.t.out.health
	for i := range health.Skipped {
		if k := &health.Skipped[i]; k.Reason == reason && len(k.Examples) >= enoughExamples {
			k.Count++
			return
		}
	}
	health.Skip(reason, fmt.Sprintf("frame %d", at.frame))
}

// started takes the head of a frame.
func (h *http2conn) started(d int) {
	f := &h.flow[d]
	switch f.frame.kind {
	case frameHeaders:
		f.opener, f.begun = f.frame, f.first
		if id := f.frame.id; d == h.s.client && id&1 == 1 && id > h.last {
			h.asking = h.s.request(&parser{first: f.first})
			h.asking.id = id
		}
	case framePush:
		f.opener, f.begun = f.frame, f.first
	}
}

// take takes a frame that has come to its end, with its payload where that is
// needed.
func (h *http2conn) take(d int, p []byte, at stamp) {
	f := &h.flow[d]
	server := d != h.s.client
	if f.torn && server && (f.frame.kind == frameReset || f.frame.kind == frameGoAway) {
		h.doubt(d)
	}
	switch id := f.frame.id; f.frame.kind {
	case frameData:
		if f.frame.flags&flagEndStream != 0 {
			h.endStream(d, id, at, false)
		}
	case frameHeaders, framePush, frameContinuation:
		h.fragment(d, f.unwrap(p), at)
	case frameReset:
		if len(p) == 4 {
			h.reset(d, id, be.Uint32(p), at)
		}
	case frameSettings:
		if f.frame.flags&flagEndStream == 0 {
			h.settings(1-d, p)
		}
	case frameGoAway:
		if server && len(p) >= 8 {
			h.goAway(be.Uint32(p)&0x7fffffff, be.Uint32(p[4:]), at)
		}
	}
}

// unwrap takes padding, priority and a promised stream off the payload of a frame
// that carries headers (RFC 9113 sections 6.2 and 6.6).
func (f *flow) unwrap(p []byte) []byte {
	if f.frame.kind == frameContinuation {
		return p
	}
	pad := 0
	if f.frame.flags&flagPadded != 0 && len(p) > 0 {
		pad, p = int(p[0]), p[1:]
	}
	before := 0
	switch {
	case f.frame.kind == framePush:
		before = 4
	case f.frame.flags&flagPriority != 0:
		before = 5
	}
	if f.torn { // the padding is at the end, which is missing
		pad = 0
	}
	if before+pad > len(p) {
		f.torn = true
		return nil
	}
	return p[before : len(p)-pad]
}

// fragment takes a part of a header block.
func (h *http2conn) fragment(d int, p []byte, at stamp) {
	f := &h.flow[d]
	f.open = f.frame.flags&flagEndHeaders == 0
	if !f.open && len(f.block) == 0 && !f.holed {
		f.holed = f.torn
		h.headers(d, p, at)
		return
	}
	if !f.holed {
		if len(f.block)+len(p) > maxHeaders {
			f.holed = true
			h.note(skipHeaderBlock, at)
		} else {
			if f.block == nil {
				f.block = h.s.t.buffer()
			}
			f.block = append(f.block, p...)
			h.s.t.buffered += len(p)
			f.holed = f.torn
		}
	}
	if !f.open {
		h.headers(d, f.block, at)
		h.let(&f.block)
	}
}

// salvage uses what there is of a header block whose rest is missing.
func (h *http2conn) salvage(d int, at stamp) {
	f := &h.flow[d]
	inHeaders := false
	if f.inFrame {
		switch f.frame.kind {
		case frameHeaders, framePush, frameContinuation:
			inHeaders = true
		}
	}
	switch {
	case inHeaders:
		f.torn = true
		f.frame.flags |= flagEndHeaders
		f.inFrame = false
		h.fragment(d, f.unwrap(f.keep), at)
		h.let(&f.keep)
	case f.open:
		f.open, f.holed = false, true
		h.headers(d, f.block, at)
		h.let(&f.block)
	}
}

// headers takes a header block.
func (h *http2conn) headers(d int, b []byte, at stamp) {
	f := &h.flow[d]
	whole := h.decode(d, b)
	f.holed = false
	end := f.opener.flags&flagEndStream != 0
	switch {
	case f.opener.kind == framePush:
		h.note(skipPush, at)
	case d == h.s.client:
		h.requested(f.opener.id, whole, at)
	case f.opener.id&1 == 1: // others answer what was pushed
		h.responded(f.opener.id, end, whole, at)
	}
	if end {
		h.endStream(d, f.opener.id, at, true)
	}
}

// settings takes what one side announces; it binds what direction d sends.
func (h *http2conn) settings(d int, p []byte) {
	f := &h.flow[d]
	for ; len(p) >= 6; p = p[6:] {
		switch value := be.Uint32(p[2:]); be.Uint16(p) {
		case settingTable:
			f.table.allow(value)
		case settingFrame:
			f.largest = max(f.largest, int(min(value, largestFrame)))
		}
	}
}

// reset ends a stream (RFC 9113 section 6.4).
func (h *http2conn) reset(d int, id, code uint32, at stamp) {
	i, found := h.find(id)
	if d == h.s.client {
		h.cancelled[h.next%len(h.cancelled)] = id
		h.next++
	}
	if !found || h.streams[i].done { // a whole response may be followed by one (RFC 9113 section 8.1)
		return
	}
	m := h.streams[i]
	if d == h.s.client {
		if !m.h2.headed {
			h.countReset(at)
		}
		h.cut(i, endCancel)
		return
	}
	if m.h2.doubt = false; !m.h2.headed {
		m.x.Reason = reasonOfCode(code)
		m.x.At.B = at.frame
	}
	h.cut(i, endReset)
}

// reasonOfCode tells why a server refuses a stream, or a connection: a refused
// stream has not been looked at for want of room (RFC 9113 section 8.7; gRPC takes
// it for UNAVAILABLE), and ENHANCE_YOUR_CALM is for those who ask too much (gRPC:
// RESOURCE_EXHAUSTED).
func reasonOfCode(code uint32) capture.Reason {
	switch code {
	case codeRefused:
		return capture.Overload
	case codeCalm:
		return capture.Throttle
	}
	return capture.Unjudged
}

// countReset counts streams that their client gave up before any answer.
func (h *http2conn) countReset(at stamp) {
	if h.resets == 0 || at.t-h.since > 1e9 {
		h.resets, h.since = 0, at.t
	}
	if h.resets++; h.resets == maxCancelled+1 {
		h.note(skipRapidReset, at)
	}
}

// goAway ends the streams that the server will not look at any more (RFC 9113
// section 6.8).
func (h *http2conn) goAway(last, code uint32, at stamp) {
	h.beyond = min(h.beyond, last)
	for i := len(h.streams) - 1; i >= 0 && h.streams[i].id > last; i-- {
		m := h.streams[i]
		if m.h2.headed || m.orphan {
			continue
		}
		m.h2.doubt = false
		m.x.Reason, m.x.At.B = reasonOfCode(code), at.frame
		h.cut(i, endClosed)
	}
}
