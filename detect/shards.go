package detect

import "stormwatch/detect/chain"

// partition divides the events of a second among the shards, by operation and by client.
func (e *engine) partition() {
	for i := range e.byOp {
		e.byOp[i], e.byCli[i] = e.byOp[i][:0], e.byCli[i][:0]
	}
	shards := uint32(e.opt.Shards)
	for i := range e.events {
		ev := &e.events[i]
		op := e.chains.ShardOf(ev.op)
		e.byOp[op] = append(e.byOp[op], int32(i))
		c := ev.client % shards
		e.byCli[c] = append(e.byCli[c], int32(i))
	}
}

// worthSharing is the number of events from which a second is divided among
// goroutines; below, starting them costs more than they save.
const worthSharing = 512

func (e *engine) parallel(step func(shard int)) {
	if len(e.events) < worthSharing || e.opt.Shards == 1 {
		for i := range e.opt.Shards {
			step(i)
		}
		return
	}
	done := make(chan struct{}, e.opt.Shards-1)
	for i := 1; i < e.opt.Shards; i++ {
		go func() {
			step(i)
			done <- struct{}{}
		}()
	}
	step(0)
	for range e.opt.Shards - 1 {
		<-done
	}
}

// together is how many events are looked up before the first of them is worked on,
// so that their waits for memory overlap.
const together = 16

// matchShard finds the chains of the operations of one shard.
func (e *engine) matchShard(shard int) {
	m := e.chains.Shard(shard)
	list := e.byOp[shard]
	for k, i := range list {
		if k%together == 0 {
			for _, i := range list[k:min(k+together, len(list))] {
				m.Touch(e.events[i].op, e.events[i].addr)
			}
		}
		ev := &e.events[i]
		if ev.good {
			m.Succeeded(ev.op, ev.addr, 0)
			continue
		}
		f := e.flights.at(ev.flight)
		switch {
		case f.noChain:
			f.link = chain.Link{Root: f.seq, RootClient: f.rec.client, Attempt: 1}
		case ev.outcome && !f.rec.Failed():
			m.Succeeded(f.op, f.addr, f.rec.Credential)
		case ev.outcome:
			res := f.result()
			res.Raced = e.raced(&f.rec)
			m.Outcome(&res)
		default:
			req := f.request(e.resolution(f.rec.source))
			f.link = m.Request(&req)
		}
	}
}

func (f *flight) request(clock int64) chain.Request {
	r := &f.rec
	own, relay := counts(&r.Exchange)
	return chain.Request{
		Seq: f.seq, Start: r.Start, Op: f.op, Template: f.tmpl, Addr: f.addr, IP: hash(1, r.Src.IP[:]), Cred: r.Credential,
		Client: r.client, Idem: r.IdemKey, Body: r.Body, ID: r.RequestID, Counter: own.Counter, N: own.N, Relay: relay, Deadline: r.Deadline, Clock: clock,
	}
}

func (f *flight) result() chain.Result {
	r := &f.rec
	own, relay := counts(&r.Exchange)
	return chain.Result{
		Seq: f.seq, Op: f.op, Addr: f.addr, Cred: r.Credential, Start: r.Start, End: r.End, Status: r.Effective(), Reason: r.Reason,
		Outcome: r.Outcome, Failed: r.Failed(), Hint: r.Hint, Link: f.link, Client: r.client, Idem: r.IdemKey, Body: r.Body, ID: r.RequestID,
		Counter: own.Counter, N: own.N, Relay: relay, Template: f.tmpl, IP: hash(1, r.Src.IP[:]),
		Advice: r.Advice, Relative: r.Limit.Form.Relative(), Deadline: r.Deadline,
	}
}
