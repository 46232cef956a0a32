package accesslog

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Guess is what the lines of a log look like.
type Guess struct {
	formats []*Format // the one that most lines have, then those of the others
	chain   chain
	lines   int
	read    int      // of them, by any of the formats
	close   bool     // another format reads the lines as well, in another way
	best    []scored // all formats that read any line, best first
	samples [][]byte // lines, unwrapped
}

// scored is how well a format reads the sample.
type scored struct {
	format *Format
	score  float64
	read   int
	lines  []bool
}

const (
	sampleLines = 200
	sampleBytes = 256 << 10
	// enough is the share of lines that must be read for the log to count as known.
	enough = 0.5
	// margin is how much better the best format must be than one that means
	// something else; the presets' weights are a thousandth each.
	margin = 0.002
	// particular is the weight of formats that no torn line of another fits.
	particular = 15
	lastResort = 4
)

// Sniff finds out the format of a log by the first bytes of it, and by the last
// where they are known.
func Sniff(head, tail []byte) *Guess {
	if newDocuments(head, nil) != nil {
		tail = nil // its lines are those of objects
	}
	return sniff(append(sampleOf(head, sampleLines/(1+min(len(tail), 1)), true), sampleOf(tail, sampleLines/2, false)...))
}

// sampleOf cuts lines from the start or the end of b. The last line of a head is
// perhaps cut off, as is the first of a tail: they are left out, unless there is
// no other.
func sampleOf(b []byte, most int, head bool) (lines [][]byte) {
	b = bytes.TrimPrefix(b, byteOrderMark)
	if head {
		collect := func(line []byte, end lineEnd) error {
			if end == whole && len(lines) < most {
				lines = append(lines, bytes.Clone(trimLine(line)))
			}
			return nil
		}
		if d := newDocuments(b, collect); d != nil {
			_ = d.add(b) // the collector has no errors
			return lines
		}
	}
	all := bytes.Split(b, newline)
	if n := len(all); n > 1 {
		if head {
			all = all[:n-1]
		} else {
			all = all[1:]
		}
	}
	if !head && len(all) > most {
		all = all[len(all)-most:]
	}
	for _, l := range all {
		if l = trimLine(l); len(l) > 0 && len(l) <= maxLine && len(lines) < most {
			lines = append(lines, l)
		}
	}
	return lines
}

// sniff tries the ways in which the lines may be wrapped, and in each of them
// all formats.
func sniff(lines [][]byte) *Guess {
	var best *Guess
	for _, c := range candidateChains(lines) {
		g := guess(lines, c)
		if best == nil || g.rank() > best.rank() {
			best = g
		}
		if float64(g.read) > .9*float64(g.lines) && len(c) == 0 && g.formats[0].weight > 6 {
			break
		}
	}
	if best == nil {
		best = &Guess{}
	}
	return best
}

// rank compares guesses of one sample: few wraps are likelier than many.
func (g *Guess) rank() float64 {
	if len(g.best) == 0 {
		return 0
	}
	return float64(g.read)/float64(max(g.lines, 1)) + g.best[0].score/2 - .01*float64(len(g.chain))
}

const maxChains = 8

// candidateChains are the ways in which the first lines are wrapped.
func candidateChains(lines [][]byte) (all []chain) {
	all = append(all, nil)
	for i, l := range lines {
		if i == 20 {
			break
		}
		for _, c := range chainsOf(l) {
			if len(all) < maxChains && !slices.ContainsFunc(all, c.same) {
				all = append(all, c)
			}
		}
	}
	return all
}

// guess tries all formats on lines wrapped in one way.
func guess(lines [][]byte, c chain) *Guess {
	g := &Guess{chain: c}
	stamped := g.open(lines)
	for _, f := range presets() {
		if s := f.try(g.samples, stamped || f.timeless); s.read > 0 {
			g.best = append(g.best, s)
		}
	}
	slices.SortStableFunc(g.best, func(a, b scored) int { return -cmp.Compare(a.score, b.score) })
	g.choose()
	return g
}

// guessWith finds out only how the lines of a format are wrapped.
func guessWith(f *Format, lines [][]byte) *Guess {
	best := &Guess{formats: []*Format{f}, lines: len(lines)}
	for _, c := range candidateChains(lines) {
		g := &Guess{formats: best.formats, chain: c}
		stamped := g.open(lines)
		if s := f.try(g.samples, stamped || f.timeless); s.read > 0 {
			g.best = []scored{s}
			for _, ok := range s.lines {
				if ok {
					g.read++
				}
			}
		}
		if g.rank() > best.rank() {
			best = g
		}
	}
	return best
}

// open unwraps the sample and tells whether what is around it has times.
func (g *Guess) open(lines [][]byte) (stamped bool) {
	u := unwrapper{chain: g.chain}
	u.clock.until = anyTime
	for _, l := range lines {
		inner, more, ok := u.open(l)
		switch {
		case more:
			continue
		case !ok:
			inner = nil
		}
		stamped = stamped || ok && u.stamp.step != 0
		g.samples = append(g.samples, bytes.Clone(trimLine(inner)))
	}
	g.lines = len(g.samples)
	return stamped
}

