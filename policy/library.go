package policy

import "slices"

// A library is a client, SDK or proxy and the policy it follows when nobody has
// chosen another; where there is no default, source says whose example it is.
type library struct {
	name   string
	text   string // as Parse reads it
	source string // where it was read, and in which version
}

// libraries is the catalogue. One text serves the simulator, which draws from it,
// and Evidence, which scores what it sees against it. Each was read in the source
// or manual named, save where "by its documentation" says otherwise.
var libraries = []library{
	// Command line tools.
	{"curl", "hint-exact own=exponential base=1s cap=10m longest=none", "curl 8.22-rc2 src/tool_operate.c retry_sleep, tool_main.h, with --retry"},
	{"wget", "linear base=1s cap=10s attempts=20", "GNU Wget manual, --waitretry and --tries"},
	{"pip", "hint-exact own=immediate-then-backoff base=250ms cap=2m longest=6h attempts=6", "pip 26.2 src/pip/_internal/network/session.py, urllib3's backoff_factor 0.25"},
	{"npm", "exponential base=10s multiplier=10 cap=1m attempts=3", "npm-registry-fetch 19.1 README, fetchRetry options"},

	// Python.
	{"urllib3", "hint-exact own=immediate longest=6h attempts=4", "urllib3 2.7 src/urllib3/util/retry.py, Retry.DEFAULT; requests with max_retries is the same"},
	{"urllib3-backoff-1", "hint-exact own=immediate-then-backoff base=1s cap=2m longest=6h", "urllib3 2.7 src/urllib3/util/retry.py, with the backoff_factor 1 of many recipes"},
	{"tenacity", "immediate", "tenacity 9.1 tenacity/__init__.py: wait_none, stop_never"},
	{"tenacity-exponential", "exponential base=1s cap=none", "tenacity 9.1 tenacity/wait.py, wait_exponential"},
	{"tenacity-random-exponential", "full-jitter base=1s cap=none", "tenacity 9.1 tenacity/wait.py, wait_random_exponential"},
	{"tenacity-exponential-jitter", "additive-jitter base=1s cap=none add=1s", "tenacity 9.1 tenacity/wait.py, wait_exponential_jitter"},
	{"google-api-python", "full-jitter base=2s cap=none", "google-api-python-client 1.7 googleapiclient/http.py, _retry_request; the count is the user's"},
	{"swiftclient", "exponential base=1s cap=64s attempts=6", "python-swiftclient 4.1 swiftclient/client.py, Connection"},
	{"google-api-core", "full-jitter base=1s cap=1m", "python-api-core google/api_core/retry/retry_base.py; it ends after 120 s"},

	// Providers' SDKs.
	{"openai", "hint-exact own=scaled-jitter base=500ms cap=8s low=0.75 high=1 longest=2m over=stop attempts=3", "openai-python 3.3 src/openai/_base_client.py, _constants.py"},
	{"anthropic", "hint-exact own=scaled-jitter base=500ms cap=8s low=0.75 high=1 longest=1m over=own attempts=3", "anthropic-sdk-python 0.121 src/anthropic/_base_client.py, _constants.py"},
	{"aws-legacy", "full-jitter base=1s cap=none attempts=5", "botocore, Aug 2026, retryhandler.py, data/_retry.json"},
	{"aws-standard", "full-jitter base=1s cap=20s attempts=3", "botocore, Aug 2026, retries/standard.py; adaptive mode waits alike beside its own rate limit"},
	{"aws-2026", "full-jitter base=50ms cap=20s attempts=3", "botocore, Aug 2026, retries/standard.py with new retries, not throttled; throttled it is aws-standard"},
	{"aws-sdk-go-v2", "full-jitter base=2s cap=20s attempts=3", "aws-sdk-go-v2 1.48 aws/retry/jitter_backoff.go, legacy formula: its first attempt counts as 1"},
	{"aws-sdk-go", "scaled-jitter base=500ms cap=5m low=1 high=2 attempts=4", "aws-sdk-go 1.55 aws/client/default_retryer.go, throttled"},
	{"aws-sdk-js", "full-jitter base=100ms cap=20s attempts=3", "smithy-typescript @smithy/core 3.33, util-retry, not throttled"},
	{"azcore", "hint-exact own=scaled-jitter growth=less-one base=800ms cap=1m low=0.8 high=1.3 longest=1m over=stop attempts=4", "azure-sdk-for-go sdk/azcore 1.24 runtime/policy_retry.go"},
	{"gax", "full-jitter base=1s cap=30s", "gax-go v2 call_option.go, Backoff; it ends with its context"},
	{"kiota", "hint-exact own=additive-jitter base=3s cap=none add=1s longest=none attempts=4", "kiota-http-go 1.5 retry_handler.go"},
	{"stripe-go", "scaled-jitter growth=quadratic base=500ms cap=5s low=0.75 high=1 floor=500ms attempts=3", "stripe-go 86.2 stripe.go, sleepTime"},
	{"stripe-python", "hint-max own=scaled-jitter base=500ms cap=5s low=0.5 high=1 floor=500ms longest=1m over=own attempts=3", "stripe-python 15.3 stripe/_http_client.py"},
	{"stripe-node", "scaled-jitter base=250ms cap=5s low=0.5 high=1 floor=500ms attempts=3", "stripe-node 22.5 src/RequestSender.ts, stripe.core.ts: it counts its retries from 0"},
	{"octokit", "square base=1s attempts=4", "octokit plugin-retry.js 8.1 src/error-request.ts, wrap-request.ts"},

	// Go.
	{"go-retryablehttp", "hint-exact own=exponential base=1s cap=30s longest=none attempts=5", "go-retryablehttp 0.7 client.go, DefaultBackoff"},
	{"cenkalti", "scaled-jitter base=500ms multiplier=1.5 cap=1m low=0.5 high=1.5", "cenkalti/backoff 4.3 exponential.go; it ends after 15 min"},
	{"resty", "scaled-jitter base=100ms cap=2s low=0.5 high=1 floor=100ms", "resty 2.16 retry.go, jitterBackoff; the count is the user's"},
	{"opentelemetry", "hint-max own=scaled-jitter base=5s multiplier=1.5 cap=30s low=0.5 high=1.5 longest=none", "opentelemetry-go otlptracehttp/internal/retry/retry.go; collector config/configretry; they end after 1 and 5 min"},
	{"prometheus", "hint-exact own=exponential base=30ms cap=5s longest=none", "prometheus 0.314 config/config.go, storage/remote/queue_manager.go"},
	{"client-go", "hint-exact own=none longest=none attempts=11", "client-go, Jul 2026, rest/with_retry.go: only where the server names a wait"},
	{"controller-runtime", "exponential base=5ms cap=1000s", "client-go, Jul 2026, util/workqueue/default_rate_limiters.go"},

	// JavaScript.
	{"node-retry", "exponential base=1s cap=none attempts=11", "node-retry 0.13 lib/retry.js"},
	{"p-retry", "exponential base=1s cap=none attempts=11", "p-retry 7.0 index.js"},
	{"async-retry", "scaled-jitter base=1s cap=none low=1 high=2 attempts=11", "async-retry 1.3 lib/index.js: node-retry with randomize"},
	{"axios-retry", "hint-max own=immediate longest=none attempts=4", "axios-retry 4.5 src/index.ts, noDelay"},
	{"axios-retry-exponential", "hint-max own=exponential base=200ms cap=none low=1 high=1.2 longest=none attempts=4", "axios-retry 4.5 src/index.ts, exponentialDelay"},
	{"got", "hint-exact own=additive-jitter base=1s cap=none add=100ms longest=none attempts=3", "got 15.0 source/core/calculate-retry-delay.ts"},
	{"ky", "hint-exact own=exponential base=300ms cap=none longest=none attempts=3", "ky 2.0 source/utils/normalize.ts, core/Ky.ts"},
	{"superagent", "immediate", "superagent 8.1 src/request-base.js; the count is the user's"},
	{"fetch-retry", "fixed base=1s attempts=4", "fetch-retry 6.0 index.js"},

	// JVM and .NET.
	{"apache-httpclient", "hint-exact own=fixed base=1s longest=none attempts=2", "httpclient5 DefaultHttpRequestRetryStrategy.java"},
	{"feign", "hint-exact own=exponential base=150ms multiplier=1.5 cap=1s longest=1s attempts=5", "feign 13.14 DefaultRetryer.java: counted on before it is first used"},
	{"spring-retry", "fixed base=1s attempts=3", "spring-retry 2 annotation/Backoff.java, Retryable.java"},
	{"resilience4j", "fixed base=500ms attempts=3", "resilience4j 2.4 RetryConfig.java"},
	{"resilience4j-random", "scaled-jitter base=500ms multiplier=1.5 cap=none low=0.5 high=1.5 attempts=3", "resilience4j 2.4 IntervalFunction.java, ofExponentialRandomBackoff"},
	{"failsafe", "immediate attempts=3", "failsafe 3.3 RetryPolicyBuilder.java"},
	{"finagle", "decorrelated base=5ms cap=200ms", "finagle 24.5 RetryPolicy.scala, tries, whose first wait is 5 ms itself"},
	{"polly", "fixed base=2s attempts=4", "Polly 8.7 src/Polly.Core/Retry/RetryConstants.cs"},
	{"polly-doubling", "exponential base=2s cap=none attempts=7", "Polly 7 has no default; this is the example of Microsoft's pages on HttpClientFactory, by its documentation"},
	{"dotnet-resilience", "hint-exact own=smooth-jitter base=2s cap=none longest=none attempts=4", "dotnet/extensions HttpRetryStrategyOptions.cs; Polly 8.7 RetryHelper.cs"},

	// Ruby, PHP, Elixir, Rust.
	{"faraday", "hint-max own=immediate longest=none attempts=3", "faraday-retry 2.4 lib/faraday/retry/middleware.rb"},
	{"guzzle", "exponential base=1s cap=none", "guzzle 7.8 src/RetryMiddleware.php; the count is the user's"},
	{"elixir-req", "hint-exact own=scaled-jitter base=1s cap=none low=0.9 high=1 longest=none attempts=4", "req 0.8-rc lib/req/retry.ex"},
	{"backon", "exponential base=1s cap=1m attempts=4", "backon 1.5 backoff/exponential.rs"},
	{"reqwest-retry", "full-jitter base=1s cap=30m", "retry-policies src/policies/exponential_backoff.rs; the count is the user's"},

	// Proxies and meshes.
	{"envoy", "full-jitter growth=less-one base=25ms cap=250ms attempts=2", "envoy source/common/common/backoff_strategy.cc and its router filter's documentation"},
	{"grpc", "hint-exact own=scaled-jitter base=100ms cap=1s low=0.8 high=1.2 longest=none attempts=4", "gRFC A6, its example; gRPC has no default. grpc-go 1.85 stream.go has the factors"},
	{"nginx", "immediate", "nginx ngx_http_proxy_module, proxy_next_upstream, by its documentation"},
	{"haproxy", "fixed base=1s attempts=4", "HAProxy configuration manual, retries, by its documentation: same server"},
	{"traefik", "immediate", "traefik 3.7 pkg/middlewares/retry/retry.go; the count is the user's"},
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

// Source tells where the policy of a library was read; "" for a name that
// Library does not know.
func Source(name string) string {
	for _, l := range libraries {
		if l.name == name {
			return l.source
		}
	}
	return ""
}
