package accesslog

import (
	"bytes"

	"stormwatch/capture"
)

// pairCutter reads lines of key=value pairs: logfmt, Heroku's router, lograge.
// A value may stand in quotes, and may be missing. What is no pair is passed
// over.
type pairCutter struct {
	schema *schema
	known  map[string]meaning
	client capture.ClientField
	best   [roles]uint8
}

func (p *pairCutter) cut(line []byte, r *reading) fault {
	r.reset()
	pairs := p.pairs(line, r)
	switch {
	case pairs < 0:
		return brokenPair
	case pairs < 2:
		return noPairs
	}
	if p.schema.finish != nil {
		if f := p.schema.finish(r); f != "" {
			return f
		}
	}
	if !r.coded {
		return noStatusKey
	}
	return ""
}

// pairs takes the pairs of a text and tells how many there were; -1 where one
// breaks off.
func (p *pairCutter) pairs(line []byte, r *reading) (pairs int) {
	clear(p.best[:])
	for at := skipSpace(line, 0); at < len(line); at = skipSpace(line, at) {
		from := at
		for at < len(line) && line[at] > ' ' && line[at] != '=' {
			at++
		}
		key := line[from:at]
		if at == len(line) || line[at] != '=' {
			continue
		}
		at++
		var value []byte
		if value, at = pairValue(line, at); at < 0 {
			return -1
		}
		pairs++
		p.take(p.meaning(key), value, r)
	}
	return pairs
}

const (
	noPairs    fault = "no key=value pairs"
	brokenPair fault = "a quote that is never closed"
)

// pairValue reads a value: what is in quotes, or up to the next blank.
func pairValue(line []byte, at int) (value []byte, next int) {
	if at < len(line) && line[at] == '"' {
		for from := at + 1; ; {
			n := bytes.IndexByte(line[from:], '"')
			if n < 0 {
				return nil, -1
			}
			end := from + n
			if (end+1 == len(line) || line[end+1] <= ' ') && !escaped(line[at+1:end]) {
				return line[at+1 : end], end + 1
			}
			from = end + 1
		}
	}
	from := at
	for at < len(line) && line[at] > ' ' {
		at++
	}
	return line[from:at], at
}

func (p *pairCutter) meaning(key []byte) meaning {
	m, ok := p.known[string(key)]
	if !ok {
		m = p.schema.meaning(string(key))
		m.who = p.client.Is(headerOf(string(key)))
		if len(p.known) < maxKeys {
			p.known[string(key)] = m
		}
	}
	return m
}

func (p *pairCutter) take(m meaning, v []byte, r *reading) {
	if m.who {
		r.set(roleClient, v)
	}
	if m.role == roleNone || p.best[m.role] != 0 && p.best[m.role] <= m.rank && !m.sum && m.role != roleAnswer {
		return
	}
	if len(v) == 0 && m.role == roleCode {
		return
	}
	if r.saw(&m.field, v); r.put(&m.field, v) && dashless(v) != nil {
		p.best[m.role] = m.rank
	}
}

// pairTail cuts combined lines that go on in pairs: rt=0.003 us="502, 200".
type pairTail struct {
	head *scanner
	tail pairCutter
}

func newPairTail() *pairTail {
	return &pairTail{mustPattern(combinedHead), pairCutter{schema: &tailPairs, known: map[string]meaning{}}}
}

func (p *pairTail) cut(line []byte, r *reading) fault {
	r.reset()
	at, f := p.head.run(line, 0, r)
	if f != "" {
		return f
	}
	switch n := p.tail.pairs(line[at:], r); {
	case n < 0:
		return brokenPair
	case n < 2:
		return noPairs
	}
	return ""
}

// tailPairs are the short names that nginx's own examples and many others use.
var tailPairs = schema{name: "tail", fallback: true, fields: map[string]field{
	"rt": {role: roleTook, unit: oneSecond}, "request_time": {role: roleTook, unit: oneSecond}, "urt": {role: roleUpstreamTook}, "uct": {role: roleUpstreamConn}, "us": {role: roleUpstreamCode}, "ua": {role: roleUpstreamAddr}, "upstream": {role: roleUpstreamAddr},
	"rid": {role: roleRequestID}, "lrs": {role: roleLimited}, "ra": {role: roleRetryAfter}, "key": {role: roleKey},
	"usec": {role: roleStartTime, unit: oneMicro}, "dur": {role: roleTook, unit: oneMicro, dur: true}, // of the line that the guide has for Apache
	"idem": {role: roleIdempotency}, "inv": {role: roleIdempotency}, "amz": {role: roleAmzRequest}, "sl": {role: roleStainless}, "ea": {role: roleEnvoyAttempts}, "date": {role: roleDateField}, "worker": {role: roleServer}, // and for nginx
	"uht": {}, "cs": {}, "status": {}, "request": {}, "agent": {},
}}
