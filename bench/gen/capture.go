package main

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"stormwatch/capture/packet/write"
)

// connection is one of a client's connections; a client opens another one when
// all it has are waiting for an answer.
type connection struct {
	conn *write.Conn
	busy int64 // until when
	sent int
}

const requestsPerConnection = 50

// writeCapture writes the traffic as a packet capture. It is made in memory.
func writeCapture(w io.Writer, t *traffic) error {
	out, err := write.New(w)
	if err != nil {
		return err
	}
	server := netip.MustParseAddrPort("192.0.2.10:80")
	pools := map[int][]*connection{}
	ports := map[int]uint16{}
	for x, ok := t.next(); ok; x, ok = t.next() {
		c := free(pools[x.client], x.start)
		if c == nil {
			ports[x.client]++
			from := netip.AddrPortFrom(addressOf(x.client), 1024+ports[x.client]%60000)
			c = &connection{conn: out.Dial(x.start-int64(time.Millisecond), from, server)}
			pools[x.client] = append(pools[x.client], c)
		}
		c.conn.Send(x.start, true, []byte(requestOf(x)))
		c.conn.Send(x.end, false, []byte(responseOf(x)))
		c.busy = x.end
		if c.sent++; c.sent == requestsPerConnection {
			c.conn.Close(x.end + int64(time.Millisecond))
			pools[x.client] = slices.DeleteFunc(pools[x.client], func(o *connection) bool { return o == c })
		}
	}
	return out.Flush()
}

func free(pool []*connection, at int64) *connection {
	for _, c := range pool {
		if c.busy < at {
			return c
		}
	}
	return nil
}

func requestOf(x exchange) string {
	return fmt.Sprintf("GET %s HTTP/1.1\r\nHost: api.example.com\r\nUser-Agent: %s\r\nAccept: application/json\r\nAccept-Encoding: gzip, deflate, br\r\n\r\n",
		appendPath(nil, x.path), agentOf(x.client))
}

func responseOf(x exchange) string {
	body := bodyOf(x.status)
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nServer: nginx\r\nDate: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: keep-alive\r\n\r\n%s",
		x.status, http.StatusText(x.status), time.Unix(0, x.end).UTC().Format(http.TimeFormat), len(body), body)
}

// bodyOf is the answer's body; a refusal is short.
func bodyOf(status int) string {
	const reading = `{"value":20.5,"unit":"C"}`
	if status == http.StatusTooManyRequests {
		return `{"error":"rate limited"}`
	}
	return `{"readings":[` + strings.Repeat(reading+",", 8) + reading + `]}`
}
