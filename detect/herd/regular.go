package herd

import "math"

// regular holds, for a number of waits, the coefficients of variation (with n-1) at
// or below which random arrivals come by a chance of 1e-2, 1e-3 and 1e-4
// (detection.md 2.2; TestRegularityTable measures them). One bound for all would be
// wrong by far: of three random waits one set in fourteen varies by less than .3.
var regular = [...]struct {
	n        int
	critical [3]float64
}{
	{3, [3]float64{.112, .036, .012}},
	{4, [3]float64{.215, .101, .048}},
	{5, [3]float64{.294, .167, .101}},
	{6, [3]float64{.351, .219, .135}},
	{8, [3]float64{.429, .312, .232}},
	{10, [3]float64{.481, .369, .284}},
	{15, [3]float64{.562, .466, .400}},
	{20, [3]float64{.610, .523, .454}},
	{30, [3]float64{.669, .593, .533}},
}

var regularChance = [3]float64{1e-2, 1e-3, 1e-4}

// Regular tells how likely waits as even as these are by chance, were arrivals
// random: 1, .01, .001 or .0001, whichever bounds it; unknown of fewer than three.
// Waits that grow are not even, whatever their policy.
func Regular(waits []float32) (chance float64, known bool) {
	n := len(waits)
	if n < regular[0].n {
		return 1, false
	}
	row := regular[0]
	for _, r := range regular {
		if r.n > n { // between two rows the stricter one counts
			break
		}
		row = r
	}
	cv := variation(waits)
	chance = 1
	for i, c := range row.critical {
		if cv <= c {
			chance = regularChance[i]
		}
	}
	return chance, true
}

// variation is the standard deviation (with n-1) over the mean.
func variation(waits []float32) float64 {
	sum := 0.
	for _, w := range waits {
		sum += float64(w)
	}
	mean := sum / float64(len(waits))
	if mean <= 0 {
		return math.Inf(1)
	}
	squares := 0.
	for _, w := range waits {
		d := float64(w) - mean
		squares += d * d
	}
	return math.Sqrt(squares/float64(len(waits)-1)) / mean
}
