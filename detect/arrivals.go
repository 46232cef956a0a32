package detect

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"stormwatch/detect/herd"
)

// arrivals remember when retries came and after what interval, so that they can
// be folded by any period. Counts are integers; nothing is kept of single retries.
type arrivals struct {
	fields  [arrivalFields]field
	gaps    []uint32 // retries by the time since the attempt before began, start to start
	of      int64    // sum of gaps
	halved  int64    // when gaps were last halved
	first   int64    // first retry
	newest  int64    // latest
	started bool
}

// field counts retries in cells of one width, up to the latest retry.
type field struct {
	n      []uint16 // by cell modulo fieldCells; saturates
	newest int64    // cell of the latest retry
}

const (
	arrivalFields = 3       // widths, each ten times the one before
	fieldCells    = 1 << 15 // 64 KB each

	gapFine    = 8  // bits: 256 bins an octave, .4 % of the interval at most
	gapLow     = 26 // 2^26 ns = 67 ms: what comes sooner follows at once and has no period
	gapOctaves = 16 // up to 73 minutes
	gapBins    = gapOctaves << gapFine
	gapHalf    = 60 * tick // the past counts half after each minute
)

// fieldWidths span 164 s, 27 min and 4.5 h.
var fieldWidths = [arrivalFields]int64{5e6, 50e6, 500e6}

// add counts a retry that began at start, and interval ns after the attempt
// before it did.
func (a *arrivals) add(start, interval int64) {
	if !a.started {
		a.started, a.first, a.newest, a.halved = true, start, start, start
		a.gaps = make([]uint32, gapBins)
		for i := range a.fields {
			a.fields[i] = field{n: make([]uint16, fieldCells), newest: herd.BinOf(start, fieldWidths[i])}
		}
	}
	a.first, a.newest = min(a.first, start), max(a.newest, start)
	for i := range a.fields {
		a.fields[i].add(herd.BinOf(start, fieldWidths[i]))
	}
	if interval >= 1<<gapLow {
		a.gaps[gapBin(interval)]++
		a.of++
	}
}

func (f *field) add(cell int64) {
	switch {
	case cell <= f.newest-fieldCells:
		return // a late one, of a time that has left
	case cell >= f.newest+fieldCells:
		clear(f.n)
		f.newest = cell
	}
	for ; f.newest < cell; f.newest++ {
		f.n[uint64(f.newest+1)%fieldCells] = 0
	}
	if c := &f.n[uint64(cell)%fieldCells]; *c < math.MaxUint16 {
		*c++
	}
}

// turn lets old intervals fade.
func (a *arrivals) turn(now int64) {
	if !a.started || now-a.halved < gapHalf {
		return
	}
	a.halved, a.of = now, 0
	for i := range a.gaps {
		a.gaps[i] /= 2
		a.of += int64(a.gaps[i])
	}
}

func (a *arrivals) clone() arrivals {
	c := *a
	c.gaps = slices.Clone(a.gaps)
	for i := range c.fields {
		c.fields[i].n = slices.Clone(a.fields[i].n)
	}
	return c
}

// size is what a clone takes, in bytes.
func (a *arrivals) size() int64 {
	if !a.started {
		return 0
	}
	return arrivalFields*fieldCells*2 + gapBins*4
}

func gapBin(interval int64) int {
	g := min(max(interval, 1<<gapLow), 1<<(gapLow+gapOctaves)-1)
	o := bits.Len64(uint64(g)) - 1
	return (o-gapLow)<<gapFine | int(g>>(o-gapFine))&(1<<gapFine-1)
}

// gapAt is the interval in the middle of a bin, ns.
func gapAt(bin float64) float64 {
	bin += .5
	o := math.Floor(bin / (1 << gapFine))
	return math.Ldexp(1+(bin-o*(1<<gapFine))/(1<<gapFine), int(o)+gapLow)
}

const (
	modeReach     = 8   // bins: 2 to 3 % to either side belong to one mode
	modesApart    = 36  // bins: two modes are 10 % apart or more
	maxCandidates = 5   // a choice
	leastModal    = 3   // retries: two of one interval are chance
	modalShare    = .05 // of all: less is no period worth folding by
)

// mode is an interval around which many lie.
type mode struct {
	at    int // bin
	n     int64
	ns    float64 // mean
	score float64
}

