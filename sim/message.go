package sim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bodies of the answers; the refusals say what small APIs say.
const (
	bodyOK      = `{"ok":true}`
	bodyRefused = `{"error":"rate limited"}`
	bodyNo      = `{"valid":false,"reason":"rate_limited"}` // of a 200
)

// errorBody is the body of an answer that is neither.
func errorBody(status int) string {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		return bodyRefused
	}
	return `{"error":"` + strings.ToLower(http.StatusText(status)) + `"}`
}

// withWait adds a wait to a body.
func withWait(body, wait string) string {
	if _, err := strconv.ParseFloat(wait, 64); err != nil {
		wait = strconv.Quote(wait)
	}
	return strings.TrimSuffix(body, "}") + `,"retry_after":` + wait + "}"
}

// content is what the answer to GET would have for a body.
func (row *Row) content() string {
	if row.Body == "" {
		return bodyOK
	}
	return row.Body
}

// body returns the body of the answer to a row.
func (r *Result) body(row *Row) string {
	if r.Group(row).Method == http.MethodHead {
		return ""
	}
	return row.content()
}

// writes are the methods whose requests carry a body.
var writes = []string{http.MethodPost, http.MethodPut, http.MethodPatch}

// requestBody returns the body of the request of a row, the same on all attempts.
func (r *Result) requestBody(row *Row) string {
	if !slices.Contains(writes, r.Group(row).Method) {
		return ""
	}
	return `{"order":` + strconv.FormatUint(row.Chain, 10) + "}"
}

// appendRequest appends the request of a row as HTTP/1.1.
func (r *Result) appendRequest(b []byte, row *Row) []byte {
	g := r.Group(row)
	b = append(b, g.Method+" "+row.Path+" HTTP/1.1\r\nHost: "+r.Scenario.Server.Host+"\r\n"...)
	if g.Agent != "" {
		b = append(b, "User-Agent: "+g.Agent+"\r\n"...)
	}
	b = append(b, row.Asked...)
	body := r.requestBody(row)
	if body != "" {
		b = strconv.AppendInt(append(b, "Content-Type: application/json\r\nContent-Length: "...), int64(len(body)), 10)
		b = append(b, "\r\n"...)
	}
	return append(append(b, "\r\n"...), body...)
}

// appendResponse appends the answer of a row as HTTP/1.1. A HEAD request is
// answered with the length that GET would have (RFC 9110 section 8.6).
func (r *Result) appendResponse(b []byte, row *Row) []byte {
	b = append(b, "HTTP/1.1 "+strconv.Itoa(int(row.Status))+" "+http.StatusText(int(row.Status))+"\r\nDate: "...)
	b = r.date(row).AppendFormat(b, http.TimeFormat)
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(row.content())), 10)
	b = append(append(b, "\r\n"...), row.Fields...)
	return append(append(b, "\r\n"...), r.body(row)...)
}

// date is the server's clock when it answers.
func (r *Result) date(row *Row) time.Time {
	return time.Unix(0, row.End+int64(r.Scenario.Server.Skew)).UTC()
}
