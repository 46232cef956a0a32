package accesslog

import (
	"bytes"

	"stormwatch/capture"
)

// rpcNames are the names of gRPC's codes, 0 to 16, as google/rpc/code.proto has them,
// without the underscores that not all write.
var rpcNames = [...]string{
	"ok", "cancelled", "unknown", "invalidargument", "deadlineexceeded", "notfound", "alreadyexists", "permissiondenied", "resourceexhausted",
	"failedprecondition", "aborted", "outofrange", "unimplemented", "internal", "unavailable", "dataloss", "unauthenticated",
}

// rpcStatus reads a code by number or name: 14, Unavailable, RESOURCE_EXHAUSTED; NoRPC
// for what is neither.
func rpcStatus(text []byte) capture.RPCStatus {
	if _, ok := count(text); ok {
		return capture.ParseRPCStatus(text)
	}
	for code, name := range rpcNames {
		if sameName(text, name) {
			return capture.RPCStatus(code + 1)
		}
	}
	if sameName(text, "canceled") { // Go's spelling
		return capture.RPCStatus(1 + 1)
	}
	return capture.NoRPC
}

// sameName compares without case and underscores; name has neither.
func sameName(text []byte, name string) bool {
	n := 0
	for _, c := range text {
		if c == '_' {
			continue
		}
		if n == len(name) || c|0x20 != name[n] {
			return false
		}
		n++
	}
	return n == len(name)
}

// rpc takes gRPC's status, which comes with an HTTP status of 200. Envoys before 1.29 give
// calls that are none the status UNKNOWN, which is therefore believed of paths alone that
// a call has: /package.Service/Method.
func (b *builder) rpc(x *capture.Exchange, text []byte) {
	s := rpcStatus(text)
	if code, ok := s.Code(); !ok || code == 2 && !isCall(b.batch.Text[x.Target.Off:x.Target.Off+x.Target.Len]) {
		return
	}
	x.RPC, x.Reason = s, s.Reason()
}

func isCall(target []byte) bool {
	if len(target) < 2 || target[0] != '/' {
		return false
	}
	service, method, ok := bytes.Cut(target[1:], []byte("/"))
	return ok && len(service) > 0 && len(method) > 0 && bytes.IndexByte(service, '.') > 0 && !bytes.ContainsAny(method, "/?")
}

// grpcKeys are what go-grpc-middleware writes.
var grpcKeys = map[string]field{
	"grpc.start_time": {role: roleStartTime}, "grpc.time_ms": {role: roleTook, unit: oneMilli}, "grpc.time_ns": {role: roleTook, unit: oneNano}, "grpc.duration": {role: roleTook}, "grpc.code": {role: roleRPC},
	"peer.address": {role: roleAddr}, "grpc.service": {role: roleHost}, "grpc.method": {role: roleQuery},
}

// grpcCall puts service and method together to the path that the call has.
func grpcCall(r *reading) fault {
	if r.get(roleRPC) == nil {
		return noStatusKey
	}
	r.built = append(append(append(append(r.built[:0], '/'), r.get(roleHost)...), '/'), r.get(roleQuery)...)
	r.set(roleTarget, r.built)
	r.has &^= 1<<roleHost | 1<<roleQuery
	r.set(roleMethod, post)
	r.code, r.coded = 200, true
	return ""
}

var post = []byte("POST")
