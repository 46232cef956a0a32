package policy

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"testing"
)

// What is kept of the catalogue's policies is what drawing them gives, and none that
// has to be drawn is missing: go test ./policy -run TestDrawings -update
func TestDrawings(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("package policy\n\n// drawings are those of the catalogue; go test ./policy -run TestDrawings -update writes them.\nvar drawings = [...]drawing{\n")
	for _, l := range libraries {
		p := mustParse(t, l.text)
		if f := p.ownFamily(); f != Decorrelated && f != SmoothJitter {
			continue
		}
		fmt.Fprintf(&b, "{%q, %d, %d, [retries][parts + 1]time.Duration{ // %s\n", p.ownFamily(), p.Base, p.Cap, l.name)
		for n := 1; n <= retries; n++ {
			kept, drawn := p.quantiles(n), p.draw(n)
			if *kept != *drawn || kept != p.quantiles(n) {
				t.Errorf("%s, retry %d: kept are %v, drawn %v", l.name, n, *kept, *drawn)
			}
			b.WriteString("{")
			for _, d := range drawn {
				fmt.Fprintf(&b, "%d, ", d)
			}
			b.WriteString("},\n")
		}
		b.WriteString("}},\n")
	}
	b.WriteString("}\n")
	if !*update {
		return
	}
	text, err := format.Source(bytes.Replace(b.Bytes(), []byte("\n\n"), []byte("\n\nimport \"time\"\n\n"), 1))
	if err == nil {
		err = os.WriteFile("drawings.go", text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
