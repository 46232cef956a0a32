package main

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// floors are the packages from the top of the house down; a package imports only
// from floors below its own, and the ground floor's packages import no other
// package of theirs, save that one may import those inside it.
var floors = [][]string{
	{"cmd"}, {"ui"}, {"report"}, {"detect"}, {"sim"}, {"capture", "policy", "rules"},
}

// only lists who may import a third party's modules.
var only = map[string][]string{
	"github.com/charmbracelet/bubble":   {"ui"}, // bubbletea and bubbles
	"github.com/charmbracelet/lipgloss": {"ui"},
	"github.com/muesli/termenv":         {"ui"},
	"github.com/aymanbagabas/go-osc52":  {"ui"},
	"github.com/google/gopacket":        {"capture/packet"},
	"github.com/prometheus/":            {"capture/prometheus", "report"},
	"github.com/klauspost/compress":     {"capture"},
	"github.com/spf13/cobra":            {"cmd"},
	"github.com/expr-lang/expr":         {"rules", "detect/ruletest"},
	"go.yaml.in/yaml":                   {"rules", "sim", "cmd"},
	"github.com/rogpeppe/go-internal":   {"cmd"},
	"github.com/google/gopacket/pcap":   {},
	"github.com/google/gopacket/layers": {"capture/packet"},
}

// exceptions are arrows inside detect that the design allows: none of its parts
// imports detect, save these.
var exceptions = []string{"detect/ruletest", "detect/whatif"}

type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func packages(t *testing.T) (out []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "stormwatch/...")
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(text))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, "stormwatch/")
		out = append(out, p)
	}
}

func within(path string, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(room string) bool { return path == room || strings.HasPrefix(path, room+"/") })
}

func floorOf(path string) int {
	return slices.IndexFunc(floors, func(rooms []string) bool { return within(path, rooms) })
}

// wrong says what is wrong with an import, or "".
func wrong(from, to string) string {
	if !strings.HasPrefix(to, "stormwatch/") {
		for prefix, rooms := range only {
			if strings.HasPrefix(to, prefix) && !within(from, rooms) {
				return "only " + strings.Join(rooms, ", ") + " may import " + prefix
			}
		}
		return ""
	}
	to = strings.TrimPrefix(to, "stormwatch/")
	room := func(p string) string { first, _, _ := strings.Cut(p, "/"); return first }
	a, b := floorOf(from), floorOf(to)
	switch {
	case a < 0 || b < 0:
		return "stands on no floor"
	case a > b:
		return "the arrow goes up"
	case a == b && room(from) != room(to):
		return "rooms of one floor do not import each other"
	case to == "detect" && room(from) == "detect" && from != "detect" && !slices.Contains(exceptions, from):
		return "a part of detect imports detect"
	case from == "detect" && slices.Contains(exceptions, to):
		return "detect never imports " + to
	}
	return ""
}

func TestArrowsGoOneWay(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		if within(p.ImportPath, []string{"bench"}) {
			continue // a program beside the house
		}
		for _, to := range p.Imports {
			if why := wrong(p.ImportPath, to); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, to, why)
			}
			seen++
		}
	}
	if seen < 50 {
		t.Fatalf("only %d imports were looked at", seen)
	}
}

// The check itself must be able to fail.
func TestArrowsCheckFails(t *testing.T) {
	for _, bad := range [][2]string{
		{"capture", "stormwatch/detect"},
		{"detect", "stormwatch/ui"},
		{"report", "stormwatch/ui"},
		{"rules", "stormwatch/capture"},
		{"policy", "stormwatch/rules"},
		{"sim", "stormwatch/detect"},
		{"detect/chain", "stormwatch/detect"},
		{"detect", "stormwatch/detect/whatif"},
		{"detect", "github.com/charmbracelet/lipgloss"},
		{"ui", "github.com/google/gopacket"},
		{"detect", "github.com/prometheus/common/model"},
		{"attic", "stormwatch/capture"},
	} {
		if wrong(bad[0], bad[1]) == "" {
			t.Errorf("%s may import %s", bad[0], bad[1])
		}
	}
	for _, good := range [][2]string{
		{"cmd/stormwatch", "stormwatch/ui"},
		{"ui", "stormwatch/detect"},
		{"detect", "stormwatch/detect/chain"},
		{"detect/whatif", "stormwatch/detect"},
		{"detect/whatif", "stormwatch/sim"},
		{"sim", "stormwatch/capture/packet/write"},
		{"capture/packet", "stormwatch/capture"},
		{"ui", "github.com/charmbracelet/bubbletea"},
	} {
		if why := wrong(good[0], good[1]); why != "" {
			t.Errorf("%s must be free to import %s: %s", good[0], good[1], why)
		}
	}
}
