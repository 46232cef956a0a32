package accesslog

import "bytes"

// scanner cuts lines of one format: literals and the fields between them. It is
// never changed, and it neither backtracks nor allocates: a field ends at the
// first place where what must follow does, the next field's form included, so
// that the time a line takes grows with its length alone.
type scanner struct {
	steps []step
	end   literal // after the last field
	loose bool    // what is left of a line is left alone
	// What may follow, tried in this order where something is left; each ends a line.
	tails []*scanner
}

// step is a literal and the field after it.
type step struct {
	field
	lit    literal
	stop   literal // what ends the field; "" is the end of the line
	whole  bool    // a number without a fraction: a point comes after it
	quoted bool    // it stands in quotes, with escapes
	blind  bool    // the first place where what follows it stands is its end
	kept   bool    // its text is kept as it is
	spare  bool    // it counts where another field of its role is empty
	miss   fault   // the field is not there
	differ fault   // the literal is not there
}

// fault says why a line was not read. It names the place, since that is where a
// format differs; "" means none.
type fault string

// scan cuts a line.
func (s *scanner) scan(line []byte, r *reading) fault {
	r.reset()
	at, f := s.run(line, 0, r)
	if f != "" {
		return f
	}
	if at == len(line) {
		return ""
	}
	for _, t := range s.tails {
		if !t.steps[0].lit.stands(line, at) {
			continue
		}
		has, said, start, end, took, step, seen := r.has, r.said, r.start, r.end, r.took, r.step, r.seen()
		if next, f := t.run(line, at, r); f == "" && (next == len(line) || t.loose) {
			return ""
		}
		r.has, r.said, r.start, r.end, r.took, r.step = has, said, start, end, took, step
		r.unsee(seen)
	}
	if !s.loose {
		return leftOver
	}
	r.torn = len(line) > at+1 && line[at+1] == '"' && bytes.IndexByte(line[at+2:], '"') < 0
	return ""
}

const leftOver fault = "the line goes on after the format's last field"

// run cuts the line from a place on and tells how far it came.
func (s *scanner) run(line []byte, at int, r *reading) (next int, f fault) {
	bare := false  // a field that was left out took the blank after it along
	known := false // what comes next has been seen to stand there
	for i := range s.steps {
		st := &s.steps[i]
		if bare && at > 0 && line[at-1] == ' ' && st.lit.blank() {
			at--
		}
		bare = false
		if !known && !st.lit.stands(line, at) {
			return at, st.differ
		}
		at += len(st.lit.s)
		known = false
		end := -1
		switch st.kind {
		case kindIP: // the address that most lines begin with
			known = true
			if n := parseIP4Prefix(line[at:], &r.ip); n > 0 && st.stop.stands(line, at+n) {
				end = at + n
				break
			}
			if end = s.stop(line, at, i); end >= 0 && !r.put(&st.field, line[at:end]) {
				end = -1
			}
		case kindText, kindHost:
			known = true
			switch {
			case at+1 < len(line) && line[at] == '-' && st.stop.mask != 0 && st.stop.stands(line, at+1) && (st.blind || s.fits(line, at+1+len(st.stop.s), i+1)):
				end = at + 1 // nothing: what most fields of most lines hold
			default:
				end = s.stop(line, at, i)
			}
			switch {
			case end < 0 || st.role == roleNone:
			case st.kind == kindHost && !isHost(line[at:end]):
				end = -1
			case st.spare && r.get(st.role) != nil:
			case st.kept:
				r.set(st.role, line[at:end])
			case !r.put(&st.field, line[at:end]):
				end = -1
			}
		case kindStatus:
			if end = numberEnd(line, at); end == at || !r.status(line[at:end]) {
				end = -1
			}
		case kindNumber:
			if st.pad {
				at = skipBlanks(line, at)
			}
			if end = numberEnd(line, at); st.whole {
				end = at + leadingDigits(line[at:])
			}
			if end == at && (st.stop.s == "" || !st.stop.stands(line, at)) || !r.put(&st.field, line[at:end]) {
				end = -1
			}
		case kindCLF:
			if n := at + dateLen - 2; n < len(line) {
				if ns, ok := r.dates.parse(line[at:n]); ok {
					end = n
					r.at(st.role, moment{ns: ns, step: second})
				}
			}
		case kindMillis, kindEpochTime:
			ns, n := threeDecimals(line[at:])
			if n == 0 || !s.follows(line, at+n, i) || st.kind == kindEpochTime && ns < earliest {
				break
			}
			if end = at + n; st.kind == kindMillis {
				r.took, r.step = ns, 1e6
			} else {
				r.at(st.role, moment{ns: ns, step: 1e6})
			}
		default:
			end, bare = s.other(line, at, i, r)
		}
		if end < 0 {
			return at, st.miss
		}
		if r.cuts != nil || st.who {
			r.saw(&st.field, line[at:end])
		}
		at = end
	}
	if bare && at > 0 && line[at-1] == ' ' && s.end.blank() {
		at--
	}
	if !known && !s.end.stands(line, at) {
		return at, leftOver
	}
	return at + len(s.end.s), ""
}

