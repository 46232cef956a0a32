package loadtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"stormwatch/capture"
)

func isHAR(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	head = bytes.TrimLeft(head[1:], " \t\r\n")
	return bytes.HasPrefix(head, []byte(`"log"`)) && (bytes.Contains(head, []byte(`"creator"`)) || bytes.Contains(head, []byte(`"entries"`)))
}

// harEntry is an entry of a HAR 1.2 (w3c.github.io/web-performance/specs/HAR):
// startedDateTime, and time in milliseconds.
type harEntry struct {
	StartedDateTime time.Time
	Time            float64
	Request         struct {
		Method, URL string
		Headers     []field
	}
	Response struct {
		Status  int
		Headers []field
		Content struct{ MimeType, Text, Encoding string }
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
			agent: valueOf(e.Request.Headers, "user-agent"), asked: e.Request.Headers, answer: e.Response.Headers, media: e.Response.Content.MimeType,
		}
		if e.StartedDateTime.IsZero() {
			res.start = 0
		}
		if e.Response.Content.Encoding == "" { // else it is in base64, since it is no text
			res.body = []byte(e.Response.Content.Text[:min(len(e.Response.Content.Text), capture.BodyWindow)])
		}
		if err := o.add(res); err != nil {
			return err
		}
	}
	return nil
}

// harEnd tells a document that breaks off from one that is none.
func harEnd(err error) error {
	if strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "unexpected end") {
		return errTorn
	}
	return err
}
