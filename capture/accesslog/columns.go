package accesslog

import (
	"bytes"
	"strings"

	"stormwatch/capture"
)

// columnCutter reads logs whose header lines name their columns: the W3C
// extended format of IIS and CloudFront, and Zeek's. The header may come again,
// with other columns. Where a log was cut so that it has none, the columns that
// the server has by default are taken, if there are as many.
type columnCutter struct {
	kind    columnKind
	columns []field
	day     []byte // of #Date, for logs that have the time only
	date    int    // column, -1 if there is none
	clock   int
	sep     byte // 0 for blanks
	stamp   []byte
	client  capture.ClientField
	named   bool // its software is told
	millis  bool // a fraction in time-taken is one of milliseconds
}

// columnKind is what sets such logs apart.
type columnKind struct {
	fields map[string]field
	common []string // columns by default
	sep    byte
	zeek   bool
}

const (
	headerLine fault = "a header line"
	noHeader   fault = "no header line names its columns"
	tooFew     fault = "fewer columns than the header names"
)

func newColumns(k columnKind) *columnCutter {
	c := &columnCutter{kind: k, sep: k.sep}
	c.name(k.common)
	return c
}

// name sets what the columns are.
func (c *columnCutter) name(names []string) {
	c.columns, c.date, c.clock = nil, -1, -1
	for i, n := range names {
		n = strings.ToLower(n)
		f, known := c.kind.fields[n]
		if header, ok := strings.CutPrefix(n, "sc("); ok && !known {
			f = responseHeader(strings.TrimSuffix(header, ")"))
		}
		f.name, f.who = n, c.client.Is(headerOf(n))
		switch n {
		case "date", "date-local":
			c.date = i
		case "time", "time-local":
			c.clock = i
		}
		c.columns = append(c.columns, f)
	}
}

func (c *columnCutter) cut(line []byte, r *reading) fault {
	r.reset()
	if line[0] == '#' {
		c.header(line)
		return headerLine
	}
	if len(c.columns) == 0 {
		return noHeader
	}
	var day, hour []byte
	i := 0
	for at := 0; i < len(c.columns); i++ {
		if at > len(line) {
			return tooFew
		}
		var v []byte
		v, at = c.value(line, at)
		switch {
		case i == c.date:
			r.saw(&c.columns[i], v)
			day = v
		case i == c.clock:
			r.saw(&c.columns[i], v)
			hour = v
		default:
			if !c.put(&c.columns[i], v, r) {
				return c.columns[i].miss()
			}
		}
	}
	if c.clock >= 0 && !c.time(day, hour, r) {
		return noTime
	}
	switch {
	case !r.coded:
		return noStatusColumn
	case r.code == 0 && r.get(roleMethod) == nil && r.get(rolePath) == nil && r.get(roleURL) == nil && r.get(roleTarget) == nil:
		return noRequestColumn
	}
	return ""
}

const (
	noStatusColumn  fault = "no column holds a status"
	noRequestColumn fault = "a connection that ended without a request" // HTTP.sys logs those that were idle
)

// miss words the fault of a column.
func (f *field) miss() fault {
	if f.role == roleCode {
		return "the status column holds none"
	}
	return "a column does not hold what its name says"
}

// put gives a column its role; "-" stands for nothing.
func (c *columnCutter) put(f *field, v []byte, r *reading) bool {
	r.saw(f, v)
	if len(v) == 1 && v[0] == '-' && f.role != roleCode {
		v = nil
		if f.role != roleRetryAfter {
			return true
		}
	}
	switch {
	case f.role == roleNone:
		return true
	case f.role == roleTook && !c.millis && bytes.IndexByte(v, '.') >= 0: // the standard's seconds, not IIS's milliseconds
		g := *f
		g.unit = second
		return r.put(&g, v)
	}
	return r.put(f, v)
}

