package packet

import (
	"bytes"

	"stormwatch/capture"
)

// rpcKind tells whether a stream carries a gRPC call (gRPC over HTTP/2).
type rpcKind uint8

const (
	rpcMaybe rpcKind = iota
	rpcNo
	rpcYes
)

// mediaKind is what a Content-Type says.
type mediaKind uint8

const (
	mediaNone mediaKind = iota
	mediaOther
	mediaRPC
)

// rpcField reads a field that only gRPC has.
func (h *http2conn) rpcField(l *headerList, f *headerField) {
	switch string(f.name) {
	case "content-type":
		l.media = mediaOf(f.value)
	case "grpc-status":
		l.rpc = capture.ParseRPCStatus(f.value)
	case "grpc-retry-pushback-ms":
		l.pushback = capture.ParsePushback(f.value)
		l.pushback.Raw = h.s.t.out.names.Intern(clip(f.value, maxHint))
	case "grpc-previous-rpc-attempts":
		l.attempt, _ = capture.ParseAttempt("grpc-previous-rpc-attempts", f.value)
	}
}

// mediaOf knows application/grpc, with a suffix or parameters. gRPC-Web is
// another protocol.
func mediaOf(value []byte) mediaKind {
	rest, ok := bytes.CutPrefix(value, []byte("application/grpc"))
	if ok && (len(rest) == 0 || rest[0] == '+' || rest[0] == ';') {
		return mediaRPC
	}
	return mediaOther
}

// requestKind tells what a request's headers say.
func (l *headerList) requestKind(whole bool) rpcKind {
	switch {
	case l.media == mediaRPC:
		return rpcYes
	case l.media == mediaOther, l.plainGet, whole:
		return rpcNo
	}
	return rpcMaybe
}

// rpcFields takes what a response's headers or trailers say.
func (h *http2conn) rpcFields(m *message, l *headerList) {
	switch {
	case l.rpc != capture.NoRPC:
		m.x.RPC, m.h2.rpc = l.rpc, rpcYes
	case l.media == mediaRPC:
		m.h2.rpc = rpcYes
	case l.media == mediaOther: // a proxy answers for the service
		m.h2.rpc = rpcNo
	}
	if l.pushback.State == capture.Present {
		if m.x.Hint = l.pushback; l.pushback.Kind == capture.DoNotRetry {
			m.x.Advice = capture.MustNotRetry
		}
	}
}

// rpcEnd settles what can be said at the end of a response; trailed tells that
// headers ended it, as they end every gRPC call.
func (m *message) rpcEnd(trailed bool) {
	x := &m.x
	unsure := m.h2.rpc == rpcMaybe && trailed && m.h2.blank && x.Status < 300
	if m.h2.rpc != rpcYes && !unsure {
		return
	}
	if x.RPC == capture.NoRPC {
		x.RPC = capture.RPCUnseen
	}
	if x.Hint.State != capture.Present {
		if x.Hint.State = capture.Absent; !trailed || m.h2.blank {
			x.Hint.State = capture.NotObservable
		}
	}
}

// reason tells why an exchange succeeded or failed: what resets of its stream
// said, or the body of an answer that seems fine; then what the fields and the
// body of a failure say; then its gRPC status, then its HTTP status.
func (m *message) reason() capture.Reason {
	x := &m.x
	switch {
	case x.Reason != capture.Unjudged:
		return x.Reason
	case x.RPC == capture.NoRPC, x.RPC == capture.RPCUnseen && x.Status >= 300:
		return capture.ReasonOf(x.Status).Because(m.told.Mark)
	}
	return x.RPC.Reason().Because(m.told.Mark)
}
