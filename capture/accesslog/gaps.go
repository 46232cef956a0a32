package accesslog

import "fmt"

// gapCount finds out from numbers that go up by one with each request, or from
// what the log says itself, how much of the traffic a log holds.
type gapCount struct {
	lines, span uint64
	low, high   uint64
	every       uint64 // each line stands for so many
}

const (
	farBack  = 1000 // a number so far below the highest is of a server that started anew
	mostGone = 1 << 20
)

func (g *gapCount) note(r *reading) {
	if t := r.get(roleSampling); t != nil {
		if n, ok := count(t); ok && n > 1 {
			g.every = max(g.every, uint64(n))
		}
	}
	c, ok := count(r.get(roleCounter))
	if !ok || c <= 0 {
		return
	}
	n := uint64(c)
	if g.high == 0 || n+farBack < g.high || n > g.high+mostGone {
		g.close()
		g.low, g.high = n, n
	}
	g.low, g.high = min(g.low, n), max(g.high, n)
	g.lines++
}

// close adds up the run of numbers that has ended.
func (g *gapCount) close() {
	if g.high > 0 {
		g.span += g.high - g.low + 1
	}
	g.high = 0
}

// share is how much of the requests the log holds; 0 where nothing says that
// some are missing.
func (g *gapCount) share() (part float64, why string) {
	const enough = 200
	if g.every > 1 {
		return 1 / float64(g.every), fmt.Sprintf("sampled: each line stands for %d requests, as it says itself", g.every)
	}
	span := g.span
	if g.high > 0 {
		span += g.high - g.low + 1
	}
	if g.lines >= enough && span > g.lines+g.lines/2 {
		part = float64(g.lines) / float64(span)
		return part, fmt.Sprintf("%.0f %% of the requests are missing, by the numbers that the server gives them: the log is sampled or filtered", 100*(1-part))
	}
	return 0, ""
}
