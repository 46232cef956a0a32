package report

import (
	"bytes"
	"fmt"
	"strings"
)

// haproxy writes rules that give each client a name of its own and count what passes
// under it, so that who is over is still let through at the limit.
func (t *throttle) haproxy(b *bytes.Buffer) {
	t.head(b, "remove these lines, then: haproxy -c -f FILE, and reload")
	if len(t.targets) == 0 {
		return
	}
	b.WriteString("# beside the other backends: the counts\n")
	b.WriteString("backend sw_throttle\n    stick-table type string len 64 size 100k expire 2m store gpc0,gpc0_rate(60s)\n")
	b.WriteString("# frontend:\n")
	for i := range t.targets {
		x := &t.targets[i]
		if when := t.haproxyWhen(x); when != "" {
			fmt.Fprintf(b, "    http-request set-var(txn.sw) str(%d.%s) if { %s }\n", x.limit, x.id, when)
		}
	}
	limits := t.limits(byAddress, byNetwork, byHeader, byPath)
	if secret := t.limits(bySecret); secret != nil {
		most := secret[len(secret)-1]
		limits = append(limits, 0)
		// A digest stands for the value, so that no secret is kept in the table.
		fmt.Fprintf(b, "    http-request set-var(txn.sw) req.fhdr(%s),sha1,hex if !{ var(txn.sw) -m found } { req.fhdr(%s) -m found }\n", t.header, t.header)
		b.WriteString("    http-request track-sc2 var(txn.sw) table sw_throttle if { var(txn.sw) -m found }\n")
		fmt.Fprintf(b, "    http-request return status 429 hdr Retry-After %%[rand(10),add(3)] if { var(txn.sw) -m len 40 } { sc2_gpc0_rate(sw_throttle) ge %d }\n", most)
	} else {
		b.WriteString("    http-request track-sc2 var(txn.sw) table sw_throttle if { var(txn.sw) -m found }\n")
	}
	for _, limit := range limits {
		if limit > 0 {
			fmt.Fprintf(b, "    http-request return status 429 hdr Retry-After %%[rand(10),add(3)] if { var(txn.sw) -m beg %d. } { sc2_gpc0_rate(sw_throttle) ge %d }\n", limit, limit)
		}
	}
	b.WriteString("    http-request sc-inc-gpc0(2) if { var(txn.sw) -m found }\n")
}

// haproxyWhen is the condition that a request is the client's.
func (t *throttle) haproxyWhen(x *target) string {
	switch x.by {
	case byAddress, byNetwork:
		return "src " + x.network.String()
	case byHeader:
		return "req.fhdr(" + t.header + ") " + haproxyIs(x.value)
	case byPath:
		return fmt.Sprintf("path,field(%d,/) %s", t.segment+1, haproxyIs(x.value))
	case bySecret, byNothing:
	}
	return ""
}

// haproxyIs compares with a value. A brace alone would end the condition, quoted or
// not.
func haproxyIs(value string) string {
	if value == "}" {
		return "-m reg -- '^[}]$'"
	}
	return "-m str -- " + haproxyQuoted(value)
}

// haproxyQuoted is an argument in strong quotes, in which nothing but the quote
// itself means anything (HAProxy's configuration manual, 2.2).
func haproxyQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
