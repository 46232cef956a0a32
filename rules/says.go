package rules

import (
	"errors"
	"math"
	"slices"
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
	part    int // not 0: the part it is of is left out where nothing in it is to be told
}

// sentence reads text in which {name} stands for a feature's value with its
// unit, and {name%} for a share in per cent. What stands in brackets is left out where
// all its features are 0 or not known.
func (c *compiler) sentence(text string) ([]word, error) {
	var out []word
	for from, part := 0, 0; from <= len(text); part++ {
		to, inside := len(text), part%2 == 1
		n := strings.IndexAny(text[from:], "[]")
		if n >= 0 {
			to = from + n
		}
		if n >= 0 && (text[to] == ']') != inside || n < 0 && inside {
			return nil, located(utf8.RuneCountInString(text[:to]), errors.New("a bracket without its partner: [, {feature} of them]"))
		}
		words, err := c.clause(text[:to], from)
		if err != nil {
			return nil, err
		}
		switch {
		case inside && !slices.ContainsFunc(words, func(w word) bool { return w.isValue }): // brackets that mean nothing
			words = []word{{text: text[from-1 : to+1]}}
		case inside:
			for i := range words {
				words[i].part = part
			}
		}
		out = append(out, words...)
		from = to + 1
	}
	return out, nil
}

// clause reads what a text holds from a place on, which has no brackets.
func (c *compiler) clause(whole string, from int) ([]word, error) {
	var out []word
	text := whole[from:]
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
	for i, w := range words {
		switch {
		case w.part != 0 && !worthTelling(words, i, v):
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

// worthTelling tells whether the part that word i is of has anything to tell.
func worthTelling(words []word, i int, v *Values) bool {
	for _, w := range words {
		if w.part == words[i].part && w.isValue && v.known[w.feature] && v.x[w.feature] != 0 {
			return true
		}
	}
	return false
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
