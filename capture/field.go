package capture

// Field is a header field of an answer that says something of waits, of limits,
// or of why a request was refused; 0 is none of them.
type Field uint8

// means is what a field says.
type means uint8

const (
	saysMillis     means = iota // the wait, in milliseconds
	saysRetryAfter              // RFC 9110 section 10.2.3
	saysDuration                // the wait, as Go writes durations
	saysSeconds                 // the wait, in seconds
	saysAny                     // the wait, in seconds or as an epoch
	saysCategories              // the waits of several categories
	saysReset                   // when a limit's window ends
	saysLeft                    // what is left of a limit
	saysUsed                    // what is used of it, and the limit: 32/40
	saysLimit                   // a limit, perhaps with its window
	saysPolicy                  // RateLimit-Policy
	saysRateLimit               // RateLimit
	saysAdvice                  // whether to try again: true or false
	saysCode                    // the kind of error
	saysMark                    // by being there, why the request was refused
	saysRefused                 // by being there, that trying again is safe
	saysFinal                   // by being there, that it is not
	saysScope                   // by what the limit counts, in a word
	saysGlobal                  // true: by the credential, whatever is asked for
	saysResource                // by being there, that it counts for what it names
)

// group tells the limits apart of which one answer may tell.
type group uint8

const (
	groupList group = iota // RateLimit
	groupPlain
	groupRequests
	groupTokens
	groupInput
	groupOutput
	groupUnified
	groupSecond
	groupMinute
	groupHour
	groupDay
	groupMonth
	groupYear
	groups
)

// fieldRow is what is known of a field. Of several that say the same, the one of
// the lowest rank is believed.
type fieldRow struct {
	name   string // in lower case
	means  means
	group  group
	rank   uint8
	unit   unit   // of a reset, where its name tells
	window int64  // of a limit, in seconds, where its name tells
	junk   bool   // 0 and less mean nothing here
	reason Reason // of a mark
}

