package detect

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"stormwatch/capture"
	"stormwatch/detect/chain"
	"stormwatch/policy"
)

// What clients of known policies make of hints is told right: nobody who waits as told
// is called deaf, nor who does not, obedient; which way of keeping to them it is, four
// times of five: jitter that grows is at first near, as a hint that exceeds one's own wait. Of eight retries each, after a wait of 1 to 8 s, through a network of
// 20 ms.
func TestHintUseOfPolicies(t *testing.T) {
	const runs = 500
	for text, want := range map[string][]HintUse{
		"hint-exact own=full-jitter base=500ms": {HintExact},
		"hint-exact own=immediate":              {HintExact},
		"hint-floor base=1s cap=8s":             {HintJittered},
		"hint-floor base=500ms cap=30s":         {HintJittered},
		"hint-scaled low=1 high=1.2 base=500ms": {HintJittered},
		"hint-max own=exponential base=500ms":   {HintMax, HintExact}, // the same, while its own waits are shorter
		"fixed base=300ms":                      {HintIgnored},
		"full-jitter base=500ms cap=4s":         {HintIgnored},
		"exponential base=100ms cap=2s":         {HintIgnored},
		"immediate":                             {HintIgnored},
		"fixed base=10s":                        {HintCompatible}, // longer than any hint: who knows
	} {
		p, err := policy.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, vague := map[HintUse]int{}, 0
		for run := range uint64(runs) {
			rng := rand.New(rand.NewPCG(run, 1))
			use := useOf(&p, rng)
			switch {
			case use == want[0] || len(want) > 1 && use == want[1]:
			case use == HintCompatible:
				vague++ // it is not said what it is, and nothing wrong
			default:
				got[use]++
			}
		}
		deaf, other := 0, 0
		for use, n := range got {
			if use == HintIgnored || want[0] == HintIgnored || want[0] == HintCompatible {
				deaf += n
			} else {
				other += n
			}
		}
		t.Logf("%s: obedience wrong in %d of %d, its kind in %d, not told in %d", text, deaf, runs, other, vague)
		if deaf > 0 || other > runs/5 {
			t.Errorf("%s: of %d told as %s", text, runs, fmt.Sprint(got))
		}
	}
}

// useOf is what eight retries of a policy look like.
func useOf(p *policy.Policy, rng *rand.Rand) HintUse {
	var o obeys
	r := policy.Retry{HasHint: true, Hint: time.Duration(1+rng.IntN(8)) * time.Second}
	for r.N = 1; r.N <= 8; r.N++ {
		d, again := p.Delay(r, rng)
		if !again {
			break
		}
		r.Prev, r.Total = d, r.Total+d
		f := flight{link: chain.Link{Parent: 1, Attempt: int32(r.N + 1), Confidence: 1, Gap: int64(d) + int64(20e6*rng.ExpFloat64())}}
		f.link.ParentHint = capture.Hint{State: capture.Present, Kind: capture.RetryAfterSeconds, Wait: int64(r.Hint)}
		o.obey(&f, 1)
	}
	return o.reading().Use
}