// choose takes the best format, and others for lines that it cannot read, as
// long as there are several of them.
func (g *Guess) choose() {
	if len(g.best) == 0 {
		return
	}
	first := g.best[0]
	for _, s := range g.best[1:] { // common reads all that combined does, and less of it
		if s.format.family != "" && s.format.family == first.format.family && s.format.weight > first.format.weight && 3*s.read >= first.read {
			first = s
		}
	}
	g.formats = []*Format{first.format}
	for _, ok := range first.lines {
		if ok {
			g.read++
		}
	}
	for _, s := range g.best {
		if s.format != first.format {
			g.close = first.score-s.score < margin && (first.format.family == "" || first.format.family != s.format.family)
			break
		}
	}
	left := slices.Clone(first.lines)
	for j, line := range g.samples {
		if !left[j] && !first.format.beside && aside(line) != "" {
			left[j] = true
			g.read++
		}
	}
	for len(g.formats) < 4 {
		var more *scored
		gain := g.lines / 20
		for i := range g.best {
			if g.best[i].format.weight <= lastResort {
				continue
			}
			n := -1
			if g.best[i].format.weight < particular { // one or two may be torn lines of the first format
				n = -2
			}
			for j, ok := range g.best[i].lines {
				if ok && !left[j] {
					n++
				}
			}
			if n > 0 && n > gain {
				more, gain = &g.best[i], n
			}
		}
		if more == nil {
			return
		}
		g.formats = append(g.formats, more.format)
		for j, ok := range more.lines {
			if ok && !left[j] {
				left[j] = true
				g.read++
			}
		}
	}
}

// Sure tells whether the log is one that is read, and how.
func (g *Guess) Sure() bool {
	return g.lines > 0 && float64(g.read) > enough*float64(g.lines) && !g.close
}

// try scores a format: the share of the lines that it reads, how sensible what
// it reads is, and how particular it is.
func (f *Format) try(lines [][]byte, stamped bool) scored {
	s := scored{format: f, lines: make([]bool, len(lines))}
	if f.marks != nil && !f.marked(lines) {
		return s
	}
	cut := f.open()
	r := reading{esc: f.esc}
	judged, sense := 0, 0.
	for i, l := range lines {
		if len(l) == 0 {
			judged++
			continue
		}
		fault := cut.cut(l, &r)
		if fault == headerLine {
			s.lines[i] = true
			continue
		}
		if f.ignores(fault) { // a line of this log that is no request
			s.lines[i] = true
			continue
		}
		judged++
		if fault != "" || !r.timed() && !stamped {
			continue
		}
		s.lines[i] = true
		s.read++
		sense += r.sense()
	}
	if s.read == 0 {
		return s
	}
	s.score = float64(s.read)/float64(judged)*(.6+.4*sense/float64(s.read)) + float64(f.weight)/1000
	return s
}

// ignores tells whether a fault is one that lines of a known kind of log have,
// which are about other things than requests.
func (f *Format) ignores(why fault) bool {
	switch why {
	case noStatusKey, noRequestKey, otherStage:
		return f.marks != nil
	case delayed, dryRun, noRefusal, beside, ofServer, noRequestColumn:
		return true
	}
	return false
}

// sense is how much of a request a record has, 0 to 1.
func (r *record) sense() (v float64) {
	if r.code == 0 || r.code >= 100 && r.code < 600 {
		v += .4
	}
	if r.ip != [16]byte{} || r.shows(roleForwarded) {
		v += .2
	}
	request := r.get(roleRequest)
	if m, _ := splitRequest(request); m != nil || isMethod(r.get(roleMethod)) {
		v += .2
	}
	if request != nil || r.get(roleTarget) != nil || r.get(rolePath) != nil || r.get(roleURL) != nil {
		v += .2
	}
	return v
}

// marked tells whether most lines have the keys that only this kind of log has.
func (f *Format) marked(lines [][]byte) bool {
	seen, objects := 0, 0
	for _, l := range lines {
		if len(l) == 0 || f.json && l[0] != '{' {
			continue
		}
		objects++
		low := bytes.ToLower(l)
		if !slices.ContainsFunc(f.marks, func(m string) bool { return !f.hasKey(low, m) }) {
			seen++
		}
	}
	return seen > 0 && 20*seen >= objects
}

// hasKey looks for one of several keys; of a.b, it looks for b.
func (f *Format) hasKey(line []byte, keys string) bool {
	for _, k := range strings.Split(keys, "|") {
		if f.json && bytes.Contains(line, []byte(`"`+k+`"`)) || !f.json && bytes.Contains(line, []byte(k+"=")) {
			return true
		}
		if i := strings.LastIndexByte(k, '.'); i >= 0 && !strings.HasPrefix(k, "id.") {
			k = k[i+1:]
		}
		if f.json && bytes.Contains(line, []byte(`"`+k+`"`)) || !f.json && bytes.Contains(line, []byte(k+"=")) {
			return true
		}
	}
	return false
}
