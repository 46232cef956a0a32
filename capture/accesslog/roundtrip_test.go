package accesslog

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

// truth is a random request; servers render it, and what is parsed must be it.
type truth struct {
	ip, method, target, agent, host, xff, user, id, retryAfter string
	port, status, hopRetries                                   int
	start, end                                                 time.Time
	codes                                                      []int
	servers                                                    []string
}

func randomTruth(r *rand.Rand) *truth {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	end := time.UnixMilli(1796026266000 + r.Int64N(1e9)).UTC()
	t := &truth{
		ip: pick("192.0.2.7", "2001:db8::7", "::1", "10.255.0.1"), port: 1024 + r.IntN(60000), method: pick("GET", "POST", "PROPFIND"),
		target: "/" + pick("", "a", "v1/items?page="+strconv.Itoa(r.IntN(99)), `q"uo\te`, "café", "a%20b?x=[1]"),
		agent:  pick("curl/8", `say "hi" \o/`, "Mozilla/5.0 (X11; Linux) [x] {y}", "a\tb\x01", "日本", `ends in \`, "- -", `" 200 5 "`),
		host:   pick("api.example", "localhost", "10.0.0.1"), xff: pick("198.51.100.7", "198.51.100.7, 10.0.0.1", "2001:db8::9"), user: pick("bob", "ann b", `d"q`),
		id: strconv.FormatUint(r.Uint64(), 16), retryAfter: pick("", "0", "2", "3600", end.Add(30*time.Second).Format("Mon, 02 Jan 2006 15:04:05 GMT")),
		status: []int{200, 204, 301, 404, 429, 500, 503}[r.IntN(7)], hopRetries: r.IntN(4),
		end: end, start: end.Add(-time.Duration(r.IntN(5000)) * time.Millisecond),
	}
	for range 1 + r.IntN(3) {
		t.codes = append(t.codes, []int{502, 504, 200, 429}[r.IntN(4)])
		t.servers = append(t.servers, pick("10.0.0.1:80", "unix:/run/a.sock", "[2001:db8::7]:5000"))
	}
	return t
}

// item is a field that a server can log.
type item struct {
	name   string
	bare   bool // it may stand without quotes
	render func(t *truth) string
	check  func(x *row, t *truth) bool
}

func or(s, empty string) string {
	if s == "" {
		return empty
	}
	return s
}

func hintIs(x *row, t *truth) bool {
	if t.retryAfter == "" {
		return x.Hint.State == capture.Absent
	}
	want := capture.ParseRetryAfter([]byte(t.retryAfter), 0, x.End/second)
	return x.Hint.State == capture.Present && x.Hint.Wait == want.Wait && x.Hint.Kind == want.Kind
}

func triesAre(x *row, t *truth) bool {
	if len(x.tries) != len(t.codes) {
		return false
	}
	for i := range t.codes {
		if int(x.tries[i].Status) != t.codes[i] {
			return false
		}
	}
	return true
}

var (
	checkAgent  = func(x *row, t *truth) bool { return x.agent == t.agent }
	checkTarget = func(x *row, t *truth) bool { return x.target == t.target }
	checkMethod = func(x *row, t *truth) bool { return x.method == t.method }
	checkBoth   = func(x *row, t *truth) bool { return checkMethod(x, t) && checkTarget(x, t) }
	checkHost   = func(x *row, t *truth) bool { return x.host == t.host }
	checkXFF    = func(x *row, t *truth) bool { return x.forwarded == t.xff }
	checkAddr   = func(x *row, t *truth) bool { return x.Src.Addr().String() == t.ip }
	checkPort   = func(x *row, t *truth) bool { return int(x.Src.Port) == t.port }
	checkUser   = func(x *row, t *truth) bool { return x.Credential != 0 }
	checkID     = func(x *row, t *truth) bool { return x.RequestID == capture.HashID([]byte(t.id)) }
	checkStatus = func(x *row, t *truth) bool { return int(x.Status) == t.status }
	renderLine  = func(t *truth) string { return t.method + " " + t.target + " HTTP/1.1" }
)

func seconds(d time.Duration) string {
	return fmt.Sprintf("%d.%03d", d/time.Second, d%time.Second/time.Millisecond)
}

// language is what a server can log, and how it writes bytes that it escapes.
type language struct {
	name   string
	escape func(string) string
	always []item // status and time
	items  []item
}

func cEscape(upper bool) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			switch {
			case upper && (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f):
				fmt.Fprintf(&b, `\x%02X`, c)
			case !upper && (c == '"' || c == '\\'):
				b.WriteString("\\" + string(c))
			case !upper && c == '\t':
				b.WriteString(`\t`)
			case !upper && (c < 0x20 || c >= 0x7f):
				fmt.Fprintf(&b, `\x%02x`, c)
			default:
				b.WriteByte(c)
			}
		}
		return b.String()
	}
}

