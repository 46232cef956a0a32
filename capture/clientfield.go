package capture

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
)

// ClientField is a request header, or the field of a log that holds one, which
// says who the client is. The zero value is none.
type ClientField struct {
	Header string // its name, in lower case; "" none
	Claim  string // the claim wanted of the JSON web token in it (RFC 7519); "" the whole value
}

const (
	maxClientText = 256
	maxTokenBytes = 16 << 10 // a longer token is none that a server would take
)

// Secret tells whether what the field says must not be kept: clients are then
// told apart by Exchange.Credential, else by Exchange.Client.
func (f ClientField) Secret() bool {
	return f.Claim != "" || SecretName([]byte(f.Header)) || f.Header == "cookie" || f.Header == "x-auth"
}

// Is tells whether name, in any case, is the header. Logs may write its hyphens
// as low lines.
func (f ClientField) Is(name []byte) bool {
	if len(name) != len(f.Header) || f.Header == "" {
		return false
	}
	for i, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c == '_':
			c = '-'
		}
		if d := f.Header[i]; c != d && !(c == '-' && d == '_') {
			return false
		}
	}
	return true
}

// Value is what of the field's text names the client; nil where it names none.
func (f ClientField) Value(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if f.Claim == "" {
		return text
	}
	return claimOf(text, f.Claim)
}

// Name sets the client of x by the field's text. It is for a field that is not
// Secret.
func (f ClientField) Name(x *Exchange, text []byte, names *Interner) {
	if v := f.Value(text); len(v) > 0 {
		x.Client = names.Intern(v[:min(len(v), maxClientText)])
	}
}

// claimOf reads a claim of a token: header.payload.signature, in base64url
// without padding (RFC 7515 section 3.1). The signature is not checked: it is the
// server that decides whom it believes.
func claimOf(token []byte, claim string) []byte {
	if i := bytes.LastIndexByte(token, ' '); i >= 0 {
		token = token[i+1:] // Bearer
	}
	_, rest, ok := bytes.Cut(token, []byte("."))
	if !ok || len(token) > maxTokenBytes {
		return nil
	}
	payload, _, ok := bytes.Cut(rest, []byte("."))
	if !ok {
		return nil
	}
	text := make([]byte, base64.RawURLEncoding.DecodedLen(len(payload)))
	n, err := base64.RawURLEncoding.Decode(text, bytes.TrimRight(payload, "="))
	if err != nil {
		return nil
	}
	var claims map[string]json.RawMessage
	if json.Unmarshal(text[:n], &claims) != nil {
		return nil
	}
	raw := string(claims[claim])
	if v, err := strconv.Unquote(raw); err == nil && strings.HasPrefix(raw, `"`) {
		return []byte(v)
	}
	if raw == "null" || strings.HasPrefix(raw, "{") || strings.HasPrefix(raw, "[") {
		return nil
	}
	return []byte(raw)
}
