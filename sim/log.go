package sim

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormwatch/capture"
)

const statusGone = 499 // what nginx logs when the client closed before the answer

// lineFormats are the formats of WriteLogFormat: each appends one line without
// its end.
var lineFormats = map[string]func(r *Result, b []byte, row *Row) []byte{
	"combined": (*Result).appendCombined,
	"nginx":    (*Result).appendNginx,
}

// LogFormats returns the names of the formats, sorted.
func LogFormats() []string { return slices.Sorted(maps.Keys(lineFormats)) }

// WriteLog writes the traffic as WriteLogFormat does in the format "nginx".
func (r *Result) WriteLog(w io.Writer) error { return r.WriteLogFormat(w, "nginx") }

// WriteLogFormat writes the traffic as an access log of the server, one line an
// exchange in the order in which they ended. The formats are
//
//	combined  nginx's and Apache's of that name; a clock of 1 s
//	nginx     combined + ' $request_time $msec'; a clock of 1 ms
//
// and where a client sends X-Forwarded-For nginx logs it after the user agent, as
// in its format "main".
func (r *Result) WriteLogFormat(w io.Writer, name string) error {
	format := lineFormats[name]
	if format == nil {
		return fmt.Errorf("log format %q: want one of %s", name, strings.Join(LogFormats(), ", "))
	}
	out := bufio.NewWriter(w)
	var line []byte
	for _, i := range r.byEnd() {
		line = append(format(r, line[:0], &r.Rows[i]), '\n')
		out.Write(line) // the error sticks and shows in Flush
	}
	return out.Flush()
}

// byEnd returns the indices of Rows in the order in which they ended.
func (r *Result) byEnd() []int {
	order := make([]int, len(r.Rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Rows[a].End, r.Rows[b].End) })
	return order
}

// code is the status that a server counts for a row.
func (r *Row) code() int {
	if r.Outcome != capture.Answered {
		return statusGone
	}
	return int(r.Status)
}

func (r *Result) appendCombined(b []byte, row *Row) []byte {
	g, end := r.Group(row), time.Unix(0, row.End).UTC()
	size := len(r.body(row))
	if row.Outcome != capture.Answered {
		size = 0
	}
	b = r.Conns[row.Conn].Src.Addr().AppendTo(b)
	b = end.AppendFormat(append(b, " - - ["...), "02/Jan/2006:15:04:05 -0700")
	b = append(b, `] "`+g.Method+" "+row.Path+` HTTP/1.1" `...)
	b = strconv.AppendInt(b, int64(row.code()), 10)
	b = strconv.AppendInt(append(b, ' '), int64(size), 10)
	agent := cmp.Or(g.Agent, "-")
	return append(b, ` "-" "`+agent+`"`...)
}

func (r *Result) appendNginx(b []byte, row *Row) []byte {
	b = r.appendCombined(b, row)
	if forwarded, ok := fieldValue(row.Asked, "X-Forwarded-For"); ok {
		b = append(b, ` "`+forwarded+`"`...)
	}
	from, to := row.Start/int64(time.Millisecond), row.End/int64(time.Millisecond)
	b = appendSeconds(append(b, ' '), to-from)
	return appendSeconds(append(b, ' '), to)
}

// appendSeconds writes milliseconds as seconds with three digits.
func appendSeconds(b []byte, ms int64) []byte {
	b = append(strconv.AppendInt(b, ms/1000, 10), '.')
	ms %= 1000
	return append(b, byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
}
