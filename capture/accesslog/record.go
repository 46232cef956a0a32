package accesslog

import (
	"bytes"

	"stormwatch/capture"
)

// record is one line cut into what stormwatch uses. Its texts alias the line and
// still carry the escapes of the format.
type record struct {
	has     uint64 // roles whose text is set
	text    [roles][]byte
	ip      [16]byte
	port    uint16
	code    uint16 // 0: no answer
	coded   bool   // a status was logged, be it one of no answer
	start   moment
	end     moment
	took    int64
	answers [maxAnswers]answer
	step    int64            // resolution of took; 0 where it is not known
	said    uint8            // how many answers there are; maxAnswers+1 for more than are kept
	ask     capture.AskField // that the deadline's text is of
	torn    bool             // the end of the line is missing, though all that counts is there
}

// answer is a header of the response that tells of waits or limits.
type answer struct {
	field capture.Field
	text  []byte
}

const maxAnswers = 16 // in a line; no log has more

// reading is the state of cutting the lines of one log.
type reading struct {
	record
	esc   escape
	dates dateCache
	clock clock
	built []byte // a text put together of several fields
	cuts  *[]cut // where the cuts are wanted
}

// cut is a field as it was found in a line.
type cut struct {
	name  string
	role  role
	value []byte
}

// saw notes a field, where that is wanted.
func (r *reading) saw(f *field, value []byte) {
	if f.who {
		r.set(roleClient, value)
	}
	if r.cuts != nil {
		*r.cuts = append(*r.cuts, cut{f.name, f.role, value})
	}
}

// seen is how many fields were noted, which unsee goes back to.
func (r *reading) seen() int {
	if r.cuts == nil {
		return 0
	}
	return len(*r.cuts)
}

func (r *reading) unsee(n int) {
	if r.cuts != nil {
		*r.cuts = (*r.cuts)[:n]
	}
}

func (r *record) reset() {
	r.has, r.ip, r.port, r.code, r.coded, r.torn = 0, [16]byte{}, 0, 0, false, false
	r.said = 0
	r.start, r.end, r.took, r.step = moment{}, moment{}, 0, 0
}

func (r *record) set(what role, b []byte) {
	r.has |= 1 << what
	r.text[what] = b
}

// get returns the text of a role; nil where there is none, or "-".
func (r *record) get(what role) []byte {
	if r.has&(1<<what) == 0 {
		return nil
	}
	return dashless(r.text[what])
}

func (r *record) shows(what role) bool { return r.has&(1<<what) != 0 }

// timed tells whether the line says when.
func (r *record) timed() bool { return r.start.step != 0 || r.end.step != 0 }

// put takes the value of a field, whose extent is known. It is false where the
// field cannot be what it should.
func (r *reading) put(f *field, b []byte) bool {
	switch f.role {
	case roleNone:
		return true
	case roleAddr:
		return r.address(f, b)
	case rolePort:
		if n, ok := count(b); ok && n <= 0xffff {
			r.port = uint16(n)
		}
		return true
	case roleCode:
		return r.status(b)
	case roleStartTime, roleEndTime:
		t, ok := r.moment(f, b)
		if ok {
			r.at(f.role, t)
		}
		return ok
	case roleTook:
		return r.lasted(f, b)
	case roleFraction:
		return r.part(f, b)
	case roleZone:
		return r.zoned(b)
	case roleAnswer:
		if int(r.said) < len(r.answers) {
			r.answers[r.said] = answer{f.answer, b}
		}
		r.said = min(r.said+1, maxAnswers+1)
		r.has |= 1 << roleAnswer
		return true
	case roleDeadline:
		r.ask = f.ask
	case roleLimited: // of several limiters, the one that refused
		if r.shows(roleLimited) && isRefusal(r.text[roleLimited]) {
			return true
		}
	}
	r.set(f.role, b)
	return true
}

// address reads the peer's address. A name, as Apache logs with HostnameLookups,
// is kept as a text, save where the format has addresses only.
func (r *reading) address(f *field, b []byte) bool {
	b = unpadded(b)
	if ip, ok := parseIP(b); ok {
		r.ip = ip
		return true
	}
	if f.kind == kindIP && f.size > 0 {
		return false
	}
	if len(b) == 0 || len(b) == 1 && b[0] == '-' || bytes.HasPrefix(b, unixSocket) {
		return true
	}
	host, p := splitPort(b)
	if ip, ok := parseIP(host); ok {
		r.ip = ip
		if n, ok := count(p); ok && n <= 0xffff {
			r.port = uint16(n)
		}
		return true
	}
	if f.kind == kindIP {
		return false
	}
	if i := bytes.IndexByte(b, ','); i > 0 { // X-Forwarded-For in its place
		return r.address(f, b[:i])
	}
	if !isName(b) {
		return false
	}
	r.set(roleAddr, b)
	return true
}

// unpadded takes off the blanks that put columns below each other.
func unpadded(b []byte) []byte {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	return b
}

// isName tells whether a text can be the name of a machine.
func isName(b []byte) bool {
	const longest = 253 // RFC 1035 section 2.3.4
	return len(b) <= longest && bytes.IndexByte(b, ' ') < 0 && !isStamp(b)
}

// isStamp tells whether a text starts as a date of ISO 8601 does.
func isStamp(b []byte) bool {
	return len(b) > 10 && b[4] == '-' && b[7] == '-' && b[10] == 'T' && isDigit(b[0]) && isDigit(b[3]) && isDigit(b[9])
}