// value cuts the next column; one in quotes may hold the separator.
func (c *columnCutter) value(line []byte, at int) (v []byte, next int) {
	if c.sep == 0 {
		at = skipBlanks(line, at)
		if at < len(line) && line[at] == '"' {
			for from := at + 1; ; {
				n := bytes.IndexByte(line[from:], '"')
				if n < 0 {
					break
				}
				end := from + n
				if end+1 == len(line) || line[end+1] == ' ' {
					return line[at+1 : end], end + 2
				}
				if from = end + 1; line[from] == '"' { // a quote, doubled
					from++
				}
			}
		}
	}
	sep := c.sep
	if sep == 0 {
		sep = ' '
	}
	if at >= len(line) {
		return nil, len(line) + 1
	}
	if n := bytes.IndexByte(line[at:], sep); n >= 0 {
		return line[at : at+n], at + n + 1
	}
	return line[at:], len(line) + 1
}

// time joins the columns date and time; they are UTC by definition (W3C Extended
// Log File Format; IIS writes so whatever it is set to).
func (c *columnCutter) time(day, hour []byte, r *reading) bool {
	if day == nil {
		day = c.day
	}
	c.stamp = append(append(append(c.stamp[:0], bytes.Trim(day, `"`)...), ' '), bytes.Trim(hour, `"`)...)
	t, n := r.clock.read(&isoLayout, c.stamp)
	if n == 0 || n != len(c.stamp) {
		return false
	}
	t.wall = t.wall && c.columns[c.clock].name == "time-local"
	r.at(roleEndTime, t)
	return true
}

var isoLayout = layout{}

// header takes a # line in.
func (c *columnCutter) header(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	if c.kind.zeek {
		name, value, _ = bytes.Cut(line, []byte("\t"))
		if bytes.HasPrefix(line, []byte("#separator ")) {
			if c.sep = '\t'; bytes.Contains(line, []byte(`\x2c`)) {
				c.sep = ','
			}
			return
		}
	}
	switch string(bytes.ToLower(name)) {
	case "#fields":
		if c.kind.zeek {
			c.name(strings.Split(string(value), string(c.sep)))
			return
		}
		c.sep = 0
		if bytes.IndexByte(bytes.TrimSpace(value), '\t') >= 0 {
			c.sep = '\t'
		} else {
			c.sep = c.kind.sep
		}
		c.name(strings.Fields(string(value)))
	case "#software":
		c.named, c.millis = true, false
	case "#date", "#start-date":
		// ASP.NET Core's W3CLogger begins so and names no software; it writes milliseconds with a fraction.
		c.millis = c.millis || len(name) > len("#date") && !c.named
		if v := bytes.TrimSpace(value); len(v) >= 10 {
			c.day = append(c.day[:0], v[:10]...)
		}
	}
}

// w3cFields are the fields of W3C logs that mean something: those of the
// standard, of IIS, of CloudFront and of some that extend them.
var w3cFields = map[string]field{
	"c-ip": {role: roleAddr}, "c-port": {role: rolePort}, "cs-username": {role: roleUser}, "cs-method": {role: roleMethod}, "cs-uri-stem": {role: rolePath}, "cs-uri-path": {role: rolePath, rank: 1}, "cs-uri-query": {role: roleQuery}, "cs-uri": {role: roleURL},
	"cs(user-agent)": {role: roleAgent}, "cs(host)": {role: roleHost}, "cs-host": {role: roleHost}, "x-host-header": {role: roleHost}, "cs(x-forwarded-for)": {role: roleForwarded}, "x-forwarded-for": {role: roleForwarded}, "s-xff": {role: roleForwarded},
	"sc-status": {role: roleCode}, "sc(retry-after)": {role: roleRetryAfter}, "x-edge-request-id": {role: roleRequestID}, "x-edge-detailed-result-type": {role: roleDetails},
	"time-taken": {role: roleTook, unit: oneMilli}, "timetakenms": {role: roleTook, unit: oneMilli}, "x-edge-result-type": {}, "timestamp": {role: roleEndTime}, "timestamp(ms)": {role: roleEndTime, unit: oneMilli},
}
