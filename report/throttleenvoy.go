package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// envoy writes a local rate limit with a bucket for each client. Each Envoy counts by
// itself.
func (t *throttle) envoy(b *bytes.Buffer) {
	t.head(b, "remove this filter")
	if len(t.targets) == 0 {
		return
	}
	b.WriteString(`# http_filters: before the router; each Envoy counts by itself, so divide by their number. Behind a
# proxy xff_num_trusted_hops or use_remote_address must be right
- name: envoy.filters.http.local_ratelimit
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit
    stat_prefix: sw_throttle
    token_bucket: { max_tokens: 100000, tokens_per_fill: 100000, fill_interval: 1s }
`)
	if t.has(bySecret) {
		b.WriteString("    max_dynamic_descriptors: 10000 # Envoy 1.34 or later\n")
	}
	b.WriteString("    descriptors:\n")
	var actions []string
	secret := 0
	for i := range t.targets {
		x := &t.targets[i]
		key, value, action := t.envoyEntry(x)
		if !slices.Contains(actions, action) {
			actions = append(actions, action)
		}
		if x.by == bySecret {
			secret = max(secret, x.limit)
			continue
		}
		fmt.Fprintf(b, "    - entries: [{ key: %s, value: %s }]\n      token_bucket: %s\n", key, quotedJSON(value), bucket(x.limit))
	}
	if secret > 0 {
		fmt.Fprintf(b, "    - entries: [{ key: sw_key }]\n      token_bucket: %s\n", bucket(secret))
	}
	b.WriteString("    rate_limits:\n")
	for _, a := range actions {
		b.WriteString("    - actions:\n      - " + a + "\n")
	}
	b.WriteString(`    filter_enabled: { default_value: { numerator: 100, denominator: HUNDRED } }
    filter_enforced: { default_value: { numerator: 100, denominator: HUNDRED } }
    response_headers_to_add:
    - header: { key: retry-after, value: "5" }
`)
}

// bucket gives so many tokens a minute, one at a time where that is seldom enough:
// Envoy fills no bucket more often than each 50 ms.
func bucket(perMinute int) string {
	most := max(perMinute/10, 2)
	if perMinute <= 1200 {
		return fmt.Sprintf("{ max_tokens: %d, tokens_per_fill: 1, fill_interval: %.3fs }", most, 60/float64(perMinute))
	}
	return fmt.Sprintf("{ max_tokens: %d, tokens_per_fill: %d, fill_interval: 1s }", most, (perMinute+59)/60)
}

// envoyEntry is the descriptor of a client, and the action that makes it.
func (t *throttle) envoyEntry(x *target) (key, value, action string) {
	switch x.by {
	case byAddress:
		return "remote_address", x.network.Addr().String(), "remote_address: {}"
	case byNetwork:
		bits := "v4_prefix_mask_len"
		if x.network.Addr().Is6() {
			bits = "v6_prefix_mask_len"
		}
		return "masked_remote_address", x.network.String(), fmt.Sprintf("masked_remote_address: { %s: %d }", bits, x.network.Bits())
	case byPath:
		return "header_match", x.id, fmt.Sprintf(`header_value_match: { descriptor_value: %s, headers: [{ name: ":path", string_match: { safe_regex: { regex: %s } } }] }`,
			x.id, quotedJSON(t.pathPattern(x.value)+".*"))
	case bySecret:
		return "sw_key", "", "request_headers: { header_name: " + t.header + ", descriptor_key: sw_key }"
	}
	return "sw_client", x.value, "request_headers: { header_name: " + t.header + ", descriptor_key: sw_client }"
}

// quotedJSON is a string of YAML: every one of JSON is (YAML 1.2, 1.3).
func quotedJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // strings are always encoded
	}
	return string(b)
}

// csv writes a row for each client, for other tools.
func (t *throttle) csv(b *bytes.Buffer) {
	w := csv.NewWriter(b)
	row := func(fields ...string) { _ = w.Write(fields) } // a buffer takes everything
	row("client", "by", "sent", "refused", "avoidable_per_s", "keep_per_minute", "share_so_far")
	for _, x := range append(slices.Clone(t.targets), t.left...) {
		row(cellCSV(x.label), x.by.String(), strconv.FormatInt(x.client.Attempts, 10), strconv.FormatInt(x.client.Refused, 10),
			strconv.FormatFloat(x.client.AvoidablePerS.V, 'f', 3, 64), strconv.Itoa(x.limit), strconv.FormatFloat(x.share, 'f', 3, 64))
	}
	w.Flush()
}

// cellCSV keeps spreadsheets from taking a label for a formula.
func cellCSV(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t", rune(s[0])) {
		return "'" + s
	}
	return s
}
