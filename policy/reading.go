package policy

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Reading is what Evidence comes to.
type Reading struct {
	N int // waits scored

	// The family: the likeliest one, "" where nothing is. It is a verdict only
	// where Sure; otherwise Doubt tells why nothing can be told.
	Family            string
	FamilyProbability float64
	Sure              bool
	Doubt             string

	// The policies of the catalogue that wait like this and cannot be told apart,
	// likeliest first, with their probability together. Empty where the policy is
	// none of the catalogue's, or nobody can tell. Named: the name, or one of them,
	// is as sure as the family.
	Names       []string
	Probability float64
	Named       bool
	RunnerUp    string // the likeliest policy that is not among Names, or "a person" or "uncatalogued FAMILY"
	RunnerUpOdd float64

	Growth
	Longest  time.Duration // longest wait seen
	Attempts int           // after which the clients give up; 0: none is seen
	Chain    int           // attempts of the longest chain

	Honoured, Ignored, Unscored int // waits that kept to a hint, that came before its end, that were too vague

	instant bool // every wait is within the usual delays of the network
	vague   bool // waits include service times or round trips
	coarse  bool // the clock shows tenths of a second or less, and the waits are longer than that
}

// Thresholds of a verdict, in nats. Those against a person are the ones at which
// a person's clicks were called a policy in at most 3 of 1,000 runs.
const (
	apart       = 3.  // nearer models cannot be told apart, nor those
	drift       = .25 // nearer by this for each wait: no model of delays is exact,
	driftCoarse = .10 // which matters less where the clock blurs them
	driftVague  = .40 // and more where waits hold more than the client's own
	fewWaits    = 5   // below which
	apartFew    = 7.  // is asked against a person
	apartPerson = 5.  // and this from there on
	apartBroad  = .60 // for each wait, where the policy is as broad as people
	sureOf      = .95 // posterior
	nameWithin  = 1.5 // factor within which a base must be known before a library is named
)

// Reading reads the evidence. The same evidence gives the same reading.
func (e *Evidence) Reading() Reading { return e.read(catalogued()) }

// timer tells whether a claim of a general model stands beside the network's
// delays: regular waits that are short are a timer's, or those of clients that
// retry at once from afar.
func (r *Reading) timer(e *Evidence, s *scorer, all []candidate) bool {
	if best := all[0].model; best <= s.human() || r.instant {
		return true
	}
	d := delays[e.coarsest()%slacks]
	return r.Longest.Seconds() >= 4*d[2].mean+d[3].mean
}

// family is that of a model. A fixed wait within the usual delays is none.
func (r *Reading) family(s *scorer, i int) string {
	if i == s.human()+1+sameWait && r.instant {
		return Immediate
	}
	return s.family(i)
}

// plain tells whether the best of the catalogue, if that is best, fits closely.
func (e *Evidence) plain(s *scorer, all []candidate) bool {
	return all[0].model >= s.human() || e.fits(s, all[0].model, plainly)
}

// candidate is a model with its posterior.
type candidate struct {
	model int
	cost  float64 // nats
	odd   float64 // posterior
}

func (e *Evidence) read(s *scorer) (r Reading) {
	r.N = e.Waits()
	r.Honoured, r.Ignored, r.Unscored = int(e.honoured), int(e.ignored), int(e.unscored)
	r.Chain, r.Attempts = int(e.longest), e.cap()
	if r.N == 0 {
		r.Doubt = e.nothing()
		return r
	}
	r.Longest = seconds(fromLog(float64(e.longestWait)))
	r.Growth = e.growth()
	r.vague = e.coarsest()%slacks > 0
	r.coarse = tick(e.coarsest()) > .1 && r.Longest.Seconds() > 2*tick(e.coarsest())
	r.instant = r.Longest.Seconds() < delays[e.coarsest()%slacks][2].mean
	every := e.candidates(s)
	all, unfit := e.posterior(s, every)
	r.judgeFamily(s, all)
	r.Sure = r.Family != "" && r.FamilyProbability >= sureOf && !unfit && r.outdoes(s, every) && e.plain(s, all) && r.timer(e, s, all)
	r.judgeNames(e, s, all)
	r.doubts(s, all, unfit)
	return r
}

