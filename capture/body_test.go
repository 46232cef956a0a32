package capture

import (
	"strings"
	"testing"
)

// TestDecide has bodies as their vendors document them.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name   string
		status uint16
		body   string
		reason Reason
		wait   int64 // ns; -1 none
	}{
		{"ReqKey", 200, `{"valid":false,"reason":"rate_limited"}`, BodyRefusal, -1},
		{"ReqKey, another reason", 200, `{"valid": false, "reason": "insufficient_credits"}`, BodyRefusal, -1},
		{"ReqKey, valid", 200, `{"valid":true,"reason":null}`, Unjudged, -1},
		{"Shopify GraphQL", 200, `{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED","documentation":"https://shopify.dev/api/usage/rate-limits"}}],"extensions":{"cost":{"throttleStatus":{"restoreRate":50.0}}}}`, Throttle, -1},
		{"GraphQL, data and an error", 200, `{"data":{"a":1},"errors":[{"message":"x"}]}`, Unjudged, -1},
		{"GraphQL, no data", 200, `{"errors":[{"message":"x"}],"data":null}`, BodyRefusal, -1},
		{"JSON-RPC error", 200, `{"jsonrpc":"2.0","error":{"code":-32005,"message":"daily request count exceeded"},"id":1}`, BodyRefusal, -1},
		{"JSON-RPC error 429", 200, `{"jsonrpc":"2.0","error":{"code":429,"message":"slow"},"id":1}`, Throttle, -1},
		{"bulk with refused items", 200, `{"took":3,"errors":true,"items":[{"index":{"_id":"1","status":201}},{"index":{"_id":"2","status":429,"error":{"type":"es_rejected_execution_exception"}}}]}`, Throttle, -1},
		{"bulk, all well", 200, `{"took":3,"errors":false,"items":[{"index":{"status":201}}]}`, Unjudged, -1},
		{"a list of past answers", 200, `{"items":[{"status":429,"code":"THROTTLED","error":"x"}]}`, Unjudged, -1},
		{"a record of one", 200, `{"status":429,"sent":true}`, Unjudged, -1},
		{"429 inside", 200, `{"code":429,"message":"too many requests"}`, Throttle, -1},
		{"no error", 200, `{"error":null,"errors":[],"ok":true}`, Unjudged, -1},
		{"S3, 200 and an error", 200, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>x</Message></Error>`, Throttle, -1},
		{"XML, all well", 200, `<?xml version="1.0"?><Result><Code>SlowDown</Code></Result>`, Unjudged, -1},
		{"AWS JSON", 400, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"x"}`, Throttle, -1},
		{"AWS JSON, invalid", 400, `{"__type":"ValidationException"}`, Unjudged, -1},
		{"AWS query", 400, `<ErrorResponse><Error><Type>Sender</Type><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>`, Throttle, -1},
		{"EC2", 503, "<Response><Errors><Error><Code>RequestLimitExceeded</Code>", Throttle, -1},
		{"GitHub, secondary", 403, `{"message":"You have exceeded a secondary rate limit","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`, Throttle, -1},
		{"GitHub, forbidden", 403, `{"message":"Resource not accessible by integration","documentation_url":"https://docs.github.com/rest"}`, Unjudged, -1},
		{"GitHub, abuse", 403, `{"documentation_url":"https://developer.github.com/v3/#abuse-rate-limits"}`, Throttle, -1},
		{"Google, 403", 403, `{"error":{"errors":[{"domain":"usageLimits","reason":"rateLimitExceeded","message":"Rate Limit Exceeded"}],"code":403}}`, Throttle, -1},
		{"Google, quota", 403, `{"error":{"errors":[{"domain":"usageLimits","reason":"dailyLimitExceeded"}]}}`, Quota, -1},
		{"google.rpc.RetryInfo", 429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}`, Throttle, 34_070e6},
		{"OpenAI, quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, Quota, -1},
		{"OpenAI, rate", 429, `{"error":{"message":"Rate limit reached. Please try again in 20s. Visit x","type":"requests","code":"rate_limit_exceeded"}}`, Throttle, 20e9},
		{"OpenAI, rate in ms", 429, `{"error":{"message":"Please try again in 6ms."}}`, Unjudged, 6e6},
		{"Anthropic, overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Overload, -1},
		{"Discord", 429, `{"message":"You are being rate limited.","retry_after":64.57,"global":false}`, Unjudged, 64_570e6},
		{"Telegram", 429, `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":14}}`, Throttle, 14e9},
		{"the article's", 429, `{"error":"rate_limited","retry_after":8}`, Throttle, 8e9},
		{"problem type, quota", 429, `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"x","violated-policies":["daily"]}`, Quota, -1},
		{"problem type, capacity", 503, `{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"}`, Overload, -1},
		{"ACME", 429, `{"type":"urn:ietf:params:acme:error:rateLimited","detail":"x"}`, Throttle, -1},
		{"ACME, a nonce", 400, `{"type":"urn:ietf:params:acme:error:badNonce"}`, Unjudged, -1},
		{"OAuth device flow", 400, `{"error":"slow_down"}`, Throttle, -1},
		{"an error of the client's", 404, `{"error":"not found"}`, Unjudged, -1},
		{"words of a 403", 403, `{"error":"Rate limit exceeded"}`, Throttle, -1},
		{"words of a 503", 503, `{"error":"rate limited"}`, Unjudged, -1},
		{"a code of a 503", 503, `{"error":"rate_limited"}`, Throttle, -1},
		{"negative", 429, `{"retry_after":-1}`, Unjudged, -1},
		{"cut off within the code", 400, `{"__type":"Throttl`, Unjudged, -1},
		{"escapes", 400, `{"a\"b":"x\\","__type":"Throttling"}`, Throttle, -1},
		{"deep", 400, strings.Repeat("[", 1000), Unjudged, -1},
		{"HTML", 429, "<html><body>Too many requests</body></html>", Unjudged, -1},
		{"empty", 429, "", Unjudged, -1},
	} {
		d := Decide(c.status, []byte(c.body))
		if d.Reason != c.reason {
			t.Errorf("%s: %v, want %v", c.name, d.Reason, c.reason)
		}
		if (d.Wait.State == Present) != (c.wait >= 0) || c.wait >= 0 && (d.Wait.Wait != c.wait || d.Wait.Kind != InBody) {
			t.Errorf("%s: wait %+v, want %d", c.name, d.Wait, c.wait)
		}
	}
}

// TestLooksAt: what may be looked at, and how much.
func TestLooksAt(t *testing.T) {
	for _, c := range []struct {
		status  uint16
		media   string
		encoded bool
		want    int
	}{
		{429, "", false, BodyWindow},
		{400, "application/x-amz-json-1.0", false, BodyWindow},
		{429, "application/json", true, 0},
		{200, "application/json; charset=utf-8", false, BodyWindowOK},
		{200, "Application/Problem+JSON", false, BodyWindowOK},
		{200, "text/html", false, 0},
		{200, "image/png", false, 0},
		{304, "", false, 0},
		{204, "", false, 0},
		{302, "text/html", false, 0},
	} {
		if got := LooksAt(c.status, []byte(c.media), c.encoded); got != c.want {
			t.Errorf("%d %q: %d, want %d", c.status, c.media, got, c.want)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	for name, c := range map[string]struct {
		status uint16
		body   string
	}{
		"refusal": {429, `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`},
		"success": {200, `{"items":[` + strings.Repeat(`{"id":12345,"name":"something","price":9.99},`, 20) + `]}`},
	} {
		body := []byte(c.body[:min(len(c.body), BodyWindowOK)])
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Decide(c.status, body)
			}
		})
	}
}
