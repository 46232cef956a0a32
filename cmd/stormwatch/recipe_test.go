package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stormwatch/capture/packet/write"
)

// act is one line of a recipe: clients that do the same, round after round.
type act struct {
	From    string        // the first client's address; further clients count up from it
	Clients int           // default 1
	Start   time.Duration // of the first round, since the start of the case
	Stagger time.Duration // client k of n begins k/n of this later
	Spread  time.Duration // each round begins up to this later, drawn
	Every   time.Duration // from one round to the next
	Times   int           // rounds; default 1
	Fresh   bool          // each request on a new connection
	Host    string        // default api.example.com
	Lucky   float64
	Steps   []shot // of a round; default: the one that the fields below describe
	Do      shot   `yaml:",inline"`
}

// shot is one request and what came of it. In its texts {n} is the number of the
// round from 0, {client} that of the client from 1, and {imf+600s}, {rfc850+2s},
// {asctime+2s}, {epoch-2s}, {epochms+2s} and {iso+2s} are moments since the answer.
type shot struct {
	At     time.Duration // since its round began
	Ask    string        // "GET /path"
	Sent   []string      // further header lines
	Body   string        // of the request
	Status int           // of the answer; default 200
	Takes  time.Duration // from request to answer; default 2ms
	Stays  time.Duration // a fresh connection is still open so long after the answer, that of a session; a capture ends before
	Answer []string      // further header lines of the answer
	Reply  string        // body of the answer; default {}
	Lost   string        // instead of an answer: left (the client resets), closed (its FIN), reset (the server's), silent
	Agent  string        // default app/1.0
	Key    string        // sent as a bearer token
}

// request is one exchange of an expanded recipe.
type request struct {
	shot
	start, end         time.Duration
	from               netip.Addr
	act                int
	fresh              bool
	agent, key, host   string
	method, path, body string
}

// dawn is when all cases start.
var dawn = time.Date(2026, 3, 2, 3, 10, 0, 0, time.UTC)

var (
	placeWords = regexp.MustCompile(`\{(n|client)\}`)
	timeWords  = regexp.MustCompile(`\{(imf|rfc850|asctime|epoch|epochms|iso|clfwest|clf|msec|haproxy)([+-][0-9a-z.]+)?\}`)
)

// expand makes the requests of a recipe in order of start.
func expand(t *testing.T, acts []act) (out []request) {
	t.Helper()
	for i := range acts {
		a := &acts[i]
		from, err := netip.ParseAddr(a.From)
		if err != nil {
			t.Fatalf("act %d: %v", i+1, err)
		}
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		clients := max(a.Clients, 1)
		for c := range clients {
			for n := range max(a.Times, 1) {
				at := a.Start + time.Duration(n)*a.Every + a.Stagger*time.Duration(c)/time.Duration(clients)
				if a.Spread > 0 {
					at += time.Duration(rng.Int64N(int64(a.Spread)))
				}
				steps := a.Steps
				if len(steps) == 0 {
					steps = []shot{{}}
				}
				for _, s := range steps {
					out = append(out, fill(a, s, i, c, n, at, from, rng))
				}
			}
			from = from.Next()
		}
	}
	slices.SortStableFunc(out, func(x, y request) int { return cmp.Compare(x.start, y.start) })
	return out
}