// nothing says why there is no wait to score.
func (e *Evidence) nothing() string {
	switch {
	case e.honoured > 0:
		return "every wait kept to the server's hint, which hides the clients' own policy"
	case e.unscored > 0:
		return "the clock or the service times are too coarse to measure waits"
	}
	return "no retry was seen"
}

// candidates are all models, likeliest first.
func (e *Evidence) candidates(s *scorer) (all []candidate) {
	for i := range s.size() {
		all = append(all, candidate{model: i, cost: float64(e.costs[i]) / perNat})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.cost, b.cost) })
	return all
}

// posterior weighs the models that fit; all are as likely before. unfit tells
// that one which does not fit is likelier by so much that the waits must come
// from something else: an unknown policy, or several.
func (e *Evidence) posterior(s *scorer, every []candidate) (all []candidate, unfit bool) {
	all = slices.Clone(every)
	least := all[0].cost
	for len(all) > 0 && all[0].model < s.human() && !e.fits(s, all[0].model, surely) {
		all = all[1:]
	}
	unfit = len(all) == 0 || all[0].cost-least >= apart
	fit := all[:0]
	for _, c := range all {
		if c.cost-all[0].cost > 20 || c.model < s.human() && !e.fits(s, c.model, surely) {
			continue
		}
		fit = append(fit, c)
	}
	all = fit
	var sum float64
	for i, c := range all {
		all[i].odd = math.Exp(all[0].cost - c.cost)
		sum += all[i].odd
	}
	for i := range all {
		all[i].odd /= sum
	}
	return all, unfit
}

// judgeFamily sums the posterior by family.
func (r *Reading) judgeFamily(s *scorer, all []candidate) {
	odds := map[string]float64{}
	var families []string
	for _, c := range all {
		f := r.family(s, c.model)
		if !slices.Contains(families, f) {
			families = append(families, f)
		}
		odds[f] += c.odd
	}
	for _, f := range families { // in order of their best model
		if f != "" && odds[f] > r.FamilyProbability {
			r.Family, r.FamilyProbability = f, odds[f]
		}
	}
}

// outdoes tells whether the family's best model leaves every model of another far
// enough behind, those that do not fit included.
func (r *Reading) outdoes(s *scorer, every []candidate) bool {
	best := slices.IndexFunc(every, func(c candidate) bool { return r.family(s, c.model) == r.Family })
	if s.loose(every[best].model) {
		return false
	}
	for _, c := range every {
		need := r.apart()
		switch f := r.family(s, c.model); {
		case f == r.Family:
			continue
		case f == "" && r.N < fewWaits:
			need = max(need, apartFew)
		case f == "" && broad(r.Family):
			need = max(apartFew, apart+apartBroad*float64(r.N))
		case f == "":
			need = max(need, apartPerson)
		}
		if c.cost-every[best].cost < need {
			return false
		}
	}
	return true
}

// instead puts those that retry at once in the place of a wait of next to nothing.
func (r *Reading) instead(s *scorer, all []candidate) []candidate {
	i := slices.IndexFunc(s.models, func(m model) bool { return m.family == Immediate })
	if i < 0 {
		return all
	}
	all = slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return c.model == i })
	all[0].model = i
	return all
}

// apart is by how much another model must be worse to be ruled out.
func (r *Reading) apart() float64 {
	switch {
	case r.vague:
		return apart + driftVague*float64(r.N)
	case r.coarse:
		return apart + driftCoarse*float64(r.N)
	}
	return apart + drift*float64(r.N)
}

// broad tells of families whose waits spread about as widely as those of people.
func broad(family string) bool {
	return family == FullJitter || family == Decorrelated
}

