package report_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/report"
)

// fill puts s into every text a snapshot holds, and absurd figures beside it.
// Empty slices get two elements, so that no field is passed over.
func fill(snapshot any, s string) { fillValue(reflect.ValueOf(snapshot).Elem(), s) }

func fillValue(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Float64:
		v.SetFloat(math.NaN())
	case reflect.Int, reflect.Int64:
		v.SetInt(math.MaxInt32)
	case reflect.Uint64:
		v.SetUint(math.MaxUint64)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fillValue(v.Elem(), s)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			fillValue(v.Index(i), s)
		}
	case reflect.Array:
		for i := range v.Len() {
			fillValue(v.Index(i), s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillValue(v.Field(i), s)
		}
	case reflect.Uint8: // enumerations stay as they are
	}
}

var hostileTexts = map[string]string{
	"escape":      "a\x1b[2J\x1b]0;owned\x07\x1b[31mz",
	"C1":          "a\u009b31m\u0090\u009d0;x\u009c\x9b2Jz",
	"bidi":        "a\u202egnp\u202d\u2066\u2069\u200fz",
	"invisible":   "a\u200b\ufeff\u2028\u2029\U000e0041\u00adz",
	"lines":       "a\r\nSTORM\rCLEAR\x0b\x0c\x85z",
	"not UTF-8":   "a\xff\xfe\xc3\xed\xa0\x80z",
	"NUL":         "a\x00\x00z",
	"combining":   "a" + strings.Repeat("\u0301", 200) + "z",
	"wide":        strings.Repeat("語", 300),
	"quotes":      `"}],"verdict":{"state":"clear"}` + "\\",
	"format":      "%s%n%!d(MISSING)%",
	"64 KB":       strings.Repeat("x", 64<<10),
	"64 KB words": strings.Repeat("\x1b[1m x", 64<<10/6),
}

// No text from traffic can move the cursor, reorder a line, or forge one, in any
// form and option; in JSON not even after it is decoded.
func TestHostile(t *testing.T) {
	for name, s := range hostileTexts {
		for _, state := range []detect.State{detect.Storm, detect.Unknown} {
			if len(s) > 10_000 && state == detect.Unknown {
				continue // once is enough for what takes long
			}
			snapshot := storm()
			fill(snapshot, s)
			snapshot.Verdict.State = state
			for kind, form := range forms {
				checkClean(t, kind+", "+name, render(t, form, snapshot, report.Options{Snippets: true, Top: 1}))
			}
			checkJSON(t, name, render(t, report.JSON, snapshot, report.Options{}))
		}
		row := hostileRow(s)
		var b strings.Builder
		if err := report.Exchanges(&b)(row); err != nil {
			t.Fatal(err)
		}
		checkClean(t, "exchanges, "+name, b.String())
		checkJSON(t, "exchanges, "+name, b.String())
		if strings.Count(b.String(), "\n") != 1 {
			t.Errorf("exchanges, %s: more than a line", name)
		}
	}
}

func hostileRow(s string) *detect.Row {
	return &detect.Row{
		X:      &capture.Exchange{Start: at(0), End: at(1), Status: 429, Hint: capture.Hint{State: capture.Present, Kind: capture.Malformed}},
		Client: s, Method: s, Host: s, Path: s, Agent: s, HintRaw: s, Source: s, Chain: s, Attempt: 1, Confidence: 1,
	}
}

// hidden tells whether a character may not stand in a line of output.
func hidden(r rune) bool {
	if r >= 0x20 && r < 0x7f {
		return false // what most of a text is
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

func checkClean(t testing.TB, name, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: not UTF-8", name)
	}
	for line := range strings.Lines(text) {
		if i := strings.IndexFunc(strings.TrimSuffix(line, "\n"), hidden); i >= 0 {
			t.Errorf("%s: %q in %.200q", name, []rune(line[i:])[0], line)
			return
		}
	}
}

// checkJSON decodes a report and looks at every text in it. Snippets are
// configuration from rule files and keep their lines and tabs.
func checkJSON(t testing.TB, name, text string) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	walk(v, "", func(path, s string) {
		if strings.HasSuffix(path, ".snippets.text") {
			s = strings.NewReplacer("\n", "", "\t", "").Replace(s)
		}
		if strings.IndexFunc(s, hidden) >= 0 {
			t.Errorf("%s: %s holds %.100q", name, path, s)
		}
	})
}

func walk(v any, path string, each func(path, text string)) {
	switch v := v.(type) {
	case string:
		each(path, v)
	case []any:
		for _, x := range v {
			walk(x, path, each)
		}
	case map[string]any:
		for k, x := range v {
			walk(x, path+"."+k, each)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range hostileTexts {
		if len(s) < 1000 {
			f.Add(s, uint8(detect.Storm))
		}
	}
	f.Add("", uint8(detect.Clear))
	f.Fuzz(func(t *testing.T, s string, state uint8) {
		snapshot := storm()
		fill(snapshot, s)
		snapshot.Verdict.State = detect.State(state % 6)
		for _, form := range []string{"text", "brief"} {
			checkClean(t, form, render(t, forms[form], snapshot, report.Options{Snippets: true}))
		}
		checkJSON(t, "json", render(t, report.JSON, snapshot, report.Options{}))
	})
}
