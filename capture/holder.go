package capture

import "bytes"

// Holder returns the number of who holds a credential, as Hash does. Where the
// value of an Authorization field signs the request, it differs at each attempt;
// what stays is the part that names the key, and that part is what is compared.
func (s Secrets) Holder(authorization []byte) uint64 { return s.Hash(holder(authorization)) }

// signing lists schemes whose values differ from request to request: what comes
// before the name of the key, and what ends that name. The scope of AWS4 names
// the day too, so the key ends at the first slash.
var signing = []struct {
	scheme, before string
	end            byte
}{
	{"AWS4-HMAC-SHA256", "Credential=", '/'},       // AWS Signature Version 4
	{"AWS4-ECDSA-P256-SHA256", "Credential=", '/'}, // the same, version 4A
	{"AWS", "", ':'},       // AWS Signature Version 2
	{"SharedKey", "", ':'}, // Azure Storage
	{"SharedKeyLite", "", ':'},
	{"HMAC-SHA256", "Credential=", '&'}, // Azure App Configuration
	{"Digest", "username=\"", '"'},      // RFC 7616 section 3.4
	{"OAuth", "oauth_token=", ','},      // RFC 5849 section 3.5.1
	{"Hawk", "id=\"", '"'},
}

// holder returns the part of the value of an Authorization field that is the same
// at each attempt: all of it, where the scheme does not sign requests.
func holder(value []byte) []byte {
	scheme, rest, found := bytes.Cut(value, []byte(" "))
	if !found {
		return value
	}
	for _, s := range signing {
		if !bytes.EqualFold(scheme, []byte(s.scheme)) {
			continue
		}
		at := bytes.Index(rest, []byte(s.before))
		if at < 0 {
			return value
		}
		name := rest[at+len(s.before):]
		if end := bytes.IndexByte(name, s.end); end > 0 {
			return name[:end]
		}
	}
	return value
}