// other cuts the fields that few formats have.
func (s *scanner) other(line []byte, at, i int, r *reading) (end int, bare bool) {
	st := &s.steps[i]
	switch st.kind {
	case kindDate:
		t, n := r.clock.read(st.lay, line[at:])
		if n == 0 {
			if end = s.stop(line, at, i); end == at+1 && line[at] == '-' {
				return end, false // a time that is not known
			}
			return -1, false
		}
		end = at + n
		r.at(st.role, t)
	case kindFixed:
		if end = at + st.size; end > len(line) || !r.put(&st.field, line[at:end]) {
			return -1, false
		}
	case kindAddrList, kindNumList:
		end = listEnd(line, at, st.kind == kindNumList)
		if end < 0 || !r.put(&st.field, line[at:end]) {
			return -1, false
		}
	case kindBraces:
		if at == len(line) || line[at] != '{' {
			return at, true
		}
		n := bytes.IndexByte(line[at:], '}')
		if n < 0 {
			return -1, false
		}
		end = at + n + 1
		r.put(&st.field, line[at+1:end-1])
	}
	return end, false
}

// stop finds the end of a text: the first place where what follows it stands and
// the next field can begin, or else the first place where what follows it stands.
func (s *scanner) stop(line []byte, at, i int) int {
	st := &s.steps[i]
	stop := &st.stop
	if stop.s == "" {
		return len(line)
	}
	if st.blind { // most are short
		c, near := stop.s[0], min(len(line), at+16)
		for end := at; end < near; end++ {
			if line[end] == c {
				return end
			}
		}
		if n := bytes.IndexByte(line[near:], c); n >= 0 {
			return near + n
		}
		return -1
	}
	if i == len(s.steps)-1 && !s.loose && len(s.tails) == 0 {
		if end := len(line) - len(stop.s); end >= at && string(line[end:]) == stop.s {
			return end
		}
		return -1
	}
	first, last := -1, -1
	for from := at; ; {
		n := bytes.IndexByte(line[from:], stop.s[0])
		if n < 0 {
			return max(first, last)
		}
		end := from + n
		from = end + 1
		switch {
		case !stop.stands(line, end):
		case st.quoted && end > at && line[end-1] == '\\' && escaped(line[at:end]):
			if first < 0 && s.fits(line, end+len(stop.s), i+1) {
				last = end // of a server that escapes quotes, but not backslashes
			}
		case s.fits(line, end+len(stop.s), i+1):
			return end
		case first < 0:
			first, last = end, -1
		}
	}
}

// follows tells whether what must come after field i stands at a place.
func (s *scanner) follows(line []byte, at, i int) bool {
	stop := &s.steps[i].stop
	if stop.s == "" {
		return at == len(line) || line[at] == ' '
	}
	return stop.stands(line, at)
}

