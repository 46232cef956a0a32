package sim

import (
	"bufio"
	"io"
	"strconv"
	"time"
)

// WriteTruth writes which request was an attempt of which, one JSON object a line
// in order of start:
//
//	{"src":"10.1.0.1:32768","conn_seq":1,"start":"2026-03-02T03:10:00.004Z","chain":1,"attempt":1,"client":"10.1.0.1","group":"batch"}
//
// src and conn_seq name an exchange in a capture; chain is the unit of work.
func (r *Result) WriteTruth(w io.Writer) error {
	out := bufio.NewWriter(w)
	var b []byte
	for i := range r.Rows {
		row := &r.Rows[i]
		b = append(b[:0], `{"src":"`...)
		b = r.Conns[row.Conn].Src.AppendTo(b)
		b = strconv.AppendUint(append(b, `","conn_seq":`...), uint64(row.ConnSeq), 10)
		b = append(b, `,"start":"`...)
		b = time.Unix(0, row.Start).UTC().AppendFormat(b, time.RFC3339Nano)
		b = strconv.AppendUint(append(b, `","chain":`...), row.Chain, 10)
		b = strconv.AppendInt(append(b, `,"attempt":`...), int64(row.Attempt), 10)
		b = append(b, `,"client":"`...)
		b = r.Clients[row.Client].Addr.AppendTo(b)
		b = strconv.AppendQuote(append(b, `","group":`...), r.Group(row).Name)
		b = append(b, "}\n"...)
		out.Write(b) // the error sticks and shows in Flush
	}
	return out.Flush()
}
