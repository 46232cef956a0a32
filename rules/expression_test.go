package rules

import (
	"strings"
	"testing"
)

// The language, with answers worked out by hand: z is 6, rho is 2.5, jitter is
// 0.04, baseline holds and burst_ended does not.
func TestConditions(t *testing.T) {
	v := values(map[FeatureID]float64{Z: 6, Rho: 2.5, Jitter: .04, Baseline: 1, BurstEnded: 0})
	for text, want := range map[string]bool{
		"z > 6":                           false,
		"z >= 6":                          true,
		"z < 6.01 and not (rho == 2.5)":   false,
		"z != 6 or rho <= 2.5":            true,
		"!(z > 1) || jitter < 0.05":       true,
		"z > 1 && rho > 1 && jitter > .1": false,
		"1 < rho < 3":                     true,
		"3 < rho < 9":                     false,
		"true":                            true,
		"z / 4 == 1.5":                    true,
		"z - 2 * rho == 1":                true,
		"2 ** 3 == 8":                     true,
		"-z < +rho":                       true,
		"min(z, rho) == 2.5":              true,
		"max(z, rho) == 6":                true,
		"abs(rho - z) == 3.5":             true,
		"(rho > 2 ? z : 0) == 6":          true,
		"(rho > 3 ? z : 0) == 6":          false,
		"z / 0 > 1000":                    true,
		"0 / 0 >= 0":                      false,
	} {
		c := compiler{scopes: []Scope{Population}}
		when, err := c.condition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if when(v) != want {
			t.Errorf("%s is %v", text, !want)
		}
	}
	for text, want := range map[string]bool{"baseline": true, "!baseline": false, "burst_ended || baseline": true, "burst_ended": false} {
		c := compiler{scopes: []Scope{Population}}
		if when, err := c.condition(text); err != nil || when(v) != want {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

func TestConditionsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"zz >= 5":                       `unknown feature "zz", meant "z"?`,
		"early_shar > 1":                `meant "early_share"?`,
		"completely_other > 1":          `unknown feature "completely_other"; `,
		"early_share > 1":               `early_share is not measured in the scope "population", only in: client`,
		"z":                             "z is a number",
		"z + 1":                         "not true or false",
		"baseline == 1":                 "baseline is yes or no",
		"baseline + 1 > 1":              "baseline is yes or no",
		"z > 'five'":                    "not a number",
		"z > (rho > 1)":                 "not a number",
		"z > ceil(rho)":                 "min, max and abs are",
		"min(z) > 1":                    "take two",
		"abs(z, rho) > 1":               "takes one",
		"z in [1, 2]":                   "not true or false",
		"z > 5 &&":                      "cannot read",
		"":                              "cannot read",
		"let a = 5; z > a":              "not true or false",
		"z % 2 == 0":                    "not a number",
		strings.Repeat("!", 2000) + "z": "at most 2000",
	} {
		c := compiler{scopes: []Scope{Population}}
		if _, err := c.condition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %q in it", text, err, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 3: "3", -3: "-3", 1234.6: "1235", 99.96: "100", 12.34: "12.3", 9.999: "10.0", 1.005: "1.00", .5: "0.50", .0123: "0.012", -2.456: "-2.46", 1e15: "1000000000000000",
	} {
		if got := number(x); got != want {
			t.Errorf("number(%v) = %s, want %s", x, got, want)
		}
	}
}