func hashEscape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c == '"' || c == '#' || c < 0x20 || c >= 0x7f {
			fmt.Fprintf(&b, "#%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

var (
	nginxItems = []item{
		{"$remote_addr", true, func(t *truth) string { return t.ip }, checkAddr},
		{"$remote_port", true, func(t *truth) string { return strconv.Itoa(t.port) }, checkPort},
		{"$request", false, renderLine, checkBoth},
		{"$http_user_agent", false, func(t *truth) string { return t.agent }, checkAgent},
		{"$http_x_forwarded_for", false, func(t *truth) string { return t.xff }, checkXFF},
		{"$host", true, func(t *truth) string { return t.host }, checkHost},
		{"$remote_user", false, func(t *truth) string { return t.user }, checkUser},
		{"$request_id", true, func(t *truth) string { return t.id }, checkID},
		{"$sent_http_retry_after", false, func(t *truth) string { return or(t.retryAfter, "-") }, hintIs},
		{"$upstream_status", true, func(t *truth) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(t.codes), " ", ", "), "[]") }, triesAre},
		{"$upstream_addr", true, func(t *truth) string { return strings.Join(t.servers, ", ") }, func(x *row, t *truth) bool {
			return len(x.tries) == len(t.servers) && x.tries[0].server == t.servers[0]
		}},
		{"$body_bytes_sent", true, func(t *truth) string { return "25" }, nil},
		{"$time_local", false, func(t *truth) string { return t.end.Format("02/Jan/2006:15:04:05 -0700") }, nil},
		{"$http_referer", false, func(t *truth) string { return "-" }, nil},
	}
	nginxAlways = []item{
		{"$status", true, func(t *truth) string { return strconv.Itoa(t.status) }, checkStatus},
		{"$msec", true, func(t *truth) string { return fmt.Sprintf("%d.%03d", t.end.Unix(), t.end.UnixMilli()%1000) }, func(x *row, t *truth) bool { return x.End == t.end.UnixNano() }},
		{"$request_time", true, func(t *truth) string { return seconds(t.end.Sub(t.start)) }, func(x *row, t *truth) bool { return x.Start == t.start.UnixNano() }},
	}
)

