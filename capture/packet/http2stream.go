package packet

import (
	"slices"

	"stormwatch/capture"
)

// streamState is what a message of HTTP/2 needs besides.
type streamState struct {
	headed bool // the response has begun
	doubt  bool // the response may have been lost
	torn   bool // bytes of the request's body are missing
	blank  bool // fields of the response could not be resolved
	rpc    rpcKind
}

// unnamed stands for a method or a target that could not be read: it came before
// the reading began, or was lost.
const unnamed = "unknown"

// orphanWait is how long a response waits for its request: for as long as a hole
// may hold that back, and a while.
const orphanWait = holeWait + heldWait

// find finds an open stream, or the place where it belongs.
func (h *http2conn) find(id uint32) (i int, found bool) {
	n := len(h.streams)
	if n == 0 || h.streams[n-1].id < id {
		return n, false
	}
	return slices.BinarySearchFunc(h.streams, id, func(m *message, id uint32) int {
		return int(int64(m.id) - int64(id))
	})
}

// stream returns an open stream, or nil.
func (h *http2conn) stream(id uint32) *message {
	if i, found := h.find(id); found {
		return h.streams[i]
	}
	return nil
}

// add opens a stream.
func (h *http2conn) add(m *message, at stamp) {
	if len(h.streams) == maxStreams {
		h.note(skipStreams, at)
		h.streams[0].h2.doubt = true
		h.cut(0, endEvicted)
	}
	i, _ := h.find(m.id)
	h.streams = slices.Insert(h.streams, i, m)
}

func (h *http2conn) remove(i int) *message {
	m := h.streams[i]
	h.streams = slices.Delete(h.streams, i, i+1)
	return m
}

// requested takes the headers of a request, or the trailers of one.
func (h *http2conn) requested(id uint32, whole bool, at stamp) {
	m := h.asking
	if m == nil {
		return
	}
	h.asking = nil
	s, l := h.s, &h.s.t.http2.list
	x := &m.x
	s.requestFields(x, l.text)
	if l.host != 0 { // it wins over Host (RFC 9113 section 8.3.1)
		x.Host = l.host
	}
	h.count(id)
	x.ConnSeq = s.count
	h.name(m, l)
	m.named = true
	m.h2.rpc = l.requestKind(whole)
	switch {
	case l.attempt.N > 1, l.attempt.N == 1 && x.Attempt.N == 0:
		x.Attempt = l.attempt
	case m.h2.rpc == rpcYes && whole && x.Attempt.N == 0: // the field is left out at first
		x.Attempt = capture.Attempt{N: 1, Counter: capture.RPCAttempts}
	}
	if l.cut {
		m.flagGap()
	}
	h.ask(m, at)
}

// count numbers a request. Where requests may have been missed, streams tell how
// many: clients number them one after the other (RFC 9113 section 5.1.1).
func (h *http2conn) count(id uint32) {
	n := uint32(1)
	if h.skipped {
		n = max(n, (id-h.last+1)/2)
	}
	h.s.count += n
	h.last, h.skipped = id, false
}

// name gives a request its method and target.
func (h *http2conn) name(m *message, l *headerList) {
	names := h.s.t.out.names
	target := l.path
	if m.connect = l.connect; m.connect && len(target) == 0 {
		target = l.authority
	}
	if m.x.Method = l.method; l.method == 0 {
		m.x.Method = names.InternString(unnamed)
		m.x.Flags |= capture.Unnamed
	}
	if len(target) > 0 {
		m.target = capture.AppendMasked(m.target[:0], target)
	} else {
		m.target = append(m.target[:0], unnamed...)
		m.x.Flags |= capture.Unnamed
	}
	h.s.t.buffered += len(m.target)
}

// ask opens the stream of a request, or finds the response that was captured first.
func (h *http2conn) ask(m *message, at stamp) {
	id := m.id
	if i, found := h.find(id); found && h.streams[i].orphan {
		r := h.streams[i]
		m.answer(r)
		m.x.RPC = r.x.RPC
		m.h2.headed, m.h2.blank = r.h2.headed, r.h2.blank
		if r.h2.rpc != rpcMaybe {
			m.h2.rpc = r.h2.rpc
		}
		h.streams[i] = m
		h.s.discard(r)
		if m.done {
			h.remove(i)
			h.s.emit(m)
		}
		return
	}
	h.add(m, at)
	if id > h.beyond {
		i, _ := h.find(id)
		h.cut(i, endClosed)
	}
}

