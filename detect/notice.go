package detect

import "stormwatch/detect/herd"

// windowOfHerd is the least width over which a wave is told as a rate.
const windowOfHerd = int64(herd.Bin)

// notice passes once over the events of this second, in order, for what is asked of
// everybody together. It comes before clients are held to account.
func (e *engine) notice() {
	p := &e.pop
	p.quotas.turn(e.now)
	p.late.begin(e.now)
	layered := e.layersBegin()
	for _, ev := range e.events {
		f := e.flights.at(ev.flight)
		p.quotas.note(f, ev.outcome, e.now)
		if ev.outcome {
			p.late.outcome(f, e.now)
		} else {
			p.starts.note(f, e.now)
		}
		if layered && !f.noChain {
			e.followLayers(f, ev.outcome)
		}
		if !ev.outcome {
			f.endless = p.endless.note(&f.link, f.rec.Start, &p.layering)
		}
	}
	p.late.end(e.now)
	p.starts.judge(e.now)
}
