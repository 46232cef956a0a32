package detect

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"

	"stormwatch/capture"
)

// names gives texts, clients, routes and agents the numbers by which the engine
// counts, in the order of first appearance. It only grows, and is bounded.
type names struct {
	roster
	interner   *capture.Interner
	byAddr     addrTable
	byCred     map[uint64]uint32
	byName     map[capture.Symbol]uint32
	naming     *Naming
	byUpstream map[uint64]uint32
	credOf     map[uint64]int    // numbers of credentials, where clients are upstreams
	credBy     map[uint32]uint64 // and the credential of each of these clients
	leaving    *leaving
	routes     map[uint64]uint16
	agents     map[capture.Symbol]uint8
	scratch    []byte
	touched    uint32 // what was read ahead, which means nothing
}

const otherClients = "(other clients)"

func newNames(o Options) *names {
	texts := capture.NewInterner(1<<17, 8<<20)
	return &names{
		roster: roster{
			texts: texts.Texts(), labels: []string{otherClients}, routeOf: []capture.Symbol{0}, agentOf: []capture.Symbol{0},
			paths: capture.NewInterner(4096, 1<<20), max: o.MaxClients, byKey: o.ClientBy == "key",
			outward: o.Perspective == PerspectiveClient, upstream: o.Perspective == PerspectiveClient && o.ClientBy != "key",
		},
		interner: texts,
		byAddr:   newAddrTable(), byCred: map[uint64]uint32{}, byName: map[capture.Symbol]uint32{}, naming: o.Names,
		byUpstream: map[uint64]uint32{}, credOf: map[uint64]int{}, credBy: map[uint32]uint64{},
		routes: map[uint64]uint16{}, agents: map[capture.Symbol]uint8{},
	}
}

// intern gives a text its symbol.
func (n *names) intern(text string) capture.Symbol {
	s := n.interner.InternString(text)
	n.texts = n.interner.Texts()
	return s
}

// Bounds of event times, 1938 and 2220: a clock beyond them is broken, and
// differences between any two moments within fit an int64.
const (
	earliest = -int64(1e18)
	latest   = int64(7.9e18)
)

func sane(t int64) int64 { return min(max(t, earliest), latest) }

// client returns the number of the client that sent x.
func (n *names) client(x *capture.Exchange) uint32 {
	id, known := n.lookup(x)
	if !known {
		if id = n.admit(x.Start); id != 0 {
			n.enter(x, id)
		}
	}
	if n.leaving != nil && id != 0 {
		n.leaving.see(id, x.Start)
	}
	return id
}

func (n *names) lookup(x *capture.Exchange) (id uint32, known bool) {
	switch {
	case x.Client != 0:
		id, known = n.byName[x.Client]
	case n.byKey && x.Credential != 0:
		id, known = n.byCred[x.Credential]
	case n.upstream:
		id, known = n.byUpstream[upstreamOf(x)]
	default:
		id = n.byAddr.find(&x.Src.IP).id
		known = id != 0
	}
	return id, known
}

// touch reads a record, which another goroutine wrote, and where its client will be
// looked up: called for several before the first is, their waits for memory overlap.
func (n *names) touch(r *record) {
	n.touched += n.byAddr.touch(&r.Src.IP) ^ uint32(r.Method) ^ uint32(r.Status) ^ r.client
}

// enter gives a number to the client that sent x.
func (n *names) enter(x *capture.Exchange, id uint32) {
	label := "(unknown address)"
	switch {
	case x.Client != 0:
		n.byName[x.Client], n.named = id, true
		label = n.texts.Text(x.Client)
	case n.byKey && x.Credential != 0:
		n.byCred[x.Credential] = id
		n.creds++
		label = "cred-" + strconv.Itoa(n.creds)
	case n.upstream:
		label = n.enterUpstream(x, id)
	case !x.Src.IsZero():
		label = x.Src.Addr().String()
		fallthrough
	default:
		n.byAddr.put(&x.Src.IP, id)
	}
	n.entitle(x, id, &label)
	if int(id) < len(n.labels) {
		n.labels[id] = label
		return
	}
	n.labels = append(n.labels, label)
}

// admit returns a number for a new client: the next one or, where these are at
// their bound, that of a client that has left; 0 if there is none.
func (n *names) admit(now int64) uint32 {
	if len(n.labels) <= n.max {
		return uint32(len(n.labels))
	}
	if n.leaving != nil {
		if id := n.leaving.next(n, now); id != 0 {
			return id
		}
	}
	n.excess++
	return 0
}

// agent returns the population group of an agent.
func (n *names) agent(a capture.Symbol) uint8 {
	if g, ok := n.agents[a]; ok {
		return g
	}
	if len(n.agentOf) == agentGroups-1 {
		n.agentOf = append(n.agentOf, capture.Other)
	}
	if len(n.agentOf) >= agentGroups {
		return agentGroups - 1
	}
	g := uint8(len(n.agentOf))
	n.agents[a] = g
	n.agentOf = append(n.agentOf, a)
	return g
}

// route returns the group of a method, host and path with its numbers removed.
func (n *names) route(x *capture.Exchange, target []byte) uint16 {
	path, _, _ := bytes.Cut(target, []byte("?"))
	n.scratch = template(n.scratch[:0], path)
	h := hash(uint64(x.Method)<<32|uint64(x.Host), n.scratch)
	if r, ok := n.routes[h]; ok {
		return r
	}
	if len(n.routeOf) == routeGroups-1 {
		n.routeOf = append(n.routeOf, capture.Other)
	}
	if len(n.routeOf) >= routeGroups {
		return routeGroups - 1
	}
	r := uint16(len(n.routeOf))
	n.routes[h] = r
	text := n.texts.Text(x.Method) + " " + n.texts.Text(x.Host) + string(n.scratch[:min(len(n.scratch), maxRouteText)])
	n.routeOf = append(n.routeOf, n.intern(text))
	return r
}

const maxRouteText = 120

// template appends path with each run of hexadecimal digits that begins with a
// decimal digit replaced by "N": the identifiers in it. Digits after a letter
// belong to a name, such as v1.
func template(dst, path []byte) []byte {
	for i := 0; i < len(path); {
		from := i
		for i < len(path) && (path[i] < '0' || path[i] > '9' || i > 0 && isLetter(path[i-1])) {
			i++
		}
		if dst = append(dst, path[from:i]...); i == len(path) {
			break
		}
		for i < len(path) && isHex(path[i]) {
			i++
		}
		dst = append(dst, 'N')
	}
	return dst
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || c == '-'
}

// hash mixes bytes eight at a time by wide multiplication; it is the same in
// every run, so that nothing that is derived from it changes from run to run.
func hash(seed uint64, b []byte) uint64 {
	const m1, m2 = 0xa0761d6478bd642f, mixWy
	h := seed ^ m1
	for len(b) >= 8 {
		h = mix(h^binary.LittleEndian.Uint64(b), m2)
		b = b[8:]
	}
	var tail uint64
	for i, c := range b {
		tail |= uint64(c) << (8 * i)
	}
	h = mix(h^tail, m2^uint64(len(b)))
	return mix(h, m1) | 1
}

// What mix is given beside a value: 2^64 divided by the golden ratio (Knuth, TAOCP 6.4),
// and the second secret of wyhash.
const (
	mixGolden = 0x9e3779b97f4a7c15
	mixWy     = 0xe7037ed1a0b428db
)

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
