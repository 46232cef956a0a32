package accesslog

import "bytes"

// parseIP reads an address without allocating (net/netip needs a string).
// IPv4 comes mapped into 16 bytes.
func parseIP(b []byte) (ip [16]byte, ok bool) {
	if i := bytes.IndexByte(b, '%'); i >= 0 {
		return parseZoned(b[:i], b[i+1:])
	}
	ip[10], ip[11] = 0xff, 0xff
	if parseIP4(b, ip[12:]) {
		return ip, true
	}
	if bytes.IndexByte(b, ':') >= 0 {
		return parseIP6(b)
	}
	return [16]byte{}, false
}

// parseIP4Prefix reads the IPv4 address at the start of b and tells its length; 0
// if there is none.
func parseIP4Prefix(b []byte, ip *[16]byte) int {
	part, v, from := 12, 0, 0
	for i := 0; i < len(b) && i < 16; i++ {
		c := b[i] - '0'
		if c <= 9 {
			v = v*10 + int(c)
			continue
		}
		n := i - from
		if n == 0 || n > 3 || v > 255 || n > 1 && b[from] == '0' {
			return 0
		}
		ip[part] = byte(v)
		if part++; part == 16 {
			ip[10], ip[11] = 0xff, 0xff
			return i
		}
		if b[i] != '.' {
			break
		}
		v, from = 0, i+1
	}
	clear(ip[12:])
	return 0
}

func parseIP4(b, out []byte) bool {
	part := 0
	for i := 0; ; i++ {
		start, n := i, 0
		for ; i < len(b) && b[i] >= '0' && b[i] <= '9' && i-start < 4; i++ {
			n = n*10 + int(b[i]-'0')
		}
		if i == start || n > 255 || b[start] == '0' && i-start > 1 {
			return false
		}
		out[part] = byte(n)
		part++
		if i == len(b) {
			return part == 4
		}
		if b[i] != '.' || part == 4 {
			return false
		}
	}
}

// parseIP6 reads RFC 4291 section 2.2 text, with "::" and a dotted tail.
func parseIP6(b []byte) (ip [16]byte, ok bool) {
	none := [16]byte{}
	gap, n := -1, 0 // where "::" stood, bytes filled
	if len(b) >= 2 && b[0] == ':' && b[1] == ':' {
		gap, b = 0, b[2:]
	}
	for len(b) > 0 {
		if n == 16 {
			return none, false
		}
		v, i := 0, 0
		for ; i < len(b) && i < 5; i++ {
			d, isHex := hexDigit(b[i])
			if !isHex {
				break
			}
			v = v<<4 | int(d)
		}
		if i < len(b) && b[i] == '.' {
			if n > 12 || !parseIP4(b, ip[n:n+4]) {
				return none, false
			}
			n += 4
			break
		}
		if i == 0 || i > 4 {
			return none, false
		}
		ip[n], ip[n+1] = byte(v>>8), byte(v)
		n += 2
		b = b[i:]
		if len(b) == 0 {
			break
		}
		if b[0] != ':' || len(b) == 1 {
			return none, false
		}
		if b = b[1:]; b[0] == ':' {
			if gap >= 0 {
				return none, false
			}
			gap, b = n, b[1:]
		}
	}
	if n == 16 {
		return ip, gap < 0
	}
	if gap < 0 {
		return none, false
	}
	moved := n - gap
	copy(ip[16-moved:], ip[gap:n])
	clear(ip[gap : 16-moved])
	return ip, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// parseZoned reads an address of a zone (RFC 4007 section 11): %3 or %eth0. Hosts of
// two links may share a link-local address, so that the zone is kept in its second
// word, which is always zero (RFC 4291 section 2.5.6), as BSD kernels do: a number as
// it is, a name by a sum.
func parseZoned(b, zone []byte) (ip [16]byte, ok bool) {
	if len(zone) == 0 || len(zone) > maxZone || bytes.IndexByte(b, ':') < 0 {
		return ip, false
	}
	if ip, ok = parseIP6(b); !ok {
		return ip, false
	}
	word, number := uint16(0), true
	for _, c := range zone {
		if c <= ' ' || c >= 0x7f || c == '%' {
			return [16]byte{}, false
		}
		number = number && c >= '0' && c <= '9'
	}
	for _, c := range zone {
		if number {
			word = word*10 + uint16(c-'0')
		} else {
			word = word*31 + uint16(c)
		}
	}
	if ip[0] == 0xfe && ip[1]&0xc0 == 0x80 && ip[2] == 0 && ip[3] == 0 {
		ip[2], ip[3] = byte(word>>8), byte(word)
	}
	return ip, true
}

const maxZone = 16 // an interface's name is shorter (Linux, IFNAMSIZ)
