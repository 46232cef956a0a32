package capture

import "slices"

// Skip is one reason for which units of input were passed over.
type Skip struct {
	Reason   string
	Count    uint64
	Examples []string // the first few, with their place; raw text: sanitise at output
	Sound    bool     // nothing was lost by it: these units carry no traffic, or traffic seen elsewhere
}

// Health says how much of its input a source could use, and what it could not see.
type Health struct {
	Unit       string // "packets", "lines" or "samples"
	Read       uint64
	Used       uint64 // units that carried traffic stormwatch reads
	Skipped    []Skip
	Dropped    uint64 // by the kernel, before the source
	GapBytes   uint64 // lost inside connections
	Late       uint64 // exchanges that came after the watermark
	ClockSteps uint64 // times the clock of the input went backwards
	Encrypted  uint64 // connections that could not be read
	Truncated  bool   // the input ended inside a record
	Resolution int64  // clock resolution in nanoseconds; 0 unknown

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
func (h *Health) Skip(reason, example string) {
	i := slices.IndexFunc(h.Skipped, func(s Skip) bool { return s.Reason == reason })
	if i < 0 {
		if len(h.Skipped) == maxSkipReasons {
			reason = "other"
			if i = slices.IndexFunc(h.Skipped, func(s Skip) bool { return s.Reason == reason }); i < 0 {
				h.Skipped[maxSkipReasons-1] = Skip{Reason: reason, Count: h.Skipped[maxSkipReasons-1].Count}
				i = maxSkipReasons - 1
			}
		} else {
			h.Skipped = append(h.Skipped, Skip{Reason: reason})
			i = len(h.Skipped) - 1
		}
	}
	s := &h.Skipped[i]
	s.Count++
	if len(s.Examples) < maxSkipExamples && example != "" {
		if len(example) > maxExampleBytes {
			example = example[:maxExampleBytes]
		}
		s.Examples = append(s.Examples, example)
	}
}

const maxNotes = 8

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
	return &c
}
