package policy

import "slices"

// libraries are the policies of clients as they come, in the text of Parse, from
// their sources and documentation. Where a library lets its user choose, this is
// what it does when nobody has chosen.
var libraries = []struct{ name, text string }{
	// openai-python src/openai/_base_client.py: 0.5 s doubled up to 8 s, times
	// U(.75, 1); a hint up to 120 s is obeyed, a longer one ends it.
	{"openai", "hint-exact own=scaled-jitter base=500ms cap=8s low=0.75 high=1 longest=2m over=stop attempts=3"},
	// anthropic-sdk-python _base_client.py: the same, but a hint above 60 s is ignored.
	{"anthropic", "hint-exact own=scaled-jitter base=500ms cap=8s low=0.75 high=1 longest=1m over=own attempts=3"},
	// botocore retries/standard.py: U(0, 1) * min(2^(k-1), 20) s.
	{"aws-standard", "full-jitter base=1s cap=20s attempts=3"},
	// azure-sdk-for-go sdk/azcore/runtime/policy_retry.go: (2^k - 1) * 0.8 s * U(.8, 1.3).
	{"azcore", "hint-exact own=scaled-jitter growth=less-one base=800ms cap=1m low=0.8 high=1.3 longest=1m over=stop attempts=4"},
	// gax-go v2/call_option.go: U(0, min(30, 2^(k-1))) s, until its deadline.
	{"gax", "full-jitter base=1s cap=30s"},
	// Envoy router filter: U(0, (2^k - 1) * 25 ms), at most 250 ms, one retry.
	{"envoy", "full-jitter growth=less-one base=25ms cap=250ms attempts=2"},
	// go-retryablehttp client.go, DefaultBackoff and its defaults.
	{"go-retryablehttp", "hint-exact own=exponential base=1s cap=30s longest=none attempts=5"},
	// node-retry lib/retry.js: 1 s doubled without a ceiling, ten retries.
	{"node-retry", "exponential base=1s cap=none attempts=11"},
	// urllib3 util/retry.py with its backoff factor of 0; a hint is obeyed up to 6 h.
	{"urllib3", "hint-exact own=immediate longest=6h attempts=4"},
	// axios-retry src/index.ts, noDelay and exponentialDelay.
	{"axios-retry", "hint-max own=immediate longest=none attempts=4"},
	{"axios-retry-exponential", "hint-max own=exponential base=200ms cap=none low=1 high=1.2 longest=none attempts=4"},
	// got source/core/calculate-retry-delay.ts.
	{"got", "hint-exact own=additive-jitter base=1s cap=none add=100ms longest=none attempts=3"},
	// ky source/core/Ky.ts.
	{"ky", "hint-exact own=exponential base=300ms cap=none longest=none attempts=3"},
	// cenkalti/backoff exponential.go; it ends after 15 min, which a deadline says.
	{"cenkalti", "scaled-jitter base=500ms multiplier=1.5 cap=1m low=0.5 high=1.5"},
	// stripe-go stripe.go: (0.5 + 0.5 (k-1)^2) s * U(.75, 1).
	{"stripe-go", "scaled-jitter growth=quadratic base=500ms low=0.75 high=1 attempts=3"},
	// kiota-http-go retry_handler.go: 3 * 2^(k-1) s + U(0, 1) s.
	{"kiota", "hint-exact own=additive-jitter base=3s add=1s attempts=4"},
	// Polly.Core/Retry: a constant of 2 s, three retries.
	{"polly", "fixed base=2s attempts=4"},
	// client-go rest/with_retry.go: only where the server names a wait.
	{"client-go", "hint-exact own=none longest=none attempts=11"},
}

// Library returns the policy of a client library; its Name is the library's.
func Library(name string) (p Policy, ok bool) {
	for _, l := range libraries {
		if l.name == name {
			p, err := Parse(l.text)
			p.Name = l.name
			return p, err == nil
		}
	}
	return p, false
}

// Libraries returns the names that Library knows, sorted.
func Libraries() []string {
	names := make([]string, 0, len(libraries))
	for _, l := range libraries {
		names = append(names, l.name)
	}
	slices.Sort(names)
	return names
}
