package detect

import (
	"stormwatch/capture"
	"stormwatch/rules"
)

// sessions is what was usual of upgraded connections before many of them ended at
// once, and where others last: who asks for one thing a session, as always, has
// sessions that end at once and are no failures.
type sessions struct {
	on     [routeGroups]onRoute
	before repeated // of the seconds before
	until  int64    // seconds before this must not be in it
}

// onRoute counts the sessions of a route.
type onRoute struct{ brief, lasting int32 }

func (r *onRoute) add(o onRoute) {
	r.brief += min(o.brief, 1<<30-r.brief)
	r.lasting += min(o.lasting, 1<<30-r.lasting)
}

// outlasts tells whether an exchange is a session of a log, whose line is written at
// its end: that it lasts was to be seen a second after it began.
func outlasts(r *record) bool { return r.Status == 101 && r.End-r.Start > capture.BriefSession }

const (
	fewBefore   = 20 // sessions before the last minute, from which on they tell what is usual
	fewLasting  = 5  // sessions that last, from which on they tell that others need not
	timesUsual  = 2  // the share that is usual, from which on more are brief than that
	lastingPart = 4  // clients whose sessions end at once, at most, for one session that lasts there
	manyBrief   = .2 // share of brief sessions from which what leaves the window may be an incident's
)

// turn takes the second that leaves the window into what is usual.
func (s *sessions) turn(now int64, leaving *windowSecond) {
	if now-window*tick >= s.until {
		s.before.add(&leaving.repeated)
	}
}

// lasting is how many sessions last on the route where most end at once.
func (s *sessions) lasting() int64 {
	worst := 0
	for i := range s.on {
		if s.on[i].brief > s.on[worst].brief {
			worst = i
		}
	}
	return int64(s.on[worst].lasting)
}

// follow keeps what is usual from learning while more sessions end at once than that.
func (s *sessions) follow(w *repeated, clients, now int64) {
	brief := share(w.brief, w.sessions)
	unusual := lastingPart*s.lasting() >= clients && s.lasting() >= fewLasting
	if s.before.sessions >= fewBefore {
		unusual = brief > timesUsual*share(s.before.brief, s.before.sessions)
	}
	if brief > manyBrief && unusual {
		s.until = now
	}
}

// sessionFeatures sets how many sessions end at once, and what that is held against;
// where there is nothing of the kind it stays unknown.
func (e *engine) sessionFeatures(v *rules.Values, w *repeated) {
	s, clients := &e.pop.sessions, sum(&e.pop.repeats.briefBy)
	s.follow(w, clients, e.now)
	shareFeatures(v, rules.BriefShare, rules.BriefLow, w.brief, w.sessions)
	v.Set(rules.BriefSessions, float64(w.brief), w.sessions)
	v.Set(rules.BriefClients, float64(clients), w.sessions)
	b, lasting := &s.before, s.lasting()
	if b.sessions < fewBefore && lasting < fewLasting {
		return
	}
	v.Set(rules.SessionsBefore, float64(b.sessions), b.sessions)
	v.Set(rules.BriefBeforeShare, share(b.brief, b.sessions), b.sessions)
	v.Set(rules.LastingSessions, float64(lasting), lasting)
}
