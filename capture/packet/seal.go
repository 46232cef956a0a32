package packet

// startsTLS tells whether b begins with a TLS record: a type, the version 3.x,
// and a length within 2^14 + 2048 (RFC 8446 section 5.1, RFC 5246 section
// 6.2.3). Where anything may stand, the whole record header must be there.
func startsTLS(b []byte, anywhere bool) bool {
	const least, header, longest = 3, 5, 1<<14 + 2048
	if len(b) < least || b[0] < 0x14 || b[0] > 0x17 || b[1] != 3 || b[2] > 4 {
		return false
	}
	if len(b) < header {
		return !anywhere
	}
	n := int(be.Uint16(b[3:]))
	return n > 0 && n <= longest
}

// seal notes that a connection is encrypted.
func (s *stream) seal() {
	s.kind = tls
	s.t.out.health.Encrypted++
}

// reading is what was read of a direction.
type reading uint8

const (
	unread    reading = iota
	curtailed         // nothing: a packet is cut, and was before anything of the connection was read
	legible           // a message, or that there are none
)

// shorten notes that a packet of direction d is cut.
func (c *conn) shorten(t *table, d int) {
	if c.half[d].reading == unread && c.half[1-d].reading == unread {
		c.half[d].reading = curtailed
		t.out.health.Cut++
	}
}

// read notes that a message has been read in direction d, or that there are none.
func (c *conn) read(t *table, d int) {
	if c.half[0].reading == curtailed || c.half[1].reading == curtailed {
		t.out.health.Cut--
	}
	if c.half[1-d].reading == curtailed {
		c.half[1-d].reading = unread
	}
	c.half[d].reading = legible
}
