package accesslog

import (
	"bytes"

	"stormwatch/capture"
)

// jsonCutter reads lines that are a JSON object. It is lenient where servers
// are: Apache's \xHH, bytes that are no UTF-8, lists that nginx leaves bare
// (`"t":0.001, 0.002,`), quotes that nobody escaped. It allocates nothing once
// it has seen the keys.
type jsonCutter struct {
	schema *schema
	known  map[string]keyed // by key as written, with those around it: "a.b"
	// The keys of the line before, in their order: most logs repeat it.
	order []keyed
	next  int
	path  []byte
	best  [roles]uint8 // rank of what was taken for a role; 0 for nothing
	r     *reading

	client capture.ClientField
	bad    fault // why the line is not wanted
}

type keyed struct {
	key  string
	mean meaning
}

const (
	maxDepth = 16
	maxKeys  = 4096 // remembered; hostile logs have ever new ones
	maxPath  = 256
)

func (j *jsonCutter) cut(line []byte, r *reading) fault {
	r.reset()
	j.r, j.next, j.bad, j.path = r, 0, "", j.path[:0]
	clear(j.best[:])
	at := skipSpace(line, 0)
	if at == len(line) || line[at] != '{' {
		return notJSON
	}
	if at = j.object(line, at, 0); at < 0 {
		return brokenJSON
	}
	switch {
	case j.bad != "":
		return j.bad
	case j.schema.finish != nil:
		if f := j.schema.finish(r); f != "" {
			return f
		}
	}
	if !r.coded {
		return noStatusKey
	}
	return ""
}

const (
	notJSON     fault = "not a JSON object"
	brokenJSON  fault = "JSON that breaks off or is torn"
	noStatusKey fault = "no status in it"
)

// object reads the object at a place and returns where it ends, -1 if it does
// not.
func (j *jsonCutter) object(b []byte, at, depth int) int {
	if depth > maxDepth {
		return -1
	}
	at = skipSpace(b, at+1)
	if at < len(b) && b[at] == '}' {
		return at + 1
	}
	for {
		if at >= len(b) || b[at] != '"' {
			return -1
		}
		end := keyEnd(b, at+1)
		if end < 0 {
			return -1
		}
		key := b[at+1 : end]
		if at = skipSpace(b, end+1); at >= len(b) || b[at] != ':' {
			return -1
		}
		if at = skipSpace(b, at+1); at >= len(b) {
			return -1
		}
		kept := len(j.path)
		if at = j.member(b, at, key, depth); at < 0 {
			return -1
		}
		j.path = j.path[:kept]
		if at = skipSpace(b, at); at >= len(b) {
			return -1
		}
		switch b[at] {
		case '}':
			return at + 1
		case ',':
			if at = skipSpace(b, at+1); at < len(b) && b[at] == '}' { // a comma too many
				return at + 1
			}
		default:
			return -1
		}
	}
}

// member reads a value under its key.
func (j *jsonCutter) member(b []byte, at int, key []byte, depth int) int {
	path := key
	if len(j.path) > 0 || b[at] == '{' {
		if len(j.path) > 0 {
			j.path = append(j.path, '.')
		}
		if len(j.path)+len(key) > maxPath {
			return skipValue(b, at, depth)
		}
		j.path = append(j.path, key...)
		path = j.path
	}
	switch b[at] {
	case '{':
		if m := j.meaning(path); m.role == roleShown {
			j.r.set(roleShown, nil)
		}
		return j.object(b, at, depth+1)
	case '[':
		return j.array(b, at, path, depth)
	}
	from, to, end := scalar(b, at)
	if end < 0 {
		return -1
	}
	if m := j.meaning(path); m.role != roleNone || m.must != "" || m.who {
		j.take(m, b[from:to], b[at] == '"')
	}
	return end
}

// array takes the first element, as headers have it, or all of the text for a
// role that reads lists itself.
func (j *jsonCutter) array(b []byte, at int, path []byte, depth int) int {
	end := skipValue(b, at, depth)
	if end < 0 {
		return -1
	}
	m := j.meaning(path)
	switch {
	case m.role == roleNone && !m.who:
	case m.role == roleTryList, m.role == roleMessage:
		j.take(m, b[at:end], true)
	default:
		if i := skipSpace(b, at+1); i < end && b[i] != '{' && b[i] != '[' {
			if b[i] == ']' {
				j.take(m, nil, true)
			} else if from, to, n := scalar(b, i); n > 0 {
				j.take(m, b[from:to], b[i] == '"')
			}
		}
	}
	return end
}

