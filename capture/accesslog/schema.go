package accesslog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// schema says what the keys of a JSON log, of key=value pairs or of a header
// line mean.
type schema struct {
	name     string
	about    string
	evidence string
	marks    []string         // keys that only this kind of log has
	fields   map[string]field // by key in lower case
	must     map[string]must  // keys that must have a value
	headers  []headerKeys
	pairs    bool // key=value, not JSON
	tabs     bool // key:value and a tab
	fallback bool // keys that are not known here may be in the table of aliases
	finish   func(*reading) fault
}

// must is the value that a key has in lines that are wanted.
type must struct {
	value     string
	otherwise fault
}

// headerKeys are keys that stand for headers: request_User-Agent.
type headerKeys struct {
	prefix  string
	meaning func(string) field
}

// withRequest passes over records that have a status but no request: any program
// logs such things.
func withRequest(r *reading) fault {
	what := r.has&(1<<roleRequest|1<<roleTarget|1<<rolePath|1<<roleURL) != 0
	who := r.get(roleMethod) != nil || r.get(roleRequest) != nil || r.get(roleAgent) != nil || r.ip != [16]byte{}
	if !what || !who {
		return noRequestKey
	}
	return ""
}

const noRequestKey fault = "no request in it"

// meaning is what a key means. Of several keys of one role that with the lowest
// rank is taken.
type meaning struct {
	field
	rank      uint8 // from 1
	must      string
	otherwise fault
}

// meaning finds what a key means.
func (s *schema) meaning(key string) meaning {
	key = strings.ToLower(key)
	if m, ok := s.must[key]; ok {
		return meaning{must: m.value, otherwise: m.otherwise, rank: 1}
	}
	if f, ok := s.fields[key]; ok {
		f.name = key
		return meaning{field: f, rank: 1 + f.rank}
	}
	for _, h := range s.headers {
		if rest, ok := strings.CutPrefix(key, h.prefix); ok {
			f := h.meaning(strings.ReplaceAll(rest, "_", "-"))
			if f.name = key; f.role != roleRetryAfter {
				f.unit = int64(time.Millisecond)
			}
			return meaning{field: f, rank: 2}
		}
	}
	if !s.fallback {
		return meaning{}
	}
	return aliasOf(key)
}

// mapped makes a schema of what --map says: status=resp.code,dur=took:ms.
func mapped(spec string) (*schema, error) {
	s := &schema{name: "map", fields: map[string]field{}, fallback: true}
	names := map[string]string{"dur": "took", "client": "ip", "end": "time", "retry-after": "retry_after", "url": "url", "xff": "forwarded", "ua": "agent"}
	for _, pair := range strings.Split(spec, ",") {
		name, key, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || name == "" || key == "" {
			return nil, fmt.Errorf("--map %q: %q is not field=key, as in status=resp.code,dur=took:ms", spec, pair)
		}
		if long, ok := names[name]; ok {
			name = long
		}
		unit := ""
		if i := strings.LastIndexByte(key, ':'); i > 0 && unitOf(key[i+1:]) != 0 {
			key, unit = key[:i], ":"+key[i+1:]
		}
		f, err := patternField(name + unit)
		if err != nil {
			return nil, fmt.Errorf("--map %q: %w", spec, err)
		}
		f.kind, f.pad = kindText, false
		s.fields[strings.ToLower(key)] = f
	}
	return s, nil
}

// ParseMap makes a format for JSON or key=value lines of what their keys mean:
// status=resp.code,dur=took:ms,key=auth.client. Keys that are not named are
// looked up among the usual ones.
func ParseMap(spec string) (*Format, error) {
	s, err := mapped(spec)
	if err != nil {
		return nil, err
	}
	f := &Format{name: "map:" + spec, esc: escapeJSON, machine: true, timeless: true}
	f.open = func() cutter {
		return &eitherCutter{jsonCutter{schema: s, known: map[string]keyed{}}, pairCutter{schema: s, known: map[string]meaning{}}}
	}
	return f, nil
}

// unmapped tells of keys that --map names and no line has: others are used in their
// place where they are usual, so that it would not show.
func (b *builder) unmapped() {
	for i := range b.formats {
		e, ok := b.formats[i].cutter.(*eitherCutter)
		if !ok || b.health.Read == 0 {
			continue
		}
		seen := map[string]bool{}
		for k := range e.json.known {
			seen[strings.ToLower(k)] = true
		}
		for k := range e.pairs.known {
			seen[strings.ToLower(k)] = true
		}
		var missing []string
		for k := range e.json.schema.fields {
			if !seen[k] {
				missing = append(missing, k)
			}
		}
		if len(missing) == 0 {
			continue
		}
		const shown = 20
		keys := slices.Sorted(maps.Keys(seen))
		for k := range seen { // what holds others is no key itself
			if i := strings.LastIndexByte(k, '.'); i > 0 && seen[k[:i]] {
				keys = slices.DeleteFunc(keys, func(s string) bool { return s == k[:i] })
			}
		}
		if len(keys) > shown {
			keys = append(keys[:shown], "...")
		}
		slices.Sort(missing)
		b.health.Note(fmt.Sprintf("--map: no line has the key %s; the keys there are: %s", strings.Join(missing, ", "), strings.Join(keys, ", ")))
	}
}

// eitherCutter reads JSON objects, and pairs where a line is none.
type eitherCutter struct {
	json  jsonCutter
	pairs pairCutter
}

func (e *eitherCutter) cut(line []byte, r *reading) fault {
	if len(line) > 0 && line[0] == '{' {
		return e.json.cut(line, r)
	}
	return e.pairs.cut(line, r)
}
