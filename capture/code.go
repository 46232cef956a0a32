package capture

import "bytes"

// codeReason tells why a request was refused by the code that the server names:
// AWS's throttles (aws-sdk-go-v2, retry.DefaultThrottleErrorCodes), Google's and
// Azure's reasons, OpenAI's and Anthropic's types, problem types
// (draft-ietf-httpapi-ratelimit-headers, "Problem types"), GraphQL's THROTTLED.
// It is Unjudged for all others.
func codeReason(code []byte) Reason {
	const longest = 48
	code = bareCode(code)
	if len(code) == 0 || len(code) > longest {
		return Unjudged
	}
	var flat [longest]byte
	n := 0
	for _, c := range code {
		switch c = fold(c); {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			flat[n] = c
			n++
		case c == '-', c == ' ', c == '.':
		default:
			return Unjudged
		}
	}
	switch string(flat[:n]) {
	case "throttling", "throttlingexception", "throttledexception", "requestthrottledexception", "toomanyrequestsexception",
		"provisionedthroughputexceededexception", "transactioninprogressexception", "requestlimitexceeded", "bandwidthlimitexceeded",
		"limitexceededexception", "requestthrottled", "slowdown", "priorrequestnotcomplete", "ec2throttledexception", "throttled",
		"ratelimit", "ratelimited", "ratelimiting", "ratelimitexceeded", "ratelimitreached", "ratelimiterror", "userratelimitexceeded", "sharingratelimitexceeded",
		"concurrentlimitexceeded", "toomanyrequests", "resourceexhausted", "abnormalusagedetected", "requestratetoolarge":
		return Throttle
	case "insufficientquota", "quotaexceeded", "quotareached", "dailylimitexceeded", "dailylimitexceededunreg", "monthlylimitexceeded", "usagelimitreached", "usageexceeded",
		"insufficientcredits", "billinghardlimitreached", "billingnotactive", "limitexceeded":
		return Quota
	case "overloaded", "overloadederror", "temporaryreducedcapacity", "serveroverloaded":
		return Overload
	}
	return Unjudged
}

// bareCode takes off what may stand around a code: com.amazonaws#Code,
// Code:http://.., urn:..:code, https://../types#code.
func bareCode(code []byte) []byte {
	code = bytes.TrimSpace(code)
	if i := bytes.Index(code, []byte(":http")); i > 0 {
		code = code[:i]
	}
	if i := bytes.LastIndexAny(code, "#/:"); i >= 0 {
		code = code[i+1:]
	}
	return code
}
