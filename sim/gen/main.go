// Command gen makes the traffic of the scenarios under a testdata folder again:
// captures, logs and metrics, each beside its scenario.yaml.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"stormwatch/sim"
)

// product is one file made from a scenario.
type product struct {
	name  string
	write func(*sim.Result, io.Writer) error
}

// kind is a folder of scenarios, what is made from each, and whether a README
// lists them.
type kind struct {
	folder   string
	products []product
	readme   bool
}

func kinds() []kind {
	return []kind{
		{"pcaps", []product{{"traffic.pcap", (*sim.Result).WriteCapture}, {"truth.ndjson", (*sim.Result).WriteTruth}}, true},
		{"logs", []product{{"access.log", (*sim.Result).WriteLog}}, false},
		{"prometheus", []product{{"range.json", (*sim.Result).WriteRange}}, false},
	}
}

// made is the content of one file.
type made struct {
	path    string
	content []byte
}

// build makes every file in memory, in order of kind and name.
func build(root string) ([]made, error) {
	var files []made
	for _, k := range kinds() {
		scenarios, err := filepath.Glob(filepath.Join(root, k.folder, "*", "scenario.yaml"))
		if err != nil {
			return nil, err
		}
		slices.Sort(scenarios)
		readme := readmeHead
		for _, name := range scenarios {
			sc, err := sim.Load(name)
			if err != nil {
				return nil, err
			}
			result := sim.Run(sc)
			if result.Cut {
				return nil, fmt.Errorf("%s: more than %d exchanges: lower its demand", name, sim.MaxRows)
			}
			for _, p := range k.products {
				var b bytes.Buffer
				if err := p.write(result, &b); err != nil {
					return nil, fmt.Errorf("%s: %s: %w", name, p.name, err)
				}
				files = append(files, made{filepath.Join(filepath.Dir(name), p.name), b.Bytes()})
			}
			readme += row(result)
		}
		if k.readme && len(scenarios) > 0 {
			files = append(files, made{filepath.Join(root, k.folder, "README.md"), []byte(readme + readmeTail)})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no scenario.yaml under %s: name the testdata folder", root)
	}
	return files, nil
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: gen TESTDATA")
	}
	files, err := build(args[0])
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(f.path, f.content, 0o644); err != nil {
			return err
		}
		fmt.Printf("%8d  %s\n", len(f.content), f.path)
	}
	return nil
}
