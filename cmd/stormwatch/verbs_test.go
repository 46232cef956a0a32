package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits CODE STDIN ARGS... runs stormwatch and compares its exit code; what it
// prints is left in the files out and err. STDIN - is empty.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE STDIN ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	bin, _, _ := strings.Cut(ts.Getenv("PATH"), string(os.PathListSeparator))
	var out, errs bytes.Buffer
	cmd := exec.Command(filepath.Join(bin, "stormwatch"), args[2:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), &out, &errs
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "TMPDIR=" + ts.Getenv("TMPDIR"), "HOME=" + ts.Getenv("HOME")}
	if args[1] != "-" {
		cmd.Stdin = strings.NewReader(ts.ReadFile(args[1]))
	}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		ts.Fatalf("%v", err)
	}
	ts.Check(os.WriteFile(ts.MkAbs("out"), out.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("err"), errs.Bytes(), 0o600))
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit code %d, want %d\n%s\n%s", got, want, out.String(), errs.String())
	}
}

// cut FROM TO BYTES copies the first bytes of a file.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(ts.ReadFile(args[0])[:n]), 0o600))
}

// repeat FILE N TEXT writes a text N times; \xHH in it are bytes, and # is the
// number of the line.
func repeat(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#", strconv.Itoa(100+i)) + "\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// longline FILE BYTES writes a log of three lines, of which the second has a target
// of so many bytes.
func longLine(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	const line = `10.0.0.1 - - [30/Nov/2026:08:11:06 +0000] "GET /%s HTTP/1.1" %d 25 "-" "a"` + "\n"
	text := fmt.Sprintf(line, "first", 200) + fmt.Sprintf(line, strings.Repeat("x", n), 414) + fmt.Sprintf(line, "last", 200)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// noescape FILE... fails when a file holds a control character or one that
// reorders text.
func noEscape(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		for i, r := range ts.ReadFile(name) {
			if r != '\n' && (unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069) {
				ts.Fatalf("%s holds %U at byte %d", name, r, i)
			}
		}
	}
}
