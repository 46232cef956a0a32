package detect

import (
	"bytes"
	"encoding/binary"

	"stormwatch/capture"
)

// identity are the numbers under which chains look for a record: what was asked
// (op), the shape of it (tmpl), and who asked as far as addresses tell. Only the
// exchanges of one vantage are judged, so the hop is no part of op.
type identity struct {
	op, tmpl, addr uint64
	paged          bool // it asks for one page of a list
}

func identify(r *record, target []byte) identity {
	seed := uint64(r.Method)<<32 | uint64(r.Host)
	op := hash(seed, canonical(target))
	if r.Body != 0 && r.IdemKey == 0 { // an id of the operation says more: its body may carry the time
		op = mix(op^r.Body, mixGolden) | 1
	}
	path, _, _ := bytes.Cut(target, []byte("?"))
	var buf [256]byte
	tmpl := hash(uint64(r.Method), template(buf[:0], path[:min(len(path), len(buf))]))
	var who [24]byte
	if r.Forwarded == 0 { // else behind proxies, whose addresses change from attempt to attempt
		copy(who[:16], r.Src.IP[:])
	}
	binary.LittleEndian.PutUint32(who[16:], uint32(r.Forwarded))
	binary.LittleEndian.PutUint32(who[20:], uint32(r.Agent))
	addr := hash(2, who[:])
	if r.Client != 0 {
		addr = mix(addr^uint64(r.Client), mixGolden) | 1
	}
	return identity{op, tmpl, addr, pages(target)}
}

// counts tells the client's own attempt number from that of a proxy on the way.
func counts(x *capture.Exchange) (own, relay capture.Attempt) {
	if x.Attempt.Counter.Proxy() {
		return own, x.Attempt
	}
	return x.Attempt, x.Inner
}

// canonical removes the query parameters whose values change from attempt to
// attempt though the request is the same one: time stamps, nonces, signatures.
// The target itself is returned when it has none, which is nearly always.
func canonical(target []byte) []byte {
	q := bytes.IndexByte(target, '?')
	if q < 0 || !anyVolatile(target[q+1:]) {
		return target
	}
	out := append([]byte(nil), target[:q+1]...)
	for param := range bytes.SplitSeq(target[q+1:], []byte("&")) {
		if !volatile(param) {
			out = append(append(out, param...), '&')
		}
	}
	return out
}

func anyVolatile(query []byte) bool {
	for len(query) > 0 {
		param := query
		if i := bytes.IndexByte(query, '&'); i >= 0 {
			param, query = query[:i], query[i+1:]
		} else {
			query = nil
		}
		if volatile(param) {
			return true
		}
	}
	return false
}

// volatile tells whether a parameter is one of those that clients and signing
// libraries renew for each attempt (cache busters, AWS signature version 4).
func volatile(param []byte) bool {
	name := param
	if i := bytes.IndexByte(param, '='); i >= 0 {
		name = param[:i]
	}
	switch string(name) {
	case "_", "ts", "timestamp", "nonce", "cb", "cachebuster", "X-Amz-Date", "X-Amz-Signature", "X-Amz-Credential", "sig", "signature":
		return true
	}
	return false
}
