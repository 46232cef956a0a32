package chain

import (
	"math"
	"slices"
)

// unit is a weight of 1 in the fixed-point counts that shards learn into, so that
// sums do not depend on the order of their terms.
const unit = 1 << 12

const (
	pseudo    = 4           // weight of the kernel above, in waits (chains-trial.md point 5)
	forgetAt  = 4096 * unit // a kernel of that many waits is halved, to follow changing clients
	quartiles = 4           // quantiles at which a failure's exposure is counted
)

// exposed are the quantiles of the wait at which a quarter each of a failure
// counts as not retried (chains-trial.md point 6).
var exposed = [quartiles]float32{.25, .5, .75, .95}

// kernel is a distribution of waits, backed by one above it. Counts are learned;
// the tables are made from them at a barrier and frozen between.
type kernel struct {
	up       int32 // in its bank
	dirty    bool
	n        int64
	told     int64 // of n, what was known from the start
	count    [fineBins]uint32
	coarse   [coarseBins]float32     // mass
	fine     [fineBins]float32       // mass
	coarseTo [coarseBins + 1]float32 // mass below
	fineTo   [fineBins + 1]float32
	quantile [quartiles]float32 // seconds
}

// add learns a wait of some weight.
func (k *kernel) add(bin int, w int64) {
	k.n += saturate(&k.count[bin], w)
	k.dirty = true
}

// saturate adds to a count as far as it can hold, and returns what it added.
func saturate(count *uint32, w int64) int64 {
	w = min(w, math.MaxUint32-int64(*count))
	*count += uint32(w)
	return w
}

func (k *kernel) halve() {
	k.n, k.told = 0, k.told/2
	for i := range k.count {
		k.count[i] /= 2
		k.n += int64(k.count[i])
	}
	k.dirty = true
}

// refresh makes the tables from the counts and the tables of the kernel above. own is
// how much each wait that will be looked up is among the counts itself: without it,
// whatever was once taken for a retry would be one ever after.
func (k *kernel) refresh(up *kernel, own float32) {
	if k.n >= forgetAt {
		k.halve()
	}
	share := 1 / (float32(k.n)/unit + pseudo)
	left := float32(pseudo)
	for c := range k.coarse {
		sum := uint32(0)
		for _, x := range k.count[c*finePer : (c+1)*finePer] {
			sum += x
		}
		all := float32(sum) * (1. / unit)
		cut := min(own, all)
		k.coarse[c] = all - cut
		left += cut
	}
	for c := range k.coarse {
		k.coarse[c] = (k.coarse[c] + left*up.coarse[c]) * share
	}
	left = pseudo
	before, here := float32(0), float32(k.count[0])
	for b := range k.fine {
		after := float32(0)
		if b+1 < fineBins {
			after = float32(k.count[b+1])
		}
		smooth := (before + 2*here + after) * (1. / (4 * unit))
		cut := min(own/2, smooth)
		k.fine[b] = (smooth - cut) * share
		left += cut
		before, here = here, after
	}
	left *= share / finePer
	for c, m := range k.coarse {
		for b := c * finePer; b < (c+1)*finePer; b++ {
			k.fine[b] += m * left
		}
	}
	k.sum()
	k.dirty = false
}

// sum makes the cumulative tables and the quantiles.
func (k *kernel) sum() {
	for c, m := range k.coarse {
		k.coarseTo[c+1] = k.coarseTo[c] + m
	}
	below := float32(0)
	for c := range coarseBins { // in pairs, which do not wait for each other
		m, to := k.fine[c*finePer:][:finePer], k.fineTo[c*finePer+1:][:finePer]
		ab, cd, ef, gh := m[0]+m[1], m[2]+m[3], m[4]+m[5], m[6]+m[7]
		half := below + (ab + cd)
		to[0], to[1], to[2], to[3] = below+m[0], below+ab, below+(ab+m[2]), half
		below = half + (ef + gh)
		to[4], to[5], to[6], to[7] = half+m[4], half+ef, half+(ef+m[6]), below
	}
	for q, part := range exposed {
		b, _ := slices.BinarySearch(k.fineTo[1:], part*below)
		k.quantile[q] = float32(edge(min(b+1, fineBins)))
	}
}