// judgeNames collects the policies that cannot be told from the best one.
func (r *Reading) judgeNames(e *Evidence, s *scorer, all []candidate) {
	if r.instant && all[0].model == s.human()+1+sameWait { // so near that even the usual delays are too long
		all = r.instead(s, all)
	}
	if len(all) == 0 || all[0].model >= s.human() {
		if len(all) > 0 {
			r.runnerUp(s, all[0])
		}
		return
	}
	var names []member
	others := true // no model but those of the catalogue is near
	for _, c := range all {
		near := c.cost-all[0].cost < r.apart()
		switch {
		case near && c.model < s.human():
			names = append(names, e.members(&s.models[c.model])...)
			r.Probability += c.odd
		case near:
			others = others && c.model == s.human()+1+sameWait && r.instant
			fallthrough
		default:
			if r.RunnerUp == "" {
				r.runnerUp(s, c)
			}
		}
	}
	slices.SortStableFunc(names, func(a, b member) int { return cmp.Compare(a.against, b.against) })
	for _, m := range names {
		r.Names = append(r.Names, m.name)
	}
	r.Named = r.Sure && others && r.Probability >= sureOf && (r.Family == Immediate || e.within(s, all[0].model) <= math.Log(nameWithin))
}

func (r *Reading) runnerUp(s *scorer, c candidate) {
	r.RunnerUpOdd = c.odd
	switch {
	case c.model < s.human():
		r.RunnerUp = s.models[c.model].members[0].Name
	case c.model == s.human():
		r.RunnerUp = "a person"
	default:
		r.RunnerUp = "uncatalogued " + r.family(s, c.model)
	}
}

// member is a policy of a model, and how many traits speak against it.
type member struct {
	name    string
	against int
}

// members lists those of a model whose ceiling and count allow what was seen.
// What users change at will or chains show badly only puts them in order.
func (e *Evidence) members(m *model) (all []member) {
	for _, p := range m.members {
		against := 0
		if most := p.most(); fromLog(float64(e.longestWait)) > 1.1*most.Seconds()+.5 {
			against += 2
		}
		if p.Attempts > 0 && int(e.longest) > p.Attempts {
			against++
		}
		switch c := e.cap(); {
		case c == 0 || p.Attempts == 0:
		case c == p.Attempts:
			against--
		default:
			against++
		}
		if e.honoured > e.ignored && !p.ReadsHint() || e.ignored > e.honoured && p.ReadsHint() {
			against++
		}
		all = append(all, member{p.Name, against})
	}
	return all
}

// most is the longest delay of the policy's own.
func (p *Policy) most() (d time.Duration) {
	switch p.ownFamily() {
	case Decorrelated, SmoothJitter: // whose spans are long to make
		if p.Cap == 0 {
			return DefaultCap
		}
		return p.Cap
	}
	for _, s := range p.spans(64) {
		d = max(d, s.high)
	}
	return d
}

// cap is after how many attempts clients give up: at least three gave up after
// the most attempts that any chain has, and hardly any before.
func (e *Evidence) cap() int {
	if e.atLongest >= 3 && 5*int(e.atLongest) >= 4*int(e.gaveUp) {
		return int(e.longest)
	}
	return 0
}

// doubts says why there is no verdict.
func (r *Reading) doubts(s *scorer, all []candidate, unfit bool) {
	if r.Sure {
		return
	}
	switch {
	case r.Family == "" || len(all) > 0 && all[0].model == s.human():
		if f := r.Growth.family(); f != "" && unfit {
			r.Family, r.FamilyProbability = f, 0
			r.Doubt = "no catalogued policy fits; the family is that of the waits' growth and spread"
			return
		}
		r.Doubt = "the waits look no more like a policy than like people"
	case r.N < fewWaits:
		r.Doubt = "too few waits"
	default:
		r.Doubt = "several families fit"
	}
}
