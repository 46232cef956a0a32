package witness

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"stormwatch/capture"
)

// Who says what a client is. The zero value is the address that requests come
// from.
type Who struct {
	by     kind
	bits   int // of an IPv4 prefix, or of an IPv6 one
	number int // of a segment of the path, from 1
	field  capture.ClientField
	text   string // as given
}

type kind uint8

const (
	byAddr kind = iota
	byPrefix
	byKey
	byAgent
	byPath
	byField
)

// Forms lists what ParseWho reads.
const Forms = "auto, addr, addr/24, key, agent, header:NAME, jwt:CLAIM or path:N"

// ParseWho reads what a client is: addr (auto is the same), addr/24, key, agent,
// header:X-Tenant, jwt:sub, path:1.
func ParseWho(text string) (w Who, err error) {
	w.text = text
	what, arg, has := strings.Cut(text, ":")
	prefix, bits, short := strings.Cut(text, "/")
	switch {
	case text == "", text == "auto", text == "addr", text == "address":
	case text == "key":
		w.by = byKey
	case text == "agent":
		w.by = byAgent
	case short && (prefix == "" || prefix == "addr" || prefix == "address"):
		w.by = byPrefix
		if w.bits, err = strconv.Atoi(bits); err != nil || w.bits < 8 || w.bits > 128 {
			return w, fmt.Errorf("%q: a prefix of 8 to 32 bits (IPv4; above that, of IPv6), such as addr/24 or addr/64", text)
		}
	case has && what == "header":
		w.by, w.field.Header = byField, strings.ToLower(arg)
		if arg == "" || strings.ContainsAny(arg, " :\t\r\n") {
			return w, fmt.Errorf("%q: the name of a header, as in header:X-Tenant-Id", text)
		}
	case has && what == "jwt":
		w.by, w.field = byField, capture.ClientField{Header: "authorization", Claim: arg}
		if arg == "" {
			return w, errors.New("jwt: the name of a claim, as in jwt:sub")
		}
	case has && what == "path":
		w.by = byPath
		if w.number, err = strconv.Atoi(arg); err != nil || w.number < 1 || w.number > 32 {
			return w, fmt.Errorf("%q: the number of a segment of the path, 1 to 32, as in path:1", text)
		}
	default:
		return w, fmt.Errorf("%q: one of %s", text, Forms)
	}
	return w, nil
}

// ByKey tells whether clients are told apart by Exchange.Credential where it is
// known.
func (w Who) ByKey() bool { return w.by == byKey || w.by == byField && w.field.Secret() }

// ByAddress tells whether a client is an address, as where nothing else is said.
func (w Who) ByAddress() bool { return w.by == byAddr }

// Field is the header that sources must read; the zero value where there is none.
func (w Who) Field() capture.ClientField { return w.field }

// what is the name of what clients are told apart by.
func (w Who) what() string {
	switch {
	case w.field.Claim != "":
		return "the claim " + w.field.Claim + " of a token in Authorization"
	case w.by == byField:
		return "the field " + w.field.Header
	case w.by == byKey:
		return "a key or user"
	case w.by == byAgent:
		return "an agent"
	case w.by == byPath:
		return "segment " + strconv.Itoa(w.number) + " of the path"
	}
	return "an address"
}

// set gives x its client; false where what should name it is missing.
func (s *Source) set(b *capture.Batch, x *capture.Exchange) bool {
	w := &s.opt.Who
	switch {
	case w.ByKey():
		return x.Credential != 0
	case w.by == byField:
	case w.by == byAgent:
		x.Client = x.Agent
	case w.by == byPath:
		if seg := segment(b.Bytes(x.Target), w.number); len(seg) > 0 {
			s.text = append(append(s.text[:0], '/'), seg[:min(len(seg), maxSegment)]...)
			x.Client = b.Names.Intern(s.text)
		}
	case w.by == byPrefix:
		if x.Src.IsZero() {
			return false
		}
		bits, addr := w.bits, x.Src.Addr()
		if addr.Is6() && bits <= 32 {
			bits = defaultIPv6
		}
		if addr.Is4() {
			bits = min(bits, 32)
		}
		p, err := addr.Prefix(bits)
		if err != nil {
			return false
		}
		s.text = p.AppendTo(s.text[:0])
		x.Client = b.Names.Intern(s.text)
		return true
	default:
		return true
	}
	return x.Client != 0
}

const (
	maxSegment  = 64
	defaultIPv6 = 64 // a host's network (RFC 4291 section 2.5.4), where bits speak of IPv4
)

// segment returns the nth part of a path: 1 of /a/b?c is a.
func segment(target []byte, n int) []byte {
	for i, c := range target {
		if c == '?' {
			target = target[:i]
			break
		}
	}
	for ; n > 0 && len(target) > 0; n-- {
		target = target[1:]
		end := 0
		for end < len(target) && target[end] != '/' {
			end++
		}
		if n == 1 {
			return target[:end]
		}
		target = target[end:]
	}
	return nil
}
