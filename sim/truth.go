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
// src and conn_seq name an exchange in a capture; chain is the unit of work, and
// attempt counts its requests to the server. client is the client's own address,
// whatever the server saw. Where it applies there follow "key", which of its
// owner's credentials it carried, "copy":true for a second copy of an attempt,
// and "layers", the attempts of each hop on the way, the client's first.
func (r *Result) WriteTruth(w io.Writer) error {
	out := bufio.NewWriter(w)
	var b []byte
	for i := range r.Rows {
		b = r.appendTruth(b[:0], &r.Rows[i])
		out.Write(b) // the error sticks and shows in Flush
	}
	return out.Flush()
}

func (r *Result) appendTruth(b []byte, row *Row) []byte {
	b = append(b, `{"src":"`...)
	b = r.Conns[row.Conn].Src.AppendTo(b)
	b = strconv.AppendUint(append(b, `","conn_seq":`...), uint64(row.ConnSeq), 10)
	b = append(b, `,"start":"`...)
	b = time.Unix(0, row.Start).UTC().AppendFormat(b, time.RFC3339Nano)
	b = strconv.AppendUint(append(b, `","chain":`...), row.Chain, 10)
	b = strconv.AppendInt(append(b, `,"attempt":`...), int64(row.Attempt), 10)
	b = append(b, `,"client":"`...)
	b = r.Clients[row.Client].Addr.AppendTo(b)
	b = strconv.AppendQuote(append(b, `","group":`...), r.Group(row).Name)
	if row.Key > 0 {
		b = strconv.AppendInt(append(b, `,"key":`...), int64(row.Key), 10)
	}
	if row.Copy {
		b = append(b, `,"copy":true`...)
	}
	for i, n := range row.Layers {
		switch {
		case n == 0:
		case i == 0:
			b = append(b, `,"layers":[`...)
			b = strconv.AppendUint(b, uint64(n), 10)
		default:
			b = strconv.AppendUint(append(b, ','), uint64(n), 10)
		}
	}
	if row.Layers[0] > 0 {
		b = append(b, ']')
	}
	return append(b, "}\n"...)
}
