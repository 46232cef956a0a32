package sim

import (
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Ports that a client dials from, in turn.
const (
	firstPort = 32768
	ports     = 28000
)

// client is one client of a run.
type client struct {
	id    int // index in Result.Clients
	nth   int // in its group
	group *Group
	addr  netip.Addr
	rng   *rand.Rand // its own, so that one group's change leaves the others' draws alone
	idle  []int      // open connections without a request, least recently used first
	dials int
}

// unit is a piece of work: one request and its retries.
type unit struct {
	client  *client
	feed    *feed
	path    string
	chain   uint64
	attempt int
	prev    time.Duration // delay before the last retry
	sent    int64         // when the attempt under way left the client
	conn    int           // index in Result.Conns
	answer  answer
	lost    bool // the client ran out of patience
}

// newUnit draws a request.
func (c *client) newUnit(f *feed, chain uint64) *unit {
	path := c.group.Paths[c.rng.IntN(len(c.group.Paths))]
	if strings.Contains(path, "{") {
		path = strings.ReplaceAll(path, "{id}", strconv.FormatUint(chain, 10))
		path = strings.ReplaceAll(path, "{client}", strconv.Itoa(c.nth+1))
	}
	return &unit{client: c, feed: f, path: path, chain: chain}
}

// way draws the time that a message takes between client and server.
func (c *client) way() int64 {
	d := int64(c.group.Latency)
	if c.group.Noise > 0 {
		d += int64(c.rng.ExpFloat64() * float64(c.group.Noise))
	}
	return d
}

// source returns the address and port of the client's next connection.
func (c *client) source() netip.AddrPort {
	port := firstPort + (c.nth*131+c.dials)%ports
	c.dials++
	return netip.AddrPortFrom(c.addr, uint16(port))
}

// address returns the address of a group's nth client: 10.1.0.1 and up.
func address(group, nth int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(group + 1), byte(nth / 250), byte(nth%250 + 1)})
}
