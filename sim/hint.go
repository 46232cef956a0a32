package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Hints are the waits that refusals name, each in a header of its own; nil: none.
//
//	hint: none
//	hint: slot
//	hint: 2s..5s
//	hint:
//	  - {wait: 3s, form: date}
//	  - {wait: 500ms, header: X-RateLimit-Reset, form: epoch-ms}
//
// A text alone is Retry-After in whole seconds.
type Hints []Hint

// Hint is one header of a refusal.
type Hint struct {
	Wait   Wait    `yaml:"wait"`
	Header string  `yaml:"header"` // default Retry-After; "body": a member retry_after of the body
	Form   string  `yaml:"form"`   // seconds (the default), float, ms, duration, date, epoch, epoch-ms, iso
	Text   string  `yaml:"text"`   // instead of Wait: sent as it is
	Grow   float64 `yaml:"grow"`   // times which the wait grows with each refusal in a row; default 1
	Share  float64 `yaml:"share"`  // of the refusals that carry it; default 1
}

// Wait is how long a hint tells to stay away.
type Wait struct {
	Slot     bool          // until a slot comes free
	Min, Max time.Duration // otherwise drawn from Min..Max
}

// UnmarshalText reads "slot", a duration such as "3s", or a range such as "2s..5s".
func (w *Wait) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "slot" {
		*w = Wait{Slot: true}
		return nil
	}
	low, high, ranged := strings.Cut(s, "..")
	if !ranged {
		high = low
	}
	a, errA := time.ParseDuration(low)
	b, errB := time.ParseDuration(high)
	if errA != nil || errB != nil || b < a || b > longest || a < -longest {
		return fmt.Errorf("wait %q: want slot, a duration such as 3s, or a range such as 2s..5s", s)
	}
	*w = Wait{Min: a, Max: b}
	return nil
}

// UnmarshalYAML takes a text or a list. It has this form because a yaml.Node
// would forget that unknown fields are errors.
func (h *Hints) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if unmarshal(&text) != nil {
		return unmarshal((*[]Hint)(h))
	}
	if text == "none" || text == "" {
		*h = nil
		return nil
	}
	one := Hint{Header: retryAfter, Form: inSeconds}
	err := one.Wait.UnmarshalText([]byte(text))
	if w := one.Wait; err != nil || w.Min < 0 || w.Min%time.Second != 0 || w.Max%time.Second != 0 {
		return fmt.Errorf("hint %q: want none, slot, whole seconds such as 3s, a range such as 2s..5s, or a list of headers", text)
	}
	*h = Hints{one}
	return nil
}

const (
	retryAfter = "Retry-After"
	inBody     = "body"
)

func (h Hints) validate(slots bool) error {
	for i := range h {
		if err := h[i].validate(slots); err != nil {
			return fmt.Errorf("hint %d: %w", i+1, err)
		}
	}
	return nil
}

func (h *Hint) validate(slots bool) error {
	if h.Header == "" {
		h.Header = retryAfter
	}
	if h.Form == "" {
		h.Form = inSeconds
	}
	switch {
	case !isToken(h.Header) || strings.Contains(h.Header, ":"):
		return fmt.Errorf("header %q: want the name of a header, or body", h.Header)
	case !slices.Contains(forms, h.Form):
		return fmt.Errorf("form %q: want one of %s", h.Form, strings.Join(forms, ", "))
	case h.Text != "" && (!isText(h.Text) || h.Wait != Wait{}):
		return fmt.Errorf("text %q: want printable ASCII, and no wait beside it", h.Text)
	case h.Wait.Slot && !slots:
		return fmt.Errorf("slot needs a limiter: name a wait such as 2s")
	case h.Wait.Min < 0 && !isMoment(h.Form):
		return fmt.Errorf("wait %s: only a moment (date, epoch, epoch-ms, iso) can lie in the past", h.Wait.Min)
	case !(h.Grow == 0 || h.Grow >= 1 && h.Grow <= 100):
		return fmt.Errorf("grow %g: want 1 to 100", h.Grow)
	case !(h.Share >= 0 && h.Share <= 1):
		return fmt.Errorf("share %g: want 0 to 1", h.Share)
	}
	return nil
}

// draw returns the wait that is meant. free is how long until a slot comes free,
// row how many refusals came before this one without a grant between them.
func (h *Hint) draw(free time.Duration, row int, rng *rand.Rand) time.Duration {
	d := free
	if !h.Wait.Slot {
		unit := time.Second // whole seconds stay whole
		if h.Wait.Min%unit != 0 || h.Wait.Max%unit != 0 {
			unit = time.Millisecond
		}
		a, b := int64(h.Wait.Min/unit), int64(h.Wait.Max/unit)
		d = time.Duration(a+rng.Int64N(max(b-a, 0)+1)) * unit
	}
	if h.Grow > 1 && d > 0 {
		d = span(float64(d) * math.Pow(h.Grow, float64(row)))
	}
	return d
}

// present tells whether this refusal carries the hint.
func (h *Hint) present(rng *rand.Rand) bool {
	return h.Share == 0 || h.Share == 1 || rng.Float64() < h.Share
}
