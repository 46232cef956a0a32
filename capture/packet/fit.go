package packet

// fit is how a segment fits a connection on its addresses and ports.
type fit uint8

const (
	fits   fit = iota
	renews     // it begins another connection
	strays     // it belongs to an older connection, or to none
)

// fit judges a segment of direction d.
func (c *conn) fit(s *segment, d int) fit {
	h := &c.half[d]
	switch {
	case !h.begun && c.half[1-d].foreign(s):
		return strays
	case s.flags&(flagSYN|flagRST) == flagSYN:
		return c.fitSYN(s, h)
	case !h.begun:
		return fits
	}
	ahead := span(h.next, s.seq)
	near := ahead <= maxJump && ahead >= -maxJump
	switch {
	case s.wire == 0 || s.flags&flagRST != 0: // alone they begin nothing, and must not end a stranger
		if near {
			return fits
		}
		return strays
	case c.dead && (ahead > straggle || ahead < -straggle):
		return renews
	case near:
		return fits
	case h.old && inFlight(c.old[d], s.seq):
		return strays
	}
	return renews
}

// fitSYN tells a new connection from a SYN sent or captured late.
func (c *conn) fitSYN(s *segment, h *half) fit {
	from := h.next
	switch {
	case h.syn:
		if h.isn == s.seq {
			return fits
		}
		return renews
	case !h.begun && c.dead:
		if s.flags&flagACK == 0 {
			return renews
		}
		return fits
	case !h.begun && !h.hasAck:
		return fits
	case !h.begun:
		from = h.acked // what the peer has acknowledged lies behind a new start
	}
	if behind := span(s.seq, from); behind <= 0 || behind > straggle {
		return renews
	}
	return fits
}

// foreign tells whether a segment of the other direction acknowledges what lies
// before the SYN of this one, or far ahead: it answers another connection.
func (h *half) foreign(s *segment) bool {
	return h.syn && s.flags&flagACK != 0 && (span(h.isn, s.ack) <= 0 || span(h.next, s.ack) > straggle)
}

// inFlight tells whether two sequence numbers may be of one connection's packets in
// flight.
func inFlight(a, b uint32) bool {
	d := span(a, b)
	return d <= straggle && d >= -straggle
}
