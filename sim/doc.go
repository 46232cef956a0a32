// Package sim makes traffic on purpose: limiters, capacity-bound servers and
// clients with known retry policies, in virtual time, with the truth beside it.
//
// A Scenario says who asks whom for what; Run plays it and returns rows, one an
// exchange as a tap beside the server would have seen it. A Result can be read as
// a capture.Source, or written as a packet capture, an access log or a Prometheus
// answer. Everything is seeded: the same scenario gives the same bytes.
package sim

//go:generate go run ./gen ../testdata
