package packet

// ahead is how many packets are looked at before they are read.
const ahead = 8

// warm touches the connections of the next few packets, so that a processor
// waits once for the memory of all of them, not for that of each in its turn: of
// 50,000 connections next to none is in a cache. Nothing comes of it but time.
func (t *table) warm(next []decoded) {
	next = next[:min(ahead, len(next))]
	x, sum := &t.conns, uint32(0)
	for i := range next {
		sum ^= x.slots[x.home(next[i].tag)].tag
	}
	for i := range next {
		tag := next[i].tag
		if s := &x.slots[x.home(tag)]; s.c != nil && s.tag == tag {
			c := s.c
			sum ^= uint32(c.key.low.Port) ^ c.half[1].acked ^ uint32(c.ranked) ^ c.http.breaks[0] ^ c.http.count ^ uint32(c.http.left)
		}
	}
	t.warmed ^= sum // or else nobody would need to look
}
