package report

import (
	"strings"
	"testing"

	"stormwatch/detect"
)

// A shared address that is no row of the client table is named in a note all the same,
// and so are clients that only what grew and when they came name.
func TestRedactHidesWhoIsOnlyInNotes(t *testing.T) {
	s := &detect.Snapshot{
		At: second(60), Start: second(0), End: second(60), Perspective: "server", ClientCount: 9,
		Sources: []detect.Source{{
			Name: "web1", Kind: "log", Primary: true, Shared: []string{"alice (192.0.2.1)", "bo"},
			Note: "about 9 clients behind alice (192.0.2.1), at least 3 clients behind bo: what one of them did is not judged",
		}},
		Verdict:  detect.Verdict{State: detect.Watch, Who: "carol (192.0.2.3) and dave (192.0.2.4)"},
		Clients:  []detect.Client{{Label: "zoran (192.0.2.5)", Name: "zoran", Attempts: 5}},
		Growth:   []detect.Growth{{Kind: "client", Name: "carol (192.0.2.3)", PerS: 3}},
		Arrivals: detect.Arrivals{Clients: []detect.ClientArrivals{{Label: "dave (192.0.2.4)"}}},
	}
	for _, name := range Names() {
		if name == "throttle-list" {
			continue // refused together with --redact-clients
		}
		var b strings.Builder
		if err := FormOf(name)(&b, s, Options{Redact: true}); err != nil {
			t.Fatal(name, err)
		}
		for _, leak := range []string{"alice", "behind bo", "carol", "dave", "zoran", "192.0.2."} {
			if strings.Contains(b.String(), leak) {
				t.Errorf("%s lets %q out:\n%s", name, leak, b.String())
			}
		}
	}
}

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
