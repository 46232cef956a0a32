package sim

import (
	"net/http"
	"strconv"
	"time"
)

// Bodies of the answers; the refusals say what small APIs say.
const (
	bodyOK      = `{"ok":true}`
	bodyRefused = `{"error":"rate limited"}`
)

// body returns the body of the answer to a row.
func (r *Result) body(row *Row) string {
	switch {
	case r.Group(row).Method == http.MethodHead:
		return ""
	case row.Refused():
		return bodyRefused
	}
	return bodyOK
}

// appendRequest appends the request of a row as HTTP/1.1.
func (r *Result) appendRequest(b []byte, row *Row) []byte {
	g := r.Group(row)
	b = append(b, g.Method+" "+row.Path+" HTTP/1.1\r\nHost: "+r.Scenario.Server.Host+"\r\n"...)
	if g.Agent != "" {
		b = append(b, "User-Agent: "+g.Agent+"\r\n"...)
	}
	if g.Method == http.MethodPost || g.Method == http.MethodPut {
		b = append(b, "Content-Length: 0\r\n"...)
	}
	return append(b, "\r\n"...)
}

// appendResponse appends the answer of a row as HTTP/1.1. A HEAD request is
// answered with the length that GET would have (RFC 9110 section 8.6).
func (r *Result) appendResponse(b []byte, row *Row) []byte {
	length := len(bodyOK)
	if row.Refused() {
		length = len(bodyRefused)
	}
	b = append(b, "HTTP/1.1 "+strconv.Itoa(int(row.Status))+" "+http.StatusText(int(row.Status))+"\r\nDate: "...)
	b = time.Unix(0, row.End).UTC().AppendFormat(b, http.TimeFormat)
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(length), 10)
	if row.Hinted {
		b = append(b, "\r\nRetry-After: "...)
		b = strconv.AppendInt(b, row.RetryAfter, 10)
	}
	b = append(b, "\r\n\r\n"...)
	return append(b, r.body(row)...)
}
