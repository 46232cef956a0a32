package sim

import (
	"net/netip"
	"time"

	"stormwatch/capture"
)

// Result is the traffic of a scenario as a tap beside its server sees it, and
// the truth about it.
type Result struct {
	Scenario *Scenario
	Clients  []Client
	Conns    []Conn
	Rows     []Row // in order of Start
	Cut      bool  // the run was stopped at MaxRows
}

// Client is one client; Group is an index of Scenario.Groups. Addr is its own
// address, which the tap does not see behind a NAT or a layer.
type Client struct {
	Addr  netip.Addr
	Group int
}

// Conn is one connection to the server. Times are Unix nanoseconds at the server.
type Conn struct {
	Src, Dst netip.AddrPort
	Opened   int64 // arrival of the SYN
	Closed   int64 // arrival of the FIN or RST; 0 while open at the end
	Aborted  bool  // it was reset
	ByServer bool  // by the server, where Aborted

	requests uint32
	lastUse  int64 // at its hop, since the start
	hop      *hop
	busy     bool // a request is under way on it
}

// Row is one exchange. Start and End are Unix nanoseconds at the server: of the
// request's arrival, and of the answer's departure or the reset.
type Row struct {
	Start, End int64
	Client     int           // index of Clients: whose unit of work it belongs to
	Conn       int           // index of Conns
	Path       string        // of the request
	Asked      string        // further header lines of the request
	Fields     string        // further header lines of the answer
	Body       string        // of the answer; "" where the status says it all
	Wait       time.Duration // that the answer names, where Hinted
	Chain      uint64        // the unit of work; 1-based
	Attempt    int           // 1-based ordinal among the unit's requests to the server
	ConnSeq    uint32        // 1-based ordinal of the request on its connection
	Layers     Layers
	Key        uint8  // which of its owner's credentials it carries, from 1; 0 none
	Status     uint16 // 0 without an answer
	Outcome    capture.Outcome
	Hinted     bool
	BodyError  bool // the status is 200, and the body an error
	Copy       bool // a second copy of its attempt, sent before the answer to the first
	Repeated   bool // the tap sees the request's packets twice
}

// Layers are the attempts of each hop on the way that a request is part of, the
// client's first; all 0 where there is no layer.
type Layers [maxLayers + 1]uint16

// Refused tells whether the server turned the request away for load or quota.
func (r *Row) Refused() bool { return r.Status == 429 || r.Status == 503 || r.BodyError }

// Group returns the group that sent a row.
func (r *Result) Group(row *Row) *Group {
	return &r.Scenario.Groups[r.Clients[row.Client].Group]
}
