package write

// Acknowledge writes a segment without payload, as a side sends that has nothing
// to say but what it has received.
func (c *Conn) Acknowledge(t int64, fromClient bool) {
	if c.refuse("acknowledge") {
		return
	}
	c.segment(t, side(fromClient), ack, nil)
}
