package capture

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"GET /v1/items?page=0":         "GET /v1/items?page=0",
		"café 客户端 Ж":                   "café 客户端 Ж",
		"\x1b[2J\x1b]0;title\x07":      "·[2J·]0;title·",
		"a\r\nb\tc\x00\x7f":            "a··b·c··",
		"c1 \u009b31m":                 "c1 ·31m",
		"bad \xff\xfe utf8 \xc3":       "bad ·· utf8 ·",
		"over\xc0\xaf":                 "over··",
		"\u202eevil\u202c \u2066x":     "·evil· ·x",
		"zero\u200bwidth\ufeff\u00adx": "zero·width··x",
		"line\u2028para\u2029":         "line·para·",
		"tag\U000e0041":                "tag·",
		"private \ue000 \U000f0000":    "private · ·",
		"stack z\u0300\u0300":          "stack z··",
		"filler \u3164\u115f\uffa0":    "filler ···",
		"ignorable \u2065\U000e0fff":   "ignorable ··",
		"replacement \ufffd stays":     "replacement \ufffd stays",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if got := Clean(Clean(in)); got != want {
			t.Errorf("%q: cleaning twice changes it: %q", in, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { Clean("GET /v1/items?page=0 HTTP/1.1") }); n != 0 {
		t.Errorf("plain text costs %v allocations", n)
	}
}

// invisible are the characters that Unicode itself says hide or reorder text.
var invisible = []*unicode.RangeTable{
	unicode.Bidi_Control, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs,
	unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[2J", "\u202ex", "\xff\xfe", "a\u0300", "\U000e0041", "\u009b", "··"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := Clean(s)
		if !utf8.ValidString(out) {
			t.Errorf("%q: no UTF-8: %q", s, out)
		}
		for _, r := range out {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || unicode.In(r, invisible...) {
				t.Errorf("%q: %U came through", s, r)
			}
		}
		if Clean(out) != out {
			t.Errorf("%q: cleaning twice changes it", s)
		}
		if n := utf8.RuneCountInString(s); utf8.RuneCountInString(out) != n {
			t.Errorf("%q: %d characters became %d", s, n, utf8.RuneCountInString(out))
		}
	})
}

func TestMaskedTargets(t *testing.T) {
	for in, want := range map[string]string{
		"/a":                             "/a",
		"":                               "",
		"/a?":                            "/a?",
		"/a?page=1&size=2":               "/a?page=1&size=2",
		"/a?token=abc":                   "/a?token=***",
		"/a?page=1&API_KEY=abc&x=2":      "/a?page=1&API_KEY=***&x=2",
		"/a?access_token=a=b=c":          "/a?access_token=***",
		"/a?X-Amz-Signature=s;sig=t&n=1": "/a?X-Amz-Signature=***;sig=***&n=1",
		"/a?client-secret=&x":            "/a?client-secret=***&x",
		"/a?token":                       "/a?token",
		"/a?monkey=1&keyboard=2":         "/a?monkey=1&keyboard=2",
		"/a?b=1#token=x":                 "/a?b=1#token=***",
		"/a?password=x?y&z=1":            "/a?password=***&z=1",
	} {
		if got := string(AppendMasked([]byte("kept "), []byte(in))); got != "kept "+want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	long := "/a?" + strings.Repeat("token=x&", 1000)
	dst := make([]byte, 0, len(long)+4000)
	if n := testing.AllocsPerRun(10, func() { AppendMasked(dst, []byte(long)) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzAppendMasked(f *testing.F) {
	for _, s := range []string{"/a?token=s3cr3t&b=1", "/a?sig=s3cr3t#auth=s3cr3t", "/?;;=&&=x", "/a?Session_ID=s3cr3t", "?key=?key="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		before := strings.Clone(target)
		out := string(AppendMasked([]byte("x"), []byte(target)))
		if !strings.HasPrefix(out, "x") || target != before {
			t.Errorf("%q became %q", target, out)
		}
		out = out[1:]
		params := strings.Count(target, "&") + strings.Count(target, ";") + strings.Count(target, "#") + 1
		if len(out) > len(target)+3*params {
			t.Errorf("%q grew to %q", target, out)
		}
		path, _, _ := strings.Cut(target, "?")
		if !strings.HasPrefix(out, path) {
			t.Errorf("%q: the path changed: %q", target, out)
		}
		if again := string(AppendMasked(nil, []byte(out))); again != out {
			t.Errorf("%q: masking twice gives %q", out, again)
		}
		// A secret behind a name that looks like one never shows.
		if !strings.Contains(target, "#") && strings.Contains(target, "?") {
			if got := string(AppendMasked(nil, []byte(target+"&api_key=hunter2"))); strings.HasSuffix(got, "hunter2") {
				t.Errorf("%q shows the secret", got)
			}
		}
	})
}
