package detect

import "stormwatch/detect/chain"

// endlessChains are the chains that counted as endless of late, so that each does so
// once: the attempt from which one does moves with what its waits tell of layers.
type endlessChains []endlessChain

type endlessChain struct {
	root uint64 // 0 none
	at   int64  // start of its latest attempt
}

const endlessKept = 4096 // 64 KB; at most so many are followed at once

// note takes in a request, and tells whether it is the one at which its chain is found
// to be endless. It is called in the order of events, whatever the shards are. Attempts
// that a coarse clock shows together may be an inner layer's: all of them count as one.
func (c *endlessChains) note(link *chain.Link, at int64, layers *layering) bool {
	if link.Attempt <= tenth || link.Parent == 0 || link.Confidence < believed {
		return false
	}
	least, apart := tenth*layers.burst(link.Root), link.Attempt-int32(link.Hidden)
	if !beyond(link.Sure, least) || apart <= tenth {
		return false
	}
	if *c == nil {
		*c = make([]endlessChain, endlessKept)
	}
	switch k := &(*c)[mix(link.Root, mixGolden)%endlessKept]; {
	case k.root == link.Root:
		k.at = max(k.at, at)
		return false
	case k.root != 0 && at-k.at < runIdle:
		if link.Together == 0 {
			apart-- // what it was at the attempt before
		}
		return !beyond((link.Sure-1)/link.Confidence, least) || apart <= tenth // no room to remember it
	default:
		*k = endlessChain{link.Root, at}
		return true
	}
}

// beyond tells whether more attempts are expected than there should be, to the nearest
// whole one. Several requests of a client for the same thing at one time make a chain
// longer than any of them, of links that are each less sure.
func beyond(sure float32, least int32) bool { return sure >= float32(least)+.5 }
