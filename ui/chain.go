package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/report"
)

// drawChain draws the attempts of one chain as a waterfall, each with the wait
// the server asked for behind it, so that an early retry is seen inside it.
func drawChain(c *canvas, s *detect.Snapshot, v *view) {
	whole := v.screen == screenChains
	list, at := v.chains(s)
	if at < 0 {
		p := box(c, "Chains", "", v.holds(panelChain))
		for y, l := range wrap(noChain(s, v), p.w-4) {
			p.text(2, y, l, styleDim)
		}
		return
	}
	k := &list[at]
	hint := "3 chains"
	if whole {
		hint = "[ ] prev/next chain"
	}
	title := fmt.Sprintf("Chain %d of %d · %s · %s %s%s", at+1, len(list), k.Client, k.Method, k.Host, report.BlankQuery(k.Path))
	p := box(c, title, hint, v.holds(panelChain))
	drawSummary(p, k)
	places := chainRects(s, k, p.w, p.h)
	scroll := v.scroll
	if !whole {
		scroll = 0
	}
	used := drawWaterfall(p.sub(places.attempts), k, scroll, places.key)
	rest := places.attempts.y + used
	chainPage(s, k, p.w).draw(p.sub(rect{0, rest, p.w, p.h - rest}), 0)
}

// chainPlaces parts a chain's panel: heads and attempts, with or without the key
// to the glyphs, and below them the reading.
type chainPlaces struct {
	attempts rect
	key      bool
}

func chainRects(s *detect.Snapshot, k *detect.Chain, w, h int) chainPlaces {
	top := 1
	if h >= 20 {
		top = 2
	}
	reading := min(len(chainPage(s, k, w)), max(h/3, 3))
	return chainPlaces{rect{0, top, w, max(h-top-reading, 2)}, h >= 20}
}

func noChain(s *detect.Snapshot, v *view) string {
	switch {
	case v.client == "" && len(s.Clients) == 0:
		return "no clients yet"
	case v.client == "":
		return "choose a client in Clients (2) and press enter"
	case v.waits:
		return "reading the chains of " + v.client
	}
	return "no chain of " + v.client + " is kept: it has not retried lately, or the source cannot show single requests"
}

// drawSummary tells the chain in one line; what does not fit is left out whole.
func drawSummary(c *canvas, k *detect.Chain) {
	x := 1
	for _, part := range summary(k) {
		if x+width(part[0])+1+width(part[1]) > c.w {
			continue
		}
		st := styleText
		if part[0] == "early" && part[1] != "0" {
			st = styleRefused
		}
		x = c.text(x, 0, part[0]+" ", styleDim)
		x = c.text(x, 0, part[1], st) + 3
	}
}

// summary has the labels and values of a chain.
func summary(k *detect.Chain) (parts [][2]string) {
	parts = append(parts, [2]string{"attempts", report.Count(attempts(k))}, [2]string{"ended", or(k.Ended, "open")})
	if early, hinted := earlyOf(k); hinted > 0 {
		parts = append(parts, [2]string{"early", fmt.Sprintf("%d of %d", early, hinted)})
	}
	if n := len(k.Attempts); n > 0 {
		length := k.Attempts[n-1].Start - k.Attempts[0].Start
		parts = append(parts, [2]string{"span", seconds(detect.Some(float64(length) / 1e9))})
	}
	if k.Agent != "" {
		parts = append(parts, [2]string{"agent", k.Agent})
	}
	if k.Policy.Name != "" || k.Policy.Family != "" {
		parts = append(parts, [2]string{"policy", report.Policy(&k.Policy)})
	}
	return parts
}

// earlyOf counts the retries sent before the moment the server named, of those
// before which it had named one.
func earlyOf(k *detect.Chain) (early, hinted int) {
	for i := range k.Attempts {
		if e := earlyAt(k, i); report.Known(e) {
			hinted++
			if e.V > 0 {
				early++
			}
		}
	}
	return early, hinted
}

// earlyAt tells by how many seconds a retry came before the moment the server had
// named; negative where it waited longer, unknown where none was named.
func earlyAt(k *detect.Chain, i int) detect.Number {
	a := &k.Attempts[i]
	if report.Known(a.Early) || i == 0 {
		return a.Early
	}
	before := &k.Attempts[i-1]
	if !before.Hint.Usable() || before.Hint.Wait <= 0 || !report.Known(a.Gap) || before.N+1 != a.N {
		return detect.Number{}
	}
	// Early is unknown for a retry the engine does not call early: what is
	// left within its tolerance of the clock counts as kept.
	return detect.Some(min(float64(before.Hint.Wait)/1e9-a.Gap.V, 0))
}

// scale maps event time to columns.
type scale struct {
	from  int64
	span  float64 // seconds
	x0, w int
}

func (z scale) at(t int64) int { return z.x0 + z.off(t) }

func (z scale) off(t int64) int {
	f := float64(t-z.from) / 1e9 / z.span
	return int(min(max(f, -1), 2) * float64(z.w-1))
}

