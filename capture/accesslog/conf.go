package accesslog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// confFormats are the formats that a configuration names, and which of them its
// logs use.
type confFormats struct {
	formats map[string]confFormat
	used    map[string]bool
	partial map[string]bool // by format: some log of it leaves requests out
}

type confFormat struct{ language, text string }

// NginxConf reads the log_format of a name from an nginx configuration: its
// pieces joined, escape= obeyed. Without a name it takes the only one there is,
// or the one that access_log uses. Files that it includes are not read.
func NginxConf(conf, name string) (*Format, error) {
	c := confFormats{map[string]confFormat{}, map[string]bool{}, map[string]bool{}}
	for _, words := range nginxDirectives(conf) {
		switch words[0] {
		case "log_format":
			c.logFormat(words[1:])
		case "access_log":
			c.accessLog(words[1:])
		}
	}
	if len(c.formats) == 0 && name == "" && !c.used["combined"] {
		return nil, fmt.Errorf("no log_format in it: name the file that has it (included files are not read), or give --log-format 'nginx:...'")
	}
	return c.choose("log_format", name)
}

func (c *confFormats) logFormat(words []string) {
	if len(words) < 2 {
		return
	}
	language, rest := "nginx", words[1:]
	switch rest[0] {
	case "escape=json":
		language, rest = "nginx-json", rest[1:]
	case "escape=none":
		language, rest = "nginx-none", rest[1:]
	case "escape=default":
		rest = rest[1:]
	}
	c.formats[words[0]] = confFormat{language, strings.Join(rest, "")}
}

func (c *confFormats) accessLog(words []string) {
	if len(words) == 0 || words[0] == "off" {
		return
	}
	name := "combined"
	if len(words) > 1 && !strings.Contains(words[1], "=") {
		name = words[1]
	}
	c.used[name] = true
	for _, w := range words[1:] {
		if strings.HasPrefix(w, "if=") {
			c.partial[name] = true
		}
	}
}

// choose compiles the format that is meant.
func (c *confFormats) choose(directive, name string) (*Format, error) {
	known := slices.Sorted(maps.Keys(c.formats))
	if name == "" {
		switch used := slices.Sorted(maps.Keys(c.used)); {
		case len(used) == 1:
			name = used[0]
		case len(known) == 1:
			name = known[0]
		default:
			return nil, fmt.Errorf("it has several formats (%s): say which, with FILE:NAME", strings.Join(slices.Concat(known, missing(used, known)), ", "))
		}
	}
	f, ok := c.formats[name]
	if !ok {
		if p := preset(name); p != nil {
			return p.with(c.partial[name]), nil
		}
		return nil, fmt.Errorf("no %s %s in it; there are: %s", directive, name, strings.Join(known, ", "))
	}
	out, err := compileFormat(f.language, f.text)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", directive, name, err)
	}
	return out.with(c.partial[name]), nil
}

// missing are those of a that b has not.
func missing(a, b []string) (out []string) {
	for _, s := range a {
		if !slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// with tells of a format that its log may leave requests out.
func (f *Format) with(partial bool) *Format {
	if !partial {
		return f
	}
	g := *f
	g.partial = true
	return &g
}

// nginxDirectives cuts a configuration into directives of words. Blocks are
// looked into, and their braces end a directive.
func nginxDirectives(conf string) (all [][]string) {
	var words []string
	end := func() {
		if len(words) > 0 {
			all = append(all, words)
			words = nil
		}
	}
	for i := 0; i < len(conf); {
		switch c := conf[i]; {
		case c == '#':
			for i < len(conf) && conf[i] != '\n' {
				i++
			}
		case c == ';' || c == '{' || c == '}':
			end()
			i++
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '\'' || c == '"':
			word, n := quotedWord(conf[i:])
			words, i = append(words, word), i+n
		default:
			from := i
			for i < len(conf) && strings.IndexByte(" \t\r\n;{}", conf[i]) < 0 {
				if conf[i] == '\\' {
					i++
				} else if conf[i] == '$' && i+1 < len(conf) && conf[i+1] == '{' {
					for i < len(conf) && conf[i] != '}' {
						i++
					}
				}
				i++
			}
			i = min(i, len(conf))
			words = append(words, conf[from:i])
		}
	}
	end()
	return all
}

// quotedWord reads a quoted word of nginx's or Apache's configuration; a
// backslash before the quote or a backslash is taken off.
func quotedWord(s string) (word string, n int) {
	quote := s[0]
	var out strings.Builder
	for n = 1; n < len(s) && s[n] != quote; n++ {
		if s[n] == '\\' && n+1 < len(s) && (s[n+1] == quote || s[n+1] == '\\') {
			n++
		}
		out.WriteByte(s[n])
	}
	return out.String(), min(n+1, len(s))
}

// ApacheConf reads the LogFormat of a nickname from an Apache configuration.
// Without one it takes the only one there is, or the one that CustomLog uses.
func ApacheConf(conf, name string) (*Format, error) {
	c := confFormats{map[string]confFormat{}, map[string]bool{}, map[string]bool{}}
	conf = strings.ReplaceAll(strings.ReplaceAll(conf, "\\\r\n", ""), "\\\n", "")
	for line := range strings.Lines(conf) {
		words := apacheWords(strings.TrimSpace(line))
		if len(words) < 2 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch strings.ToLower(words[0]) {
		case "logformat":
			nick := "(no nickname)"
			if len(words) > 2 {
				nick = words[2]
			}
			c.formats[nick] = confFormat{"apache", words[1]}
		case "customlog", "globallog":
			c.customLog(words[1:])
		}
	}
	if len(c.formats) == 0 {
		return nil, fmt.Errorf("no LogFormat in it: name the file that has it (included files are not read), or give --log-format 'apache:...'")
	}
	return c.choose("LogFormat", name)
}

func (c *confFormats) customLog(words []string) {
	if len(words) < 2 {
		return
	}
	name := words[1]
	if strings.Contains(name, "%") {
		name = "(in CustomLog)"
		c.formats[name] = confFormat{"apache", words[1]}
	}
	c.used[name] = true
	for _, w := range words[2:] {
		if strings.HasPrefix(w, "env=") || strings.HasPrefix(w, "expr=") {
			c.partial[name] = true
		}
	}
}

// apacheWords cuts a line of an Apache configuration into words.
func apacheWords(line string) (words []string) {
	for line != "" {
		if line[0] == '"' || line[0] == '\'' {
			word, n := apacheQuoted(line)
			words, line = append(words, word), strings.TrimLeft(line[n:], " \t")
			continue
		}
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			return append(words, line)
		}
		words, line = append(words, line[:i]), strings.TrimLeft(line[i:], " \t")
	}
	return words
}

// apacheQuoted keeps the backslashes: LogFormat has escapes of its own.
func apacheQuoted(s string) (word string, n int) {
	for n = 1; n < len(s) && s[n] != s[0]; n++ {
		if s[n] == '\\' && n+1 < len(s) {
			n++
		}
	}
	n = min(n, len(s))
	return s[1:n], min(n+1, len(s))
}
