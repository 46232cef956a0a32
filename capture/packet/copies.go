package packet

import "stormwatch/capture"

const (
	// copyWait is how far apart copies of one packet may be captured: on several
	// interfaces of one host by microseconds, on several queues or by a mirror port
	// by milliseconds. TCP sends again after 200 ms at the earliest, or at once when
	// acknowledgements tell of a loss; then the packet has another IP identification.
	copyWait = 20e6
	// bareWait holds where no identification tells a copy from what was sent again.
	bareWait = 2e6

	recentPackets = 1 << 12 // as many are remembered; a power of two
	maxAliases    = 1 << 15 // of each of two generations
	maxHops       = 4       // forwarded between the two captures of a translated packet
)

// trace is what is remembered of a packet.
type trace struct {
	t        int64
	seq, ack uint32
	wire     int32
	src, dst capture.Endpoint
	id, sum  uint16
	flags    byte
	hops     byte
}

// copies finds packets that were captured more than once: on several interfaces
// of a host, by a mirror port of both directions, inside a tunnel and out of it.
// A host that translates addresses shows a connection under two pairs of them;
// the pair that is seen second is an alias, and all its packets are copies.
type copies struct {
	tags    [recentPackets]uint32 // small enough for the nearest cache: most packets are no copies
	recent  [recentPackets]trace
	aliases [2]map[key]int64 // younger and older; the time of the last packet
}

// near tells whether two times are at most wait apart.
func near(a, b, wait int64) bool { return a-b <= wait && b-a <= wait }

// seen tells whether a packet is a copy of an earlier one.
func (c *copies) seen(s *addressed, t int64) bool {
	if c.aliases[0] != nil && c.alias(s, t) {
		return true
	}
	hash := (uint64(s.seq)<<32 | uint64(s.ack)) * 0x9e3779b97f4a7c15
	hash = (hash ^ hash>>32 ^ uint64(s.id)<<16 ^ uint64(s.wire)) * 0xbf58476d1ce4e5b9 // SplitMix64's multipliers
	slot, tag := hash>>32%recentPackets, uint32(hash>>32/recentPackets)
	r := &c.recent[slot]
	if c.tags[slot] == tag && r.matches(&s.segment, t) {
		if r.src == s.src && r.dst == s.dst {
			if r.same(&s.segment, t) {
				return true
			}
		} else if r.translated(s) {
			c.learn(s, t)
			return true
		}
	}
	c.tags[slot] = tag
	// One by one: a literal would be built and copied.
	r.t, r.seq, r.ack, r.wire, r.id, r.sum, r.flags, r.hops = t, s.seq, s.ack, int32(s.wire), s.id, s.sum, s.flags, s.hops
	put(&r.src, &s.src)
	put(&r.dst, &s.dst)
	return false
}

// matches tells whether a packet has the numbers of an earlier one.
func (r *trace) matches(s *segment, t int64) bool {
	return r.seq == s.seq && r.ack == s.ack && int(r.wire) == s.wire && r.flags == s.flags && r.id == s.id && near(t, r.t, copyWait)
}

// same tells whether a packet between the same ends is a copy. Without an
// identification (IPv6, and systems that leave it 0, RFC 6864) all that TCP says
// must be equal, which an acknowledgement sent twice can be.
func (r *trace) same(s *segment, t int64) bool {
	if s.id != 0 {
		return true
	}
	return r.sum == s.sum && (s.wire > 0 || s.flags&(flagSYN|flagFIN|flagRST) != 0) && near(t, r.t, bareWait)
}

// translated tells whether a packet is a copy under other addresses: the host
// has forwarded it, and addresses and ports apart its checksum is the same. It
// takes a packet that begins a connection or carries data, so that chance and
// equal requests of many clients cannot look like it: sequence numbers, IP
// identification and checksum agree. Small sequence numbers are not drawn at
// random, as RFC 9293 section 3.4.1 wants it: a generator gives them to everybody.
func (r *trace) translated(s *addressed) bool {
	begins := s.flags&(flagSYN|flagACK) == flagSYN
	switch {
	case s.id == 0, s.hops >= r.hops, r.hops-s.hops > maxHops, s.wire == 0 && !begins, s.seq>>16 == 0, s.ack>>16 == 0 && !begins:
		return false
	}
	whole := remainder(^r.sum, &r.src, &r.dst, true) == remainder(^s.sum, &s.src, &s.dst, true)
	return whole || remainder(r.sum, &r.src, &r.dst, false) == remainder(s.sum, &s.src, &s.dst, false) // left to the card: of the addresses only
}

// remainder takes the IPv4 addresses, and the ports, out of a ones' complement
// sum (RFC 1071).
func remainder(sum uint16, a, b *capture.Endpoint, ports bool) uint16 {
	n := uint32(0)
	for _, e := range [...]*capture.Endpoint{a, b} {
		n += uint32(be.Uint16(e.IP[12:])) + uint32(be.Uint16(e.IP[14:]))
		if ports {
			n += uint32(e.Port)
		}
	}
	for n > 0xffff {
		n = n>>16 + n&0xffff
	}
	n = uint32(sum) + uint32(^uint16(n))
	n = n>>16 + n&0xffff
	if n == 0xffff { // the other zero
		return 0
	}
	return uint16(n)
}

// alias tells whether a packet belongs to a connection known under other
// addresses. One that begins anew has to be recognised anew.
func (c *copies) alias(s *addressed, t int64) bool {
	var k key
	k.name(s)
	last, young := c.aliases[0][k]
	if !young {
		var old bool
		if last, old = c.aliases[1][k]; !old {
			return false
		}
	}
	if s.flags&(flagSYN|flagACK) == flagSYN || t-last > idleWait {
		delete(c.aliases[0], k)
		delete(c.aliases[1], k)
		return false
	}
	if !young || t-last > 1e9 {
		c.note(k, t)
	}
	return true
}

// learn notes an alias.
func (c *copies) learn(s *addressed, t int64) {
	if c.aliases[0] == nil {
		c.aliases[0] = map[key]int64{}
	}
	var k key
	k.name(s)
	c.note(k, t)
}

func (c *copies) note(k key, t int64) {
	if len(c.aliases[0]) >= maxAliases {
		c.aliases[0], c.aliases[1] = map[key]int64{}, c.aliases[0]
	}
	c.aliases[0][k] = t
}
