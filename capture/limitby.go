package capture

import "bytes"

// countedBy finds by what the fields of an answer say that the limit counts. A field
// made for that prevails over the name of a policy.
func (a *Answers) countedBy() LimitBy {
	var named, by LimitBy // by a policy's name, by a field for it
	for _, t := range a.said {
		switch fieldRows[t.field].means {
		case saysScope:
			switch string(bytes.ToLower(t.value[:min(len(t.value), maxRaw)])) {
			case "user", "global": // of a bot or a user, of one group of routes or of all
				return ByCredential
			case "shared":
				return ByRoute
			}
			if w := wordOf(t.value); w != ByUntold {
				return w
			}
		case saysGlobal:
			if bytes.EqualFold(t.value, []byte("true")) {
				return ByCredential
			}
		case saysResource:
			if len(t.value) > 0 {
				by = ByRoute
			}
		case saysPolicy, saysRateLimit:
			if w := policyBy(t.value); w != ByUntold && named == ByUntold {
				named = w
			}
		}
	}
	if by == ByUntold {
		return named
	}
	return by
}

// policyBy reads the names of policies, "per-user";q=100;w=60;pk=:...:. Where several
// limits count by different things, nothing is told of which of them it was.
func policyBy(list []byte) (by LimitBy) {
	first := true
	for len(list) > 0 {
		p, rest := nextParameter(list)
		ended := len(p) < len(list) && list[len(p)] == ','
		if first {
			w := wordOf(bytes.Trim(p, " \""))
			if by != ByUntold && w != by || bytes.IndexByte(p, '=') >= 0 {
				return ByUntold
			}
			by = w
		}
		list, first = rest, ended
	}
	return by
}

// byWords are the words of names that say by what is counted; of several the first
// holds.
var byWords = [...]struct {
	word string
	by   LimitBy
}{
	{"route", ByRoute},
	{"endpoint", ByRoute},
	{"resource", ByRoute},
	{"method", ByRoute},
	{"path", ByRoute},
	{"address", ByAddress},
	{"ip", ByAddress},
	{"user", ByCredential},
	{"key", ByCredential},
	{"token", ByCredential},
	{"tenant", ByCredential},
	{"account", ByCredential},
	{"client", ByCredential},
	{"consumer", ByCredential},
	{"organization", ByCredential},
	{"app", ByCredential},
	{"global", ByAll},
	{"all", ByAll},
	{"service", ByAll},
	{"shared", ByAll},
}

// wordOf finds such a word in a name, which may join it to others: per-user, perUser,
// user_minute.
func wordOf(name []byte) LimitBy {
	name = name[:min(len(name), maxRaw)]
	var lower [maxRaw + 1]byte // a "-" before each word
	n := 0
	for i, c := range name {
		upper := c >= 'A' && c <= 'Z'
		switch {
		case upper && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' && n < len(lower)-1:
			lower[n], n = '-', n+1
			fallthrough
		case upper:
			c += 'a' - 'A'
		case (c < 'a' || c > 'z') && (c < '0' || c > '9'):
			c = '-'
		}
		if n == len(lower) {
			break
		}
		lower[n], n = c, n+1
	}
	for _, w := range byWords {
		for rest := lower[:n]; len(rest) > 0; {
			word := rest
			if i := bytes.IndexByte(rest, '-'); i >= 0 {
				word, rest = rest[:i], rest[i+1:]
			} else {
				rest = nil
			}
			if string(bytes.TrimPrefix(word, []byte("per"))) == w.word {
				return w.by
			}
		}
	}
	return ByUntold
}
