package detect

import "maps"

// trouble is what one who is called has answered since the onset of its trouble: the
// first failure after which failing was no mere noise.
type trouble struct{ from, to, answers, refused, failed int64 }

// troubles are those of all who are called, as far as there is room.
type troubles map[uint32]trouble

const mostTroubled = 4096 // as many as are looked at for the worst

// note counts the outcomes of this second, where the input was seen by who calls.
func (t *troubles) note(e *engine) {
	if !e.names.outward {
		return
	}
	for _, ev := range e.events {
		if !ev.outcome {
			continue
		}
		r := &e.flights.at(ev.flight).rec
		if !r.Judged() || r.client >= mostTroubled {
			continue
		}
		now, open := (*t)[r.client]
		switch failed := r.Failed(); {
		case !open && !failed:
			continue
		case failed && share(now.refused+now.failed, now.answers) < heavyShare:
			now = trouble{from: r.Start}
		}
		now.to = max(now.to, r.End)
		now.answers++
		switch {
		case r.Refused():
			now.refused++
		case r.Failed():
			now.failed++
		}
		if *t == nil {
			*t = troubles{}
		}
		(*t)[r.client] = now
	}
}

func (t troubles) clone() troubles { return maps.Clone(t) }
