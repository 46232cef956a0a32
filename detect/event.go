package detect

// event is a request or an outcome of this second, with what each step looks at
// first, so that most need not look into the flight for it.
type event struct {
	op, addr uint64
	flight   int32
	client   uint32
	outcome  bool
	good     bool // an outcome of which chains need only op and addr: no failure, and no credential
}

// outcome is the event of a flight's end.
func (e *engine) outcome(i int32) event {
	f := e.flights.at(i)
	return event{
		op: f.op, addr: f.addr, flight: i, client: f.rec.client, outcome: true,
		good: !f.noChain && f.rec.Credential == 0 && !f.rec.Failed(),
	}
}