var languages = []language{
	{name: "nginx", escape: cEscape(true), always: nginxAlways, items: nginxItems},
	{name: "nginx-json", always: nginxAlways, items: nginxItems, escape: func(s string) string {
		b, _ := json.Marshal(s)
		return string(b[1 : len(b)-1])
	}},
	{name: "apache", escape: cEscape(false), always: []item{
		{"%>s", true, func(t *truth) string { return strconv.Itoa(t.status) }, checkStatus},
		{"%{usec}t", true, func(t *truth) string { return strconv.FormatInt(t.start.UnixMicro(), 10) }, func(x *row, t *truth) bool { return x.Start == t.start.UnixNano() }},
		{"%D", true, func(t *truth) string { return strconv.FormatInt(t.end.Sub(t.start).Microseconds(), 10) }, func(x *row, t *truth) bool { return x.End == t.end.UnixNano() }},
	}, items: []item{
		{"%a", true, func(t *truth) string { return t.ip }, checkAddr},
		{"%{remote}p", true, func(t *truth) string { return strconv.Itoa(t.port) }, checkPort},
		{"%r", false, renderLine, checkBoth},
		{"%{User-Agent}i", false, func(t *truth) string { return t.agent }, checkAgent},
		{"%{X-Forwarded-For}i", false, func(t *truth) string { return t.xff }, checkXFF},
		{"%v", true, func(t *truth) string { return t.host }, checkHost},
		{"%u", false, func(t *truth) string { return t.user }, checkUser},
		{"%L", true, func(t *truth) string { return t.id }, checkID},
		{"%{Retry-After}o", false, func(t *truth) string { return or(t.retryAfter, "-") }, hintIs},
		{"%b", true, func(t *truth) string { return "-" }, nil},
		{"%t", true, func(t *truth) string { return t.start.Format("[02/Jan/2006:15:04:05 -0700]") }, nil},
	}},
	{name: "haproxy", escape: hashEscape, always: []item{
		{"%ST", true, func(t *truth) string { return strconv.Itoa(t.status) }, checkStatus},
		{"%tr", true, func(t *truth) string { return t.start.Format("02/Jan/2006:15:04:05.000") }, func(x *row, t *truth) bool { return x.Start == t.start.UnixNano() }},
		{"%Ta", true, func(t *truth) string { return strconv.FormatInt(t.end.Sub(t.start).Milliseconds(), 10) }, func(x *row, t *truth) bool { return x.End == t.end.UnixNano() }},
	}, items: []item{
		{"%ci", true, func(t *truth) string { return t.ip }, checkAddr},
		{"%cp", true, func(t *truth) string { return strconv.Itoa(t.port) }, checkPort},
		{"%{+Q}r", true, func(t *truth) string { return `"` + hashEscape(renderLine(t)) + `"` }, checkBoth},
		{"%[req.hdr(User-Agent)]", false, func(t *truth) string { return t.agent }, checkAgent},
		{"%[var(txn.xff)]", false, func(t *truth) string { return t.xff }, checkXFF},
		{"%[res.hdr(Retry-After)]", false, func(t *truth) string { return or(t.retryAfter, "-") }, hintIs},
		{"%ID", true, func(t *truth) string { return t.id }, checkID},
		{"%rc", true, func(t *truth) string { return "+" + strconv.Itoa(t.hopRetries) }, func(x *row, t *truth) bool { return int(x.Tries) == t.hopRetries+1 }},
		{"%hr", true, func(t *truth) string { return []string{"", "{a|b}"}[t.port%2] }, nil},
	}},
	{name: "envoy", escape: func(s string) string { return s }, always: []item{
		{"%RESPONSE_CODE%", true, func(t *truth) string { return strconv.Itoa(t.status) }, checkStatus},
		{"%START_TIME%", true, func(t *truth) string { return t.start.Format("2006-01-02T15:04:05.000Z") }, func(x *row, t *truth) bool { return x.Start == t.start.UnixNano() }},
		{"%DURATION%", true, func(t *truth) string { return strconv.FormatInt(t.end.Sub(t.start).Milliseconds(), 10) }, func(x *row, t *truth) bool { return x.End == t.end.UnixNano() }},
	}, items: []item{
		{"%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%", true, func(t *truth) string { return t.ip }, checkAddr},
		{"%REQ(:METHOD)%", true, func(t *truth) string { return t.method }, checkMethod},
		{"%REQ(:AUTHORITY)%", true, func(t *truth) string { return t.host }, checkHost},
		{"%REQ(X-REQUEST-ID)%", true, func(t *truth) string { return t.id }, checkID},
		{"%REQ(X-FORWARDED-FOR)%", false, func(t *truth) string { return t.xff }, checkXFF},
		{"%RESP(RETRY-AFTER)%", false, func(t *truth) string { return or(t.retryAfter, "-") }, hintIs},
		{"%UPSTREAM_REQUEST_ATTEMPT_COUNT%", true, func(t *truth) string { return strconv.Itoa(t.hopRetries + 1) }, func(x *row, t *truth) bool { return int(x.Tries) == t.hopRetries+1 }},
		{"%RESPONSE_FLAGS%", true, func(t *truth) string { return "-" }, nil},
	}},
}

