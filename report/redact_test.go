package report

import (
	"strings"
	"testing"
)

// Addresses hide in names and agents too; what only looks a little like one stays.
func TestUnaddressed(t *testing.T) {
	for in, want := range map[string]string{
		"10.7.0.77-evil.log":                       "(address)-evil.log",
		"probe (10.7.0.77:8080), v1.2.3":           "probe ((address)), v1.2.3",
		"bot 2001:db8::17.":                        "bot (address).",
		"GET api/v1/items/N 03:10:30 84 % refused": "GET api/v1/items/N 03:10:30 84 % refused",
		"from 10.0.0.1,10.0.0.2: two":              "from (address),(address): two",
		"cafe dead beef 1.08x":                     "cafe dead beef 1.08x",
		"":                                         "",
		"batch-sync/1.4 in 12 of 67 clients":       "batch-sync/1.4 in 12 of 67 clients",
		"é10.1.2.3日":                               "é(address)日",
		"::ffff:10.1.2.3 and fe80::1":              "(address) and (address)",
	} {
		if got := unaddressed(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	unaddressed(strings.Repeat("a1:", 10_000)) // ends, however long
}
