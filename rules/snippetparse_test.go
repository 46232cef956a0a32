package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// parsers is the folder of the programs that read snippets by a grammar alone, without
// the libraries these use.
func parsers(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../testdata/snippets")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// parsesJava reads declarations by javac's own parser: a snippet is the body of a class.
func parsesJava(t *testing.T, java, text string) {
	t.Helper()
	accepts(t, "class Snippet {\n"+text+"\n}\n", func(dir, file string) *exec.Cmd {
		source := filepath.Join(dir, "Snippet.java")
		if err := os.Rename(file, source); err != nil {
			t.Fatal(err)
		}
		return exec.Command(java, filepath.Join(parsers(t), "Parse.java"), source)
	})
}

func TestJavaParsesItsSnippets(t *testing.T) {
	java := needs(t, "java")
	eachSnippet(t, "java", func(t *testing.T, text string) { parsesJava(t, java, text) })
}

func TestCSharpSnippetsFollowTheGrammar(t *testing.T) {
	node := needs(t, "node")
	eachSnippet(t, "dotnet", func(t *testing.T, text string) {
		accepts(t, text, func(_, file string) *exec.Cmd {
			return exec.Command(node, filepath.Join(parsers(t), "csharp.mjs"), file)
		})
	})
}

// The parsers are worth something only if they refuse what is wrong.
func TestParsersRefuseMistakes(t *testing.T) {
	java, node := needs(t, "java"), needs(t, "node")
	dir := t.TempDir()
	for _, tt := range []struct{ program, parser, name, text string }{
		{java, "Parse.java", "Snippet.java", "class Snippet { Config c = Config.custom().build(; }\n"},
		{node, "csharp.mjs", "snippet.cs", "var options = new Options { Attempts = 2 UseJitter = true };\n"},
	} {
		file := filepath.Join(dir, tt.name)
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(tt.program, filepath.Join(parsers(t), tt.parser), file).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "line 1") {
			t.Errorf("%s takes %q: %v, %s", tt.parser, tt.text, err, out)
		}
	}
}

// retryMode has botocore read a configuration as a client would, which refuses a mode
// or a number that it does not know, and print what came of it.
const retryMode = `
import botocore.session
client = botocore.session.Session().create_client("sqs", region_name="eu-west-1", aws_access_key_id="x", aws_secret_access_key="x")
print(client.meta.config.retries["mode"], client.meta.config.retries["total_max_attempts"])
`

// What is given for AWS is a configuration file, a command or Java, as its first line
// says.
func TestAWSTakesItsSnippets(t *testing.T) {
	python, bash, java := needs(t, "python3"), needs(t, "bash"), needs(t, "java")
	eachSnippet(t, "aws", func(t *testing.T, text string) {
		switch {
		case strings.HasPrefix(text, "# ~/.aws/config"):
			file := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			read := exec.Command(python, "-c", retryMode)
			read.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") }), "AWS_CONFIG_FILE="+file)
			out, err := read.CombinedOutput()
			for key := range strings.FieldsSeq(string(out)) {
				if !strings.Contains(text, "= "+key+"\n") {
					t.Errorf("%s is not what the snippet says", key)
				}
			}
			if err != nil || len(strings.Fields(string(out))) != 2 {
				t.Errorf("%v\n%s\n%s", err, out, text)
			}
		case strings.HasPrefix(text, "// "):
			parsesJava(t, java, text)
		default:
			accepts(t, text, func(_, file string) *exec.Cmd { return exec.Command(bash, "-n", file) })
		}
	})
}
