package witness

import (
	"fmt"
	"net/netip"
	"strings"

	"stormwatch/capture"
)

// crowd notices that nearly all requests come from one or two addresses, a
// proxy's perhaps, though another field tells several clients apart.
type crowd struct {
	seen int64
	all  int64 // of them looked at
	// The addresses seen most, in the manner of Misra and Gries: each count is at
	// most all/(addresses+1) too low, and never too high.
	at        [addresses]counted
	forwarded bool // some request had that field
	keys      bool
}

// counted is an address, and what tells clients behind it apart: what others send
// says nothing of it.
type counted struct {
	ip        [16]byte
	n         int64
	all       int64 // requests since it came to be counted
	forwarded distinct
	keys      distinct
	agents    distinct
}

func (a *counted) note(x *capture.Exchange) {
	a.n++
	a.all++
	a.forwarded.note(uint64(x.Forwarded))
	a.keys.note(x.Credential)
	a.agents.note(uint64(x.Agent))
}

const (
	addresses   = 6
	crowdEnough = 50
	crowdWhole  = 4096 // beyond so many, one in crowdEvery is looked at: shares need no more
	crowdEvery  = 7
	crowdTenths = 9 // of the requests that come from so few addresses
	fewClients  = 3 // values of a field that tell clients apart
	fewAgents   = 5 // one host may well run three programs
	halfOf      = 2 // and the field is there in half of the requests
)

func (c *crowd) note(x *capture.Exchange) {
	if c.seen++; c.seen > crowdWhole && c.seen%crowdEvery != 0 {
		return
	}
	c.all++
	c.forwarded = c.forwarded || x.Forwarded != 0
	c.keys = c.keys || x.Credential != 0
	free := -1
	for i := range c.at {
		switch a := &c.at[i]; {
		case a.n == 0:
			if free < 0 {
				free = i
			}
		case a.ip == x.Src.IP:
			a.note(x)
			return
		}
	}
	if free >= 0 {
		c.at[free] = counted{ip: x.Src.IP}
		c.at[free].note(x)
		return
	}
	for i := range c.at {
		c.at[i].n--
	}
}

// remark says which field looks like the real client, and which flag takes it;
// "" where addresses do.
func (c *crowd) remark() string {
	if c.all < crowdEnough {
		return ""
	}
	none := counted{}
	most, next := &none, &none
	for i := range c.at {
		switch a := &c.at[i]; {
		case a.n > most.n:
			most, next = a, most
		case a.n > next.n:
			next = a
		}
	}
	of, both := []*counted{most}, *most
	if 10*most.n < crowdTenths*c.all {
		of = append(of, next)
		both.join(next)
	}
	if 10*(most.n+next.n) < crowdTenths*c.all || len(of) == 2 && next.ip == [16]byte{} {
		return ""
	}
	var from, flags []string
	for _, a := range of {
		text := "no address"
		if a.ip != [16]byte{} {
			text = netip.AddrFrom16(a.ip).Unmap().String()
		}
		from, flags = append(from, text), append(flags, "--trusted-proxy "+text)
	}
	means := ""
	switch {
	case both.forwarded.several(fewClients, both.all) && most.ip != [16]byte{}:
		means = "the forwarded-for field tells several clients apart: " + strings.Join(flags, " ") + " takes them for the clients"
	case both.keys.several(fewClients, both.all):
		means = "keys or users tell several clients apart: --client-by key takes them for the clients"
	case both.agents.several(fewAgents, both.all):
		means = "the agents are of several programs: --client-by agent takes each for a client, and header:NAME or jwt:sub are better where they are logged"
	case c.nobody():
		return "no line says who sent its request, so what one client did is not judged: log the address ($remote_addr), or better a key or user, and name the field with --client-by or --map client=KEY"
	default:
		return "" // it may well be one client
	}
	return fmt.Sprintf(capture.CrowdedNote+"%s, a proxy perhaps, so what one client did is not judged; %s", strings.Join(from, " and "), means)
}

// join takes in what is known of another address.
func (a *counted) join(b *counted) {
	a.all += b.all
	a.forwarded.join(&b.forwarded)
	a.keys.join(&b.keys)
	a.agents.join(&b.agents)
}

// nobody tells whether nothing that could name a client was ever there.
func (c *crowd) nobody() bool {
	return c.at[0].ip == [16]byte{} && c.at[1].n == 0 && !c.forwarded && !c.keys
}

// distinct counts the values of a field, as far as it matters.
type distinct struct {
	values [8]uint64
	n      int
	set    int64 // how often there was one
}

func (d *distinct) note(v uint64) {
	if v == 0 {
		return
	}
	d.set++
	d.take(v)
}

// join takes in what another one counted.
func (d *distinct) join(o *distinct) {
	d.set += o.set
	for _, v := range o.values[:o.n] {
		d.take(v)
	}
}

func (d *distinct) take(v uint64) {
	if d.n == len(d.values) {
		return
	}
	for _, w := range d.values[:d.n] {
		if w == v {
			return
		}
	}
	d.values[d.n] = v
	d.n++
}

func (d *distinct) several(n int, all int64) bool { return d.n >= n && halfOf*d.set >= all }