// fill completes a step from its act.
func fill(a *act, s shot, i, c, n int, at time.Duration, from netip.Addr, rng *rand.Rand) request {
	s.Ask = cmp.Or(s.Ask, a.Do.Ask)
	s.Body = cmp.Or(s.Body, a.Do.Body)
	s.Status = cmp.Or(s.Status, a.Do.Status, http.StatusOK)
	s.Takes = cmp.Or(s.Takes, a.Do.Takes, 2*time.Millisecond)
	s.Reply = cmp.Or(s.Reply, a.Do.Reply, "{}")
	s.Stays = cmp.Or(s.Stays, a.Do.Stays)
	s.Lost = cmp.Or(s.Lost, a.Do.Lost)
	if s.Sent == nil {
		s.Sent = a.Do.Sent
	}
	if s.Answer == nil {
		s.Answer = a.Do.Answer
	}
	if a.Lucky > 0 && rng.Float64() < a.Lucky {
		s.Status, s.Answer, s.Lost = http.StatusOK, nil, ""
	}
	put := func(text string) string {
		return placeWords.ReplaceAllStringFunc(text, func(m string) string {
			if m == "{n}" {
				return strconv.Itoa(n)
			}
			return strconv.Itoa(c + 1)
		})
	}
	r := request{shot: s, start: at + s.At, from: from, act: i, fresh: a.Fresh}
	r.end = r.start + s.Takes
	r.Sent, r.Answer = slices.Clone(s.Sent), slices.Clone(s.Answer)
	for k := range r.Sent {
		r.Sent[k] = put(r.Sent[k])
	}
	for k := range r.Answer {
		r.Answer[k] = withMoments(put(r.Answer[k]), dawn.Add(r.end))
	}
	r.Reply = withMoments(put(r.Reply), dawn.Add(r.end))
	r.agent, r.key, r.host = put(cmp.Or(s.Agent, a.Do.Agent, "app/1.0")), put(cmp.Or(s.Key, a.Do.Key)), cmp.Or(a.Host, "api.example.com")
	r.method, r.path, _ = strings.Cut(put(s.Ask), " ")
	r.body = put(s.Body)
	return r
}

// withMoments writes the moments of a text.
func withMoments(text string, now time.Time) string {
	return timeWords.ReplaceAllStringFunc(text, func(m string) string {
		p := timeWords.FindStringSubmatch(m)
		d, _ := time.ParseDuration(cmp.Or(p[2], "0s"))
		at := now.Add(d)
		switch p[1] {
		case "imf":
			return at.Format(http.TimeFormat)
		case "rfc850":
			return at.Format("Monday, 02-Jan-06 15:04:05 GMT")
		case "asctime":
			return at.Format(time.ANSIC)
		case "epoch":
			return strconv.FormatInt(at.Unix(), 10)
		case "epochms":
			return strconv.FormatInt(at.UnixMilli(), 10)
		case "clf":
			return at.Format("02/Jan/2006:15:04:05 -0700")
		case "clfwest":
			return at.In(time.FixedZone("", -6*3600)).Format("02/Jan/2006:15:04:05 -0700")
		case "msec":
			return fmt.Sprintf("%d.%03d", at.Unix(), at.UnixMilli()%1000)
		case "haproxy":
			return at.Format("02/Jan/2006:15:04:05.000")
		}
		return at.Format(time.RFC3339Nano)
	})
}

// keptAlive is a connection of a client, kept alive.
type keptAlive struct {
	*write.Conn
	free   time.Duration // since when it is idle
	closed bool
}

// asCapture writes requests as packets: each client's over connections that it
// uses again once they are idle.
func asCapture(t *testing.T, requests []request) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := write.New(&b)
	if err != nil {
		t.Fatal(err)
	}
	server := netip.MustParseAddrPort("198.51.100.1:80")
	server6 := netip.MustParseAddrPort("[2001:db8:ff::1]:80")
	lines := map[netip.Addr][]*keptAlive{}
	for i := range requests {
		r := &requests[i]
		to := server
		if r.from.Is6() {
			to = server6
		}
		at := dawn.Add(r.start).UnixNano()
		k := slices.IndexFunc(lines[r.from], func(l *keptAlive) bool { return !r.fresh && !l.closed && l.free < r.start })
		if k < 0 {
			port := uint16(20000 + len(lines[r.from]))
			lines[r.from] = append(lines[r.from], &keptAlive{Conn: w.Dial(at-300_000, netip.AddrPortFrom(r.from, port), to)})
			k = len(lines[r.from]) - 1
		}
		l := lines[r.from][k]
		l.free = r.end
		l.Send(at, true, r.message())
		end := dawn.Add(r.end).UnixNano()
		switch r.Lost {
		case "":
			l.Send(end, false, r.reply())
		case "left":
			l.Abort(end, true)
		case "reset":
			l.Abort(end, false)
		case "closed":
			l.Close(end)
		}
		l.closed = r.Lost != "" || r.fresh
		if r.fresh && r.Lost == "" && r.Stays == 0 {
			l.Close(end + 100_000)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (r *request) message() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\n", r.method, r.path, r.host, r.agent)
	if r.key != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", r.key)
	}
	for _, h := range r.Sent {
		b.WriteString(h + "\r\n")
	}
	if r.body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(r.body))
	}
	b.WriteString("\r\n" + r.body)
	return b.Bytes()
}

