package loadtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

func isHAR(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	head = bytes.TrimLeft(head[1:], " \t\r\n")
	return bytes.HasPrefix(head, []byte(`"log"`)) && (bytes.Contains(head, []byte(`"creator"`)) || bytes.Contains(head, []byte(`"entries"`)))
}

type harHeader struct{ Name, Value string }

// harEntry is an entry of a HAR 1.2 (w3c.github.io/web-performance/specs/HAR):
// startedDateTime, and time in milliseconds.
type harEntry struct {
	StartedDateTime time.Time
	Time            float64
	Request         struct {
		Method, URL string
		Headers     []harHeader
	}
	Response struct {
		Status  int
		Headers []harHeader
	}
}

// readHAR reads the entries one by one: a HAR is one document of any size.
func readHAR(r *bufio.Reader, o *output) error {
	in := &bounded{r: r}
	d := json.NewDecoder(in)
	depth, key := 0, ""
	for {
		in.begin()
		t, err := d.Token()
		if err != nil {
			return harEnd(err)
		}
		switch v := t.(type) {
		case json.Delim:
			if v == '[' && key == "entries" && depth == 2 {
				return harEntries(d, in, o)
			}
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
		case string:
			key = v
		}
	}
}

func harEntries(d *json.Decoder, in *bounded, o *output) error {
	for in.begin(); d.More(); in.begin() {
		o.place++
		var e harEntry
		if err := d.Decode(&e); err != nil {
			return harEnd(err)
		}
		if !(e.Time >= 0 && e.Time < 1e12) {
			e.Time = 0
		}
		res := &result{
			start: e.StartedDateTime.UnixNano(), end: e.StartedDateTime.Add(time.Duration(e.Time * 1e6)).UnixNano(), step: int64(time.Millisecond),
			status: e.Response.Status, method: e.Request.Method, url: e.Request.URL, headers: true,
			agent: header(e.Request.Headers, "user-agent"), idem: header(e.Request.Headers, "idempotency-key"),
			after: header(e.Response.Headers, "retry-after"), millis: header(e.Response.Headers, "retry-after-ms"),
		}
		if e.StartedDateTime.IsZero() {
			res.start = 0
		}
		if t, err := http.ParseTime(header(e.Response.Headers, "date")); err == nil {
			res.date = t.Unix()
		}
		if err := o.add(res); err != nil {
			return err
		}
	}
	return nil
}

func header(all []harHeader, name string) string {
	for _, h := range all {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// harEnd tells a document that breaks off from one that is none.
func harEnd(err error) error {
	if strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "unexpected end") {
		return errTorn
	}
	return err
}
