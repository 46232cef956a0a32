package sim

import (
	"fmt"
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
	talkers := map[int]*talker{} // of HTTP/2
	var message []byte
	for i := range r.Rows {
		row := &r.Rows[i]
		at := &r.Conns[row.Conn]
		if conns[row.Conn] == nil {
			conns[row.Conn] = out.Dial(at.Opened, at.Src, at.Dst)
		}
		conn := conns[row.Conn]
		talk := talkers[row.Conn]
		if r.Scenario.Server.multiplexed() {
			if talk == nil {
				talk = newTalker(conn)
				talkers[row.Conn] = talk
			}
			if err := talk.ask(r, row); err != nil {
				return fmt.Errorf("writing a capture: %w", err)
			}
		} else {
			message = r.appendRequest(message[:0], row)
			conn.Send(row.Start, true, message)
		}
		if row.Repeated {
			conn.Resend(row.Start+(row.End-row.Start)/2, true)
		}
		switch {
		case row.Outcome != capture.Answered:
		case talk != nil:
			if err := talk.answer(r, row); err != nil {
				return fmt.Errorf("writing a capture: %w", err)
			}
		default:
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
		delete(talkers, row.Conn)
	}
	return out.Flush()
}