// take gives a value its role, unless one with a better key has it already.
func (j *jsonCutter) take(m meaning, v []byte, quoted bool) {
	if m.must != "" {
		if string(v) != m.must {
			j.bad = m.otherwise
		}
		return
	}
	if !quoted && string(v) == "null" {
		v = nil
	}
	if m.who {
		j.r.set(roleClient, v)
	}
	if best := j.best[m.role]; m.role == roleNone || best != 0 && best <= m.rank && m.role != roleAnswer {
		return
	}
	if v == nil && (m.role == roleCode || m.role == roleStartTime || m.role == roleEndTime || m.role == roleAddr) {
		return
	}
	if j.r.saw(&m.field, v); j.r.put(&m.field, v) {
		j.best[m.role] = m.rank
		if m.role == roleStartTime || m.role == roleEndTime || m.role == roleTook {
			j.best[m.role] = 0 // the finest of several is taken
		}
	}
}

// meaning finds what a key means: it is mostly the one that came after the same
// key in the line before.
func (j *jsonCutter) meaning(path []byte) meaning {
	i := j.next
	j.next++
	if i < len(j.order) && string(path) == j.order[i].key {
		return j.order[i].mean
	}
	k, ok := j.known[string(path)]
	if !ok {
		k = keyed{string(path), j.schema.meaning(string(path))}
		k.mean.who = j.client.Is(headerOf(k.key))
		if len(j.known) >= maxKeys {
			return k.mean
		}
		j.known[k.key] = k
	}
	switch {
	case i < len(j.order):
		j.order[i] = k
	case i == len(j.order) && i < maxKeys:
		j.order = append(j.order, k)
	}
	return k.mean
}

// keyEnd finds the quote that ends a key.
func keyEnd(b []byte, at int) int {
	for from := at; ; {
		n := bytes.IndexByte(b[from:], '"')
		if n < 0 {
			return -1
		}
		if end := from + n; !escaped(b[at:end]) {
			return end
		}
		from += n + 1
	}
}

// scalar reads a string, number or word: its text and where it ends.
func scalar(b []byte, at int) (from, to, end int) {
	if b[at] == '"' {
		if to = stringEnd(b, at+1); to < 0 {
			return 0, 0, -1
		}
		return at + 1, to, to + 1
	}
	for to = at; to < len(b); to++ {
		switch b[to] {
		case '}', ']':
			return at, trimRight(b, at, to), to
		case ',':
			if i := skipSpace(b, to+1); i >= len(b) || b[i] == '"' || b[i] == '}' || b[i] == '{' || b[i] == '[' {
				return at, trimRight(b, at, to), to
			}
		case '{', '"':
			return 0, 0, -1
		}
	}
	return 0, 0, -1
}

func trimRight(b []byte, from, to int) int {
	for to > from && b[to-1] <= ' ' {
		to--
	}
	return to
}

// stringEnd finds the quote that ends a string: one that no odd number of
// backslashes stands before, and that what may follow a value comes after.
func stringEnd(b []byte, at int) int {
	for from := at; ; {
		n := bytes.IndexByte(b[from:], '"')
		if n < 0 {
			return -1
		}
		end := from + n
		if end == at || b[end-1] != '\\' || !escaped(b[at:end]) {
			i := end + 1
			if i < len(b) && b[i] <= ' ' {
				i = skipSpace(b, i)
			}
			if i >= len(b) || b[i] == ',' || b[i] == '}' || b[i] == ']' {
				return end
			}
		}
		from = end + 1
	}
}

// skipValue passes over any value.
func skipValue(b []byte, at, depth int) int {
	if b[at] != '{' && b[at] != '[' {
		_, _, end := scalar(b, at)
		return end
	}
	for open := 0; at < len(b); {
		switch b[at] {
		case '{', '[':
			if open++; open+depth > 4*maxDepth {
				return -1
			}
		case '}', ']':
			if open--; open == 0 {
				return at + 1
			}
		case '"':
			end := keyEnd(b, at+1)
			if end < 0 {
				return -1
			}
			at = end
		}
		at++
	}
	return -1
}

func skipSpace(b []byte, at int) int {
	for at < len(b) && b[at] <= ' ' {
		at++
	}
	return at
}
