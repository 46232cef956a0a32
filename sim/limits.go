package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits say how answers tell the state of the limiter.
type Limits struct {
	Prefix string `yaml:"prefix"` // default X-RateLimit
	// Style is fields (the default: PREFIX-Limit, -Remaining, -Reset), dictionary
	// (PREFIX: limit=9, remaining=4, reset=1; draft-ietf-httpapi-ratelimit-headers-07)
	// or list (PREFIX: "default";r=4;t=1, the draft of 2025).
	Style string `yaml:"style"`
	Form  string `yaml:"form"` // of the reset, as Hint.Form; default seconds
	On    string `yaml:"on"`   // all (the default), successes or refusals
}

func (l *Limits) validate() error {
	for _, f := range []struct {
		field  *string
		name   string
		values []string
	}{
		{&l.Style, "style", []string{"fields", "dictionary", "list"}},
		{&l.Form, "form", forms},
		{&l.On, "on", []string{"all", "successes", "refusals"}},
	} {
		if *f.field == "" {
			*f.field = f.values[0]
		}
		if !slices.Contains(f.values, *f.field) {
			return fmt.Errorf("limits: %s %q: want one of %s", f.name, *f.field, strings.Join(f.values, ", "))
		}
	}
	if l.Prefix == "" {
		l.Prefix = "X-RateLimit"
	}
	if !isToken(l.Prefix) || strings.Contains(l.Prefix, ":") {
		return fmt.Errorf("limits: prefix %q: want the name of a header", l.Prefix)
	}
	return nil
}

// told tells whether an answer carries them.
func (l *Limits) told(refused bool) bool {
	return l != nil && (l.On == "all" || refused == (l.On == "refusals"))
}

// quota is the state of a limiter after a request.
type quota struct {
	limit, left int
	reset       time.Duration // until more is left
}

// append writes the field lines. now is the server's clock in Unix ns.
func (l *Limits) append(b []byte, q quota, now int64) []byte {
	form := func(b []byte) []byte { return appendForm(b, l.Form, q.reset, now) }
	switch l.Style {
	case "dictionary":
		b = strconv.AppendInt(append(b, l.Prefix+": limit="...), int64(q.limit), 10)
		b = strconv.AppendInt(append(b, ", remaining="...), int64(q.left), 10)
		return append(form(append(b, ", reset="...)), "\r\n"...)
	case "list":
		b = strconv.AppendInt(append(b, l.Prefix+`: "default";r=`...), int64(q.left), 10)
		b = form(append(b, ";t="...))
		b = strconv.AppendInt(append(b, "\r\n"+l.Prefix+`-Policy: "default";q=`...), int64(q.limit), 10)
		return append(b, "\r\n"...)
	}
	b = strconv.AppendInt(append(b, l.Prefix+"-Limit: "...), int64(q.limit), 10)
	b = strconv.AppendInt(append(b, "\r\n"+l.Prefix+"-Remaining: "...), int64(q.left), 10)
	return append(form(append(b, "\r\n"+l.Prefix+"-Reset: "...)), "\r\n"...)
}
