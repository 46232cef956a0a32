package accesslog

import "bytes"

// entry is one line cut into its fields. Its slices alias the line, and what
// stood in quotes still carries the server's escapes.
type entry struct {
	ip        [16]byte
	user      []byte // empty where the log says "-"
	request   []byte
	agent     []byte
	forwarded []byte // X-Forwarded-For, where the line ends as nginx's "main" format does
	status    uint16
	end       int64 // Unix ns; of the whole second unless fine
	took      int64 // ns; only where fine
	fine      bool  // $request_time and $msec were there
	torn      bool  // a quote after the user agent is never closed
}

// fault says why a line was not read. It names the field, since that is where a
// format differs; "" means none.
type fault string

const (
	noDate    fault = "no [day/Mon/year:h:m:s +zone] after the user"
	noAddress fault = "the first field is no IP address"
	noRequest fault = "no request in quotes after the date"
	noStatus  fault = "no three-digit status after the request"
	noBytes   fault = "no byte count after the status"
	noAgent   fault = "no referer and user agent in quotes"
	tooLong   fault = "longer than 64 KiB"
	cut       fault = "cut off at the end of the input"
)

// parser reads lines of one log; it remembers the last date.
type parser struct{ dates dateCache }

// parse cuts a line into e:
//
//	addr ident user [date] "request" status bytes "referer" "agent" tail
//
// where tail is nothing, or `request_time msec`, or `"x-forwarded-for"` before
// those, or anything else, which is left alone.
func (p *parser) parse(line []byte, e *entry) fault {
	*e = entry{}
	at := p.findDate(line, e)
	if at < 0 {
		return noDate
	}
	if !e.who(line[:at]) {
		return noAddress
	}
	rest := line[at+dateLen:]
	var ok bool
	if e.request, rest, ok = quoted(rest); !ok {
		return noRequest
	}
	if e.status, rest, ok = status(rest); !ok {
		return noStatus
	}
	if rest, ok = byteCount(rest); !ok {
		return noBytes
	}
	if _, rest, ok = quoted(rest); !ok {
		return noAgent
	}
	if e.agent, rest, ok = quoted(rest); !ok {
		return noAgent
	}
	e.agent = dashless(e.agent)
	e.tail(rest)
	return ""
}

// findDate finds the first bracket that holds a date and is followed by a quote:
// a user name may hold spaces and brackets, but servers escape quotes in it.
func (p *parser) findDate(line []byte, e *entry) int {
	for from := 0; ; {
		i := bytes.IndexByte(line[from:], '[')
		if i < 0 || from+i+dateLen+2 > len(line) {
			return -1
		}
		at := from + i
		if line[at+dateLen-1] == ']' && line[at+dateLen] == ' ' && line[at+dateLen+1] == '"' {
			if t, ok := p.dates.parse(line[at+1 : at+dateLen-1]); ok {
				e.end = t
				return at
			}
		}
		from = at + 1
	}
}

// who reads "addr ident user ". A unix socket has no address: the request counts,
// but its client is not known.
func (e *entry) who(b []byte) bool {
	addr, rest, ok := bytes.Cut(b, space)
	if !ok || len(rest) == 0 || rest[len(rest)-1] != ' ' {
		return false
	}
	if e.ip, ok = parseIP(addr); !ok && !bytes.HasPrefix(addr, unixSocket) {
		return false
	}
	_, user, ok := bytes.Cut(rest[:len(rest)-1], space)
	e.user = dashless(user)
	return ok
}

// tail reads what follows the user agent. The second number is $msec only if it
// can be a moment: many logs end in two durations. It prevails over the date,
// which may come from a container with another zone.
func (e *entry) tail(b []byte) {
	if text, rest, ok := quoted(b); ok {
		first, _, _ := bytes.Cut(text, comma)
		if _, ok = parseIP(first); ok {
			e.forwarded = text
		}
		b = rest
	} else if len(b) > 1 && b[1] == '"' {
		e.torn = true
	}
	took, b, ok := fixed3(b)
	if !ok {
		return
	}
	msec, _, ok := fixed3(b)
	if !ok || msec < earliest {
		return
	}
	e.end, e.took, e.fine = msec, took, true
}

// earliest is the least number of seconds taken for a moment, in 2001: no request
// lasts thirty years.
const earliest = 1_000_000_000 * second

var (
	space      = []byte(" ")
	comma      = []byte(",")
	unixSocket = []byte("unix:")
)

// quoted reads ` "text"` (the space may be missing). A quote closes if no odd
// number of backslashes stands before it and a space or the end comes after it,
// so that servers that do not escape lose as little as can be.
func quoted(b []byte) (text, rest []byte, ok bool) {
	if len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	if len(b) == 0 || b[0] != '"' {
		return nil, b, false
	}
	for i := 1; ; i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return nil, b, false
		}
		i += j
		if (i+1 == len(b) || b[i+1] == ' ') && !escaped(b[1:i]) {
			return b[1:i], b[i+1:], true
		}
	}
}

// escaped tells whether b ends in an odd number of backslashes.
func escaped(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func status(b []byte) (code uint16, rest []byte, ok bool) {
	if len(b) < 5 || b[0] != ' ' || b[4] != ' ' {
		return 0, b, false
	}
	for _, c := range b[1:4] {
		if c < '0' || c > '9' {
			return 0, b, false
		}
		code = code*10 + uint16(c-'0')
	}
	return code, b[4:], true
}

func byteCount(b []byte) (rest []byte, ok bool) {
	i := 1
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == 1 && len(b) > 1 && b[1] == '-' {
		i = 2
	}
	return b[min(i, len(b)):], i > 1 && len(b) > 0 && b[0] == ' '
}

func dashless(b []byte) []byte {
	if len(b) == 1 && b[0] == '-' {
		return nil
	}
	return b
}
