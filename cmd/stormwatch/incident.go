package main

import (
	"stormwatch/detect"
	"stormwatch/report"
)

// Bounds of what an incident report shows.
const (
	incidentBins    = 600 // of its timeline: seconds of ten minutes, minutes of ten hours
	incidentTop     = 100 // clients, where no number is asked for
	incidentClients = 3   // of whom a chain is shown
)

// incidentView asks for what an incident report shows.
func incidentView(top int, f detect.ClientFilter) detect.View {
	return detect.View{Whole: true, TopK: max(top, incidentTop), Bins: incidentBins, Arrivals: true, Filter: f}
}

// withExamples is a snapshot with the longest chain kept of each of the clients to
// act on first.
func withExamples(snapshot func(detect.View) *detect.Snapshot, v detect.View) *detect.Snapshot {
	s := snapshot(v)
	s.Chains = nil
	left := incidentClients
	for i := range s.Clients {
		c := &s.Clients[i]
		if left == 0 {
			break
		}
		if c.Retries == 0 {
			continue
		}
		left--
		chains := snapshot(detect.View{Client: c.Label, TopK: 1, Bins: 1}).Chains
		best := -1
		for k := range chains {
			if best < 0 || len(chains[k].Attempts)+chains[k].More > len(chains[best].Attempts)+chains[best].More {
				best = k
			}
		}
		if best >= 0 {
			s.Chains = append(s.Chains, chains[best])
		}
	}
	return s
}

// shown is a snapshot with what people marked, and without who the clients are
// where that is asked for.
func shown(s *detect.Snapshot, m *marks, r *report.Redactor) *detect.Snapshot {
	s = m.marked(s)
	if r != nil {
		s = r.Snapshot(s)
	}
	return s
}
