package sim

import (
	"io"

	"stormwatch/capture"
	"stormwatch/capture/packet/write"
)

// WriteCapture writes the traffic as a packet capture: classic pcap, nanoseconds.
func (r *Result) WriteCapture(w io.Writer) error {
	out, err := write.New(w)
	if err != nil {
		return err
	}
	conns := make([]*write.Conn, len(r.Conns))
	var message []byte
	for i := range r.Rows {
		row := &r.Rows[i]
		at := &r.Conns[row.Conn]
		if conns[row.Conn] == nil {
			conns[row.Conn] = out.Dial(at.Opened, at.Src, at.Dst)
		}
		conn := conns[row.Conn]
		message = r.appendRequest(message[:0], row)
		conn.Send(row.Start, true, message)
		if row.Repeated {
			conn.Resend(row.Start+(row.End-row.Start)/2, true)
		}
		if row.Outcome == capture.Answered {
			message = r.appendResponse(message[:0], row)
			conn.Send(row.End, false, message)
		}
		if at.Closed == 0 || row.ConnSeq < at.requests {
			continue
		}
		if at.Aborted {
			conn.Abort(at.Closed, !at.ByServer)
		} else {
			conn.Close(at.Closed)
		}
		conns[row.Conn] = nil
	}
	return out.Flush()
}
