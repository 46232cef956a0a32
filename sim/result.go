package sim

import (
	"net/netip"

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

// Client is one client; Group is an index of Scenario.Groups.
type Client struct {
	Addr  netip.Addr
	Group int
}

// Conn is one connection. Times are Unix nanoseconds at the server.
type Conn struct {
	Src      netip.AddrPort
	Client   int
	Opened   int64 // arrival of the SYN
	Closed   int64 // arrival of the FIN or RST; 0 while open at the end
	Aborted  bool  // the client reset it
	requests uint32
	lastUse  int64 // at the client, since the start
}

// Row is one exchange. Start and End are Unix nanoseconds at the server: of the
// request's arrival, and of the answer's departure or the client's reset.
type Row struct {
	Start, End int64
	Client     int    // index of Clients
	Conn       int    // index of Conns
	ConnSeq    uint32 // 1-based ordinal of the request on its connection
	Path       string
	Status     uint16 // 0 without an answer
	Outcome    capture.Outcome
	RetryAfter int64 // seconds, where Hinted
	Hinted     bool
	Chain      uint64 // the unit of work; 1-based
	Attempt    int    // 1-based
}

// Refused tells whether the server refused the request.
func (r *Row) Refused() bool { return r.Status == 429 || r.Status == 503 }

// Group returns the group that sent a row.
func (r *Result) Group(row *Row) *Group {
	return &r.Scenario.Groups[r.Clients[row.Client].Group]
}
