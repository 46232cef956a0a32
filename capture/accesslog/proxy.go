package accesslog

import (
	"bytes"
	"net/netip"
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
