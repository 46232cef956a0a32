package accesslog

import (
	"bytes"

	"stormwatch/capture"
)

// twins finds the calls that two sidecars log: that of the caller (outbound) and
// that of the callee (inbound). The id of a request is handed on to calls that
// it causes, so the call itself must be the same, too.
type twins struct{ table [4096]twin }

type twin struct {
	key     uint64
	waiting [2]uint8 // calls logged by the one side and not yet by the other
}

// Sides of a call.
const (
	noSide = iota
	outbound
	inbound
)

// second tells whether the line is the second one of a call.
func (t *twins) second(r *reading) bool {
	id, side := r.get(roleRequestID), noSide
	switch c := r.get(roleCluster); {
	case bytes.HasPrefix(c, []byte("inbound|")):
		side = inbound
	case bytes.HasPrefix(c, []byte("outbound|")):
		side = outbound
	}
	if id == nil || side == noSide {
		return false
	}
	key := capture.HashID(id)
	for _, what := range [...]role{roleRequest, roleMethod, roleTarget, roleHost} {
		key = key*31 + capture.HashID(r.get(what))
	}
	key = key*31 + uint64(r.code)
	e := &t.table[key%uint64(len(t.table))]
	if e.key != key {
		*e = twin{key: key}
	}
	mine, other := &e.waiting[side-1], &e.waiting[2-side]
	if *other > 0 {
		*other--
		return true
	}
	if *mine < 255 {
		*mine++
	}
	return false
}

const loggedTwice fault = "the same call as the other sidecar's line tells"
