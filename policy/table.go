package policy

import "math"

// stray is the share of waits that no policy explains: a wrong edge of a chain,
// a user who came back. It bounds what a single wait can do to a model.
const stray = .02

// table scores a wait before one retry, observed in one class, by its bin. A
// cost is in perNat-ths of a nat and never negative: how much less likely the
// wait is than under a reference, which is the same for all models, so that
// costs are summed in any order and saturate without favour.
type table struct {
	width   int                     // models of the catalogue and the person
	costs   [bins][maxModels]uint16 // of those; the rest is 0
	best    [bins]int16
	expect  []fit
	nothing [bins]int16 // log-likelihood of anything
}

// fit is what a model expects of the waits before one retry if it is the truth.
type fit struct {
	mean, variance float64 // of the wait's logarithm, in perOctave-ths
	pure, strays   float64 // the variance that is the policy's own, and how a sample's strays: (kurtosis - 1)
	cost, costs    float64 // mean and variance of what a wait costs it, in nats
}

// table makes or finds the table of retry n, from 1 to retries.
func (s *scorer) table(class, n int) *table {
	if t := s.tables[class][n-1].value.Load(); t != nil {
		return t
	}
	return s.tables[class][n-1].get(func() *table { return s.build(class, n) })
}

func (s *scorer) build(class, n int) *table {
	t := &table{width: s.human() + 1, expect: make([]fit, s.human()+1)}
	lls := make([]int16, bins*t.width)
	var strays [bins]float64
	for bin := range bins {
		x := observedAs(bin, class)
		any := blurred(anything, x, tick(class))
		strays[bin] = stray * any
		lls[bin*t.width+s.human()] = units(.98*blurred(person, x, tick(class)) + strays[bin])
		t.nothing[bin] = units(any)
	}
	spans, shares := make([][]span, s.human()), make([][]float64, s.human())
	for i, m := range s.models {
		spans[i] = m.spans(n)
		shares[i] = t.column(lls, i, observed(spans[i], class), &strays)
	}
	for bin := range bins {
		t.best[bin] = max(peak(class, bin), t.nothing[bin])
		for _, ll := range lls[bin*t.width : (bin+1)*t.width] {
			t.best[bin] = max(t.best[bin], ll)
		}
		for i, ll := range lls[bin*t.width : (bin+1)*t.width] {
			t.costs[bin][i] = uint16(t.best[bin] - ll)
		}
	}
	for i := range s.models {
		t.expect[i] = t.expected(i, spans[i], shares[i], class)
	}
	return t
}

// observedAs is a wait of a bin in seconds, as the clock shows it.
func observedAs(bin, class int) float64 {
	if bin == 0 && tick(class) > 0 {
		return 0
	}
	return middles[bin]
}

// column fills in the log-likelihoods of one model, given how likely strays are, and
// returns how likely each bin is under it, strays apart.
func (t *table) column(lls []int16, i int, o observation, strays *[bins]float64) []float64 {
	shares := make([]float64, bins)
	low := o.reaches(0)
	for bin := range bins {
		high := o.reaches(edges[bin+1])
		shares[bin] = max(high-low, 0)
		density := shares[bin] / widths[bin]
		if bin == 0 && o.tick > 0 { // the clock says 0: so likely is one tick
			density = (o.reaches(o.tick/50) - o.reaches(-o.tick/50)) * 25
		}
		ll := &lls[bin*t.width+i]
		if bin > 1 && density == 0 && shares[bin-1] == 0 && strays[bin] == strays[bin-1] {
			*ll = lls[(bin-1)*t.width+i] // for hours on end: no wait comes so late
		} else {
			*ll = units((1-stray)*density + strays[bin])
		}
		low = high
	}
	if o.tick > 0 {
		return o.ticked()
	}
	shares[0] = o.reaches(edges[1]) // whatever is shorter
	return shares
}

// ticked is how likely each bin is on a coarse clock, which shows whole ticks.
func (o *observation) ticked() []float64 {
	const most = 4096 // ticks; later ones are as good as none for a fit
	shares, r := make([]float64, bins), o.tick
	for j := range most {
		x := float64(j) * r
		shares[binOf(seconds(x))] += (o.reaches(x+r/50) - o.reaches(x-r/50)) * 25
		if o.reaches(x-r) > 1-1e-6 {
			break
		}
	}
	return shares
}