// newScale covers the attempts, and the waits named after them as far as they
// do not squeeze the attempts.
func newScale(list []detect.Attempt, x0, w int) scale {
	from := list[0].Start
	last := list[len(list)-1]
	sent := float64(max(last.Start, last.End)-from) / 1e9
	end := sent
	for i := range list {
		if a := &list[i]; a.Hint.Usable() {
			end = max(end, float64(a.End-from)/1e9+float64(a.Hint.Wait)/1e9)
		}
	}
	end = min(end, max(2*sent, 1))
	return scale{from, max(report.Ceiling(max(end, .001)), .001), x0, max(w, 1)}
}

// drawWaterfall draws head, attempts and the key to the glyphs, and returns the
// rows it took.
func drawWaterfall(c *canvas, k *detect.Chain, scroll int, key bool) int {
	if len(k.Attempts) == 0 || c.h < 2 {
		return 0
	}
	wide := c.w >= 100
	head := " #   sent     gap       code  "
	if wide {
		head += "floor  ev  "
	}
	head += "verdict      "
	c.text(0, 0, head, styleDim)
	z := newScale(k.Attempts, width(head), c.w-width(head)-5)
	drawScale(c, z)
	room := c.h - 1
	if key {
		room = max(room-2, 1)
	}
	n := min(room, len(k.Attempts))
	scroll = min(max(scroll, 0), len(k.Attempts)-n)
	hidden := len(k.Attempts) - scroll - n + k.More
	if hidden > 0 && n > 1 {
		n--
		hidden++
	}
	for y := range n {
		drawAttempt(c, y+1, k, scroll+y, z, wide)
	}
	y := n + 1
	if hidden > 0 && y < c.h {
		text := fmt.Sprintf("     and %s more, j scrolls", report.Count(hidden))
		if hidden == k.More+1 && k.More > 0 {
			text = fmt.Sprintf("     and %s more attempts, not kept", report.Count(k.More))
		}
		c.text(0, y, text, styleDim)
		y++
	}
	if key {
		c.text(1, y+1, fit("● attempt  ✗ sent too early  ✓ answered well  ░ wait the server named (floor)  ▏ its end", c.w-1), styleDim)
		y += 2
	}
	return y
}

func drawScale(c *canvas, z scale) {
	ticks := max(min(z.w/12, 6), 1)
	for i := range ticks + 1 {
		t := z.span * float64(i) / float64(ticks)
		text := strconv.FormatFloat(t, 'g', 3, 64) + "s"
		if z.span < 1 {
			text = strconv.FormatFloat(1000*t, 'g', 3, 64) + "ms"
		}
		x := z.x0 + int(float64(z.w-1)*float64(i)/float64(ticks))
		if x+width(text) <= c.w {
			c.text(x, 0, text, styleDim)
		}
	}
}

func drawAttempt(c *canvas, y int, k *detect.Chain, i int, z scale, wide bool) {
	a, by := &k.Attempts[i], earlyAt(k, i)
	early := report.Known(by) && by.V > 0
	st := styleText
	if early {
		st = styleRefused
	}
	between := unknown
	if report.Known(a.Gap) {
		between = "+" + seconds(a.Gap)
	}
	x := c.text(0, y, fmt.Sprintf("%2d  %8s  ", a.N, seconds(detect.Some(float64(a.Start-z.from)/1e9))), styleText)
	c.text(x, y, strings.Repeat(" ", max(9-width(between), 0))+between, styleText)
	x = c.text(x+11, y, pad(report.Answer(a), 6), styleText)
	if wide {
		x = c.text(x, y, pad(report.Asked(a), 6)+" ", styleText)
		x = c.text(x, y, a.Evidence.String()+"  ", styleDim)
	}
	c.text(x, y, fit(timing(by), 12), st)
	drawFloor(c, y, a, z)
	mark := "●"
	if early {
		mark = "✗"
	}
	switch {
	case report.Failed(a):
		c.text(z.at(a.Start), y, mark+report.Answer(a), st)
	default:
		c.text(z.at(a.Start), y, "✓"+report.Answer(a), styleGood)
	}
}

// drawFloor shades the wait the server named, from the answer on.
func drawFloor(c *canvas, y int, a *detect.Attempt, z scale) {
	switch {
	case a.Hint.Usable() && a.Hint.Wait > 0:
		end := a.End + a.Hint.Wait
		if end < a.End {
			end = math.MaxInt64
		}
		for x := z.at(a.End); x <= min(z.at(end), c.w-1); x++ {
			c.set(x, y, '░', styleFloor)
		}
		c.set(z.at(end), y, '▏', styleText)
	case a.Hint.State == capture.Present && a.Hint.Kind == capture.Malformed:
		c.text(z.at(a.End)+5, y, "? "+a.HintRaw, styleFloor)
	}
}

// timing tells whether a retry kept to the wait.
func timing(early detect.Number) string {
	switch {
	case !report.Known(early):
		return ""
	case early.V > 0:
		return "EARLY " + brief(early.V)
	}
	return "kept +" + brief(math.Abs(early.V))
}

// brief prints seconds in few columns.
func brief(v float64) string {
	if v < .1 {
		return fmt.Sprintf("%.0fms", 1000*v)
	}
	if v < 100 {
		return fmt.Sprintf("%.1fs", v)
	}
	return span(int64(min(v, 1e9)) * second)
}
