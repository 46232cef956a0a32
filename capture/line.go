package capture

import "strings"

const hidden = "***"

// HideSecrets returns a line that is shown as an example with what looks like
// a credential in it replaced by "***": values of names that SecretName knows and of
// cookies, what follows an authentication scheme, JSON Web Tokens (RFC 7519) and
// the user part of a URL (RFC 3986, section 3.2.1).
// Short numbers stay, since code=503 is no secret.
func HideSecrets(line string) string {
	var b strings.Builder
	from := 0 // what is not yet written
	hide := func(at, end int) int {
		b.WriteString(line[from:at])
		b.WriteString(hidden)
		from = end
		return end
	}
	for i := 0; i < len(line); {
		if strings.HasPrefix(line[i:], "://") {
			i += len("://")
			if n := strings.IndexAny(line[i:], "/?# \"@"); n > 0 && line[i+n] == '@' {
				i = hide(i, i+n)
			}
			continue
		}
		n := nameLength(line[i:])
		if n == 0 {
			i++
			continue
		}
		name := line[i : i+n]
		at, end := i+n, 0
		switch {
		case strings.HasPrefix(name, "eyJ") && strings.Count(name, ".") >= 2:
			at, end = i, i+n
		case scheme(name) && at < len(line) && line[at] == ' ':
			at, end = at+1, valueEnd(line, at+1, " \t,\"'\\")
		case cookie(name):
			at, end = value(line, at, "\"'\\")
		case SecretName([]byte(name)):
			at, end = value(line, at, " \t,;&\"'\\#)}]")
		}
		i += n
		if end > at && !scheme(line[at:end]) && !shortNumber(line[at:end]) {
			i = hide(at, end)
		}
	}
	if from == 0 {
		return line
	}
	b.WriteString(line[from:])
	return b.String()
}

// value finds what stands behind a name that ends at at; end is 0 if nothing does.
func value(line string, at int, stops string) (begin, end int) {
	rest := strings.TrimLeft(line[at:], "\"'\\ \t")
	if rest == "" || rest[0] != '=' && rest[0] != ':' {
		return 0, 0
	}
	rest = strings.TrimLeft(rest[1:], "[\"'\\ \t")
	begin = len(line) - len(rest)
	return begin, valueEnd(line, begin, stops)
}

func valueEnd(line string, at int, stops string) int {
	if n := strings.IndexAny(line[at:], stops); n >= 0 {
		return at + n
	}
	return len(line)
}

func nameLength(s string) int {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '-' && s[i] != '_' && s[i] != '.' {
			return i
		}
	}
	return len(s)
}

// scheme tells whether a word announces a credential (RFC 9110, section 11.1).
func scheme(word string) bool {
	return strings.EqualFold(word, "bearer") || strings.EqualFold(word, "basic") || strings.EqualFold(word, "digest")
}

func cookie(name string) bool {
	const word = "cookie"
	return len(name) >= len(word) && strings.EqualFold(name[len(name)-len(word):], word)
}

func shortNumber(s string) bool {
	const digits = 6
	return len(s) <= digits && strings.Trim(s, "0123456789") == ""
}
