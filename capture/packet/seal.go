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

// shorten notes that a packet of direction d is cut, where nothing has been read of
// the connection yet.
func (c *conn) shorten(t *table, d int) {
	a, b := &c.half[d], &c.half[1-d]
	if a.short || b.short || a.legible || b.legible {
		return
	}
	a.short = true
	t.out.health.Cut++
}

// read notes that a message has been read in direction d, or that there are none.
func (c *conn) read(t *table, d int) {
	c.half[d].legible = true
	if c.half[0].short || c.half[1].short {
		t.out.health.Cut--
		c.half[0].short, c.half[1].short = false, false
	}
}
