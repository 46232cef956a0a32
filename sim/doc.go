// Package sim makes traffic on purpose: limiters, capacity-bound servers and
// clients with known retry policies, in virtual time, with the truth beside it.
//
// A Scenario says who asks whom for what; Run plays it and returns rows, one an
// exchange as a tap beside the server would have seen it. A Result can be read as
// a capture.Source, or written as a packet capture, an access log or a Prometheus
// answer. Everything is seeded: the same scenario gives the same bytes.
//
// A scenario is a short YAML file; its fields are those of Scenario, Server,
// Layer, Group and Expect, and whatever else it says is an error:
//
//	name: example
//	seed: 1
//	start: 2026-03-02T03:10:00Z
//	duration: 60s
//	server:
//	  limiter: {kind: token-bucket, limit: 20, window: 1s, burst: 40, scope: key}
//	  hint: [{wait: slot}, {wait: slot, header: X-RateLimit-Reset, form: epoch}]
//	  faults: [{from: 30s, to: 35s, paths: [/v1/pay], do: timeout}]
//	layers:
//	  - {name: mesh, count: 3, policy: envoy, counter: x-envoy-attempt-count}
//	groups:
//	  - name: app
//	    count: 40
//	    policy: hint-floor base=500ms attempts=4
//	    budget: finagle ratio=0.2
//	    through: [mesh]
//	    timeout: 2s
//	    identity: {key: each}
//	    paths: ["/v1/items/{id}", /v1/pay]
//	    demand:
//	      - {rate: 0.3, wave: {period: 40s, depth: 0.5}}
//	      - {from: 20s, to: 20100ms, units: 3, sequential: true, restart: true}
//	expect: {state: overload}
//
// The engine is one queue of events in virtual time. A hop is a process that
// sends requests, be it a client or an instance of a layer; a call is its part in
// one unit of work, with the attempts at it; a shot is a request on a connection to
// the server.
package sim

//go:generate go run ./gen ../testdata
