package detect

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"stormwatch/capture"
)

// behindOne tells from the agents and credentials of an address how many clients are
// behind it, as where an office or a cluster leaves by one gateway. Agents are hashed
// into a bitmap of 64 bits; credentials, whose hashes differ from run to run, are
// counted one by one.
//
// One client may run several programs, or change its credential; those of many take
// turns: what was sent before comes back.
type behindOne struct {
	agents uint64
	creds  [natKept]uint32 // in the order of appearance; 0 none
	who    uint32          // of the latest request
	turns  uint16          // requests of another agent or credential than the one before, that had been seen
	after  uint16          // of them, retries of what the other was refused: one client that changes its credential
}

const (
	natAgents = 5 // agents, or: one person's programs are a browser, a mail client, a tool or two
	natCreds  = 3 // credentials behind one address, from which it is several clients': one has its own, and that of its renewal
	natTurns  = 3 // requests of one that had been seen before another's: a renewal has none, and one or two where the old credential is still in use
	natKept   = 8 // credentials told apart; beyond, there are "at least" so many
)

// see takes in a request of the address.
func (b *behindOne) see(agent capture.Symbol, credential uint64, again bool) {
	who := uint32(mix(mix(uint64(agent)+1, 0xa0761d6478bd642f)^credential, mixGolden)>>16) | 1
	if who == b.who || agent == 0 && credential == 0 {
		return
	}
	bit := bitOf(uint64(agent))
	known := b.agents&bit == bit
	b.agents |= bit
	if credential != 0 && !b.knows(uint32(mix(credential, mixGolden)>>32)|1) {
		known = false
	}
	if b.who != 0 && known {
		count16(&b.turns)
		if again {
			count16(&b.after)
		}
	}
	b.who = who
}

// knows tells whether a credential was seen before, and keeps it.
func (b *behindOne) knows(credential uint32) bool {
	for i, c := range b.creds {
		switch c {
		case credential:
			return true
		case 0:
			b.creds[i] = credential
			return false
		}
	}
	return false // one of many, or another new one
}

// bitOf is the bit of a value; 0, none.
func bitOf(v uint64) uint64 {
	if v == 0 {
		return 0
	}
	return 1 << (mix(v, mixGolden) & 63)
}

// clients is about how many there are, 1 where nothing says that there are several;
// more: there may be more of them.
func (b *behindOne) clients() (n int, more bool) {
	creds := 0
	for creds < natKept && b.creds[creds] != 0 {
		creds++
	}
	if b.turns < natTurns || 2*b.after > b.turns || bits.OnesCount64(b.agents) < natAgents && creds < natCreds {
		return 1, false
	}
	if agents := int(math.Round(bitmap{b.agents}.count())); agents > creds {
		return agents, false
	}
	return creds, creds == natKept
}

// shared tells whether a client is an address that several clients share, so that what
// one of them did is not known.
func (e *engine) shared(c *client) bool {
	if !e.byAddress() {
		return false
	}
	n, _ := c.behind.clients()
	return n > 1
}

// byAddress tells whether clients are addresses.
func (e *engine) byAddress() bool { return !e.names.byKey && !e.names.upstream && !e.names.named }

// sharedWhy says why a signature that only shared addresses show is not judged.
const sharedWhy = "cannot judge: only addresses that several clients share show it, so which client did what is not known (Input says how many; --client-by key, agent or header:NAME tells them apart)"

const maxShared = 3 // addresses named in the note

// sharers notes on the primary source which addresses several clients share.
func (e *engine) sharers(sources []Source) []Source {
	if !e.byAddress() || len(sources) == 0 {
		return sources
	}
	var most []uint32
	for id := range uint32(e.clients.len()) {
		if e.shared(e.clients.at(id)) {
			most = append(most, id)
		}
	}
	if len(most) == 0 {
		return sources
	}
	slices.SortStableFunc(most, func(a, b uint32) int { return int(e.clients.at(b).attempts) - int(e.clients.at(a).attempts) })
	var parts, labels []string
	for _, id := range most[:min(len(most), maxShared)] {
		n, more := e.clients.at(id).behind.clients()
		about := "about"
		if more {
			about = "at least"
		}
		labels = append(labels, e.names.labels[id])
		parts = append(parts, fmt.Sprintf("%s %d clients behind %s", about, n, e.names.labels[id]))
	}
	if more := len(most) - maxShared; more > 0 {
		parts = append(parts, fmt.Sprintf("and several behind each of %d other addresses", more))
	}
	out := slices.Clone(sources)
	p := &out[primaryOf(out)]
	p.Shared = labels
	p.Note = strings.TrimPrefix(p.Note+"; "+strings.Join(parts, ", ")+": what one of them did is not judged; --client-by key, agent or header:NAME tells them apart", "; ")
	return out
}

// sharedOf is the share of the requests that come from shared addresses.
func (e *engine) sharedOf() float64 {
	if !e.byAddress() || e.pop.total.attempts == 0 {
		return 0
	}
	var n int64
	for id := range uint32(e.clients.len()) {
		if c := e.clients.at(id); e.shared(c) {
			n += int64(c.attempts)
		}
	}
	return min(float64(n)/float64(e.pop.total.attempts), 1)
}

// sharedDoubt is how much of a confidence is lost where all come from shared addresses.
const sharedDoubt = .15

// outwardly drops from the sources what is said of proxies: from the client's side few
// addresses are no sign of one.
func (e *engine) outwardly(sources []Source) []Source {
	if !e.names.outward {
		return sources
	}
	out := slices.Clone(sources)
	for i := range out {
		h := &out[i].Health
		h.Crowded = false
		h.Notes = slices.DeleteFunc(slices.Clone(h.Notes), func(n string) bool { return strings.HasPrefix(n, capture.CrowdedNote) })
	}
	return out
}
