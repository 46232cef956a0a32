package capture

import "slices"

// Skip is one reason for which units of input were passed over.
type Skip struct {
	Reason   string
	Count    uint64
	Examples []string // the first few, with their place; credentials hidden, else raw text: sanitise at output
	Sound    bool     // nothing was lost by it: these units carry no traffic, or traffic seen elsewhere
}

// Health says how much of its input a source could use, and what it could not see.
type Health struct {
	Unit       string // "packets", "lines" or "samples"
	Read       uint64
	Used       uint64 // units that carried traffic stormwatch reads
	Skipped    []Skip
	Repeated   uint64  // units whose content had been read before, in whole or in part
	Bounds     []Skip  // bounds that were reached, and how often; these are no units
	Dropped    uint64  // by the kernel, before the source
	Copies     uint64  // units captured more than once, beyond the first: neither used nor skipped
	GapBytes   uint64  // lost inside connections
	Late       uint64  // exchanges that came after the watermark
	ClockSteps uint64  // times the clock of the input went backwards
	Encrypted  uint64  // connections that could not be read
	Rejected   uint64  // attempts to connect that were answered by a reset, so that no request was sent
	Cut        uint64  // connections of which too little was captured of each packet to read a message
	QUIC       uint64  // packets that carry HTTP/3, which is encrypted
	Unasked    uint64  // answers that servers sent to close idle connections: they answer no request
	Truncated  bool    // the input ended inside a record
	Unread     float64 // share of a recorded input that lies behind a damaged record, where nothing can be found
	Resolution int64   // clock resolution in nanoseconds; 0 unknown

	From, To          int64  // start of the first exchange or interval and end of the last, Unix ns; 0 none yet
	Silence, SilentAt int64  // the longest time without any, ns, and when it began
	Crowded           bool   // nearly all requests come from one or two addresses though another field tells clients apart: a proxy's, so what one client did cannot be told
	Nameless          bool   // the input tells no client from another: all of it is one, and what follows a failure need be no retry
	Down              string // why the source gives nothing at present; "" while it does

	Retries      uint64   // attempts beyond the first that the logging hop itself made, as its lines declare
	Sampled      float64  // share of the exchanges that the input holds; 0 where nothing says that some are missing
	FailuresOnly bool     // successes are left out: shares of failures mean nothing
	Notes        []string // what else must be known of the input; few, raw text: sanitise at output

	SeesHints bool // response headers (or a log field) show a wait where the server named one
	SeesPorts bool // connections can be told apart
}

const (
	maxSkipReasons  = 32 // more than any parser here has; bounds hostile input
	maxSkipExamples = 3
	maxExampleBytes = 200
)

// Skip counts one unit passed over; example is kept for the first few.
func (h *Health) Skip(reason, example string) { count(&h.Skipped, reason, 1, example) }

// SkipMany counts n units passed over for one reason.
func (h *Health) SkipMany(reason string, n uint64, examples ...string) {
	count(&h.Skipped, reason, n, examples...)
}

// Bound counts that a bound was reached; what says which, and what was given up.
func (h *Health) Bound(what string) { count(&h.Bounds, what, 1) }

func count(list *[]Skip, reason string, n uint64, examples ...string) {
	i := slices.IndexFunc(*list, func(s Skip) bool { return s.Reason == reason })
	if i < 0 {
		if len(*list) == maxSkipReasons {
			reason = "other"
			if i = slices.IndexFunc(*list, func(s Skip) bool { return s.Reason == reason }); i < 0 {
				(*list)[maxSkipReasons-1] = Skip{Reason: reason, Count: (*list)[maxSkipReasons-1].Count}
				i = maxSkipReasons - 1
			}
		} else {
			*list = append(*list, Skip{Reason: reason})
			i = len(*list) - 1
		}
	}
	s := &(*list)[i]
	s.Count += n
	for _, example := range examples {
		if len(s.Examples) < maxSkipExamples && example != "" {
			example = HideSecrets(example)
			s.Examples = append(s.Examples, example[:min(len(example), maxExampleBytes)])
		}
	}
}

const maxNotes = 8

// CrowdedNote begins the note that goes with Crowded.
const CrowdedNote = "nearly all requests come from "

// Note keeps a remark, once.
func (h *Health) Note(text string) {
	if len(h.Notes) < maxNotes && !slices.Contains(h.Notes, text) {
		h.Notes = append(h.Notes, text)
	}
}

// SkipSound counts one unit that is in order, but carries no traffic of its own.
func (h *Health) SkipSound(reason, example string) {
	h.Skip(reason, example)
	for i := range h.Skipped {
		if h.Skipped[i].Reason == reason {
			h.Skipped[i].Sound = true
		}
	}
}

// Unreadable sums the units passed over that may have carried traffic.
func (h *Health) Unreadable() (n uint64) {
	for _, s := range h.Skipped {
		if !s.Sound {
			n += s.Count
		}
	}
	return n
}

// SkippedTotal sums the units passed over.
func (h *Health) SkippedTotal() (n uint64) {
	for _, s := range h.Skipped {
		n += s.Count
	}
	return n
}

// Clone returns an independent copy.
func (h *Health) Clone() *Health {
	c := *h
	c.Notes = slices.Clone(h.Notes)
	c.Skipped = slices.Clone(h.Skipped)
	for i := range c.Skipped {
		c.Skipped[i].Examples = slices.Clone(c.Skipped[i].Examples)
	}
	c.Bounds = slices.Clone(c.Bounds)
	return &c
}
