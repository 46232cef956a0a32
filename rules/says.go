package rules

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// word is literal text, or a feature to be written in its place.
type word struct {
	text    string
	feature FeatureID
	isValue bool
	percent bool
}

// sentence reads text in which {name} stands for a feature's value with its
// unit, and {name%} for a share in per cent.
func (c *compiler) sentence(text string) ([]word, error) {
	var out []word
	whole := text
	for text != "" {
		open := strings.IndexAny(text, "{}")
		if open < 0 {
			return append(out, word{text: text}), nil
		}
		end := strings.IndexByte(text, '}')
		if text[open] == '}' || end < 0 {
			return nil, located(utf8.RuneCountInString(whole[:len(whole)-len(text)+open]), errors.New("a brace without its partner: {feature} or {feature%}"))
		}
		name, percent := strings.CutSuffix(text[open+1:end], "%")
		id, err := c.feature(name)
		if err != nil {
			return nil, located(utf8.RuneCountInString(whole[:len(whole)-len(text)+open+1]), err)
		}
		out = append(out, word{text: text[:open]}, word{feature: id, isValue: true, percent: percent})
		text = text[end+1:]
	}
	return out, nil
}

// unknown stands where a value was not measured.
const unknown = "–"

func fill(words []word, v *Values) string {
	var b strings.Builder
	for _, w := range words {
		switch {
		case !w.isValue:
			b.WriteString(w.text)
		case !v.known[w.feature]:
			b.WriteString(unknown)
		case features[w.feature].Boolean:
			b.WriteString(yesOrNo(v.x[w.feature]))
		case features[w.feature].Unit == "ms":
			b.WriteString(length(v.x[w.feature]))
		case w.percent:
			b.WriteString(number(100*v.x[w.feature]) + " %")
		default:
			b.WriteString(number(v.x[w.feature]) + unit(features[w.feature].Unit))
		}
	}
	return b.String()
}

// length writes milliseconds, or seconds where there are a thousand of them.
func length(ms float64) string {
	if ms >= 1000 {
		return number(ms/1000) + " s"
	}
	return number(ms) + " ms"
}

func yesOrNo(x float64) string {
	if x != 0 {
		return "yes"
	}
	return "no"
}

// unit is what follows a number in a sentence; what is counted, the sentence
// says itself.
func unit(u string) string {
	switch u {
	case "s":
		return " s"
	case "/s", "x":
		return u
	}
	return ""
}

// number writes a value with as many digits as a reader can use: three that
// count, and none behind whole numbers.
func number(x float64) string {
	decimals := 2
	switch a := math.Abs(x); {
	case a >= 99.95 || x == math.Trunc(x):
		decimals = 0
	case a >= 9.995:
		decimals = 1
	case a < .0995:
		decimals = 3
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}
