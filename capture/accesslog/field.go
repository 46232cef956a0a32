package accesslog

import "stormwatch/capture"

// role is what a field of a line means to stormwatch.
type role uint8

// Roles. What has none is passed over, though its form is checked.
const (
	roleNone          role = iota
	roleAddr               // address of the peer, with or without a port
	rolePort               // of the peer
	roleForwarded          // X-Forwarded-For
	roleUser               // compared, never kept
	roleKey                // API key or the like: compared, never kept
	roleRequest            // "GET /path?query HTTP/1.1"
	roleMethod             //
	roleTarget             // path and query
	rolePath               //
	roleQuery              //
	roleURL                // scheme, host, path and query
	roleHost               //
	roleAgent              //
	roleCode               // status given to the client
	roleStartTime          // of the request
	roleEndTime            // of the response
	roleFraction           // of the second in a time that stands beside it
	roleZone               // of a time that stands beside it
	roleTook               // from start to end
	roleRetryAfter         // Retry-After of the response
	roleRetryMillis        // retry-after-ms, x-ms-retry-after-ms
	roleDateField          // Date of the response
	roleIdempotency        // a key that all attempts at one operation share
	roleStainless          // x-stainless-retry-count
	roleAmzRequest         // amz-sdk-request
	roleEnvoyAttempts      // x-envoy-attempt-count of the request
	roleFromOne            // other attempt numbers: capture.FromOne and its like
	roleFromZero           //
	roleFromAbsent         //
	roleRequestID          // hops pass it on; attempts may or may not share it
	roleUpstreamAddr       // tries: list
	roleUpstreamCode       // tries: list
	roleUpstreamTook       // tries: list
	roleUpstreamConn       // tries: list of how long connecting took
	roleLimited            // $limit_req_status, $limit_conn_status
	roleFlags              // Envoy's response flags
	roleDetails            // Envoy's response code details, the load balancer's reason
	roleTermination        // HAProxy's termination state
	roleRetries            // tries beyond the first
	roleAttempts           // tries, the first included; 0 for none
	roleTryList            // Kong's list of tries
	roleServer             // the one that answered
	roleCluster            // Envoy's: inbound or outbound
	roleCaptures           // HAProxy's captured headers
	roleSampling           // each line stands for so many
	roleCounter            // goes up by one with each request
	roleShown              // response headers are logged, whatever they are
	roleClient             // whatever names the client, if an option says so
	roleMessage            // the line that a collector's JSON carries
	roleAnswer             // any other header of the response that tells of waits or limits
	roleDeadline           // when the caller stops waiting
	roleRPC                // gRPC's status: its number or name
	roleDay                // of the end, where the time of day stands apart
	roleHour               //
	roles                  // how many there are
)

// secret tells whether a role's text must never be shown.
func (r role) secret() bool {
	return r == roleUser || r == roleKey || r == roleIdempotency || r == roleCaptures || r == roleClient
}

// kept tells whether a role's text is kept as it is until the line is cut.
func (r role) kept() bool {
	switch r {
	case roleNone, roleAddr, rolePort, roleCode, roleStartTime, roleEndTime, roleTook, roleFraction, roleZone, roleLimited, roleAnswer, roleDeadline:
		return false
	}
	return true
}

var roleNames = [roles]string{
	roleAddr: "client", rolePort: "client port", roleForwarded: "forwarded for", roleUser: "user", roleKey: "key", roleRequest: "request",
	roleMethod: "method", roleTarget: "target", rolePath: "path", roleQuery: "query", roleURL: "url", roleHost: "host", roleAgent: "agent",
	roleCode: "status", roleStartTime: "start", roleEndTime: "end", roleFraction: "fraction", roleZone: "zone", roleTook: "took",
	roleRetryAfter: "retry-after", roleRetryMillis: "retry-after-ms", roleDateField: "date", roleIdempotency: "idempotency key",
	roleStainless: "attempt", roleAmzRequest: "attempt", roleEnvoyAttempts: "attempt", roleFromOne: "attempt", roleFromZero: "attempt", roleFromAbsent: "attempt",
	roleRequestID:    "request id",
	roleUpstreamAddr: "tries: server", roleUpstreamCode: "tries: status", roleUpstreamTook: "tries: took", roleUpstreamConn: "tries: connected", roleLimited: "limiter",
	roleFlags: "flags", roleDetails: "details", roleTermination: "termination", roleRetries: "retries", roleAttempts: "attempts",
	roleTryList: "tries", roleServer: "server", roleCluster: "cluster", roleCaptures: "captured headers", roleSampling: "sampling",
	roleCounter: "counter", roleShown: "response headers", roleMessage: "line",
	roleAnswer: "limit", roleDeadline: "deadline", roleRPC: "gRPC status", roleDay: "day", roleHour: "time of day",
}

// String returns the name of a role; "" for none.
func (r role) String() string { return roleNames[r] }

// kind is the form of a field: what may stand in it, and where it ends.
type kind uint8

// Kinds.
const (
	kindText      kind = iota // anything, up to what comes next
	kindNumber                // digits, with a sign before and a point inside at most, or "-"
	kindStatus                // three digits, or a form of none
	kindIP                    // an address alone, "unix:" or "-"
	kindHost                  // a name of a host, or an address, with or without a port
	kindCLF                   // 30/Nov/2026:08:11:06 +0000
	kindDate                  // by its layout
	kindAddrList              // 10.0.0.1:80, 10.0.0.2:80 : unix:/a
	kindNumList               // 0.001, - : 0.002
	kindBraces                // {a|b}, or nothing at all with the blank after it
	kindMillis                // seconds with exactly three decimals, as nginx writes them
	kindFixed                 // so many digits
	kindEpochTime             // msec: millis that can be a moment

)

// field is what stands between two literals.
type field struct {
	name string // as the format writes it
	role role
	kind kind
	unit int64   // ns, of took, fraction, and times given as a number
	lay  *layout // of kind date
	size int     // of kind fixed
	head byte    // a text that always starts so, if not 0
	pad  bool    // blanks may stand before it
	sum  bool    // durations that add up
	some bool    // of a duration whose unit only a fraction tells
	dur  bool    // microseconds, where the start beside it is in these
	who  bool    // it names the client, whatever else it means
	rank uint8   // of several keys for one role, the lowest is taken

	answer capture.Field    // of role answer
	ask    capture.AskField // of role deadline
}
