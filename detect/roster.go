package detect

import "stormwatch/capture"

// roster is what the numbers stand for that names gives. Its lists only grow, so
// that a copy is a picture of that moment, and may be read while names goes on;
// where clients leave, which a live input lets them, there is no such copy.
type roster struct {
	labels   []string // by client; 0 stands for all clients beyond the bound
	titles   []string // names that people gave, by client, as far as any has one
	routeOf  []capture.Symbol
	agentOf  []capture.Symbol
	texts    capture.Texts
	paths    *capture.Interner // of the engine alone; a bounded sample: hostile paths cannot grow it
	tries    tryLists
	named    bool // some exchange names its client
	byKey    bool
	outward  bool  // the input was seen from a client's side
	upstream bool  // and clients are those who are called, and by which credential
	creds    int   // credentials labelled so far
	excess   int64 // exchanges of clients beyond the bound
	max      int
}

// title is the name that people gave a client; "" if it has none.
func (n *roster) title(id uint32) string {
	if int(id) < len(n.titles) {
		return n.titles[id]
	}
	return ""
}

// perspective is the one that clients are numbered by.
func (n *roster) perspective() string {
	if n.outward {
		return PerspectiveClient
	}
	return PerspectiveServer
}

// tried lists the attempts of a kept list.
func (n *roster) tried(at uint32) (out []Tried) {
	for _, t := range n.tries.list(at) {
		out = append(out, Tried{n.texts.Text(t.Server), int(t.Status), t.Fresh})
	}
	return out
}