// modes returns the intervals that most retries keep to, most first.
func (a *arrivals) modes() []mode {
	if a.of == 0 {
		return nil
	}
	sums := make([]int64, gapBins+1)
	for i, n := range a.gaps {
		sums[i+1] = sums[i] + int64(n)
	}
	around := func(i int) int64 { return sums[min(i+modeReach+1, gapBins)] - sums[max(i-modeReach, 0)] }
	var all []mode
	for i, n := range a.gaps {
		if n == 0 {
			continue
		}
		if w := around(i); w >= leastModal && float64(w) >= modalShare*float64(a.of) {
			all = append(all, mode{at: i, n: w})
		}
	}
	slices.SortFunc(all, func(x, y mode) int { return cmp.Or(-cmp.Compare(x.n, y.n), cmp.Compare(x.at, y.at)) })
	var out []mode
	for _, m := range all {
		if slices.ContainsFunc(out, func(o mode) bool { return m.at-o.at < modesApart && o.at-m.at < modesApart }) {
			continue
		}
		at, n := 0., 0.
		for b := max(m.at-modeReach, 0); b <= min(m.at+modeReach, gapBins-1); b++ {
			at += gapAt(float64(b)) * float64(a.gaps[b])
			n += float64(a.gaps[b])
		}
		m.ns = at / n
		if out = append(out, m); len(out) == maxCandidates {
			break
		}
	}
	return out
}

// spread is the median absolute deviation of the intervals within a tenth of a
// period.
func (a *arrivals) spread(period int64) int64 {
	if a.of == 0 || period < 1<<gapLow {
		return 0
	}
	lo, hi := gapBin(period-period/10), gapBin(period+period/10)
	median := a.middle(lo, hi, func(b int) float64 { return gapAt(float64(b)) })
	return int64(a.middle(lo, hi, func(b int) float64 { return math.Abs(gapAt(float64(b)) - median) }))
}

// middle is the median of a value over the retries whose interval lies in the
// bins lo to hi.
func (a *arrivals) middle(lo, hi int, value func(bin int) float64) float64 {
	var order []int
	left := int64(0)
	for b := lo; b <= hi; b++ {
		if a.gaps[b] > 0 {
			order = append(order, b)
			left += int64(a.gaps[b])
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(value(x), value(y)) })
	for _, b := range order {
		if left -= 2 * int64(a.gaps[b]); left <= 0 {
			return value(b)
		}
	}
	return 0
}

const (
	foldRows     = 40
	foldCells    = 120
	foldClients  = 40
	shortestFold = int64(20e6) // ns
	longestFold  = int64(3600e9)
	fewestRows   = 3 // below, a phase means nothing: all lies in one period
)

// span returns the field that shows the last rows of a period best, and from when
// to when it does.
func (a *arrivals) span(period int64) (f *field, width, from, to int64) {
	for i := range a.fields {
		f, width = &a.fields[i], fieldWidths[i]
		to = (f.newest + 1) * width
		from = max(a.first, to-foldRows*period)
		if oldest := (f.newest + 1 - fieldCells) * width; from >= oldest && period >= 2*width || i == arrivalFields-1 {
			from = max(from, oldest)
			break
		}
	}
	return f, width, floorTo(from, width), to
}

// each calls see with the moment and the number of the retries of each cell.
func (f *field) each(width, from, to int64, see func(mid int64, n int64)) {
	for c := herd.BinOf(from, width); c < herd.BinOf(to, width); c++ {
		if n := f.n[uint64(c)%fieldCells]; n > 0 {
			see(c*width+width/2, int64(n))
		}
	}
}

// vector returns the mean phase vector of the retries by a period: its length and
// its direction as a share of the period.
func (a *arrivals) vector(period float64) (length, phase float64) {
	f, width, from, to := a.span(int64(period))
	x, y, n := 0., 0., 0.
	f.each(width, from, to, func(mid, k int64) {
		s, c := math.Sincos(2 * math.Pi * math.Mod(float64(mid-from), period) / period)
		x, y, n = x+c*float64(k), y+s*float64(k), n+float64(k)
	})
	if n == 0 {
		return 0, 0
	}
	phase = math.Mod(math.Atan2(y, x)/(2*math.Pi)+1, 1)
	return math.Hypot(x, y) / n, phase
}

// tuning are the steps, in shares of a period, by which it is tuned to the phases:
// over forty rows half a thousandth is a fiftieth of a turn.
const tuning, tuningSteps = .001, 4

// candidates returns the periods worth folding by, best first.
func (a *arrivals) candidates() []int64 {
	modes := a.modes()
	for i := range modes {
		m := &modes[i]
		base := m.ns
		for k := -tuningSteps; k <= tuningSteps; k++ {
			p := base * (1 + tuning*float64(k))
			_, _, from, to := a.span(int64(p))
			r, _ := a.vector(p)
			if float64(to-from) < fewestRows*p {
				r = 0
			}
			if score := r * float64(m.n); score > m.score || k == -tuningSteps {
				m.score, m.ns = score, p
			}
		}
		if m.score == 0 {
			m.ns = base
		}
	}
	slices.SortStableFunc(modes, func(x, y mode) int { return cmp.Or(-cmp.Compare(x.score, y.score), -cmp.Compare(x.n, y.n)) })
	var out []int64
	for _, m := range modes {
		out = append(out, int64(m.ns))
	}
	return out
}
