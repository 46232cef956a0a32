package prometheus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"stormwatch/capture"
)

// APIOptions of a server's query API. The zero value follows the server live,
// from one hour ago, in steps of 15 s.
type APIOptions struct {
	LookBack time.Duration // how far back to begin where Since is not set; 0 means 1 h
	Step     time.Duration // width of a tally, whole milliseconds; 0 means 15 s, or wider where a range needs it
	Interval time.Duration // time between two live queries; 0 means Step
	Window   time.Duration // of rate(), whole seconds; 0 means 4 steps, 1 min at least
	Since    time.Time     // first step; zero means LookBack before now, or before Until
	Until    time.Time     // last step; zero follows live
	Vantage  string        // the hop whose metrics these are
	Seed     uint64        // of the jitter between queries; 0 draws one, so that many instances spread
	// Transport sends the queries; nil means one that never sends a request twice.
	Transport http.RoundTripper
}

// maxPoints is the server's own bound of one range query: 11,000 a series.
const maxPoints = 11000

func (o APIOptions) withDefaults() (APIOptions, error) {
	if o.LookBack <= 0 {
		o.LookBack = time.Hour
	}
	span := o.LookBack
	if !o.Since.IsZero() {
		end := o.Until
		if end.IsZero() {
			end = time.Now()
		}
		span = end.Sub(o.Since)
	}
	if span <= 0 {
		return o, errors.New("the range ends before it begins")
	}
	if o.Step <= 0 {
		o.Step = max(15*time.Second, (span/maxPoints + time.Second).Truncate(time.Second))
	}
	if o.Step = o.Step.Truncate(time.Millisecond); o.Step == 0 {
		return o, errors.New("a step below one millisecond")
	}
	if span/o.Step > maxPoints-1 {
		return o, fmt.Errorf("%v in steps of %v are more than the %d points a server gives: widen the step", span, o.Step, maxPoints)
	}
	if o.Interval <= 0 {
		o.Interval = o.Step
	}
	if o.Window <= 0 {
		o.Window = max(4*o.Step, time.Minute)
	}
	if o.Window = o.Window.Truncate(time.Second); o.Window == 0 {
		return o, errors.New("a window below one second")
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	return o, nil
}

// OpenAPI returns the source of a server. base is its address; a password in it
// is used and never shown. Nothing is asked before Run.
func OpenAPI(base string, opt APIOptions) (*Source, error) {
	u, err := parseBase(base)
	if err != nil {
		return nil, fmt.Errorf("prometheus server: %w", err)
	}
	shown := *u
	shown.User = nil
	if opt, err = opt.withDefaults(); err != nil {
		return nil, fmt.Errorf("prometheus server %s: %w", &shown, err)
	}
	p := newPoller(newClient(u, opt.Transport, timeoutOf(opt.Interval), time.Now), opt)
	return &Source{
		info: capture.Info{Name: shown.String(), Kind: "prometheus", Vantage: opt.Vantage, Live: opt.Until.IsZero()},
		run: func(ctx context.Context, sink capture.Sink) error {
			if err := p.run(ctx, sink); err != nil {
				return fmt.Errorf("prometheus server %s: %w", &shown, err)
			}
			return nil
		},
	}, nil
}

// timeoutOf bounds a query, so that one set of them is in flight at a time and a
// dripping answer ends; a look-back is given two seconds at least.
func timeoutOf(interval time.Duration) time.Duration {
	return min(max(interval, 2*time.Second), 10*time.Second)
}

// poller asks again and again.
type poller struct {
	c      *client
	opt    APIOptions
	now    func() time.Time
	sleep  func(context.Context, time.Duration)
	rng    *rand.Rand
	health *capture.Health
	steps  *steps
	label  string
	next   time.Time // first step not yet asked for
	fails  int       // queries in a row that failed
}

func newPoller(c *client, opt APIOptions) *poller {
	h := &capture.Health{}
	return &poller{
		c: c, opt: opt, now: time.Now, sleep: sleep, health: h,
		rng:   rand.New(rand.NewPCG(opt.Seed, 0)),
		steps: newSteps(opt.Step.Milliseconds(), h),
	}
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// run asks for the look-back, then for what is new, until ctx ends. A server
// that never answered is an error at once; one that stops answering leaves a gap
// and is asked again, later and later.
func (p *poller) run(ctx context.Context, sink capture.Sink) error {
	for ctx.Err() == nil {
		tallies, err := p.ask(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			if err := p.failed(err); err != nil {
				return err
			}
		} else {
			p.fails = 0
		}
		last := err == nil && !p.opt.Until.IsZero()
		if err := deliver(ctx, sink, tallies, p.health, last); err != nil || last {
			return err
		}
		p.sleep(ctx, p.wait())
	}
	return deliver(ctx, sink, nil, p.health, true)
}

// ask makes the queries of one turn.
func (p *poller) ask(ctx context.Context) ([]capture.Tally, error) {
	if p.label == "" {
		at := p.now()
		if !p.opt.Until.IsZero() {
			at = p.opt.Until
		}
		label, err := p.c.probe(ctx, at)
		if err != nil {
			return nil, err
		}
		p.label = label
	}
	from, to := p.span()
	if to.Before(from) {
		return nil, nil
	}
	a, err := p.c.queryRange(ctx, query(p.label, p.opt.Window), from, to, p.opt.Step)
	if err != nil {
		return nil, err
	}
	all, coded, err := a.series(p.health)
	if err != nil {
		return nil, err
	}
	p.next = to.Add(p.opt.Step)
	return p.steps.tallies(all, coded), nil
}

// span gives the steps to ask for, on multiples of the step, so that two looks
// at one range give the same numbers. After a long silence it begins no further
// back than the look-back.
func (p *poller) span() (from, to time.Time) {
	to = p.opt.Until
	if to.IsZero() {
		to = p.now()
	}
	from = to.Add(-p.opt.LookBack)
	switch {
	case p.next.After(from):
		from = p.next
	case p.next.IsZero() && !p.opt.Since.IsZero():
		from = p.opt.Since
	}
	return p.aligned(from.Add(p.opt.Step - 1)), p.aligned(to)
}

// aligned rounds down to a multiple of the step since 1970.
func (p *poller) aligned(t time.Time) time.Time {
	return time.Unix(0, t.UnixNano()/int64(p.opt.Step)*int64(p.opt.Step))
}

// maxTries bounds the requests for a range that is over.
const maxTries = 5

// failed notes a query without answer; its error ends the source.
func (p *poller) failed(err error) error {
	p.fails++
	var status *StatusError
	var paused *pausedError
	final := errors.Is(err, errNoCodes) || errors.Is(err, errTooLarge)
	first := p.label == ""
	switch {
	case errors.As(err, &status):
		final = status.Final()
		if status.Code == http.StatusUnprocessableEntity {
			err = fmt.Errorf("%w; ask for a shorter range or a wider step", err)
		}
	case errors.As(err, &paused):
		final = false
	case first: // refused, no such host, not Prometheus: a mistake in the address
		final = true
	}
	if final || !p.opt.Until.IsZero() && p.fails >= maxTries {
		return err
	}
	p.health.Skip("the server gave no answer", capture.Clean(err.Error()))
	return nil
}

const (
	firstSpread = time.Second
	maxSpread   = time.Minute
)

// wait is the time to the next query. After a failure that is what the server
// named, or the interval if longer, plus full jitter over a spread that doubles:
// a query that failed costs no request more than one that did not.
func (p *poller) wait() time.Duration {
	if p.fails == 0 {
		return p.opt.Interval
	}
	floor := p.opt.Interval
	if !p.opt.Until.IsZero() {
		floor = 0
	}
	if left := p.c.wire.until.Sub(p.c.wire.now()); left > floor {
		floor = left
	}
	spread := maxSpread
	if p.fails < 7 {
		spread = min(firstSpread<<(p.fails-1), maxSpread)
	}
	return floor + time.Duration(p.rng.Int64N(int64(spread)))
}
