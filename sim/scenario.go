package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"time"

	"go.yaml.in/yaml/v3"

	"stormwatch/policy"
)

// Scenario is traffic to be made, and what a reader of it should conclude.
type Scenario struct {
	Name     string        `yaml:"name"`
	About    string        `yaml:"about"`
	Seed     uint64        `yaml:"seed"`
	Start    time.Time     `yaml:"start"`
	Duration time.Duration `yaml:"duration"` // no request is sent later; those under way are finished
	Server   Server        `yaml:"server"`
	Groups   []Group       `yaml:"groups"`
	Expect   Expect        `yaml:"expect"`
}

// Server is the one server of a scenario: exactly one of Limiter and Capacity is set.
type Server struct {
	Address  netip.AddrPort `yaml:"address"` // default 10.0.0.1:80
	Host     string         `yaml:"host"`    // default api.example.com
	Limiter  *Limiter       `yaml:"limiter"`
	Capacity *Capacity      `yaml:"capacity"`
	Hint     Hint           `yaml:"hint"`    // what refusals name as the wait; default none
	Refusal  time.Duration  `yaml:"refusal"` // mean time to write a refusal; default 500µs
}

// Limiter is a sliding-window log: at most Limit requests are granted in any
// Window, over all clients together. What it refuses is answered 429.
type Limiter struct {
	Limit  int           `yaml:"limit"`
	Window time.Duration `yaml:"window"` // default 1s
	// CountRefused makes refused requests use the window too, as limiters do that
	// log a request before they look: the policy under which a storm feeds itself.
	CountRefused bool          `yaml:"count_refused"`
	Service      time.Duration `yaml:"service"` // mean service time of a granted request; default 8ms
}

// Capacity is a server that completes Rate requests a second on Workers workers
// and refuses what finds Queue requests waiting.
type Capacity struct {
	Rate    float64 `yaml:"rate"`
	Workers int     `yaml:"workers"` // default 1
	Queue   int     `yaml:"queue"`
	Refuse  int     `yaml:"refuse"` // status of a refusal, 429 or 503; default 503
}

// Group is a number of like clients, each with an address of its own.
type Group struct {
	Name   string        `yaml:"name"`
	Count  int           `yaml:"count"`
	Agent  string        `yaml:"agent"`
	Policy policy.Policy `yaml:"policy"`
	Demand []Demand      `yaml:"demand"`
	Method string        `yaml:"method"` // default GET
	// Paths are drawn from for each unit of work; "{id}" becomes a number that no
	// other unit has, "{client}" the client's number in its group.
	Paths   []string      `yaml:"paths"`
	Latency time.Duration `yaml:"latency"` // one way; default 2ms
	Noise   time.Duration `yaml:"noise"`   // mean of the exponential delay added to each way
	Idle    time.Duration `yaml:"idle"`    // a connection unused so long is closed by its client; default 5s
	Timeout time.Duration `yaml:"timeout"` // patience for an answer; 0 without end
}

// Demand is a source of units of work for each client of a group: a unit is one
// request, retried as the policy says. Exactly one of Rate, Every and Units is
// set, or GrowTo beside Rate.
type Demand struct {
	From   time.Duration `yaml:"from"` // since the scenario's start
	To     time.Duration `yaml:"to"`   // default: the scenario's end
	Rate   float64       `yaml:"rate"` // units per second, Poisson
	GrowTo float64       `yaml:"grow_to"`
	Every  time.Duration `yaml:"every"` // a fixed pace, phase drawn for each client
	Units  int           `yaml:"units"` // so many at moments drawn from From..To
	// Sequential starts the second and later of Units when the one before has ended.
	Sequential bool `yaml:"sequential"`
}

// Expect is the conclusion that a reader of the traffic should reach.
type Expect struct {
	State    string    `yaml:"state"`
	Cause    string    `yaml:"cause"`
	Exit     int       `yaml:"exit"`
	Findings []Finding `yaml:"findings"`
	Quiet    bool      `yaml:"quiet"` // nothing above info
}

// Finding is a signature to be raised; Clients names the group at fault, "" all.
type Finding struct {
	Signature string `yaml:"signature"`
	Scope     string `yaml:"scope"`
	Clients   string `yaml:"clients"`
}

// maxFile bounds a scenario file.
const maxFile = 1 << 20

// Load reads a scenario file; see Parse.
func Load(name string) (*Scenario, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", name, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("scenario %s: larger than %d bytes: make it shorter", name, maxFile)
	}
	sc, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", name, err)
	}
	return sc, nil
}

// Parse reads a scenario from YAML and checks it. Unknown fields are errors.
func Parse(text []byte) (*Scenario, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	sc := new(Scenario)
	if err := d.Decode(sc); err != nil {
		return nil, err
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document: keep one scenario a file")
	}
	if err := sc.Validate(); err != nil {
		return nil, err
	}
	return sc, nil
}
