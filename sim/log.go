package sim

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"

	"stormwatch/capture"
)

const statusGone = 499 // what nginx logs when the client closed before the answer

// WriteLog writes the traffic as an nginx access log, one line an exchange in the
// order in which they ended:
//
//	combined + ' $request_time $msec'
//
// with nginx's clock of 1 ms.
func (r *Result) WriteLog(w io.Writer) error {
	out := bufio.NewWriter(w)
	var line []byte
	for _, i := range r.byEnd() {
		line = r.appendLine(line[:0], &r.Rows[i])
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

func (r *Result) appendLine(b []byte, row *Row) []byte {
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
	b = append(b, ` "-" "`+agent+`" `...)
	from, to := row.Start/int64(time.Millisecond), row.End/int64(time.Millisecond)
	b = appendSeconds(b, to-from)
	b = appendSeconds(append(b, ' '), to)
	return append(b, '\n')
}

// appendSeconds writes milliseconds as seconds with three digits.
func appendSeconds(b []byte, ms int64) []byte {
	b = append(strconv.AppendInt(b, ms/1000, 10), '.')
	ms %= 1000
	return append(b, byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
}
