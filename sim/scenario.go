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
)

// Scenario is traffic to be made, and what a reader of it should conclude.
type Scenario struct {
	Name     string        `yaml:"name"`
	About    string        `yaml:"about"`
	Seed     uint64        `yaml:"seed"`
	Start    time.Time     `yaml:"start"`
	Duration time.Duration `yaml:"duration"` // no request is sent later; those under way are finished
	Server   Server        `yaml:"server"`
	Layers   []Layer       `yaml:"layers"` // proxies that groups may send through
	Groups   []Group       `yaml:"groups"`
	Expect   Expect        `yaml:"expect"`
}

// Server is the one server of a scenario, beside which the tap listens: exactly
// one of Limiter and Capacity is set.
type Server struct {
	Address  netip.AddrPort `yaml:"address"`  // default 10.0.0.1:80
	Address6 netip.AddrPort `yaml:"address6"` // where clients with IPv6 send; default [2001:db8::1]:80
	Host     string         `yaml:"host"`     // default api.example.com
	Protocol string         `yaml:"protocol"` // of captures: HTTP/1.1 (the default), h2c, or grpc, whose refusals are gRPC statuses
	Limiter  *Limiter       `yaml:"limiter"`
	Capacity *Capacity      `yaml:"capacity"`
	Hint     Hints          `yaml:"hint"`    // what refusals name as the wait; default none
	Limits   *Limits        `yaml:"limits"`  // what answers tell of the limiter; default nothing
	Refusal  time.Duration  `yaml:"refusal"` // mean time to write a refusal; default 500µs
	Skew     time.Duration  `yaml:"skew"`    // how far the server's clock is ahead of the true time
	Faults   []Fault        `yaml:"faults"`  // the first that fits a request decides
}

// Limiter grants requests by count. What it refuses is answered 429.
type Limiter struct {
	// Kind is sliding-log (the default: at most Limit granted in any Window),
	// fixed-window (at most Limit between multiples of Window), token-bucket (Burst
	// tokens, Limit more in a Window) or concurrency (at most Limit in service).
	Kind   string        `yaml:"kind"`
	Limit  int           `yaml:"limit"`
	Window time.Duration `yaml:"window"` // default 1s
	Burst  int           `yaml:"burst"`  // default Limit
	// CountRefused makes refused requests use the quota too, as limiters do that
	// log a request before they look: the policy under which a storm feeds itself.
	CountRefused bool          `yaml:"count_refused"`
	Scope        string        `yaml:"scope"`   // who shares a limit: all (the default), key, address or route
	Refuse       int           `yaml:"refuse"`  // 429 (the default), 503, 403, or 200 for a body that says no
	Service      time.Duration `yaml:"service"` // mean service time of a granted request; default 8ms
}

// Capacity is a server that completes Rate requests a second on Workers workers
// and refuses what finds Queue requests waiting.
type Capacity struct {
	Rate       float64       `yaml:"rate"`
	Workers    int           `yaml:"workers"` // default 1
	Queue      int           `yaml:"queue"`
	Refuse     int           `yaml:"refuse"`      // 503 (the default), 429, or 200 for a body that says no
	RejectCost time.Duration `yaml:"reject_cost"` // of a worker's time, for each refusal; default none
}

// Fault is something else than service that befalls requests.
type Fault struct {
	From  time.Duration `yaml:"from"`  // since the scenario's start
	To    time.Duration `yaml:"to"`    // default: the scenario's end
	Paths []string      `yaml:"paths"` // prefixes of paths; default all
	Share float64       `yaml:"share"` // of the requests that fit; default 1
	Key   int           `yaml:"key"`   // only those that carry the nth credential of their client; default all
	Do    string        `yaml:"do"`    // a status such as 503, body (200 whose body is an error), timeout or reset
	After time.Duration `yaml:"after"` // when; default as long as a refusal takes
	Hint  Hints         `yaml:"hint"`  // what the answer names as a wait
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
	if err := d.Decode(sc); errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty: give at least a name, seed, start, duration, server and groups (testdata/pcaps has examples)")
	} else if err != nil {
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
