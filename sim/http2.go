package sim

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"stormwatch/capture"
	"stormwatch/capture/packet/write"
)

// What the server speaks.
const (
	overHTTP2 = "h2c"  // HTTP/2 with prior knowledge
	overGRPC  = "grpc" // the same, calls of gRPC: refusals are statuses in trailers
)

// multiplexed tells whether the server speaks HTTP/2.
func (s *Server) multiplexed() bool { return s.Protocol != "" }

// rpcCodes are the gRPC codes of what the server answers.
var rpcCodes = map[uint16]int{
	http.StatusOK: 0, http.StatusTooManyRequests: 8, http.StatusServiceUnavailable: 14, http.StatusForbidden: 7,
	http.StatusUnauthorized: 16, http.StatusNotFound: 5, http.StatusGatewayTimeout: 4, http.StatusInternalServerError: 13,
}

// rpcCode is the code of an answer; UNKNOWN where there is none of its own.
func rpcCode(status uint16) int {
	if code, ok := rpcCodes[status]; ok {
		return code
	}
	return 2
}

// talker writes the two sides of an HTTP/2 connection (RFC 9113), one stream after
// the other.
type talker struct {
	conn  *write.Conn
	sides [2]speaker // client, server
}

type speaker struct {
	out   bytes.Buffer
	frame *http2.Framer
	block bytes.Buffer
	table *hpack.Encoder
	begun bool
}

func newTalker(conn *write.Conn) *talker {
	t := &talker{conn: conn}
	for i := range t.sides {
		s := &t.sides[i]
		s.frame = http2.NewFramer(&s.out, nil)
		s.table = hpack.NewEncoder(&s.block)
	}
	return t
}

// field adds a header field to the block that comes next.
func (s *speaker) field(name, value string) {
	_ = s.table.WriteField(hpack.HeaderField{Name: name, Value: value}) // into memory
}

// fields adds lines as HTTP/1.1 has them.
func (s *speaker) fields(lines string) {
	for line := range strings.SplitSeq(lines, "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			s.field(strings.ToLower(name), value)
		}
	}
}

// headers writes the block.
func (s *speaker) headers(stream uint32, last bool) error {
	err := s.frame.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: s.block.Bytes(), EndHeaders: true, EndStream: last})
	s.block.Reset()
	return err
}

// begin opens a side: the preface is the client's (section 3.4).
func (s *speaker) begin(client bool) error {
	if s.begun {
		return nil
	}
	s.begun = true
	if client {
		s.out.WriteString(http2.ClientPreface)
		return s.frame.WriteSettings(http2.Setting{ID: http2.SettingEnablePush})
	}
	if err := s.frame.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100}); err != nil {
		return err
	}
	return s.frame.WriteSettingsAck()
}

// send hands over what one side has said.
func (t *talker) send(at int64, client bool) {
	s := &t.sides[0]
	if !client {
		s = &t.sides[1]
	}
	t.conn.Send(at, client, s.out.Bytes())
	s.out.Reset()
}

// streamOf numbers the requests of a connection as clients do (section 5.1.1).
func streamOf(row *Row) uint32 { return 2*row.ConnSeq - 1 }

// ask writes the request of a row.
func (t *talker) ask(r *Result, row *Row) error {
	s, g, id := &t.sides[0], r.Group(row), streamOf(row)
	if err := s.begin(true); err != nil {
		return err
	}
	s.field(":method", g.Method)
	s.field(":scheme", "http")
	s.field(":path", row.Path)
	s.field(":authority", r.Scenario.Server.Host)
	if g.Agent != "" {
		s.field("user-agent", g.Agent)
	}
	body := r.requestBody(row)
	switch {
	case r.Scenario.Server.Protocol == overGRPC:
		s.field("content-type", "application/grpc")
		s.field("te", "trailers")
		body = framed(body)
	case body != "":
		s.field("content-type", "application/json")
		s.field("content-length", strconv.Itoa(len(body)))
	}
	s.fields(row.Asked)
	if err := s.headers(id, body == ""); err != nil {
		return err
	}
	if body != "" {
		if err := s.frame.WriteData(id, true, []byte(body)); err != nil {
			return err
		}
	}
	t.send(row.Start, true)
	return nil
}

// framed is a message of gRPC: not compressed, with its length in front.
func framed(message string) string {
	return string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))) + message
}

// answer writes the response of a row.
func (t *talker) answer(r *Result, row *Row) error {
	s, id := &t.sides[1], streamOf(row)
	if err := s.begin(false); err != nil {
		return err
	}
	var err error
	if r.Scenario.Server.Protocol == overGRPC {
		err = s.call(r, row, id)
	} else {
		err = s.response(r, row, id)
	}
	t.send(row.End, false)
	return err
}

func (s *speaker) response(r *Result, row *Row, id uint32) error {
	body := r.body(row)
	s.field(":status", strconv.Itoa(int(row.Status)))
	s.field("date", r.date(row).Format(http.TimeFormat))
	s.field("content-length", strconv.Itoa(len(row.content())))
	s.fields(row.Fields)
	if err := s.headers(id, body == ""); err != nil || body == "" {
		return err
	}
	return s.frame.WriteData(id, true, []byte(body))
}

// call writes the answer to a call: a refusal is headers alone, which are trailers
// at the same time.
func (s *speaker) call(r *Result, row *Row, id uint32) error {
	code := rpcCode(row.Status)
	s.field(":status", "200")
	s.field("content-type", "application/grpc")
	if code == 0 {
		if err := s.headers(id, false); err != nil {
			return err
		}
		if err := s.frame.WriteData(id, false, []byte(framed(r.body(row)))); err != nil {
			return err
		}
	}
	s.field("grpc-status", strconv.Itoa(code))
	s.fields(row.Fields)
	return s.headers(id, true)
}

// asRPC makes what a tap tells of an answer that of a call.
func asRPC(names *capture.Interner, x *capture.Exchange, row *Row) {
	if x.Attempt.N == 0 {
		x.Attempt = capture.Attempt{N: 1, Counter: capture.RPCAttempts} // the field is left out at first
	}
	if row.Outcome != capture.Answered {
		x.RPC = capture.RPCUnseen
		return
	}
	x.Status, x.Date = http.StatusOK, 0
	x.RPC = capture.ParseRPCStatus(strconv.AppendInt(nil, int64(rpcCode(row.Status)), 10))
	x.Reason = x.RPC.Reason()
	for line := range strings.SplitSeq(row.Fields, "\r\n") {
		if value, ok := strings.CutPrefix(line, "grpc-retry-pushback-ms: "); ok {
			x.Hint = capture.ParsePushback([]byte(value))
			x.Hint.Raw = names.InternString(value)
		}
	}
}
