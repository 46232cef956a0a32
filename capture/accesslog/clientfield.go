package accesslog

import (
	"strings"

	"stormwatch/capture"
)

// naming returns the cutter with the field marked that names clients, whatever
// else it means. Cutters that serve several logs are copied.
func naming(c cutter, f capture.ClientField) cutter {
	if f.Header == "" {
		return c
	}
	switch c := c.(type) {
	case *scanner:
		return c.naming(f)
	case firstOf:
		all := make(firstOf, len(c))
		for i, s := range c {
			all[i] = s.naming(f)
		}
		return all
	case *jsonCutter:
		c.client = f
	case *pairCutter:
		c.client = f
	case *tabCutter:
		c.client = f
	case *eitherCutter:
		c.json.client, c.pairs.client = f, f
	case *pairTail:
		c.head, c.tail.client = c.head.naming(f), f
	case *columnCutter:
		c.client = f
		for i := range c.columns {
			c.columns[i].who = f.Is(headerOf(c.columns[i].name))
		}
	}
	return c
}

func (s *scanner) naming(f capture.ClientField) *scanner {
	own := *s
	own.steps = append([]step(nil), s.steps...)
	for i := range own.steps {
		own.steps[i].who = f.Is(headerOf(own.steps[i].name))
	}
	own.tails = append([]*scanner(nil), s.tails...)
	for i, t := range own.tails {
		own.tails[i] = t.naming(f)
	}
	return &own
}

// headerOf is the name of the header that a field holds, as far as the field's
// own name says: $http_x_tenant, %{X-Tenant}i, %REQ(X-TENANT)%, cs(X-Tenant),
// <_x_tenant>, request.headers.X-Tenant.
func headerOf(name string) []byte {
	if i := strings.IndexByte(name, '('); i >= 0 {
		name, _, _ = strings.Cut(name[i+1:], ")")
		name, _, _ = strings.Cut(name, "?")
	} else if strings.HasPrefix(name, "%") {
		if !strings.HasSuffix(name, "}i") {
			return nil
		}
		name = name[strings.IndexByte(name, '{')+1 : len(name)-2]
	}
	name = strings.Trim(name, "${}<>_")
	name, _, _ = strings.Cut(name, ":")
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, prefix := range []string{"http_", "request_"} {
		if rest, ok := strings.CutPrefix(strings.ToLower(name), prefix); ok {
			name = rest
		}
	}
	return []byte(name)
}

// named sets the client by the field that names it. One that is secret is the
// only credential then, so that those who lack it are seen to.
func (b *builder) named(x *capture.Exchange) {
	f, t := b.opt.Client, b.r.get(roleClient)
	switch {
	case f.Secret():
		x.Credential = b.opt.Secrets.Hash(f.Value(b.plain(t)))
	case t != nil:
		f.Name(x, b.plain(t), b.names)
	}
}
