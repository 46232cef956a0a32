package ui

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"stormwatch/detect"
)

// scramble puts text and absurd figures into everything that a Snapshot holds.
func scramble(v reflect.Value, r *rand.Rand, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Float64:
		v.SetFloat([]float64{0, -1, 1, 1e300, math.NaN(), math.Inf(1), math.Inf(-1), 1e-300}[r.IntN(8)])
	case reflect.Int, reflect.Int64, reflect.Int32:
		n := []int64{0, 1, -1, math.MaxInt32, math.MinInt32, 77}[r.IntN(6)]
		if v.Kind() == reflect.Int64 && r.IntN(4) == 0 {
			n = []int64{math.MaxInt64, math.MinInt64}[r.IntN(2)]
		}
		v.SetInt(n)
	case reflect.Uint64:
		v.SetUint(r.Uint64())
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		scramble(v.Elem(), r, text)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		}
		for i := range v.Len() {
			scramble(v.Index(i), r, text)
		}
	case reflect.Array:
		for i := range v.Len() {
			scramble(v.Index(i), r, text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				scramble(v.Field(i), r, text)
			}
		}
	}
}

// evil is a text as traffic may bring: runs of escape sequences, of characters
// that are wide, melt together or change the order, and of broken bytes.
func evil(r *rand.Rand) string {
	pieces := []string{
		"\x1b[2J", "\x1b]52;c;eA==\x07", "\x1b]0;owned\x1b\\", "\x9b31m", "\u009b31m", "\x90q\x9c", "\r", "\n", "\t", "\x00", "\x7f", "\b\b\b", "\xff\xfe", "\u202e", "\u2066",
		"日本語", "e\u0301\u0301\u0301", "👩‍👩‍👧‍👦", "🇩🇪🇩", "각", "कि", "\u200b\u200d", "\ufeff", "\U000e0041", "─█▒", "plain text ", "10.42.1.17", "%s%n", "<svg>&\"'", "a|b`c",
	}
	var b strings.Builder
	for range r.IntN(9) {
		for range 1 + r.IntN(4)*r.IntN(20) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
	}
	return b.String()
}

// Any snapshot with any text, at any size, on any screen and in any theme, draws
// exactly the rows and columns there are, and no control byte but our own.
func TestAnySnapshotAnySize(t *testing.T) {
	const frames = 400
	screens := [][]string{{"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"7"}, {"w"}, {"H"}, {"?"}, {"enter"}, {"enter", "]"}, {"6", "tab", "j"}, {"+"}, {"=", "b"}, {"space"}, {"2", "G"}, {"2", "s", "S"}, {"4", "u"}, {"4", "p"}}
	for seed := range uint64(frames) {
		r := rand.New(rand.NewPCG(seed, 7))
		text := evil(r)
		s := chainSnapshot()
		if r.IntN(3) > 0 {
			scramble(reflect.ValueOf(s).Elem(), r, text)
		} else {
			s = hostile(text, r.IntN(6))
		}
		s.Verdict.State, s.Verdict.Cause = detect.State(r.IntN(6)), detect.CauseClients
		f := replay(s)
		if r.IntN(2) == 0 {
			f = live(s)
		}
		f.progress = []Progress{{}, {Doing: text, Bytes: math.MinInt64, Total: math.MaxInt64, Share: math.NaN(), Left: math.MaxInt64}}[r.IntN(2)]
		o := Options{Theme: []string{"dark", "light", "mono"}[r.IntN(3)], Color: []string{"always", "never"}[r.IntN(2)], ASCII: r.IntN(3) == 0, Title: text, Version: text}
		w, h := 20+r.IntN(281), 5+r.IntN(96)
		keys := screens[r.IntN(len(screens))]
		m := open(f, o, w, h, keys...)
		if r.IntN(3) == 0 {
			m = send(m, typed([]string{"/", ":"}[r.IntN(2)])...)
			m = send(m, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text + "x"), Paste: true})
		}
		name := fmt.Sprintf("seed %d, %dx%d, keys %v, %+v", seed, w, h, keys, o.Theme)
		frame := m.View()
		plain := ownSequence.ReplaceAllString(frame, "")
		if i := strings.IndexFunc(plain, func(r rune) bool {
			return r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069)
		}); i >= 0 {
			t.Fatalf("%s: %q passes", name, plain[i:i+1])
		}
		checkSize(t, frame, w, h)
		if o.Color == "never" && frame != plain {
			t.Errorf("%s: colour where there shall be none", name)
		}
		var picture bytes.Buffer
		if err := m.c.cells.svg(&picture, o.Theme, o.ASCII); err != nil {
			t.Fatal(err)
		}
		checkXML(t, name, picture.Bytes())
	}
}

// checkXML reads a picture as a browser does.
func checkXML(t *testing.T, name string, text []byte) {
	t.Helper()
	for dec := xml.NewDecoder(bytes.NewReader(text)); ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: the picture is no XML: %v", name, err)
		}
		e, ok := tok.(xml.StartElement)
		switch e.Name.Local {
		case "", "svg", "style", "rect", "text":
		default:
			t.Fatalf("%s: <%s> in the picture", name, e.Name.Local)
		}
		for _, a := range e.Attr {
			if ok && (strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href")) {
				t.Fatalf("%s: %s in the picture", name, a.Name.Local)
			}
		}
	}
}
