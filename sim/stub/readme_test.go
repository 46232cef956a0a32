package stub_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const readmeHead = `# Real clients

Each capture holds what one real client sent to a server that refused it, and the answers: NAME-bare.pcap where the
server named no wait, NAME-hint.pcap where it named one of 2 s. A client makes two logical calls: ` + "`call-a`" + ` is refused
for ever, ` + "`call-b`" + ` is served after two refusals, or after one that names a wait. ` + "`truth.ndjson`" + ` says what the server
answered, in order. The programs are in go, js and python, or are those of the system; the server is ` + "`sim/stub`" + `, which
also writes the captures. Server and clients ran on one machine, on 127.0.0.1; a wait is measured by the server, from the
end of a refusal to the next request, so it holds what the client needs to be scheduled, too.

` + "`go test ./sim/stub`" + ` reads the captures; ` + "`STORMWATCH_E2E=1 go test ./sim/stub`" + ` runs the clients anew, and with
` + "`-args -update`" + ` (and ` + "`-only REGEXP`" + `) keeps what they did, with this page.

Waits are in seconds, before each retry of ` + "`call-a`" + `; "documented" is what the vendor documents or its source says, in the
order of attempts, then what it makes of the wait that the server names.

| client | version | language | documented | hint | waits, bare | waits, hint |
|---|---|---|---|---|---|---|
`

// readme is the page beside the captures.
func readme(t *testing.T) []byte {
	t.Helper()
	waits := map[string]string{}
	versions := map[string]string{}
	for _, tr := range truths(t) {
		b, err := os.ReadFile(tr.path())
		if err != nil {
			t.Fatal(err)
		}
		rows, _, _ := read(t, b)
		waits[tr.Client+" "+tr.Mode] = told(of(rows, forever))
		versions[tr.Client] = tr.Version
	}
	out := bytes.NewBufferString(readmeHead)
	for _, c := range clients {
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s |\n", c.name, versions[c.name], c.language, c.says, c.hint, waits[c.name+" bare"], waits[c.name+" hint"])
	}
	return out.Bytes()
}

// told lists the waits of a call.
func told(rows []row) string {
	var all []string
	for i := 1; i < len(rows); i++ {
		all = append(all, fmt.Sprintf("%.3f", gap(rows, i)))
	}
	if len(all) == 0 {
		return "no retry"
	}
	return strings.Join(all, " ")
}

func keepReadme(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, "README.md"), readme(t), 0o666); err != nil {
		t.Error(err)
	}
}

func TestReadme(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := readme(t); !bytes.Equal(b, want) {
		t.Error("testdata/clients/README.md is not what the captures and the table of clients make: run this package's tests with -update")
	}
}
