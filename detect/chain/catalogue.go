package chain

import (
	"slices"
	"sync"

	"stormwatch/policy"
)

// timing is how the waits of a catalogued policy fall into the bins, before each
// retry: from a first bin on.
type timing [attempts]struct {
	from int
	mass []float32
}

// timings are those of the catalogue.
var timings = sync.OnceValue(func() (all []timing) {
	edges := make([]float64, fineBins+1)
	for b := range edges {
		edges[b] = edge(b)
	}
	for _, p := range policy.Timings(attempts) {
		var t timing
		for a := range t {
			from, shares := p.Shares(a+1, edges)
			t[a].from = from
			for _, s := range shares {
				t[a].mass = append(t[a].mass, float32(s))
			}
		}
		all = append(all, t)
	}
	return all
})

func (t *timing) at(attempt, bin int) float64 {
	s := &t[attempt-1]
	if bin -= s.from; bin < 0 || bin >= len(s.mass) {
		return 0
	}
	return float64(s.mass[bin])
}

// catalogue is how many of the retries after failures of each class, and at each
// attempt, come as each of the catalogued policies has them: a few show which, and then
// the waits before all of their retries are known. Policies that begin alike, with a wait
// of a second, are told apart only by the attempts after.
type catalogue struct {
	of  [classes]*share // nil: as in all
	all *share
}

// share is of one class, or of all.
type share struct {
	credit [attempts][]int64 // by attempt and policy, fixed point
	n      int64
	drawn  int64               // n at which the tables were drawn
	weight [attempts][]float64 // likewise
	pooled []float64           // by policy, of all attempts together
	mass   [attempts][fineBins]float32
	below  [attempts][fineBins + 1]float32
}

const (
	enoughToLearn = 4096 * unit // retries, from where on the catalogue has nothing to add to what was seen
	redraw        = 8           // tables are drawn anew when a part more is known
	allBacking    = 40          // weight of all attempts together, in retries, beside those of one
)

func newCatalogue() catalogue {
	c := catalogue{all: newShare()}
	c.all.draw(nil)
	return c
}

func newShare() *share {
	n := len(timings())
	s := &share{pooled: make([]float64, n)}
	for a := range s.credit {
		s.credit[a], s.weight[a] = make([]int64, n), make([]float64, n)
	}
	return s
}

func (s *share) clone() *share {
	if s == nil {
		return nil
	}
	c := *s
	c.pooled = slices.Clone(s.pooled)
	for a := range s.credit {
		c.credit[a], c.weight[a] = slices.Clone(s.credit[a]), slices.Clone(s.weight[a])
	}
	return &c
}

func (c *catalogue) clone() catalogue {
	out := *c
	out.all = c.all.clone()
	for i := range out.of {
		out.of[i] = c.of[i].clone()
	}
	return out
}

func (c *catalogue) share(class uint8) *share {
	if s := c.of[class]; s != nil {
		return s
	}
	return c.all
}

// at returns density and distribution of the wait after a failure.
func (c *catalogue) at(class uint8, attempt int32, p place) (density, below float64) {
	s, a := c.share(class), min(attempt, attempts)-1
	m := float64(s.mass[a][p.bin])
	return m * p.per, float64(s.below[a][p.bin]) + m*p.frac
}

// learn divides a wait among the policies by how well they foretold it.
func (c *catalogue) learn(class, attempt uint8, bin int, w int64) {
	if c.of[class] == nil {
		c.of[class] = newShare()
		c.of[class].draw(c.all)
	}
	for _, s := range [...]*share{c.of[class], c.all} {
		total := float64(s.mass[attempt-1][bin])
		if s.n > enoughToLearn || total <= 0 {
			continue
		}
		scale := float64(w) / total
		all := timings()
		credit, weight := s.credit[attempt-1], s.weight[attempt-1]
		for i := range all {
			if m := all[i].at(int(attempt), bin); m > 0 {
				x := int64(scale * weight[i] * m)
				credit[i] += x
				s.n += x
			}
		}
	}
}

// refresh draws the tables of those of which more is known.
func (c *catalogue) refresh() {
	c.all.refresh(nil)
	for _, s := range c.of {
		if s != nil {
			s.refresh(c.all)
		}
	}
}

func (s *share) refresh(up *share) {
	if s.n > s.drawn+s.drawn/redraw {
		s.draw(up)
	}
}

// draw makes the tables, of each attempt backed by those of all attempts together.
func (s *share) draw(up *share) {
	s.drawn = s.n
	seen := s.pool(up)
	s.mass = [attempts][fineBins]float32{}
	for i, pooled := range s.pooled {
		for a := range s.mass {
			w := (float64(s.credit[a][i])/unit + allBacking*pooled) / (seen[a] + allBacking)
			s.weight[a][i] = w
			t := &timings()[i][a]
			row := s.mass[a][t.from:]
			for b, m := range t.mass {
				row[b] += float32(w) * m
			}
		}
	}
	for a := range s.mass {
		for b, m := range s.mass[a] {
			s.below[a][b+1] = s.below[a][b] + m
		}
	}
}

// pool weighs the policies over all attempts, backed by all classes together, and these
// by all policies alike; it returns how many retries of each attempt were seen.
func (s *share) pool(up *share) (seen [attempts]float64) {
	total := float64(s.n)/unit + pseudo
	for i := range s.pooled {
		prior := 1 / float64(len(s.pooled))
		if up != nil {
			prior = up.pooled[i]
		}
		sum := 0.
		for a := range s.credit {
			x := float64(s.credit[a][i]) / unit
			seen[a] += x
			sum += x
		}
		s.pooled[i] = (sum + pseudo*prior) / total
	}
	return seen
}
