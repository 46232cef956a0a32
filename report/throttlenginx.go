package report

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// nginx writes limits for ngx_http_limit_req_module. Addresses are those of
// $remote_addr, which the realip module sets behind a proxy.
func (t *throttle) nginx(b *bytes.Buffer) {
	t.head(b, "remove these lines, then: nginx -t && nginx -s reload")
	if len(t.targets) == 0 {
		return
	}
	type zone struct {
		name string
		rate int
	}
	var zones []zone
	b.WriteString("# http {}: behind a proxy set_real_ip_from and real_ip_header must be right\n")
	for _, rate := range t.limits(byAddress, byNetwork) {
		z := zone{fmt.Sprintf("sw_addr_%d", rate), rate}
		zones = append(zones, z)
		fmt.Fprintf(b, "geo $%s {\n    default \"\";\n", z.name)
		t.each(rate, func(x *target) { fmt.Fprintf(b, "    %s %s;\n", x.network, x.id) }, byAddress, byNetwork)
		b.WriteString("}\n")
	}
	if slices.ContainsFunc(t.targets, func(x target) bool { return len(x.value) > 40 }) {
		b.WriteString("# values as long as these need map_hash_bucket_size 512;\n")
	}
	for _, rate := range t.limits(byHeader) {
		z := zone{fmt.Sprintf("sw_header_%d", rate), rate}
		zones = append(zones, z)
		fmt.Fprintf(b, "map $http_%s $%s {\n    default \"\";\n", strings.ReplaceAll(t.header, "-", "_"), z.name)
		t.each(rate, func(x *target) { fmt.Fprintf(b, "    %s %s;\n", t.nginxKey(x.value), x.id) }, byHeader)
		b.WriteString("}\n")
	}
	for _, rate := range t.limits(byPath) {
		z := zone{fmt.Sprintf("sw_path_%d", rate), rate}
		zones = append(zones, z)
		fmt.Fprintf(b, "map $request_uri $%s {\n    default \"\";\n", z.name)
		t.each(rate, func(x *target) { fmt.Fprintf(b, "    %s %s;\n", nginxQuoted("~"+t.pathPattern(x.value)), x.id) }, byPath)
		b.WriteString("}\n")
	}
	for _, z := range zones {
		fmt.Fprintf(b, "limit_req_zone $%s zone=%s:1m rate=%dr/m;\n", z.name, z.name, z.rate)
	}
	if limits := t.limits(bySecret); limits != nil {
		z := zone{"sw_key", limits[len(limits)-1]} // one limit for all: the one that harms none of them
		zones = append(zones, z)
		fmt.Fprintf(b, "limit_req_zone $http_%s zone=%s:10m rate=%dr/m;\n", strings.ReplaceAll(t.header, "-", "_"), z.name, z.rate)
	}
	b.WriteString("split_clients $request_id $sw_spread { 25% 3; 25% 5; 25% 8; * 13; }\n")
	b.WriteString("map \"$status:$upstream_http_retry_after\" $sw_wait { \"429:\" $sw_spread; default \"\"; }\n")
	b.WriteString("# location {}: it hides any limit_req and add_header of the levels above, so repeat these here\n")
	for _, z := range zones {
		fmt.Fprintf(b, "limit_req zone=%s burst=%d nodelay;\n", z.name, max(z.rate/10, 2))
	}
	b.WriteString("limit_req_status 429;\nadd_header Retry-After $sw_wait always;\n")
}

// each calls f with the targets of a limit.
func (t *throttle) each(limit int, f func(*target), by ...means) {
	for i := range t.targets {
		x := &t.targets[i]
		for _, m := range by {
			if x.by == m && x.limit == limit {
				f(x)
			}
		}
	}
}

// pathPattern matches targets whose part at the segment is value.
func (t *throttle) pathPattern(value string) string {
	return "^" + strings.Repeat("/[^/?]*", t.segment-1) + "/" + regexp.QuoteMeta(value) + "([/?]|$)"
}

// nginxQuoted is a string of nginx's configuration: in double quotes backslash and
// quote are written with a backslash (ngx_conf_read_token).
func nginxQuoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// nginxKey is a value that a map compares with. A backslash before it keeps the map
// from taking it for a pattern (~) or a word of its own (default, include). Maps ignore
// the case of plain values (ngx_http_map_module), and two that differ only in it would
// conflict: those become patterns, which do not.
func (t *throttle) nginxKey(value string) string {
	for i := range t.targets {
		if other := t.targets[i].value; other != value && strings.EqualFold(other, value) {
			return nginxQuoted("~^" + regexp.QuoteMeta(value) + "$")
		}
	}
	return nginxQuoted(`\` + value)
}
