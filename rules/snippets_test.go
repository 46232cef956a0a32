package rules

import (
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// eachSnippet runs a check on the snippets for one product.
func eachSnippet(t *testing.T, product string, check func(t *testing.T, text string)) {
	t.Helper()
	for _, m := range load(t).Mitigations() {
		for _, s := range m.Snippets {
			if s.For == product {
				t.Run(m.ID, func(t *testing.T) { check(t, s.Text) })
			}
		}
	}
}

// place marks, in a comment, where in a configuration the lines below belong.
var placeMark = regexp.MustCompile(`^# (http|location|frontend|backend|http_filters|routes|route|cluster)\b`)

// sections splits a snippet by the places its comments name.
func sections(t *testing.T, text string) map[string]string {
	t.Helper()
	out, at := map[string]string{}, ""
	for line := range strings.Lines(text) {
		if m := placeMark.FindStringSubmatch(line); m != nil {
			at = m[1]
		}
		if at == "" {
			t.Fatalf("the first line does not say where it belongs: %s", line)
		}
		out[at] += line
	}
	return out
}

func TestSnippetsSayWhereTheyBelong(t *testing.T) {
	for product, places := range map[string]string{"nginx": "http location", "haproxy": "frontend backend", "envoy": "http_filters routes route cluster"} {
		eachSnippet(t, product, func(t *testing.T, text string) {
			for at := range sections(t, text) {
				if !strings.Contains(places, at) {
					t.Errorf("%s has no place called %s", product, at)
				}
			}
		})
	}
}

func TestEnvoySnippetsAreYAML(t *testing.T) {
	for _, product := range []string{"envoy", "istio"} {
		eachSnippet(t, product, func(t *testing.T, text string) {
			var v any
			if err := yaml.Unmarshal([]byte(text), &v); err != nil {
				t.Error(err)
			}
		})
	}
}

// What Istio is given names its kind, and what it puts into Envoy names its type.
func TestIstioSnippetsAreResources(t *testing.T) {
	eachSnippet(t, "istio", func(t *testing.T, text string) {
		var v struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string
			Metadata   struct{ Name string }
			Spec       map[string]any
		}
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(v.APIVersion, "networking.istio.io/") || v.Kind == "" || v.Metadata.Name == "" || v.Spec == nil {
			t.Errorf("%+v", v)
		}
		if v.Kind == "EnvoyFilter" && !strings.Contains(text, `"@type": type.googleapis.com/envoy.`) {
			t.Error("the filter has no type")
		}
	})
}

func TestGoSnippetsParse(t *testing.T) {
	eachSnippet(t, "go", func(t *testing.T, text string) {
		file := "package p\n\n" + text
		if _, err := parser.ParseFile(token.NewFileSet(), "snippet.go", file, parser.AllErrors); err != nil {
			t.Error(err)
		}
		if formatted, err := format.Source([]byte(file)); err == nil && string(formatted) != file {
			t.Errorf("not formatted:\n%s", formatted)
		}
	})
}

// packagesOf are the standard packages whose names the snippets use.
var packagesOf = map[string]string{
	"bytes": "bytes", "context": "context", "http": "net/http", "json": "encoding/json", "math": "math", "rand": "math/rand/v2",
	"strconv": "strconv", "sync": "sync", "time": "time",
}

