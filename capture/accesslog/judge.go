package accesslog

import (
	"strconv"
)

// statusCount counts lines by what their status says of the log as a whole.
type statusCount struct {
	all, good, wrong, refused int64
	first                     uint16 // the status of the first line
	several                   bool   // others have another
}

func (s *statusCount) add(code uint16) {
	if s.all++; s.all == 1 {
		s.first = code
	}
	s.several = s.several || code != s.first
	switch {
	case code == 429:
		s.refused++
	case code >= 100 && code < 400:
		s.good++
	case code >= 400 && code < 499 && code != 429 && code != 408 && code != 444:
		s.wrong++ // the client's own mistake: the server is up
	}
}

// onlyFailures tells whether a log leaves successes out: it has none, though
// requests were answered that only their clients got wrong, or all that are there
// were refused by a limiter, which lets others through.
func (s *statusCount) onlyFailures() bool {
	const lines, part = 100, 50 // one in so many
	return s.all >= lines && s.good == 0 && (s.wrong*part >= s.all || s.wrong+s.refused == s.all)
}

// single tells whether a long log has but one status, a failure.
func (s *statusCount) single() bool {
	const lines = 100
	return s.all >= lines && s.good == 0 && !s.several
}

// judge notes what the lines together say of the log.
func (b *builder) judge() {
	h := &b.health
	if b.opt.Sampled == 0 {
		part, why := b.gaps.share()
		if h.Sampled = part; why != "" {
			h.Note(why)
		}
	}
	switch {
	case b.kinds.onlyFailures() && b.kinds.single():
		h.FailuresOnly = true
		h.Note("every line has the status " + number(uint64(b.kinds.first)) + ": all others are left out of this log")
	case b.kinds.onlyFailures():
		h.FailuresOnly = true
		h.Note("no line has a status below 400, though requests that a limiter refused or that only their clients got wrong were answered: successes are left out of this log")
	case b.kinds.single():
		h.Note("every line has the status " + number(uint64(b.kinds.first)) + ": a service that is down, or a log that leaves all others out, which would make shares mean nothing")
	}
	if b.wall && b.opt.Zone == nil {
		h.Note("times carry no zone and are read as UTC: --tz sets it")
	}
	if b.clocks.lines[0] > 0 {
		h.Note("lines carry no time: only their order is known")
	}
	for i := range b.formats {
		if b.formats[i].partial {
			h.Note("the server's configuration lets this log leave requests out")
		}
	}
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
