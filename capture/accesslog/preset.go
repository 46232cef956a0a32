package accesslog

import "sync"

// presetSource is a format that is known by name: data for the compiler.
type presetSource struct {
	name     string
	about    string
	evidence string // what it carries of retries, limits and waits

	language string   // of formats: pattern, nginx, envoy or haproxy
	formats  []string // tried in this order: versions, and what users commonly change
	tails    []string // patterns of what may follow
	loose    bool     // more may follow

	esc      escape
	utc      bool
	whole    bool
	gone     uint16
	weight   int
	family   string
	timeless bool
	beside   bool
	open     func() cutter // in the place of formats
}

// presets compiles what is known by name, once.
var presets = sync.OnceValue(func() (list []*Format) {
	for i := range presetSources {
		list = append(list, presetSources[i].compile())
	}
	for i := range schemas {
		list = append(list, schemas[i].format())
	}
	return list
})

// preset returns the format of a name, nil if there is none.
func preset(name string) *Format {
	for _, f := range presets() {
		if f.name == name {
			return f
		}
	}
	return nil
}

// compile makes the format of a preset; what stands in this package compiles.
func (p *presetSource) compile() *Format {
	f := &Format{name: p.name, open: p.open, machine: p.open != nil}
	var all firstOf
	for _, text := range p.formats {
		s := p.scanner(p.language, text)
		s.loose = p.loose
		for _, t := range p.tails {
			tail := p.scanner("pattern", t)
			tail.loose = p.loose && tail.steps[0].size == 0 // of two durations, none is taken for the whole one
			s.tails = append(s.tails, tail)
		}
		all = append(all, s)
		f.hints = f.hints || s.has(roleRetryAfter) || s.has(roleRetryMillis)
	}
	switch {
	case f.open != nil:
	case len(all) == 1:
		f.open = func() cutter { return all[0] }
	default:
		f.open = func() cutter { return all }
	}
	f.esc, f.utc, f.whole, f.gone, f.weight, f.family, f.timeless, f.beside = p.esc, p.utc, p.whole, p.gone, p.weight, p.family, p.timeless, p.beside
	return f
}

func (p *presetSource) scanner(language, format string) *scanner {
	var s *scanner
	var err error
	switch language {
	case "nginx":
		s, err = nginxFormat(format, escapeC)
	case "envoy":
		s, err = envoyFormat(format)
	case "haproxy":
		s, err = haproxyFormat(format)
	default:
		s, err = patternFormat(format)
	}
	if err != nil {
		panic(p.name + ": " + err.Error())
	}
	return s
}

func (s *scanner) has(what role) bool {
	for i := range s.steps {
		if s.steps[i].role == what {
			return true
		}
	}
	return false
}

// firstOf cuts by the first of several scanners that can.
type firstOf []*scanner

func (l firstOf) cut(line []byte, r *reading) (f fault) {
	var first fault
	for i, s := range l {
		if r.cuts != nil {
			*r.cuts = (*r.cuts)[:0]
		}
		if f = s.scan(line, r); f == "" {
			return ""
		}
		if i == 0 {
			first = f
		}
	}
	return first
}

// format makes the JSON format of a schema.
func (s *schema) format() *Format {
	weight := 40
	if len(s.marks) == 0 {
		weight = 5
	}
	if s.tabs {
		return &Format{name: s.name, esc: escapeC, weight: 35, machine: true, open: func() cutter { return &tabCutter{pairCutter{schema: s, known: map[string]meaning{}}} }}
	}
	if s.pairs {
		return &Format{name: s.name, esc: escapeC, weight: weight, machine: true, marks: s.marks, open: func() cutter { return &pairCutter{schema: s, known: map[string]meaning{}} }}
	}
	return &Format{name: s.name, esc: escapeJSON, weight: weight, machine: true, marks: s.marks, json: true, open: func() cutter { return &jsonCutter{schema: s, known: map[string]keyed{}} }}
}