// splitPort cuts host:port and [host]:port.
func splitPort(b []byte) (host, port []byte) {
	if len(b) > 0 && b[0] == '[' {
		if i := bytes.IndexByte(b, ']'); i > 0 {
			return b[1:i], bytes.TrimPrefix(b[i+1:], colon)
		}
	}
	if i := bytes.LastIndexByte(b, ':'); i >= 0 {
		return b[:i], b[i+1:]
	}
	return b, nil
}

var colon = []byte(":")

// status reads three digits. "-", 0 and -1 stand for no answer.
func (r *record) status(b []byte) bool {
	if len(b) == 3 && isDigit(b[0]) && isDigit(b[1]) && isDigit(b[2]) {
		r.code, r.coded = uint16(b[0]-'0')*100+uint16(b[1]-'0')*10+uint16(b[2]-'0'), true
		return true
	}
	switch string(b) {
	case "", "-", "0", "-1", "null", "None":
		r.coded = true
		return true
	}
	if len(b) > 3 && (b[3] == ' ' || string(b[3:]) == ".0") { // 429 Too Many Requests; a number made a fraction
		return r.status(b[:3])
	}
	return false
}

// moment reads a time in the form that the field has, or in any that is known.
func (r *reading) moment(f *field, b []byte) (moment, bool) {
	if f.lay != nil {
		t, n := r.clock.read(f.lay, b)
		return t, n > 0 && n == len(b)
	}
	if f.unit != 0 {
		ns, step, ok := epoch(b, f.unit)
		return moment{ns: ns, step: step}, ok
	}
	if len(b) == 0 {
		return moment{}, false
	}
	b = bytes.Trim(b, "[]")
	if len(b) == dateLen-2 && b[2] == '/' {
		ns, ok := r.dates.parse(b)
		return moment{ns: ns, step: second}, ok
	}
	if ns, step, ok := epoch(b, 0); ok {
		return moment{ns: ns, step: step}, true
	}
	for i := range datesKnown {
		if t, n := r.clock.read(&datesKnown[i], b); n > 0 && n == len(b) {
			return t, true
		}
	}
	return moment{}, false
}

// datesKnown are forms of a date that tell themselves apart.
var datesKnown = [...]layout{
	{},
	imfLayout,
	mustLayout("%d/%b/%Y:%H:%M:%S"),
	mustLayout("%d/%b/%Y:%H:%M:%S.%f"),
	mustLayout("%d/%b/%Y:%H:%M:%S.%f %z"),
	mustLayout("%a %b %e %H:%M:%S %Y"),
	mustLayout("%d/%b/%Y %H:%M:%S"),
}

// at takes a time in: the finest of several prevails, and one of a known zone
// over one that may be of a container with another.
func (r *record) at(what role, t moment) {
	m := &r.start
	if what == roleEndTime {
		m = &r.end
	}
	if m.step == 0 || t.step < m.step || t.step == m.step && m.wall && !t.wall {
		*m = t
	}
}

// lasted reads how long a request took. Servers write "-" or -1 where they do
// not know.
func (r *reading) lasted(f *field, b []byte) bool {
	b = unpadded(b)
	if (f.unit == 0 || f.some && bytes.IndexByte(b, '.') < 0) && len(b) > 0 && isDigit(b[len(b)-1]) {
		return true // a number of what is not known
	}
	if f.dur && r.start.step != oneMicro {
		return true
	}
	ns, step, ok := duration(b, f.unit)
	if !ok {
		return len(b) == 0 || b[0] == '-'
	}
	switch {
	case f.sum && r.step != 0:
		r.took, r.step = min(r.took+ns, longest), max(r.step, step)
	case r.step == 0 || step < r.step:
		r.took, r.step = ns, step
	}
	return true
}

// part adds the fraction of a second to the time beside it.
func (r *reading) part(f *field, b []byte) bool {
	n, ok := count(b)
	if !ok {
		return false
	}
	for _, m := range [...]*moment{&r.start, &r.end} {
		if m.step == second {
			m.ns += int64(n) * f.unit
			m.step = f.unit
		}
	}
	return true
}

// zoned gives the zone to the time beside it.
func (r *reading) zoned(b []byte) bool {
	var v civil
	if n := v.zone(b); n == 0 || n != len(b) {
		return false
	}
	for _, m := range [...]*moment{&r.start, &r.end} {
		if m.wall {
			m.ns, m.wall = m.ns-v.east*second, false
		}
	}
	return true
}

// settle makes start and end agree: each is worked out from the other and the
// duration, where they are known.
func (r *reading) settle() {
	if r.start.step == 0 && r.end.step != 0 && !r.end.wall {
		r.start = moment{ns: r.end.ns - r.took, step: r.end.step}
		return
	}
	for _, m := range [...]*moment{&r.start, &r.end} {
		if m.wall {
			m.ns, m.wall = r.clock.local(m.ns), false
		}
	}
	switch {
	case r.start.step == 0 && r.end.step == 0:
		return
	case r.start.step != 0 && r.end.step != 0:
		if r.step == 0 {
			r.took = max(r.end.ns-r.start.ns, 0)
		}
		if r.end.step <= r.start.step && r.step != 0 || r.end.step < r.start.step {
			r.start = moment{ns: r.end.ns - r.took, step: r.end.step}
		} else {
			r.end = moment{ns: r.start.ns + r.took, step: r.start.step}
		}
	case r.end.step != 0:
		r.start = moment{ns: r.end.ns - r.took, step: r.end.step}
	default:
		r.end = moment{ns: r.start.ns + r.took, step: r.start.step}
	}
	if r.end.ns < r.start.ns {
		r.end.ns = r.start.ns
	}
}