// fits tells whether field i can begin at a place, by its first bytes.
func (s *scanner) fits(line []byte, at, i int) bool {
	if i == len(s.steps) {
		return at == len(line) || line[at] == ' '
	}
	switch st := &s.steps[i]; st.kind {
	case kindStatus:
		end := numberEnd(line, at)
		return (end == at+3 || end == at+1 || end == at+2) && s.follows(line, end, i)
	case kindNumber:
		if st.pad {
			at = skipBlanks(line, at)
		}
		if st.whole {
			return s.follows(line, at+leadingDigits(line[at:]), i)
		}
		return s.follows(line, numberEnd(line, at), i)
	case kindCLF:
		n := at + dateLen - 2
		return n <= len(line) && line[at+2] == '/' && line[at+6] == '/' && line[at+11] == ':' && line[at+14] == ':' && line[at+20] == ' ' &&
			isDigit(line[at]) && isDigit(line[at+19]) && s.follows(line, n, i)
	case kindText:
		if st.role == roleMethod {
			end := at
			for end < len(line) && isMethodByte(line[end]) {
				end++
			}
			return s.follows(line, end, i)
		}
		return st.head == 0 || at < len(line) && line[at] == st.head
	}
	return true
}

// isHost tells whether a text can be a host: letters, digits, points and the
// like, and one thing that a user's name has not: a point, a colon, or that it
// is localhost. nginx names a server "_" that takes all hosts.
func isHost(b []byte) bool {
	mark := string(b) == "localhost" || string(b) == "_"
	for _, c := range b {
		switch {
		case c == '.' || c == ':':
			mark = true
		case isLetter(c) || isDigit(c) || c == '-' || c == '_' || c == '[' || c == ']' || c == '*':
		default:
			return false
		}
	}
	return mark && !isStamp(b)
}

// numberEnd passes over a number, a "-", or nothing.
func numberEnd(line []byte, at int) int {
	if at < len(line) && (line[at] == '-' || line[at] == '+') {
		at++
	}
	for at < len(line) && (isDigit(line[at]) || line[at] == '.') {
		at++
	}
	return at
}

func leadingDigits(b []byte) (n int) {
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return n
}

func skipBlanks(line []byte, at int) int {
	for at < len(line) && line[at] == ' ' {
		at++
	}
	return at
}

// threeDecimals reads `1796006466.123`, seconds as nginx writes $msec and
// $request_time; another number of decimals is another field, or one cut off.
func threeDecimals(b []byte) (ns int64, n int) {
	const most = 9_200_000_000 // seconds: int64 nanoseconds end there
	for ; n < len(b) && isDigit(b[n]); n++ {
		if ns = ns*10 + int64(b[n]-'0'); ns > most {
			return 0, 0
		}
	}
	if n == 0 || len(b) < n+4 || b[n] != '.' || !isDigit(b[n+1]) || !isDigit(b[n+2]) || !isDigit(b[n+3]) {
		return 0, 0
	}
	ns = ns*1000 + int64(b[n+1]-'0')*100 + int64(b[n+2]-'0')*10 + int64(b[n+3]-'0')
	return ns * 1e6, n + 4
}

// listEnd passes over a list as nginx writes it: elements without blanks, with
// ", " between tries and " : " between groups of tries.
func listEnd(line []byte, at int, numbers bool) int {
	for {
		from := at
		if numbers {
			at = numberEnd(line, at)
		} else {
			for at < len(line) && line[at] != ' ' && line[at] != ',' && line[at] != '"' {
				at++
			}
		}
		if at == from {
			return -1
		}
		switch {
		case hasPrefix(line[at:], ", ") && element(line, at+2, numbers):
			at += 2
		case hasPrefix(line[at:], " : ") && element(line, at+3, numbers):
			at += 3
		default:
			return at
		}
	}
}

// element tells whether an element of a list can begin at a place.
func element(line []byte, at int, numbers bool) bool {
	if at >= len(line) {
		return false
	}
	c := line[at]
	return isDigit(c) || c == '-' || !numbers && (isLetter(c) || c == '[' || c == '_')
}

// escaped tells whether b ends in an odd number of backslashes.
func escaped(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func dashless(b []byte) []byte {
	if len(b) == 1 && b[0] == '-' {
		return nil
	}
	return b
}