// Whatever a format has, in whatever order, a record that a server renders by it
// is read back as it was.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, l := range languages {
		for range 400 {
			format, items := randomFormat(r, &l)
			f, err := ParseFormat(l.name + ":" + format)
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			var text strings.Builder
			var truths []*truth
			for range 3 {
				tr := randomTruth(r)
				truths = append(truths, tr)
				text.WriteString(renderFormat(&l, format, items, tr) + "\n")
			}
			out := mustRead(t, text.String(), Options{Format: f, Zone: time.UTC})
			if len(out.rows) != len(truths) {
				t.Fatalf("%s %s\n%s%+v", l.name, format, text.String(), out.health.Skipped)
			}
			for i := range out.rows {
				for _, it := range items {
					if it.check != nil && !it.check(&out.rows[i], truths[i]) {
						t.Fatalf("%s %s\n%s: %s is not read back: %+v", l.name, format, strings.Split(text.String(), "\n")[i], it.name, out.rows[i])
					}
				}
			}
		}
	}
}

// randomFormat puts some of a language's fields together.
func randomFormat(r *rand.Rand, l *language) (format string, items []item) {
	items = slices.Clone(l.always)
	for _, it := range l.items {
		if r.IntN(2) == 0 {
			items = append(items, it)
		}
	}
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	for _, i := range []int{0, len(items) - 1} { // empty, it stands between others
		if items[i].name == "%hr" {
			items[i], items[1] = items[1], items[i]
		}
	}
	for i, it := range items {
		if i > 0 {
			sep := []string{" ", " ", " | ", ", ", " - "}[r.IntN(5)]
			if strings.HasPrefix(items[i-1].name, "$upstream_") { // ", " would go on with the list
				sep = " "
			}
			format += sep
		}
		switch r.IntN(4) {
		case 0:
			format += "f" + strconv.Itoa(i) + "="
		case 1:
			format += "["
			if it.bare && r.IntN(2) == 0 && !strings.Contains(it.name, "+Q") {
				format += it.name + "]"
				continue
			}
			format = format[:len(format)-1]
		}
		if it.bare && r.IntN(2) == 0 || strings.Contains(it.name, "+Q") || it.name == "%hr" {
			format += it.name
		} else {
			format += `"` + it.name + `"`
		}
	}
	return format, items
}

// renderFormat does what the server does: fields in the place of their names.
func renderFormat(l *language, format string, items []item, tr *truth) string {
	names := slices.Clone(items)
	slices.SortFunc(names, func(a, b item) int { return len(b.name) - len(a.name) }) // %t is the start of %tr
	var out strings.Builder
	for at := 0; at < len(format); {
		i := slices.IndexFunc(names, func(it item) bool { return strings.HasPrefix(format[at:], it.name) })
		if i < 0 {
			out.WriteByte(format[at])
			at++
			continue
		}
		value := names[i].render(tr)
		if !strings.Contains(names[i].name, "+Q") {
			value = l.escape(value)
		}
		if names[i].name == "%hr" && value == "" { // HAProxy writes one blank between fields
			for at += len(names[i].name); at < len(format) && format[at] == ' ' && strings.HasSuffix(out.String(), " "); at++ {
			}
			continue
		}
		out.WriteString(value)
		at += len(names[i].name)
	}
	return out.String()
}
