package capture

import "bytes"

// RPCStatus is a gRPC status code plus one. It comes in a trailer, while the
// HTTP status beside it is 200. The zero value says that the exchange is no gRPC
// call as far as could be seen.
type RPCStatus uint8

// Statuses that are no codes.
const (
	NoRPC     RPCStatus = 0
	RPCUnseen RPCStatus = 255 // a gRPC call, or perhaps one, whose status was not seen
)

// rpcHTTP gives the HTTP status that says the same as each code, 0 to 16
// (googleapis, google/rpc/code.proto).
var rpcHTTP = [...]uint16{
	200, 499, 500, 400, 504, 404, 409, 403, // OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED
	429, 400, 409, 400, 501, 500, 503, 500, // RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS
	401, // UNAUTHENTICATED
}

const rpcUnknown = 2 // what clients take a code for that they do not know

// Code returns the gRPC status code; ok is false where none was seen.
func (r RPCStatus) Code() (code int, ok bool) {
	if r == NoRPC || int(r) > len(rpcHTTP) {
		return 0, false
	}
	return int(r) - 1, true
}

// HTTP returns the HTTP status that says the same, 0 where no code was seen.
func (r RPCStatus) HTTP() uint16 {
	code, ok := r.Code()
	if !ok {
		return 0
	}
	return rpcHTTP[code]
}

// Reason returns why the call succeeded or failed.
func (r RPCStatus) Reason() Reason { return ReasonOf(r.HTTP()) }

// ParseRPCStatus reads a grpc-status field (gRPC over HTTP/2, "Status"). What is
// no known code is UNKNOWN, as clients take it.
func ParseRPCStatus(value []byte) RPCStatus {
	n, ok := digits(bytes.TrimSpace(value))
	if !ok || n >= int64(len(rpcHTTP)) {
		n = rpcUnknown
	}
	return RPCStatus(n + 1)
}

// ParsePushback reads grpc-retry-pushback-ms, a signed number of milliseconds of
// 32 bits; one that is negative or cannot be read forbids retries (gRFC A6,
// "Pushback"). Raw is left for the caller to set.
func ParsePushback(value []byte) Hint {
	const most = 1<<31 - 1
	h := Hint{State: Present, Kind: DoNotRetry}
	if n, ok := digitsUpTo(bytes.TrimSpace(value), most+1); ok && n <= most {
		h.Kind, h.Wait = RPCPushback, n*1e6
	}
	return h
}