// expected works out a model's fit from the chances of the bins.
func (t *table) expected(i int, spans []span, shares []float64, class int) (f fit) {
	var total float64
	for bin, p := range shares {
		y, c := float64(logOf(bin, class)), float64(t.costs[bin][i])/perNat
		total += p
		f.mean += p * y
		f.variance += p * y * y
		f.cost += p * c
		f.costs += p * c * c
	}
	if total == 0 {
		return f
	}
	f.mean /= total
	f.cost /= total
	f.variance = f.variance/total - f.mean*f.mean
	f.costs = f.costs/total - f.cost*f.cost
	f.pure, f.strays = pure(spans)
	return f
}

// pure is the variance of the logarithm of the spans' delays, and its kurtosis
// less 1: a sample variance of n strays by the root of that over n, of itself.
func pure(spans []span) (variance, strays float64) {
	const steps = 64
	var sum, squares, fourth float64
	each := func(do func(y, weight float64)) {
		for _, s := range spans {
			for i := range steps {
				d := s.low.Seconds() + (s.high-s.low).Seconds()*(float64(i)+.5)/steps
				do(perOctave*math.Log2(max(d, .008)*1e6), s.weight/steps)
			}
		}
	}
	each(func(y, weight float64) { sum += weight * y })
	each(func(y, weight float64) {
		z := (y - sum) * (y - sum)
		squares, fourth = squares+weight*z, fourth+weight*z*z
	})
	if squares == 0 {
		return 0, 0
	}
	return squares, fourth/(squares*squares) - 1
}

// logOf is the logarithm of a wait as evidence sums it. On a coarse clock a wait
// of no tick counts as half of one.
func logOf(bin, class int) uint16 {
	if r := tick(class); r > 0 {
		return max(logs[bin], logUnits(r/2))
	}
	return logs[bin]
}

func units(density float64) int16 { return int16(math.Round(perNat * math.Log(density))) }

// peak is the most that a general model can make of a wait of this bin.
func peak(class, bin int) int16 {
	near, far := tight(class, octaveOf(bin))
	return units(.6/(2*near) + .4/(2*far))
}

func octaveOf(bin int) int { return max(bin-1, 0) >> subBits }

// tight tells how near, as a logarithm, a wait of this octave comes to a multiple
// of the one before when neither is jittered: both were delayed, by little or by
// more, and both were rounded.
func tight(class, octave int) (near, far float64) {
	x := math.Ldexp(1.5, octave+lowOct) / 1e6
	d := delays[class%slacks]
	near = min(1, .006+(2*d[1].mean+.4*tick(class))/x)
	return near, min(1, .010+(2*d[2].mean+.4*tick(class))/x)
}

// reachOfRatios is how far apart, in octaves, two waits are compared.
const reachOfRatios = 6

// ratios are the log-likelihoods of the general models, by the octave of a wait
// and its ratio to the one before.
type ratios struct {
	cells [octaves + 1][2*reachOfRatios*perOctave + 1][general]int16
}

func (s *scorer) ratiosOf(class int) *ratios {
	if r := s.ratios[class].value.Load(); r != nil {
		return r
	}
	return s.ratios[class].get(func() *ratios { return newRatios(class) })
}

func newRatios(class int) *ratios {
	r := &ratios{}
	for oct := range r.cells {
		near, far := tight(class, oct)
		close := func(x, factor float64) float64 {
			x = math.Abs(x - math.Log(factor))
			return .6*math.Exp(-x/near)/(2*near) + .4*math.Exp(-x/far)/(2*far)
		}
		loose := func(x, factor float64) float64 {
			x -= math.Log(factor)
			return (bell(x, math.Hypot(.12, near)) + bell(x, math.Hypot(.3, near))) / 2
		}
		free := func(x, factor float64) float64 { // of two uniform draws
			return math.Exp(-math.Abs(x-math.Log(factor))) / 2
		}
		for i := range r.cells[oct] {
			x := float64(i-reachOfRatios*perOctave) / perOctave * math.Ln2
			for j, d := range [general]float64{
				sameWait: close(x, 1), twiceWait: close(x, 2), otherGrowth: (close(x, 1.5) + close(x, 3)) / 2, linearWait: close(x, 1),
				looseSame: loose(x, 1), looseTwice: loose(x, 2), anyTwice: free(x, 2),
			} {
				r.cells[oct][i][j] = units((1-stray)*d + stray*anything(0))
			}
		}
	}
	return r
}

func bell(x, deviation float64) float64 {
	z := x / deviation
	return math.Exp(-z*z/2) / (deviation * math.Sqrt(2*math.Pi))
}

// stepOf is the ratio n/(n-1) that a linear policy shows before retry n.
var stepOf = func() (steps [retries + 1]int) {
	for n := 2; n <= retries; n++ {
		steps[n] = int(math.Round(perOctave * math.Log2(float64(n)/float64(n-1))))
	}
	return steps
}()
