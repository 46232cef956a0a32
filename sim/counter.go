package sim

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// counter is a header in which a sender numbers its attempts: first is the
// number of the first one; -1: that carries none, and the second carries 1.
type counter struct {
	name  string
	first int
}

var counters = []counter{
	{"x-envoy-attempt-count", 1},
	{"amz-sdk-request", 1},   // attempt=N; with a deadline ttl=...Z before it, and amz-sdk-invocation-id beside it
	{"x-goog-api-client", 1}, // gccl-invocation-id/ID gccl-attempt-count/N
	{"X-Hookdeck-Attempt-Count", 1},
	{"x-stainless-retry-count", 0},
	{"X-CloudTasks-TaskRetryCount", 0},
	{"Upstash-Retried", 0},
	{"grpc-previous-rpc-attempts", -1},
	{"Retry-Attempt", -1},
	{"X-Retry-Count", -1},
	{"svix-retry-count", -1},
	{"X-Slack-Retry-Num", -1},
}

func counterNames() (names []string) {
	for _, c := range counters {
		names = append(names, c.name)
	}
	return names
}

// appendCounter writes the counter of a call; a hop further in that uses the
// same header overwrites it.
func (c *call) appendCounter(b []byte, base int64) []byte {
	name := c.hop.Counter
	i := slices.IndexFunc(counters, func(o counter) bool { return o.name == name })
	if i < 0 {
		return b
	}
	n, id := c.attempt, strconv.FormatUint(c.unit.chain, 10)
	first := counters[i].first
	if first < 0 {
		if n == 1 {
			return b
		}
		first = 0
	}
	number := strconv.Itoa(n - 1 + first)
	b = append(append(b, name...), ": "...)
	switch name {
	case "amz-sdk-request":
		if d := c.unit.client.group.Deadline; d > 0 {
			ttl := time.Unix(0, base+c.unit.due+int64(d)).UTC()
			b = append(ttl.AppendFormat(append(b, "ttl="...), "20060102T150405Z"), "; "...)
		}
		b = append(append(b, "attempt="...), number...)
		if most := c.hop.Policy.Attempts; most > 0 {
			b = strconv.AppendInt(append(b, "; max="...), int64(most), 10)
		}
		return append(b, "\r\namz-sdk-invocation-id: call-"+id+"\r\n"...)
	case "x-goog-api-client":
		return append(b, "gccl-invocation-id/call-"+id+" gccl-attempt-count/"+number+"\r\n"...)
	}
	return append(append(b, number...), "\r\n"...)
}

// asked returns the further header lines of a request: who asks, and for which
// time; "" where nothing is to be added.
func (w *world) asked(c *call, key string) string {
	u := c.unit
	g := u.client.group
	b := w.buf[:0]
	if key != "" {
		b = append(append(b, g.Identity.Header...), ": "...)
		if strings.EqualFold(g.Identity.Header, "Authorization") {
			b = append(b, "Bearer "...)
		}
		b = append(append(b, key...), "\r\n"...)
	}
	switch g.Idempotency {
	case "same":
		b = strconv.AppendUint(append(b, "Idempotency-Key: op-"...), u.chain, 10)
		b = append(b, "\r\n"...)
	case "new":
		b = strconv.AppendUint(append(b, "Idempotency-Key: op-"...), u.chain, 10)
		b = strconv.AppendInt(append(b, '-'), int64(u.root.attempt), 10)
		b = append(b, "\r\n"...)
	}
	b = c.appendForwarded(b)
	for o := c; o != nil; o = o.outer {
		if o.hop.Counter != "" && !c.overwrites(o) {
			b = o.appendCounter(b, w.base)
		}
	}
	w.buf = b
	return string(b)
}

// overwrites tells whether a hop between c and an outer call uses its counter.
func (c *call) overwrites(outer *call) bool {
	for i := c; i != outer; i = i.outer {
		if i.hop.Counter == outer.hop.Counter {
			return true
		}
	}
	return false
}

// appendForwarded writes the addresses that the hops on the way saw, the
// client's first.
func (c *call) appendForwarded(b []byte) []byte {
	client := c.unit.client
	var seen []string
	first := 0 // where the outermost hop's goes
	if client.group.Identity.Forwarded {
		seen, first = append(seen, client.own.String()), 1
	}
	for i := c; i.outer != nil; i = i.outer {
		if !i.hop.layer.Forwarded {
			continue
		}
		seen = slices.Insert(seen, first, i.outer.hop.addr.String())
	}
	if len(seen) == 0 {
		return b
	}
	return append(b, "X-Forwarded-For: "+strings.Join(seen, ", ")+"\r\n"...)
}
