package packet

// ahead is how many packets are looked at before they are read.
const ahead = 8

// warm touches the connections of the next few packets, so that a processor
// waits once for the memory of all of them, not for that of each in its turn: of
// 50,000 connections next to none is in a cache. Only bytes that have been read
// are looked at, and nothing comes of it but time.
func (t *table) warm(f *file) {
	var next [ahead]upcoming
	n := f.upcoming(&next)
	x, sum := &t.conns, uint32(0)
	var tags [ahead]uint32
	for i := range next[:n] {
		if k, ok := next[i].key(); ok {
			tags[i] = x.tag(&k)
			sum ^= x.slots[x.home(tags[i])].tag
		}
	}
	for _, tag := range tags[:n] {
		if s := &x.slots[x.home(tag)]; s.c != nil && s.tag == tag {
			c := s.c
			sum ^= uint32(c.key.low.Port) ^ c.half[1].acked ^ uint32(c.ranked) ^ c.http.breaks[0] ^ c.http.count ^ uint32(c.http.left)
		}
	}
	t.warmed ^= sum // or else nobody would need to look
}

// upcoming is a packet that has not been read yet.
type upcoming struct {
	link uint32
	b    []byte
}

// upcoming finds the next packets among the bytes that have been read.
func (f *file) upcoming(next *[ahead]upcoming) (n int) {
	b := f.r.b[f.r.from:f.r.to]
	b = b[min(f.pending, len(b)):]
	for n < ahead {
		head, size, link := f.classic.head, 0, f.classic.link
		if f.ng != nil {
			head = 28
		}
		if len(b) < head {
			return n
		}
		whole := 0
		if f.ng == nil {
			captured, _ := f.classic.lengths(b)
			size = int(captured)
			whole = head + size
		} else if o := f.ng.order; o != nil {
			whole = int(o.Uint32(b[4:]))
			if iface := o.Uint32(b[8:]); o.Uint32(b) == blockEnhanced && iface < uint32(len(f.ng.ports)) {
				size, link = int(o.Uint32(b[20:])), f.ng.ports[iface].link
			}
		}
		if whole < head || whole > len(b) || size > whole-head {
			return n
		}
		if size > 0 {
			next[n] = upcoming{link, b[head : head+size]}
			n++
		}
		b = b[whole:]
	}
	return n
}

// key names the connection of a packet of the plainest kinds.
func (u *upcoming) key() (k key, ok bool) {
	b, kind, n := u.b, uint16(0), 0
	switch u.link {
	case linkEthernet:
		if n = 14; len(b) >= 18 {
			if kind = be.Uint16(b[12:]); kind == etherVLAN {
				kind, n = be.Uint16(b[16:]), 18
			}
		}
	case linkSLL:
		if n = 16; len(b) >= n {
			kind = be.Uint16(b[14:])
		}
	case linkSLL2:
		if n = 20; len(b) >= n {
			kind = be.Uint16(b)
		}
	}
	var d segment
	switch {
	case kind == etherIPv4 && len(b) >= n+40 && b[n+9] == protoTCP:
		mapped(&d.src.IP, b[n+12:n+16])
		mapped(&d.dst.IP, b[n+16:n+20])
		n += int(b[n]&15) * 4
	case kind == etherIPv6 && len(b) >= n+60 && b[n+6] == protoTCP:
		copy(d.src.IP[:], b[n+8:n+24])
		copy(d.dst.IP[:], b[n+24:n+40])
		n += 40
	default:
		return k, false
	}
	if len(b) < n+4 {
		return k, false
	}
	d.src.Port, d.dst.Port = be.Uint16(b[n:]), be.Uint16(b[n+2:])
	k, _ = keyOf(&d)
	return k, true
}
