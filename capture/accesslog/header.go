package accesslog

import (
	"strings"

	"stormwatch/capture"
)

// requestHeader returns what a request header means, by its name.
func requestHeader(name string) field {
	switch name = strings.ToLower(name); name {
	case "user-agent":
		return field{role: roleAgent}
	case "x-forwarded-for", "x-real-ip", "forwarded", "cf-connecting-ip", "true-client-ip", "x-client-ip", "fastly-client-ip", "x-envoy-external-address":
		return field{role: roleForwarded}
	case "host", ":authority":
		return field{role: roleHost}
	case "x-b3-traceid":
		return field{role: roleRequestID}
	case "gccl-invocation-id":
		return field{role: roleIdempotency}
	}
	if r := signalRole(name); r != roleNone {
		return field{role: r}
	}
	if f := capture.AskFieldOf([]byte(name)); f != 0 {
		return field{role: roleDeadline, ask: f}
	}
	return field{role: secretHeader(name, "")}
}

// responseHeader returns what a response header means.
func responseHeader(name string) field {
	switch strings.ToLower(name) {
	case "retry-after":
		return field{role: roleRetryAfter}
	case "retry-after-ms", "x-ms-retry-after-ms":
		return field{role: roleRetryMillis}
	case "grpc-status":
		return field{role: roleRPC}
	case "date":
		return field{role: roleDateField}
	case "x-request-id":
		return field{role: roleRequestID}
	case "x-envoy-attempt-count": // in an answer: how often Envoy tried
		return field{role: roleAttempts}
	}
	if f := capture.FieldOf([]byte(name)); f != 0 {
		return field{role: roleAnswer, answer: f}
	}
	return field{}
}

// headerVariable reads names that stand for a header by what they begin with:
// nginx's variables, and keys that logs in JSON have. "_" stands for "-".
func headerVariable(name string) (field, bool) {
	for _, p := range responsePrefixes {
		if header, ok := strings.CutPrefix(name, p); ok {
			return responseHeader(strings.ReplaceAll(header, "_", "-")), true
		}
	}
	for _, p := range requestPrefixes {
		if header, ok := strings.CutPrefix(name, p); ok {
			return requestHeader(strings.ReplaceAll(header, "_", "-")), true
		}
	}
	return field{}, false
}

var (
	responsePrefixes = []string{
		"sent_http_", "upstream_http_", "upstream_trailer_", "sent_trailer_", "resp_headers.", "response.headers.", "response_headers.", "res.headers.", "resp.headers.", "http.response.header.", "http.response.headers.",
		"response_header_", "resp_header_", "res_header_", "downstream_", "origin_",
	}
	requestPrefixes = []string{"http_", "request.headers.", "request_headers.", "req.headers.", "req_headers.", "http.request.header.", "http.request.headers.", "request_header_", "req_header_"}
)