// fieldRows are the fields of docs and source of their vendors, named beside
// them, by what they say.
var fieldRows = [...]fieldRow{
	{}, // no field

	// Waits. Stainless SDKs and azcore take the finer twin before Retry-After; the
	// name of AWS's own says nothing of its unit.
	{name: "retry-after-ms", means: saysMillis},
	{name: "x-ms-retry-after-ms", means: saysMillis, rank: 1},
	{name: "x-amz-retry-after", means: saysMillis, rank: 2},
	{name: "retry-after", means: saysRetryAfter, rank: 3},
	{name: "x-retry-in", means: saysDuration, rank: 4},              // Traefik, rateLimit middleware
	{name: "x-ratelimit-retry-after", means: saysSeconds, rank: 5},  // MailerLite
	{name: "x-rate-limit-retry-after", means: saysSeconds, rank: 5}, //
	{name: "ratelimit-retry-after", means: saysSeconds, rank: 5},    //
	{name: "x-retry-after", means: saysAny, rank: 6},                // Docker Hub: an epoch until June 2025, then seconds
	{name: "x-sentry-rate-limits", means: saysCategories, rank: 7},  // develop.sentry.dev, rate limiting
	{name: "x-rate-limit-retry-after-seconds", means: saysSeconds, rank: 5},

	// Resets. What tells its unit by name comes before what does not.
	{name: "x-ratelimit-reset-after", means: saysReset, group: groupPlain, unit: unitSeconds}, // Discord, a decimal
	{name: "ratelimit-reset-after", means: saysReset, group: groupPlain, unit: unitSeconds},
	{name: "x-ratelimit-reset-ms", means: saysReset, group: groupPlain, unit: unitMillis},
	{name: "ratelimit-reset", means: saysReset, group: groupPlain, rank: 1},                  // drafts up to 06: seconds; GitLab, Twitch: epoch
	{name: "x-ratelimit-reset", means: saysReset, group: groupPlain, rank: 2},                // GitHub, Discord: epoch; fastify, Reddit: seconds; Atlassian: ISO; lemlist: JavaScript
	{name: "x-rate-limit-reset", means: saysReset, group: groupPlain, rank: 3},               // Okta, X: epoch; Prisjakt: ms
	{name: "ratelimit-resettime", means: saysReset, group: groupPlain, rank: 4},              // GitLab: an HTTP date
	{name: "x-ratelimit-resettime", means: saysReset, group: groupPlain, rank: 4},            //
	{name: "x-ratelimit-userreset", means: saysReset, group: groupPlain, rank: 4},            // Imgur
	{name: "fastly-ratelimit-reset", means: saysReset, group: groupPlain, rank: 4},           // an epoch
	{name: "x-contentful-ratelimit-reset", means: saysReset, group: groupPlain, rank: 4},     //
	{name: "x-esi-error-limit-reset", means: saysReset, group: groupPlain, rank: 5},          // EVE: seconds
	{name: "x-ratelimit-requests-reset", means: saysReset, group: groupRequests, junk: true}, // RapidAPI: seconds
	{name: "x-ratelimit-reset-requests", means: saysReset, group: groupRequests, junk: true}, // OpenAI: durations; Azure OpenAI: 0 and -1 as well
	{name: "x-ratelimit-reset-tokens", means: saysReset, group: groupTokens, junk: true},
	{name: "anthropic-ratelimit-requests-reset", means: saysReset, group: groupRequests}, // RFC 3339
	{name: "anthropic-ratelimit-tokens-reset", means: saysReset, group: groupTokens},
	{name: "anthropic-ratelimit-input-tokens-reset", means: saysReset, group: groupInput},
	{name: "anthropic-ratelimit-output-tokens-reset", means: saysReset, group: groupOutput},
	{name: "anthropic-ratelimit-unified-reset", means: saysReset, group: groupUnified}, // an epoch

	// What is left.
	{name: "x-ratelimit-remaining", means: saysLeft, group: groupPlain},
	{name: "ratelimit-remaining", means: saysLeft, group: groupPlain}, // Docker Hub: 0;w=21600
	{name: "x-rate-limit-remaining", means: saysLeft, group: groupPlain},
	{name: "x-ratelimit-userremaining", means: saysLeft, group: groupPlain},
	{name: "fastly-ratelimit-remaining", means: saysLeft, group: groupPlain},
	{name: "x-esi-error-limit-remain", means: saysLeft, group: groupPlain},
	{name: "x-contentful-ratelimit-second-remaining", means: saysLeft, group: groupSecond},
	{name: "x-contentful-ratelimit-hour-remaining", means: saysLeft, group: groupHour},
	{name: "x-hubspot-ratelimit-remaining", means: saysLeft, group: groupPlain},
	{name: "x-hubspot-ratelimit-secondly-remaining", means: saysLeft, group: groupSecond},
	{name: "x-hubspot-ratelimit-daily-remaining", means: saysLeft, group: groupDay},
	{name: "x-ms-ratelimit-remaining-subscription-reads", means: saysLeft, group: groupPlain},
	{name: "x-ms-ratelimit-remaining-subscription-writes", means: saysLeft, group: groupPlain},
	{name: "x-ms-ratelimit-remaining-subscription-deletes", means: saysLeft, group: groupPlain},
	{name: "x-ratelimit-requests-remaining", means: saysLeft, group: groupRequests, junk: true},
	{name: "x-ratelimit-remaining-requests", means: saysLeft, group: groupRequests, junk: true},
	{name: "x-ratelimit-remaining-tokens", means: saysLeft, group: groupTokens, junk: true},
	{name: "anthropic-ratelimit-requests-remaining", means: saysLeft, group: groupRequests},
	{name: "anthropic-ratelimit-tokens-remaining", means: saysLeft, group: groupTokens},
	{name: "anthropic-ratelimit-input-tokens-remaining", means: saysLeft, group: groupInput},
	{name: "anthropic-ratelimit-output-tokens-remaining", means: saysLeft, group: groupOutput},
	{name: "x-ratelimit-remaining-second", means: saysLeft, group: groupSecond}, // Kong, rate-limiting
	{name: "x-ratelimit-remaining-minute", means: saysLeft, group: groupMinute},
	{name: "x-ratelimit-remaining-hour", means: saysLeft, group: groupHour},
	{name: "x-ratelimit-remaining-day", means: saysLeft, group: groupDay},
	{name: "x-ratelimit-remaining-month", means: saysLeft, group: groupMonth},
	{name: "x-ratelimit-remaining-year", means: saysLeft, group: groupYear},
	{name: "x-shopify-shop-api-call-limit", means: saysUsed, group: groupPlain},

	// Limits, for their windows.
	{name: "x-ratelimit-limit", means: saysLimit},
	{name: "ratelimit-limit", means: saysLimit}, // Docker Hub: 100;w=21600; WHOOP: 100, 100;window=60, 10000;window=86400
	{name: "x-rate-limit-limit", means: saysLimit},
	{name: "x-ratelimit-limit-second", means: saysLimit, window: 1},
	{name: "x-ratelimit-limit-minute", means: saysLimit, window: 60},
	{name: "x-ratelimit-limit-hour", means: saysLimit, window: 3600},
	{name: "x-ratelimit-limit-day", means: saysLimit, window: 24 * 3600},
	{name: "x-ratelimit-limit-month", means: saysLimit, window: 31 * 24 * 3600},
	{name: "x-ratelimit-limit-year", means: saysLimit, window: 366 * 24 * 3600},
	{name: "ratelimit-policy", means: saysPolicy},
	{name: "x-ratelimit-policy", means: saysPolicy},
	{name: "ratelimit", means: saysRateLimit, group: groupList}, // draft-ietf-httpapi-ratelimit-headers, -07 and later
	{name: "x-ratelimit", means: saysRateLimit, group: groupList},

	// By what a limit counts.
	{name: "x-ratelimit-scope", means: saysScope},       // Discord: user and global, of a bot or user; shared, of a resource
	{name: "x-ratelimit-global", means: saysGlobal},     // Discord
	{name: "x-ratelimit-bucket", means: saysResource},   // Discord: routes that share a limit
	{name: "x-ratelimit-resource", means: saysResource}, // GitHub: core, search, graphql ...

	// Advice and reasons.
	{name: "x-should-retry", means: saysAdvice},      // Stainless SDKs
	{name: "stripe-should-retry", means: saysAdvice}, // stripe-go and its kin
	{name: "x-amzn-errortype", means: saysCode},      // aws-sdk-go-v2, restjson
	{name: "x-amz-error-code", means: saysCode},
	{name: "x-ms-error-code", means: saysCode},
	{name: "x-envoy-ratelimited", means: saysMark, reason: Throttle}, // router filter
	{name: "x-envoy-overloaded", means: saysMark, reason: Overload},  // circuit breaker, maintenance
	{name: "finagle-http-nack", means: saysRefused, reason: Overload},
	{name: "finagle-http-retryable-nack", means: saysRefused, reason: Overload},
	{name: "finagle-http-nonretryable-nack", means: saysFinal, reason: Overload},
}

