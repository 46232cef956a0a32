package sim

import (
	"net/netip"
	"time"

	"stormwatch/policy"
)

// Sender is how a process sends requests and what it does about the answers:
// what clients and layers have in common.
type Sender struct {
	Policy policy.Policy `yaml:"policy"` // a text as package policy reads it, or the name of a library
	// RetryOn lists what is retried: statuses, "lost" for a timeout or a reset, and
	// "body" for a 200 whose body is an error. Default: 429, 500, 502, 503, 504, lost.
	RetryOn []string      `yaml:"retry_on"`
	Reads   *Reading      `yaml:"reads"`   // how a hint is read; default as the server means it
	Clock   time.Duration `yaml:"clock"`   // how far its clock is ahead of the true time
	Timeout time.Duration `yaml:"timeout"` // patience for an answer; 0 without end
	Latency time.Duration `yaml:"latency"` // one way to the next hop; default 2ms
	Noise   time.Duration `yaml:"noise"`   // mean of the exponential delay added to each way
	Idle    time.Duration `yaml:"idle"`    // a connection unused so long is closed by who dialled it; default 5s
	Counter string        `yaml:"counter"` // a header in which attempts are numbered, such as x-envoy-attempt-count

	Budget   *Budget `yaml:"budget"`    // what retries may cost
	Adaptive float64 `yaml:"adaptive"`  // K of adaptive throttling (Google SRE, "Handling Overload"); 0: none
	Pace     *Pace   `yaml:"pace"`      // a token bucket before everything that is sent
	ByLimits bool    `yaml:"by_limits"` // waits for the reset when the last answer said that nothing is left
	Hedge    *Hedge  `yaml:"hedge"`     // copies sent before the first answer
}

// Pace is a token bucket that a process puts upon itself.
type Pace struct {
	Rate  float64 `yaml:"rate"`  // requests a second
	Burst int     `yaml:"burst"` // default 1
}

// Hedge is a second try before the first has failed.
type Hedge struct {
	After  time.Duration `yaml:"after"`
	Copies int           `yaml:"copies"` // default 1
}

// Layer is a proxy between clients and the server. Its instances keep their own
// connections, so that the tap sees their addresses.
type Layer struct {
	Name      string `yaml:"name"`
	Count     int    `yaml:"count"` // instances; default 1
	Sender    `yaml:",inline"`
	Forwarded bool `yaml:"forwarded"` // adds X-Forwarded-For
	Detached  bool `yaml:"detached"`  // goes on when who asked has left
}

// Group is a number of like clients.
type Group struct {
	Name   string `yaml:"name"`
	Count  int    `yaml:"count"`
	Agent  string `yaml:"agent"`
	Sender `yaml:",inline"`
	Demand []Demand `yaml:"demand"`
	Method string   `yaml:"method"` // default GET; POST, PUT and PATCH carry a body
	// Paths are drawn from for each unit of work; "{id}" becomes a number that no
	// other unit has, "{client}" the client's number in its group, "{page}" how many
	// units the client has begun.
	Paths       []string      `yaml:"paths"`
	Through     []string      `yaml:"through"`     // layers on the way, the first one nearest to the clients
	Deadline    time.Duration `yaml:"deadline"`    // of a unit, from its first attempt; 0 none
	Overruns    bool          `yaml:"overruns"`    // goes on after the deadline all the same
	Identity    Identity      `yaml:"identity"`    // how clients show who they are; default an address each
	Idempotency string        `yaml:"idempotency"` // Idempotency-Key: "" none, same on every attempt, new on each
	Repeated    float64       `yaml:"repeated"`    // share of requests whose packets the tap sees twice
}

// Identity is what tells one client from another.
type Identity struct {
	Key       string     `yaml:"key"`       // a credential: "" none, each client its own, or one for all
	Header    string     `yaml:"header"`    // that carries it; default Authorization
	Keys      int        `yaml:"keys"`      // credentials that its owner has; default 1
	RotateOn  []string   `yaml:"rotate_on"` // after which the next of them is used; as RetryOn
	NAT       netip.Addr `yaml:"nat"`       // an address for all
	Forwarded bool       `yaml:"forwarded"` // X-Forwarded-For tells each client's own
	IPv6      bool       `yaml:"ipv6"`      // addresses of their own are of IPv6
}

// Demand is a source of units of work for each client of a group: a unit is one
// request, retried as the policy says. Exactly one of Rate, Every and Units is
// set, or GrowTo or Wave beside Rate.
type Demand struct {
	From   time.Duration `yaml:"from"` // since the scenario's start
	To     time.Duration `yaml:"to"`   // default: the scenario's end
	Rate   float64       `yaml:"rate"` // units per second, Poisson
	GrowTo float64       `yaml:"grow_to"`
	Wave   *Wave         `yaml:"wave"`
	Every  time.Duration `yaml:"every"` // a fixed pace, phase drawn for each client
	Units  int           `yaml:"units"` // so many at moments drawn from From..To
	// Sequential starts the second and later of Units when the one before has ended,
	// and Think after that.
	Sequential bool          `yaml:"sequential"`
	Think      time.Duration `yaml:"think"`
	Paths      []string      `yaml:"paths"`    // instead of the group's
	InOrder    bool          `yaml:"in_order"` // one path after the other, instead of drawing them
	Restart    bool          `yaml:"restart"`  // the client closes its connections before the first unit
	Copies     int           `yaml:"copies"`   // like units that begin together; default 1
}

// Wave makes a rate swing, as days do: Rate * (1 + Depth * sin(2 pi t / Period)),
// t since From.
type Wave struct {
	Period time.Duration `yaml:"period"`
	Depth  float64       `yaml:"depth"` // 0 to 1
}