// With the imports they need, they pass vet.
func TestGoVetTakesItsSnippets(t *testing.T) {
	goTool := needs(t, "go")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module snippets\n\ngo 1.24\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	eachSnippet(t, "go", func(t *testing.T, text string) {
		file := "package p\n"
		for name, path := range packagesOf {
			if !regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(text) {
				continue
			}
			if name == "rand" && strings.Contains(text, "crypto/rand") {
				path = "crypto/rand"
			}
			file += fmt.Sprintf("import %q\n", path)
		}
		room := filepath.Join(dir, strings.ReplaceAll(filepath.Base(t.Name()), "-", ""))
		if err := errors.Join(os.MkdirAll(room, 0o700), os.WriteFile(filepath.Join(room, "p.go"), []byte(file+text), 0o600)); err != nil {
			t.Fatal(err)
		}
	})
	vet := exec.Command(goTool, "vet", "./...")
	vet.Dir, vet.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Where the parsers of these languages are not installed, brackets at least are in order.
func TestBracketsAreInOrder(t *testing.T) {
	for _, product := range []string{"java", "dotnet", "node", "express"} {
		eachSnippet(t, product, func(t *testing.T, text string) {
			var open []rune
			for line := range strings.Lines(text) {
				line, _, _ = strings.Cut(line, "// ")
				for _, r := range regexp.MustCompile(`"[^"]*"`).ReplaceAllString(line, "") {
					switch r {
					case '(', '[', '{':
						open = append(open, r)
					case ')', ']', '}':
						pair := map[rune]rune{')': '(', ']': '[', '}': '{'}[r]
						if len(open) == 0 || open[len(open)-1] != pair {
							t.Fatalf("%q closes what is not open: %s", r, line)
						}
						open = open[:len(open)-1]
					}
				}
			}
			if len(open) > 0 {
				t.Errorf("still open: %q", open)
			}
		})
	}
}

func TestNodeTakesItsSnippets(t *testing.T) {
	node := needs(t, "node")
	for _, product := range []string{"node", "express"} {
		eachSnippet(t, product, func(t *testing.T, text string) {
			// Snippets stand in functions that may wait.
			accepts(t, "async function snippet() {\n"+text+"\n}\n", func(dir, file string) *exec.Cmd {
				module := filepath.Join(dir, "snippet.mjs")
				if err := os.Rename(file, module); err != nil {
					t.Fatal(err)
				}
				return exec.Command(node, "--check", module)
			})
		})
	}
}

func TestShellTakesItsSnippets(t *testing.T) {
	bash := needs(t, "bash")
	eachSnippet(t, "kubectl", func(t *testing.T, text string) {
		accepts(t, text, func(_, file string) *exec.Cmd { return exec.Command(bash, "-n", file) })
	})
}

// A hint belongs on refusals only, and one value for all would align those who
// obey it: what nginx adds must depend on the status and be spread.
func TestNginxHintsAreSpreadAndOnRefusalsOnly(t *testing.T) {
	added := regexp.MustCompile(`add_header Retry-After (\S+) always;`)
	eachSnippet(t, "nginx", func(t *testing.T, text string) {
		for _, m := range added.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(m[1], "$") {
				t.Errorf("Retry-After %s on every answer", m[1])
			}
			if !regexp.MustCompile(`map "?\$status\S* `+regexp.QuoteMeta(m[1])).MatchString(text) || !strings.Contains(text, "split_clients") {
				t.Errorf("%s does not depend on the status, or is not spread", m[1])
			}
		}
	})
}

// needs skips a test of installed programs unless they are asked for, and then
// demands them.
func needs(t *testing.T, program string) string {
	t.Helper()
	if os.Getenv("STORMWATCH_E2E") != "1" {
		t.Skip("STORMWATCH_E2E is not 1")
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%s is not installed: %v", program, err)
	}
	return path
}

func TestNginxTakesItsSnippets(t *testing.T) {
	nginx := needs(t, "nginx")
	eachSnippet(t, "nginx", func(t *testing.T, text string) {
		s := sections(t, text)
		accepts(t, fmt.Sprintf(`daemon off;
pid nginx.pid;
error_log stderr;
events {}
http {
%s
server { listen 127.0.0.1:18080; location / {
%s
proxy_pass http://127.0.0.1:18081;
} }
}
`, s["http"], s["location"]), func(dir, file string) *exec.Cmd { return exec.Command(nginx, "-t", "-q", "-p", dir, "-c", file) })
	})
}

func TestHAProxyTakesItsSnippets(t *testing.T) {
	haproxy := needs(t, "haproxy")
	eachSnippet(t, "haproxy", func(t *testing.T, text string) {
		s := sections(t, text)
		server := "server app0 127.0.0.1:18081"
		if strings.Contains(s["backend"], "server ") {
			server = ""
		}
		accepts(t, fmt.Sprintf(`defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
frontend front
    bind 127.0.0.1:18080
%s
    default_backend app
backend app
%s
%s
`, s["frontend"], s["backend"], server), func(_, file string) *exec.Cmd { return exec.Command(haproxy, "-c", "-f", file) })
	})
}

// accepts writes a configuration and lets the program check it; a warning is a
// failure too.
func accepts(t *testing.T, config string, check func(dir, file string) *exec.Cmd) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := check(dir, file).CombinedOutput()
	if err != nil || strings.Contains(strings.ToLower(string(out)), "[warn") {
		t.Errorf("%v\n%s\n%s", err, out, config)
	}
}

// An empty key is not limited at all, and $server_name is empty where a server
// has no name: what limits everybody together must have a constant key.
func TestNginxKeysAreNeverEmptyByChance(t *testing.T) {
	eachSnippet(t, "nginx", func(t *testing.T, text string) {
		if strings.Contains(text, "$server_name") || strings.Contains(text, "$host") {
			t.Error("limits by a name that the server may lack")
		}
	})
}

func TestPythonTakesItsSnippets(t *testing.T) {
	python := needs(t, "python3")
	eachSnippet(t, "python", func(t *testing.T, text string) {
		accepts(t, text, func(_, file string) *exec.Cmd { return exec.Command(python, "-m", "py_compile", file) })
	})
}
