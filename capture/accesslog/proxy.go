package accesslog

import (
	"bytes"
	"fmt"
	"net/netip"

	"stormwatch/capture"
)

// behind finds the client behind trusted proxies: the last address of a list
// that is none of them (X-Forwarded-For grows on the right).
func behind(peer [16]byte, list []byte, trusted []netip.Prefix) (ip [16]byte, ok bool) {
	if !within(peer, trusted) {
		return peer, false
	}
	for len(list) > 0 {
		one := list
		if i := bytes.LastIndexByte(list, ','); i >= 0 {
			one, list = list[i+1:], list[:i]
		} else {
			list = nil
		}
		next, known := isForwarded(one)
		if !known || next == [16]byte{} {
			break // what stands before was told by who cannot be trusted
		}
		if ip, ok = next, true; !within(next, trusted) {
			break
		}
	}
	return ip, ok
}

func within(ip [16]byte, all []netip.Prefix) bool {
	addr := netip.AddrFrom16(ip).Unmap()
	for _, p := range all {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// crowd notices that nearly all requests come from one address, a proxy's
// perhaps, though a field tells several clients apart.
type crowd struct {
	ip       [16]byte
	lead     int64 // of ip over all others, in the manner of Boyer and Moore's majority vote
	mine     int64
	all      int64
	others   [8]capture.Symbol // forwarded addresses seen
	distinct int
}

func (c *crowd) note(x *capture.Exchange) {
	c.all++
	switch {
	case x.Src.IP == c.ip:
		c.lead++
		c.mine++
	case c.lead == 0:
		c.ip, c.lead, c.mine = x.Src.IP, 1, 1
	default:
		c.lead--
	}
	if x.Forwarded == 0 || c.distinct == len(c.others) {
		return
	}
	for _, o := range c.others[:c.distinct] {
		if o == x.Forwarded {
			return
		}
	}
	c.others[c.distinct] = x.Forwarded
	c.distinct++
}

// remark says which flag would tell the clients apart; "" where none is needed.
func (c *crowd) remark() string {
	const enough, share = 50, 10
	if c.all < enough || c.distinct < 3 || share*c.mine < (share-1)*c.all || c.ip == [16]byte{} {
		return ""
	}
	addr := netip.AddrFrom16(c.ip).Unmap()
	return fmt.Sprintf("nearly all requests come from %s, a proxy perhaps: the forwarded-for field tells several clients apart; --trusted-proxy %s takes them for the clients", addr, addr)
}
