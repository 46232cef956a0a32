package accesslog

import "sync"

// combinedHead is what nginx's and Apache's combined formats share.
const combinedHead = `<peer> <_ident> <user> [<clf>] "<request>" <status> <bytes> "<_referer>" "<agent>"`

// presetSource is a format that is known by name, as data for the compiler.
type presetSource struct {
	name     string
	language string // of format
	format   string
	tails    []string // patterns of what may follow
	loose    bool
	weight   int
	family   string
	evidence string // what of retries it carries
	about    string
}

var presetSources = []presetSource{
	{
		name: "combined", language: "pattern", format: combinedHead, loose: true, weight: 20, family: "clf",
		tails: []string{` "<xff>" <rt> <msec>`, ` <rt> <msec>`, ` "<xff>"`},
		about: "nginx and Apache combined; X-Forwarded-For, and $request_time $msec, may follow", evidence: "none",
	},
}

// presets compiles what is known by name, once.
var presets = sync.OnceValue(func() (list []*Format) {
	for i := range presetSources {
		list = append(list, presetSources[i].compile())
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

// scanner compiles a pattern of this package.
func (p *presetSource) scanner(format string) *scanner {
	s, err := patternFormat(format)
	if err != nil {
		panic(err)
	}
	return s
}

// compile makes the format of a preset; what stands in this package compiles.
func (p *presetSource) compile() *Format {
	s := p.scanner(p.format)
	s.loose = p.loose
	for _, t := range p.tails {
		tail := p.scanner(t)
		tail.loose = p.loose
		s.tails = append(s.tails, tail)
	}
	f := scanned(p.name, s, escapeC)
	f.weight, f.family = p.weight, p.family
	return f
}
