package detect

import (
	"slices"
	"strconv"

	"stormwatch/capture"
)

// ring keeps the latest attempts of everybody, so that a client's chains can be
// shown without keeping every exchange. It holds no pointer.
type ring struct {
	at   []kept
	next int
}

// kept is an attempt as the chain view shows it.
type kept struct {
	seq, root        uint64
	client, rootCli  uint32
	ordinal          uint32
	start, end, gap  int64
	parentHint       capture.Hint
	hint             capture.Hint
	where            capture.Provenance
	method, host     capture.Symbol
	agent            capture.Symbol
	path             uint32
	tryAt            uint32
	tries            uint16
	origin           capture.Origin
	attempt          int32
	confidence       float32
	status           uint16
	outcome          capture.Outcome
	reason           capture.Reason
	rpc              capture.RPCStatus
	level            uint8
	failed, answered bool
}

// ringSize is how many attempts are kept: some minutes of an incident at a few
// hundred requests a second, in about 6 MB.
const (
	ringSize  = 1 << 15
	smallRing = 1 << 9 // more than that, and it gets the room for all
)

func (r *ring) put(f *flight) {
	x := &f.rec
	k := kept{
		seq: f.seq, root: f.link.Root, client: x.client, rootCli: f.link.RootClient, ordinal: f.ordinal,
		start: x.Start, end: x.End, gap: f.link.Gap, parentHint: f.link.ParentHint, hint: x.Hint, where: x.At,
		method: x.Method, host: x.Host, agent: x.Agent, path: f.path, attempt: f.link.Attempt, confidence: f.link.Confidence,
		tryAt: x.TryAt, tries: x.Tries, origin: x.Origin,
		status: x.Status, outcome: x.Outcome, reason: x.Reason, rpc: x.RPC, level: f.link.Level, failed: x.Failed(), answered: true,
	}
	if len(r.at) < ringSize {
		if len(r.at) == smallRing {
			r.at = slices.Grow(r.at, ringSize-smallRing)
		}
		r.at = append(r.at, k)
		return
	}
	r.at[r.next] = k
	r.next = (r.next + 1) % ringSize
}

const (
	maxChains   = 100 // of a client: what a person looks through
	maxAttempts = 64  // of a chain; More counts the others
)

// chains returns the latest chains that a client began, oldest first.
func (r *ring) chains(e *engine, label string) []Chain {
	byRoot := map[uint64][]*kept{}
	var roots []uint64
	for i := range r.at {
		k := &r.at[(r.next+i)%len(r.at)]
		if e.names.labels[k.rootCli] != label && e.names.labels[k.client] != label {
			continue
		}
		if byRoot[k.root] == nil {
			roots = append(roots, k.root)
		}
		byRoot[k.root] = append(byRoot[k.root], k)
	}
	slices.Sort(roots)
	if len(roots) > maxChains {
		roots = roots[len(roots)-maxChains:]
	}
	out := make([]Chain, 0, len(roots))
	for _, root := range roots {
		out = append(out, e.chain(root, byRoot[root]))
	}
	return out
}

func (e *engine) chain(root uint64, ks []*kept) Chain {
	slices.SortFunc(ks, func(a, b *kept) int { return compare(a.start < b.start || a.start == b.start && a.seq < b.seq) })
	n, head := e.names, ks[0]
	c := Chain{
		Client: n.labels[head.rootCli], Agent: n.texts.Text(head.agent), Method: n.texts.Text(head.method), Host: n.texts.Text(head.host),
		Path: n.paths.Text(capture.Symbol(head.path)), Ended: "open",
	}
	if head.seq == root {
		c.ID = chainID(c.Client, head.ordinal)
	} else {
		c.ID = c.Client + "#(begun earlier)"
	}
	for _, k := range ks {
		if len(c.Attempts) == maxAttempts {
			c.More++
			continue
		}
		c.Attempts = append(c.Attempts, e.attempt(k))
	}
	last := ks[len(ks)-1]
	switch {
	case !last.failed:
		c.Ended = "success"
	case e.now-last.end > givenUp:
		c.Ended = "gave up"
	}
	return c
}

// givenUp is how long after its last failure a chain counts as given up: what
// the matcher waits for a child.
const givenUp = 120 * tick

func chainID(client string, ordinal uint32) string {
	return client + "#" + strconv.FormatUint(uint64(ordinal), 10)
}

func (e *engine) attempt(k *kept) Attempt {
	a := Attempt{
		N: int(max(k.attempt, 1)), Start: k.start, End: k.end, Status: int(k.status), Outcome: k.outcome, Reason: k.reason, RPC: k.rpc,
		Hint: k.hint, HintRaw: e.names.texts.Text(k.hint.Raw), Evidence: Level(k.level), Confidence: float64(k.confidence), At: k.where.String(),
		Tries: int(k.tries), Tried: e.names.tried(k.tryAt), Origin: k.origin,
	}
	if k.attempt > 1 {
		a.Gap = Some(seconds(k.gap))
		if h := k.parentHint; h.Usable() && h.Wait > 0 && tooEarly(h.Wait, k.gap, 0) {
			a.Early = Some(seconds(h.Wait - k.gap))
		}
	}
	return a
}
