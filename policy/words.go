package policy

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Sentence says in plain words how the clients wait and whose policy that is:
//
//	doubles from 1 s to 20 s, full jitter, gives up after 3 attempts: like aws-standard or gax
//	waits 700 ms, no jitter: like no catalogued policy
//	cannot tell: too few waits (2); the likeliest is exponential
func (r Reading) Sentence() string {
	if !r.Sure {
		s := "cannot tell: " + r.Doubt
		if r.N > 0 {
			s += fmt.Sprintf(" (%d seen)", r.N)
		}
		if r.Family != "" {
			s += "; the likeliest is " + r.Family
		}
		return s
	}
	parts := []string{r.says()}
	if r.Attempts > 0 {
		parts = append(parts, fmt.Sprintf("gives up after %d attempts", r.Attempts))
	}
	s := strings.Join(parts, ", ")
	switch {
	case len(r.Names) == 0:
		return s + ": like no catalogued policy"
	case !r.Named:
		return s + ": perhaps " + list(r.Names)
	}
	return s + ": like " + list(r.Names)
}

// says tells the policy named, or where there is none what was measured.
func (r Reading) says() string {
	if len(r.Names) > 0 {
		if p, ok := Library(r.Names[0]); ok {
			return p.Words()
		}
	}
	s := "waits by " + r.Family
	switch {
	case r.Family == Immediate:
		return "retries at once"
	case r.First > 0 && (r.Multiplier == 0 || math.Abs(r.Multiplier-1) < .15):
		s = "waits about " + short(r.First)
	case r.First > 0:
		s = fmt.Sprintf("waits about %s, then %.1f times as long each time", short(r.First), r.Multiplier)
		if r.Ceiling > 0 {
			s += ", up to " + short(r.Ceiling)
		}
	}
	switch {
	case r.Jitter < 0:
	case r.Jitter < .05:
		s += ", no jitter"
	default:
		s += fmt.Sprintf(", jitter %.2f", r.Jitter)
	}
	return s
}

// list joins the first few names.
func list(names []string) string {
	const most = 4
	if len(names) > most {
		return fmt.Sprintf("%s or %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	if len(names) > 1 {
		return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	}
	return names[0]
}

// Words says what the policy waits where the server names no wait.
func (p *Policy) Words() string {
	limit := ""
	if p.Cap == 0 {
		limit = " to " + short(DefaultCap)
	} else if p.Cap < NoLimit {
		limit = " to " + short(p.Cap)
	}
	grows := "doubles from " + short(p.Base)
	switch {
	case p.Growth == GrowLessOne:
		grows = fmt.Sprintf("doubles and adds %s from %s", short(p.Base), short(p.Base))
	case p.Growth == GrowQuadratic:
		grows = "grows as 1, 2, 5, 10 times " + short(p.Base)
	case p.Multiplier == 1:
		grows, limit = "stays at "+short(p.Base), ""
	case p.Multiplier > 0 && p.Multiplier != 2:
		grows = fmt.Sprintf("grows %g times from %s", p.Multiplier, short(p.Base))
	}
	grows += limit
	if p.waitFamily() == ScaledJitter {
		return fmt.Sprintf("%s, times %g to %g", grows, p.Low, p.High)
	}
	switch p.ownFamily() {
	case Immediate:
		return "retries at once"
	case Fixed:
		return "waits " + short(p.Base) + ", no jitter"
	case Linear:
		return "grows by " + short(p.Base) + " each time" + limit + ", no jitter"
	case Square:
		return "grows as 1, 4, 9 times " + short(p.Base) + limit + ", no jitter"
	case Exponential:
		return grows + ", no jitter"
	case ImmediateFirst:
		return "retries at once, then " + grows + " as of the second, no jitter"
	case Schedule:
		return "follows a schedule"
	case FullJitter:
		return grows + ", full jitter"
	case EqualJitter:
		return grows + ", half of it jitter"
	case AdditiveJitter:
		return grows + ", plus up to " + short(p.Add)
	case Decorrelated:
		return "draws from " + short(p.Base) + " to thrice the wait before" + limit
	case SmoothJitter:
		return grows + ", smooth decorrelated jitter"
	}
	return "waits only when the server says how long"
}

// short writes a duration to three digits: 1 s, 350 ms, 2.5 min.
func short(d time.Duration) string {
	switch {
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.3g min", d.Minutes())
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
}
