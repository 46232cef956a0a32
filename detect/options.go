package detect

import (
	"time"

	"stormwatch/rules"
)

// Options set what an engine judges by, and its bounds.
type Options struct {
	Rules    *rules.Set
	Shards   int    // how many parts of the state are worked on at once; the result does not depend on it
	ClientBy string // "addr" (default) or "key": what a client is where Exchange.Client does not say
	// Perspective says from whose side the input was seen: "server" (default), "client",
	// where a client is an upstream host and a credential, or "auto".
	Perspective string
	Names       *Naming          // names that people gave to clients; nil none
	Capacity    float64          // what the server can serve per second, if the operator knows; 0 unknown
	Clock       map[string]int64 // by source name: how far its clock is ahead of true time, ns, if the operator knows
	Since       Bound            // exchanges that start before are not looked at
	Until       Bound            // nor those that start then or later
	TempDir     string           // for the spool; "" is the system's
	Once        bool             // a Recording of one source that can be read again, to be replayed once from start to end; neither rows nor a client's chains are told: judged while it is read, without a spool
	Memory      int64            // bytes of sorted input and spool kept in memory before they go to TempDir; 0 means 16 MiB

	MaxClients     int   // clients told apart; those that appear later share one row, and are counted, until in live input others have been silent for two hours; 0 means 1<<20
	MaxCheckpoints int64 // bytes of all checkpoints together; 0 means 256 MiB, below 0 none: seeking back replays from the start
}

const (
	tick        = int64(time.Second)
	maxShards   = 64
	agentGroups = 64  // agents told apart in population statistics; the rest share the last group
	routeGroups = 256 // routes told apart likewise
)

func (o Options) withDefaults() Options {
	if o.Shards < 1 {
		o.Shards = 1
	}
	o.Shards = min(o.Shards, maxShards)
	if o.ClientBy == "" {
		o.ClientBy = "addr"
	}
	if o.Memory == 0 {
		o.Memory = 16 << 20
	}
	if o.MaxClients == 0 {
		o.MaxClients = 1 << 20
	}
	if o.MaxCheckpoints == 0 {
		o.MaxCheckpoints = 256 << 20
	}
	return o
}