// responded takes the headers of a response, interim ones and trailers.
func (h *http2conn) responded(id uint32, end, whole bool, at stamp) {
	l := &h.s.t.http2.list
	i, found := h.find(id)
	var m *message
	switch {
	case l.status >= 100 && l.status < 200 && !end:
		return // the answer is still to come
	case found:
		m = h.streams[i]
	case l.status == 0 || !h.awaited(id):
		return
	default:
		m = h.s.response(&parser{first: h.flow[1-h.s.client].begun})
		m.id = id
		h.add(m, at)
	}
	m.h2.doubt = false
	if m.h2.blank = m.h2.blank || !whole; l.cut {
		m.flagGap()
	}
	if trailers := m.h2.headed && (l.status == 0 && (end || !l.blankFirst)); !trailers {
		h.head(m, l, whole, at)
	}
	h.rpcFields(m, l)
	if m.connect && m.x.Status >= 200 && m.x.Status < 300 { // what follows is a tunnel
		m.x.End, m.done = at.t, true
		if i, found := h.find(id); found && !m.orphan {
			h.remove(i)
			h.s.emit(m)
		}
	}
}

// awaited tells whether a response may come on a stream that is not open: its
// request is late or lost. A stream that its client has reset is over.
func (h *http2conn) awaited(id uint32) bool {
	if id > h.last {
		return true
	}
	return (h.s.lost || h.s.c.mid) && !slices.Contains(h.cancelled[:], id)
}

// head takes the first headers of a response.
func (h *http2conn) head(m *message, l *headerList, whole bool, at stamp) {
	x := &m.x
	m.h2.headed = true
	x.Status, x.End, x.Outcome = l.status, at.t, capture.Answered
	if !m.orphan {
		x.At.B = h.flow[1-h.s.client].begun.frame
	}
	h.s.responseFields(m, l.text, whole)
	if l.media == mediaRPC {
		m.want = 0
	}
}

// endStream takes the end of one side of a stream.
func (h *http2conn) endStream(d int, id uint32, at stamp, headers bool) {
	i, found := h.find(id)
	if !found {
		return
	}
	m := h.streams[i]
	if d == h.s.client {
		if !m.orphan && !m.h2.torn {
			m.x.Body = m.digest
		}
		return
	}
	m.x.End, m.x.Outcome = max(at.t, m.x.Start), capture.Answered
	if !m.h2.headed {
		m.flagGap()
	}
	m.done = true
	m.rpcEnd(headers)
	if !m.orphan {
		h.remove(i)
		h.s.emit(m)
		return
	}
	if due := m.x.End + orphanWait; h.due == 0 || due < h.due {
		h.due = due
	}
}

// body takes bytes of a DATA frame. Those of a request are digested.
func (h *http2conn) body(d int, p []byte, at stamp) {
	f := &h.flow[d]
	if f.pad < 0 && len(p) > 0 {
		f.pad, p = int(p[0]), p[1:]
	}
	m := h.stream(f.frame.id)
	if m == nil {
		return
	}
	if padding := f.pad - f.remain; padding > 0 {
		p = p[:max(len(p)-padding, 0)]
	}
	if d != h.s.client {
		m.x.End, m.h2.doubt = at.t, false
		h.s.peek(m, p, false)
		return
	}
	if !m.h2.torn && len(p) > 0 {
		m.digest = fnv(m.digest, p)
	}
}

// tear tells that bytes are missing in the DATA frame of direction d.
func (h *http2conn) tear(d int) {
	if m := h.stream(h.flow[d].frame.id); m != nil {
		m.flagGap()
		m.h2.torn = m.h2.torn || d == h.s.client
		if d != h.s.client {
			m.want = 0
		}
	}
}

// doubt tells that anything may have been lost in direction d.
func (h *http2conn) doubt(d int) {
	if d == h.s.client {
		h.skipped = true
	}
	for _, m := range h.streams {
		switch {
		case d != h.s.client:
			m.h2.doubt = true
			m.want = 0
		case m.x.Body == 0:
			m.h2.torn = true
		}
	}
}

// cut ends a stream before its response has ended.
func (h *http2conn) cut(i int, why ending) {
	m := h.remove(i)
	if m.h2.doubt && why != endInput {
		why = endEvicted
	}
	switch {
	case m.done: // a response that no request came for
	case m.h2.headed:
		h.s.cutShort(m, why)
		m.rpcEnd(false)
	default:
		if m.h2.rpc == rpcYes {
			m.x.RPC = capture.RPCUnseen
		}
		h.s.unanswered(m, why)
		return
	}
	h.s.emit(m)
}

// giveUp ends all streams.
func (h *http2conn) giveUp(why ending) {
	for n := len(h.streams); n > 0; n = len(h.streams) {
		h.cut(0, why)
	}
}

// expireOrphans gives up waiting for the requests of responses.
func (h *http2conn) expireOrphans() {
	if now := h.s.t.now; h.due != 0 && now > h.due {
		h.due = 0
		for i := 0; i < len(h.streams); {
			switch m := h.streams[i]; {
			case !m.orphan || !m.done:
			case now-m.x.End > orphanWait:
				h.cut(i, endClosed)
				continue
			case h.due == 0 || m.x.End+orphanWait < h.due:
				h.due = m.x.End + orphanWait
			}
			i++
		}
	}
}
