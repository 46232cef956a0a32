package detect

import (
	"testing"

	"stormwatch/capture"
	"stormwatch/detect/chain"
)

// retryAfter is one retry: its attempt, the wait that was named (0 none) and the
// gap, in seconds.
type retryAfter struct {
	attempt   int32
	hint, gap float64
}

func (r retryAfter) flight() *flight {
	f := &flight{link: chain.Link{Parent: 1, Attempt: r.attempt, Confidence: 1, Gap: int64(r.gap * 1e9)}}
	f.link.ParentHint = capture.Hint{State: capture.Absent}
	if r.hint > 0 {
		f.link.ParentHint = capture.Hint{State: capture.Present, Kind: capture.RetryAfterSeconds, Wait: int64(r.hint * 1e9)}
	}
	return f
}

// What is made of hints, by gaps worked out from the policies' definitions.
func TestHintUse(t *testing.T) {
	for name, c := range map[string]struct {
		resolution int64
		retries    []retryAfter
		want       HintUse
		share      float64
	}{
		"none":           {1, nil, HintUnseen, 0},
		"only bare":      {1, []retryAfter{{2, 0, 1}, {3, 0, 2}}, HintUnseen, 0},
		"exact":          {1, []retryAfter{{2, 2, 2.004}, {3, 5, 5.01}, {4, 1, 1.003}}, HintExact, 1},
		"exact, far":     {1, []retryAfter{{2, 2, 2.16}, {3, 5, 5.17}, {4, 1, 1.18}}, HintExact, 1},
		"one retry":      {1, []retryAfter{{2, 2, 2.01}}, HintExact, 1},
		"1 s clock":      {1e9, []retryAfter{{2, 5, 4}, {3, 5, 6}, {4, 5, 5}}, HintExact, 1},
		"floor + jitter": {1, []retryAfter{{2, 2, 2.05}, {3, 2, 3.4}, {4, 2, 2.25}, {5, 2, 4.1}}, HintJittered, 1},
		"times 1 to 1.2": {1, []retryAfter{{2, 2, 2.20}, {3, 2, 2.38}, {4, 2, 2.07}, {5, 2, 2.31}}, HintJittered, 1},
		"max, doubling":  {1, []retryAfter{{2, 3, 3.0}, {3, 3, 3.0}, {4, 3, 4.0}, {5, 3, 8.0}}, HintMax, 1},
		"clipped at 30":  {1, []retryAfter{{2, 5, 5}, {3, 60, 30}, {4, 120, 30.01}, {5, 20, 20}}, HintClipped, 1},
		"ignored":        {1, []retryAfter{{2, 5, 1}, {3, 5, 1}, {4, 5, 1}, {5, 5, 1}}, HintIgnored, 1},
		"doubling, deaf": {1, []retryAfter{{2, 3, 1}, {3, 3, 2}, {4, 3, 4}, {5, 3, 8}}, HintIgnored, .5},
		"full jitter":    {1, []retryAfter{{2, 2, .7}, {3, 2, .4}, {4, 2, 3.5}, {5, 2, 6.1}}, HintIgnored, .5},
		"slow by itself": {1, []retryAfter{{2, 2, 10}, {3, 2, 10}, {4, 2, 10.01}}, HintCompatible, 1},
		"slow for it":    {1, []retryAfter{{2, 0, 1}, {3, 4, 5}, {4, 4, 5.4}, {5, 4, 6}}, HintJittered, 1},
		"one stray":      {1, []retryAfter{{2, 2, 2}, {3, 2, 2}, {4, 2, 2}, {2, 2, 2}, {3, 2, 2}, {4, 2, 1}}, HintExact, 5. / 6},
	} {
		var o obeys
		for _, r := range c.retries {
			o.obey(r.flight(), c.resolution)
		}
		if r := o.reading(); r.Use != c.want || r.Share != c.share {
			t.Errorf("%s: %v %.2f of %d, want %v %.2f", name, r.Use, r.Share, r.N, c.want, c.share)
		}
		// The same of two clients is the same of one.
		var a, b, sum obeys
		for i, r := range c.retries {
			if i%2 == 0 {
				a.obey(r.flight(), c.resolution)
			} else {
				b.obey(r.flight(), c.resolution)
			}
		}
		sum.merge(&a)
		sum.merge(&b)
		if sum != o {
			t.Errorf("%s: merged %+v, in one %+v", name, sum, o)
		}
	}
}

// How early and how idle: of waits of 5 s, 1 s and 2 s late and 3 s and 4 s early.
func TestHintMeans(t *testing.T) {
	var o obeys
	for _, r := range []retryAfter{{2, 5, 2}, {3, 5, 1}, {2, 5, 6}, {3, 5, 7}} {
		o.obey(r.flight(), 1)
	}
	if r := o.reading(); r.Early != Some(3.5) || r.Idle != Some(1.5) || r.N != 4 {
		t.Errorf("%+v, want 3.5 s early, 1.5 s idle, of 4", r)
	}
}
