package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Budget bounds what retries a process may add to its requests:
//
//	finagle ratio=0.2 min=10 ttl=10s   twitter/finagle RetryBudget: a token bucket
//	envoy ratio=0.2 min=3              Envoy retry_budget: of the requests under way
//	sre ratio=0.1                      Google SRE, "Handling Overload": of the requests of two minutes
//
// Those are the defaults. min is retries per second (finagle), retries under way
// (envoy), or retries in two minutes that are free (sre).
type Budget struct {
	Kind  string
	Ratio float64
	Min   float64
	TTL   time.Duration
}

var budgets = map[string]Budget{
	"finagle": {"finagle", .2, 10, 10 * time.Second},
	"envoy":   {"envoy", .2, 3, 0},
	"sre":     {"sre", .1, 0, 2 * time.Minute},
}

// UnmarshalText reads a budget as its documentation shows.
func (b *Budget) UnmarshalText(text []byte) error {
	words := strings.Fields(string(text))
	if len(words) == 0 {
		return fmt.Errorf("budget is empty: want finagle, envoy or sre")
	}
	spec, ok := budgets[words[0]]
	if !ok {
		return fmt.Errorf("budget %q: want finagle, envoy or sre", words[0])
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch {
		case key == "ratio":
			spec.Ratio, err = strconv.ParseFloat(value, 64)
		case key == "min":
			spec.Min, err = strconv.ParseFloat(value, 64)
		case key == "ttl" && spec.TTL > 0:
			spec.TTL, err = time.ParseDuration(value)
		default:
			err = fmt.Errorf("not a parameter of %s", spec.Kind)
		}
		if err != nil {
			return fmt.Errorf("budget %s: %s: %w", spec.Kind, word, err)
		}
	}
	if !(spec.Ratio > 0 && spec.Ratio <= 10) || !(spec.Min >= 0 && spec.Min <= maxRate) || spec.TTL < 0 || spec.TTL > time.Hour {
		return fmt.Errorf("budget %s: want ratio above 0 and up to 10, min 0 to %d, ttl up to 1h", spec.Kind, maxRate)
	}
	*b = spec
	return nil
}

// budget is a Budget as one process keeps it. Moments come in order.
type budget interface {
	begin(at int64)      // a request that is no retry
	retry(at int64) bool // whether a retry may be made
	end(retried bool)    // what begin or retry began is over
}

func (b *Budget) open() budget {
	switch {
	case b == nil:
		return unbounded{}
	case b.Kind == "envoy":
		return &activeBudget{spec: b}
	case b.Kind == "sre":
		return &ratioBudget{spec: b, requests: newWindow(b.TTL), retries: newWindow(b.TTL)}
	}
	return &tokenBudget{spec: b, balance: newWindow(b.TTL)}
}

// unbounded is no budget.
type unbounded struct{}

func (unbounded) begin(int64)      {}
func (unbounded) retry(int64) bool { return true }
func (unbounded) end(bool)         {}

// tokenBudget is Finagle's: a request brings a token, a retry takes 1/ratio of
// them, both are forgotten after ttl, and min a second are always there.
type tokenBudget struct {
	spec    *Budget
	balance *window
}

func (b *tokenBudget) begin(at int64) { b.balance.add(at, 1) }

func (b *tokenBudget) retry(at int64) bool {
	cost := 1 / b.spec.Ratio
	reserve := b.spec.Min * b.spec.TTL.Seconds() * cost
	if b.balance.sum(at)+reserve < cost-1e-9 {
		return false
	}
	b.balance.add(at, -cost)
	return true
}

func (b *tokenBudget) end(bool) {}

// activeBudget is Envoy's: retries under way, their back-off included, against
// all requests under way.
type activeBudget struct {
	spec            *Budget
	active, retries float64
}

func (b *activeBudget) begin(int64) { b.active++ }

func (b *activeBudget) retry(int64) bool {
	if b.retries >= math.Max(b.spec.Ratio*b.active, b.spec.Min) {
		return false
	}
	b.active++
	b.retries++
	return true
}

func (b *activeBudget) end(retried bool) {
	b.active--
	if retried {
		b.retries--
	}
}

// ratioBudget is that of the SRE book: retries against requests of the last while.
type ratioBudget struct {
	spec              *Budget
	requests, retries *window
}

func (b *ratioBudget) begin(at int64) { b.requests.add(at, 1) }

func (b *ratioBudget) retry(at int64) bool {
	if b.retries.sum(at)+1 > b.spec.Ratio*b.requests.sum(at)+b.spec.Min {
		return false
	}
	b.retries.add(at, 1)
	return true
}

func (b *ratioBudget) end(bool) {}