var fieldNames = indexNames(len(fieldRows), func(i int) string { return fieldRows[i].name })

// FieldOf finds a field by its name, in any case; "_" counts as "-", as logs write
// it. It does not allocate.
func FieldOf(name []byte) Field { return Field(fieldNames.find(name)) }

// Name returns the field's name in lower case.
func (f Field) Name() string { return fieldRows[f].name }

// Waits tells whether the field names a wait that a client is to keep, other
// than the end of a limit's window.
func (f Field) Waits() bool { return f != 0 && fieldRows[f].means <= saysCategories }

// nameIndex finds rows of a table by name.
type nameIndex struct {
	gate [64]uint32 // by length, the first letters that names of it have
	slot [512]uint8 // row, 0 for none
	next []uint8    // row with the same slot
	name []string
}

func indexNames(n int, name func(int) string) *nameIndex {
	x := &nameIndex{next: make([]uint8, n), name: make([]string, n)}
	for i := n - 1; i > 0; i-- {
		x.name[i] = name(i)
		x.gate[len(x.name[i])%len(x.gate)] |= 1 << (x.name[i][0] % 32)
		h := slotOf([]byte(x.name[i]))
		x.next[i], x.slot[h] = x.slot[h], uint8(i)
	}
	return x
}

// find returns the row of a name, 0 for none.
func (x *nameIndex) find(name []byte) uint8 {
	if len(name) == 0 || x.gate[len(name)%len(x.gate)]&(1<<(name[0]%32)) == 0 {
		return 0
	}
	i := x.slot[slotOf(name)]
	for i != 0 && !sameName(name, x.name[i]) {
		i = x.next[i]
	}
	return i
}

// slotOf spreads names by their length and four letters: that passes most names
// over that are in no table.
func slotOf(name []byte) uint32 {
	n := len(name)
	h := uint32(n)
	for _, c := range [...]byte{name[0], name[n/2], name[n-1-n/4], name[n-1]} {
		h = h*37 + uint32(fold(c))
	}
	return (h ^ h>>9) % 512
}

func fold(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return c + 'a' - 'A'
	case c == '_':
		return '-'
	}
	return c
}

// sameName compares a name with one in lower case. Names differ in their ends
// more than in how they begin.
func sameName(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i := len(name) - 1; i >= 0; i-- {
		if fold(name[i]) != lower[i] {
			return false
		}
	}
	return true
}
