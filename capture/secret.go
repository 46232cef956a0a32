package capture

import (
	"bytes"
	"hash/maphash"
)

// Secrets compares credentials within one process: equal texts get equal
// numbers, and the number says nothing about the text, since the seed is drawn
// anew for each process and never shown.
type Secrets struct{ seed maphash.Seed }

// NewSecrets draws a seed.
func NewSecrets() Secrets { return Secrets{maphash.MakeSeed()} }

// Hash returns the number of a secret, never 0; 0 for an empty one.
func (s Secrets) Hash(secret []byte) uint64 {
	if len(secret) == 0 {
		return 0
	}
	return maphash.Bytes(s.seed, secret) | 1
}

// AppendMasked appends a request target to dst with the values of parameters
// whose names look like secrets replaced by "***". It never grows the target
// beyond its length plus three bytes for each parameter.
func AppendMasked(dst, target []byte) []byte {
	q := bytes.IndexByte(target, '?')
	if q < 0 {
		return append(dst, target...)
	}
	dst = append(dst, target[:q+1]...)
	rest := target[q+1:]
	for {
		end, eq := 0, -1
		for ; end < len(rest) && rest[end] != '&' && rest[end] != ';' && rest[end] != '#'; end++ {
			if rest[end] == '=' && eq < 0 {
				eq = end
			}
		}
		if eq >= 0 && SecretName(rest[:eq]) {
			dst = append(append(dst, rest[:eq+1]...), "***"...)
		} else {
			dst = append(dst, rest[:end]...)
		}
		if end == len(rest) {
			return dst
		}
		dst = append(dst, rest[end])
		rest = rest[end+1:]
	}
}

// SecretName tells whether the name of a parameter or a header field looks like
// one that carries a credential: names used by OAuth 2 (RFC 6749, RFC 6750), signed URLs of the
// large object stores, and what gateways call their keys.
func SecretName(name []byte) bool {
	const longest = 40
	if len(name) == 0 || len(name) > longest {
		return false
	}
	var low [longest]byte
	n := 0
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c == '-' || c == '_' || c == '.' {
			continue
		}
		low[n] = c
		n++
	}
	s := low[:n]
	switch string(s) {
	case "key", "sig", "auth", "pwd", "pass", "code", "sid", "jwt", "assertion":
		return true
	}
	for i, c := range s {
		switch rest := s[i:]; c {
		case 't':
			if bytes.HasPrefix(rest, []byte("token")) {
				return true
			}
		case 's':
			if bytes.HasPrefix(rest, []byte("secret")) || bytes.HasPrefix(rest, []byte("signature")) || bytes.HasPrefix(rest, []byte("session")) {
				return true
			}
		case 'p':
			if bytes.HasPrefix(rest, []byte("passw")) || bytes.HasPrefix(rest, []byte("privatekey")) {
				return true
			}
		case 'a':
			if bytes.HasPrefix(rest, []byte("apikey")) || bytes.HasPrefix(rest, []byte("accesskey")) || bytes.HasPrefix(rest, []byte("authorization")) {
				return true
			}
		case 'c':
			if bytes.HasPrefix(rest, []byte("credential")) {
				return true
			}
		}
	}
	return false
}