// at returns density and distribution at a wait, by the coarse and the fine table.
func (k *kernel) at(p place) (coarse, coarseBelow, fine, fineBelow float64) {
	c := p.bin / finePer
	into := (float64(p.bin%finePer) + p.frac) / finePer
	m := float64(k.coarse[c])
	f := float64(k.fine[p.bin])
	return m * (1. / finePer) * p.per, float64(k.coarseTo[c]) + m*into,
		f * p.per, float64(k.fineTo[p.bin]) + f*p.frac
}

// sharp is at, by the fine table alone.
func (k *kernel) sharp(p place) (density, below float64) {
	f := float64(k.fine[p.bin])
	return f * p.per, float64(k.fineTo[p.bin]) + f*p.frac
}

// priorKernel spreads a weight over the bins by a density per second.
func priorKernel(density func(wait float64) float64) kernel {
	k := kernel{up: -1}
	total := 0.0
	var mass [fineBins]float64
	for b := range mass {
		mass[b] = density((edge(b)+edge(b+1))/2) * (edge(b+1) - edge(b))
		total += mass[b]
	}
	for b := range mass {
		k.fine[b] = float32(mass[b] / total)
		k.coarse[b/finePer] += k.fine[b]
	}
	k.sum()
	return k
}

func logNormal(wait, median, sigma float64) float64 {
	x := math.Log(wait/median) / sigma
	return math.Exp(-x*x/2) / wait
}

// bank holds the kernels of the waits after a failure: one of all, one of each
// class, one of each class and attempt, made when first learned from. Index 0 is
// the prior.
type bank struct {
	kernels []kernel
	index   [classes][attempts + 1]int32 // attempt 0: the class
}

// attempts are told apart up to this one.
const attempts = 6

func newBank(prior kernel) bank {
	b := bank{kernels: make([]kernel, 2, 8)}
	b.kernels[0] = prior
	b.kernels[1].refresh(&b.kernels[0], 0)
	for c := range b.index {
		for a := range b.index[c] {
			b.index[c][a] = 1
		}
	}
	return b
}

// of returns the most special kernel there is.
func (b *bank) of(class uint8, attempt int32) *kernel {
	return &b.kernels[b.index[class][min(attempt, attempts)]]
}

// heard is how many waits the quantiles of a kernel rest on: its own, or those of the
// one that backs it where hardly any of its own attempt were seen; those of an earlier
// attempt may have grown since, doubled twice as a rule. What was known from the start
// does not count: who gave up, replayed or followed live, is told at the same moment.
func (b *bank) heard(k *kernel) (n, grown float64) {
	up := &b.kernels[k.up]
	own, all := max(k.n-k.told, 0), max(up.n-up.told, 0)
	if own >= waitsToTrust*unit || all <= own {
		return float64(own) / unit, 1
	}
	return float64(all) / unit, 4
}

// learn adds a wait to the kernel of its attempt and those above.
func (b *bank) learn(class, attempt uint8, bin int, w int64) {
	row := &b.index[class]
	if row[0] == 1 {
		row[0] = b.grow(1)
		for a := 1; a <= attempts; a++ {
			row[a] = row[0]
		}
	}
	if row[attempt] == row[0] {
		row[attempt] = b.grow(row[0])
	}
	b.kernels[1].add(bin, w)
	b.kernels[row[0]].add(bin, w)
	b.kernels[row[attempt]].add(bin, w)
}

func (b *bank) grow(up int32) int32 {
	b.kernels = append(b.kernels, kernel{up: up, dirty: true})
	return int32(len(b.kernels) - 1)
}

// refresh remakes the tables of what changed, from the top down: a kernel's
// index is above that of the one it is backed by.
func (b *bank) refresh(own float32) {
	for i := 1; i < len(b.kernels); i++ {
		k := &b.kernels[i]
		if up := &b.kernels[k.up]; k.dirty || up.dirty {
			k.refresh(up, own)
			k.dirty = true // until those below have seen it
		}
	}
	for i := range b.kernels {
		b.kernels[i].dirty = false
	}
}
