package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"stormwatch": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// The command line as its users meet it; $DATA is the repository's testdata.
func TestScripts(t *testing.T) {
	data, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("DATA", data)
			e.Setenv("TMPDIR", e.WorkDir)
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" { // who may read everything
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "cut": cut, "repeat": repeat, "noescape": noEscape, "sealed": sealed, "longline": longLine,
		},
	})
}
