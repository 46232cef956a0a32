package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// section returns the lines of a snippet that follow a comment beginning with
// one of the marks, up to the next comment that names another place.
func sections(text string) map[string]string {
	out := map[string]string{}
	place := ""
	for line := range strings.Lines(text) {
		if mark, ok := strings.CutPrefix(line, "# "); ok {
			for _, p := range []string{"http {}", "server {}", "location {}", "frontend", "backend"} {
				if strings.HasPrefix(mark, p) {
					place = p
				}
			}
			continue
		}
		out[place] += line
	}
	return out
}

func nginxConfig(text, dir string) string {
	s := sections(text)
	return "pid " + dir + "/pid; error_log stderr; events {}\nhttp {\naccess_log off;\n" + s["http {}"] + s[""] +
		"\nserver { listen 127.0.0.1:18080;\n" + s["server {}"] + "\nlocation / {\n" + s["location {}"] + "\n} } }\n"
}

func haproxyConfig(text string) string {
	s := sections(text)
	return "defaults\n mode http\n timeout client 5s\n timeout server 5s\n timeout connect 5s\nfrontend f\n bind 127.0.0.1:18081\n" +
		s["frontend"] + " default_backend app\nbackend app\n" + s["backend"] + "\n"
}

// Every snippet that can be checked by the product it is for is accepted by it.
func TestSnippetsAreAccepted(t *testing.T) {
	if os.Getenv("STORMWATCH_E2E") == "" {
		t.Skip("STORMWATCH_E2E is not set")
	}
	checked := map[string]int{}
	for _, m := range load(t).Mitigations() {
		for _, s := range m.Snippets {
			dir := t.TempDir()
			file := filepath.Join(dir, "config")
			var text string
			var check []string
			switch s.For {
			case "nginx":
				text, check = nginxConfig(s.Text, dir), []string{"nginx", "-t", "-q", "-p", dir, "-c", file}
			case "haproxy":
				text, check = haproxyConfig(s.Text), []string{"haproxy", "-c", "-q", "-f", file}
			case "go":
				text, check = "package p\n\n"+s.Text, []string{"gofmt", "-l", file}
			case "python":
				text, check = s.Text, []string{"python3", "-m", "py_compile", file}
			default:
				continue
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(check[0], check[1:]...).CombinedOutput()
			if err != nil || len(out) > 0 && s.For == "go" {
				t.Errorf("%s for %s: %v\n%s\n%s", m.ID, s.For, err, out, text)
			}
			checked[s.For]++
		}
	}
	if checked["nginx"] < 5 || checked["haproxy"] < 5 {
		t.Errorf("checked only %v", checked)
	}
}

// Envoy's snippets are YAML, which needs no Envoy to be checked.
func TestEnvoySnippetsAreYAML(t *testing.T) {
	for _, m := range load(t).Mitigations() {
		for _, s := range m.Snippets {
			if s.For != "envoy" {
				continue
			}
			var v any
			if err := yaml.Unmarshal([]byte(s.Text), &v); err != nil || v == nil {
				t.Errorf("%s: %v\n%s", m.ID, err, s.Text)
			}
		}
	}
}
