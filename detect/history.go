package detect

import "slices"

// history is what is kept of a client that has retried, been refused or done
// something else that signatures are about. Most clients never do, and the path of
// their requests passes by it. It holds no pointer.
type history struct {
	did     conduct
	told    uint32         // its place among the conducts of flagged clients, from 1; 0 none
	since   [faults]uint32 // moment of the first of each fault
	gaps    [gapRing]float32
	ngaps   uint32
	parking parking
	obeys   obeys
	ban     ban
	walk    walk
	paced   paced

	elsewhere, brief int64 // second in which it last asked again for what redirects it, or lost a session again
}

// histories keeps them in a part for each shard, which one goroutine adds to.
type histories struct {
	parts []historyPart
	none  history // of those who have none; never written
}

type historyPart struct {
	blocks []*[historyBlock]history
	n      int
}

const historyBlock = 64

func newHistories(shards int) histories { return histories{parts: make([]historyPart, shards)} }

// of returns the history of a client to read, which is empty where it has none.
func (h *histories) of(c *client) *history {
	if c.history == 0 {
		return &h.none
	}
	n := int(c.history-1) / len(h.parts)
	return &h.parts[int(c.history-1)%len(h.parts)].blocks[n/historyBlock][n%historyBlock]
}

// begin returns the history of a client of a shard to write to.
func (h *histories) begin(shard int, c *client) *history {
	if c.history == 0 {
		p := &h.parts[shard]
		if p.n == len(p.blocks)*historyBlock {
			p.blocks = append(p.blocks, new([historyBlock]history))
		}
		c.history = uint32(p.n*len(h.parts)+shard) + 1
		p.n++
	}
	return h.of(c)
}

func (h *histories) len() (n int) {
	for i := range h.parts {
		n += h.parts[i].n
	}
	return n
}

func (h *histories) clone() histories {
	c := histories{parts: slices.Clone(h.parts)}
	for i := range c.parts {
		c.parts[i].blocks = slices.Clone(c.parts[i].blocks)
		for k, b := range c.parts[i].blocks {
			own := *b
			c.parts[i].blocks[k] = &own
		}
	}
	return c
}

// history is that of a client by number, to write to between the steps of shards.
func (e *engine) history(id uint32) *history {
	return e.histories.begin(int(id)%e.opt.Shards, e.clients.at(id))
}

// history is that of a client of the shard, to write to.
func (d *delta) history(c *client) *history { return d.histories.begin(d.shard, c) }
