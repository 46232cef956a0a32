package main

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"
)

// writeLog writes nginx's combined format with $request_time and $msec, in the
// order in which the exchanges ended.
func writeLog(w io.Writer, t *traffic) error {
	var line []byte
	return t.inOrderOfEnd(func(x exchange) error {
		line = appendLine(line[:0], x)
		_, err := w.Write(line)
		return err
	})
}

// inOrderOfEnd hands out exchanges by their end. What has ended before the
// youngest start can be handed out: nothing that is still to come ends earlier.
func (t *traffic) inOrderOfEnd(each func(exchange) error) error {
	var open []exchange
	hand := func(until int64) error {
		slices.SortStableFunc(open, func(a, b exchange) int { return cmp.Compare(a.end, b.end) })
		n := 0
		for n < len(open) && open[n].end < until {
			if err := each(open[n]); err != nil {
				return err
			}
			n++
		}
		open = append(open[:0], open[n:]...)
		return nil
	}
	const batchSize = 4096
	for x, ok := t.next(); ok; x, ok = t.next() {
		if open = append(open, x); len(open) >= batchSize {
			if err := hand(x.start); err != nil {
				return err
			}
		}
	}
	return hand(1<<63 - 1)
}

func appendLine(b []byte, x exchange) []byte {
	end := time.Unix(0, x.end).UTC()
	b = addressOf(x.client).AppendTo(b)
	b = end.AppendFormat(append(b, " - - ["...), "02/Jan/2006:15:04:05 -0700")
	b = append(b, `] "GET `...)
	b = appendPath(b, x.path)
	b = append(b, ` HTTP/1.1" `...)
	b = strconv.AppendInt(b, int64(x.status), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(len(bodyOf(x.status))), 10)
	b = append(b, ` "-" "`+agentOf(x.client)+`" `...)
	from, to := x.start/int64(time.Millisecond), x.end/int64(time.Millisecond)
	b = appendSeconds(b, to-from)
	b = appendSeconds(append(b, ' '), to)
	return append(b, '\n')
}

// appendPath writes one of many paths of one route, with a query.
func appendPath(b []byte, n int) []byte {
	b = append(b, "/v1/readings/"...)
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, "?fields=all&page="...)
	return strconv.AppendInt(b, int64(n%7), 10)
}

// appendSeconds writes milliseconds as seconds with three digits.
func appendSeconds(b []byte, ms int64) []byte {
	b = append(strconv.AppendInt(b, ms/1000, 10), '.')
	ms %= 1000
	return append(b, byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
}