func (r *request) reply() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nDate: %s\r\n", r.Status, http.StatusText(r.Status), dawn.Add(r.end).Format(http.TimeFormat))
	for _, h := range r.Answer {
		b.WriteString(h + "\r\n")
	}
	body := r.Reply
	if r.Status < 200 || r.Status == http.StatusNoContent || r.Status == http.StatusNotModified {
		body = ""
	} else {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	if r.method != http.MethodHead {
		b.WriteString(body)
	}
	return b.Bytes()
}

// code is what a log tells of a request: nginx's 499 where the client left.
func (r *request) code() int {
	switch r.Lost {
	case "left", "closed":
		return 499
	case "reset", "silent":
		return http.StatusGatewayTimeout
	}
	return r.Status
}

// over is when all of it has ended, as a log sees it.
func (r *request) over() time.Duration { return r.end + r.Stays }

// asLog writes requests as one line each in order of their end: in Caddy's JSON,
// with headers and a clock of 1 µs, or in the format combined, with neither.
func asLog(requests []request, format string) []byte {
	byEnd := slices.Clone(requests)
	slices.SortStableFunc(byEnd, func(x, y request) int { return cmp.Compare(x.over(), y.over()) })
	var b bytes.Buffer
	for i := range byEnd {
		r := &byEnd[i]
		end := dawn.Add(r.over())
		if format == "combined" {
			fmt.Fprintf(&b, "%s - - [%s] \"%s %s HTTP/1.1\" %d %d \"-\" %q\n", r.from, end.Format("02/Jan/2006:15:04:05 -0700"), r.method, r.path, r.code(), len(r.Reply), r.agent)
			continue
		}
		us := end.UnixMicro()
		fmt.Fprintf(&b, `{"level":"info","ts":%d.%06d,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"%s","remote_port":"%d","proto":"HTTP/1.1","method":"%s","host":"%s","uri":%q,"headers":{"User-Agent":[%q]%s}},"duration":%f,"size":%d,"status":%d,"resp_headers":{"Server":["Caddy"]%s}}`+"\n",
			us/1e6, us%1e6, r.from, r.port(), r.method, r.host, r.path, r.agent, fields(r.Sent), (r.Takes + r.Stays).Seconds(), len(r.Reply), r.code(), fields(r.Answer))
	}
	return b.Bytes()
}

// port is the one that a log tells: an act's own.
func (r *request) port() int {
	if r.act < 1000 {
		return 20000 + r.act
	}
	return r.act
}

func fields(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		fmt.Fprintf(&b, ",%q:[%q]", http.CanonicalHeaderKey(name), value)
	}
	return b.String()
}

// logLine is a line of a log, written Times times. {clf}, {clfwest} (six hours behind), {msec}, {haproxy} and
// {iso} are its moment, {n} its number from 0.
type logLine struct {
	Line  string
	Start time.Duration
	Every time.Duration
	Times int
}

// written are the lines in order of time.
func written(lines []logLine) []byte {
	type stamped struct {
		at   time.Duration
		text string
	}
	var all []stamped
	for _, l := range lines {
		for n := range max(l.Times, 1) {
			at := l.Start + time.Duration(n)*l.Every
			all = append(all, stamped{at, withMoments(strings.ReplaceAll(l.Line, "{n}", strconv.Itoa(n)), dawn.Add(at))})
		}
	}
	slices.SortStableFunc(all, func(a, b stamped) int { return cmp.Compare(a.at, b.at) })
	var b bytes.Buffer
	for _, l := range all {
		b.WriteString(l.text + "\n")
	}
	return b.Bytes()
}
