package packet

import "bytes"

// A connection whose beginning was not seen, or in which bytes were lost, shows
// where its frames are only by their shape. Points are given for what a chain of
// frames shows. Random bytes pass as one strict head about once in five million (24
// of the 65,536 pairs of type and flags, a length of at most 16 KiB of 16 MiB, the
// reserved bit), so that one head is not enough where a packet has a thousand
// places for it: more frames, whole header blocks, a known stream or the end of the
// packet must agree.
const (
	enoughShape = 3
	enoughJoin  = 4 // where nothing yet says that this is HTTP/2
	mostFrames  = 3 // points for complete frames

	enoughFrames = 8       // of a chain are looked at
	farStream    = 1 << 14 // how far ahead the next request's stream may be
	probes       = 4       // header bytes looked at for each byte searched
)

// side is whose headers a block holds.
type side uint8

const (
	noSide side = iota
	asks
	answers
)

// shape weighs the frames that begin at b and go on to its end; h is nil where no
// HTTP/2 is known of.
func (t *table) shape(b []byte, h *http2conn, d int, front bool) (points int, who side) {
	complete := 0
	known := false
	for len(b) >= frameHead && complete < enoughFrames {
		f := readFrame(b)
		if b[5]&0x80 != 0 || !f.strict(defaultFrame) || complete == 0 && f.kind == frameContinuation {
			return 0, noSide
		}
		known = known || h != nil && h.knows(d, &f)
		b = b[frameHead:]
		if f.length > len(b) {
			if points++; f.kind != frameData && f.kind != frameHeaders {
				return 0, noSide
			}
			b = nil
			break
		}
		if complete++; f.kind == frameHeaders && f.flags&flagEndHeaders != 0 {
			w, ok := t.block(&f, b[:f.length])
			if !ok || w != noSide && who != noSide && w != who {
				return 0, noSide
			}
			if points++; w != noSide {
				points, who = points+1, w
			}
		}
		b = b[f.length:]
		if len(b) == 0 {
			points++
		}
	}
	points += min(complete, mostFrames)
	if front {
		points++
	}
	if known {
		points++
	}
	return points, who
}

// block tells whether a frame carries a whole header block, and whose it is by its
// pseudo fields, where that can be told.
func (t *table) block(f *frame2, p []byte) (who side, ok bool) {
	w := flow{frame: *f}
	if p = w.unwrap(p); w.torn || len(p) == 0 {
		return noSide, false
	}
	if t.http2.budget -= len(p); t.http2.budget < 0 {
		return noSide, false
	}
	r := &t.http2.reader
	t.http2.probe.reset(true)
	r.secrets = t.out.secrets
	r.begin(&t.http2.probe, p)
	var field headerField
	for r.next(&field) {
		switch {
		case !field.known:
		case len(field.name) == 0 || !fieldName(field.name):
			return noSide, false
		case field.name[0] != ':':
		case string(field.name) == ":status":
			who = answers
		default:
			who = asks
		}
	}
	return who, r.err == nil
}

// fieldName tells whether a name has no character that is no letter, digit, or
// sign allowed in one, and none in upper case (RFC 9113 section 8.2.1).
func fieldName(name []byte) bool {
	for i, c := range name {
		if c <= ' ' || c >= 0x7f || c >= 'A' && c <= 'Z' || c == ':' && i > 0 {
			return false
		}
	}
	return true
}

// knows tells whether a frame is of a stream that is open, or may be the next.
func (h *http2conn) knows(d int, f *frame2) bool {
	if h.stream(f.id) != nil {
		return true
	}
	return d == h.s.client && f.kind == frameHeaders && f.id&1 == 1 && f.id > h.last && f.id < h.last+farStream
}

// joins finds out whether a connection that is read from somewhere on carries
// HTTP/2, and who sends requests: frames from the beginning of a packet on, with
// the headers of a request or a response among them.
func (s *stream) joins(d int, b []byte) bool {
	if len(b) < frameHead || b[0] != 0 { // strict frames are shorter than 64 KiB
		return false
	}
	s.t.http2.budget = len(b)
	points, who := s.t.shape(b, nil, d, true)
	if points < enoughJoin || who == noSide {
		return false
	}
	if who == answers {
		d = 1 - d
	}
	s.speak(d, false)
	return true
}

// resync looks for the place of the frames in c. It is false where there is none.
func (h *http2conn) resync(d int, c *chunk) bool {
	f := &h.flow[d]
	want := answers
	if d == h.s.client {
		if want = asks; bytes.HasPrefix(c.b, []byte(http2Preface)) {
			f.preface, f.synced = true, true
			return true
		}
	}
	h.s.t.http2.budget = probes * len(c.b)
	for i := 0; i+frameHead <= len(c.b); i++ {
		if c.b[i] != 0 { // strict frames are shorter than 64 KiB
			continue
		}
		points, who := h.s.t.shape(c.b[i:], h, d, i == 0)
		if points >= enoughShape && (who == noSide || who == want) {
			c.take(i)
			f.synced = true
			return true
		}
	}
	return false
}

// beginsHTTP2 tells whether b begins like the first frame of a server, which are its
// settings (RFC 9113 section 3.4). They may come before the client's preface.
func beginsHTTP2(b []byte) bool {
	if len(b) < frameHead {
		return false
	}
	f := readFrame(b)
	return f.kind == frameSettings && f.flags == 0 && f.strict(defaultFrame) && len(b) >= frameHead+min(f.length, 6) &&
		(f.length == 0 || be.Uint16(b[frameHead:]) <= 16)
}

// isPreface tells whether b is a client's connection preface as far as it goes.
func isPreface(b []byte) bool {
	n := min(len(b), len(http2Preface))
	return n >= len("PRI") && string(b[:n]) == http2Preface[:n]
}

// upgrade goes on in HTTP/2 after a request of HTTP/1.1, which stream 1 answers
// (RFC 7540 section 3.2).
// m is nil where the request was not seen.
func (s *stream) upgrade(m *message) {
	s.tunnel()
	s.speak(s.client, true)
	h := s.h2
	h.last = 1
	h.flow[1-s.client].synced = true
	if m != nil {
		m.id, m.h2 = 1, streamState{rpc: rpcNo}
		h.streams = append(h.streams, m)
	}
}

// upgradesHTTP2 tells whether the fields of a response with status 101 switch to
// HTTP/2.
func upgradesHTTP2(rest []byte) bool {
	for name, value := field(&rest); name != nil; name, value = field(&rest) {
		if is(name, "upgrade") {
			return is(value, "h2c")
		}
	}
	return false
}
