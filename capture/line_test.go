package capture

import (
	"strings"
	"testing"
)

func TestHideSecrets(t *testing.T) {
	for _, line := range []string{
		`junk Authorization: Bearer SECRET more`,
		`{"authorization":"Basic SECRET=="}`,
		`{"headers":{"Authorization":["SECRET"],"x-api-key":"SECRET"}}`,
		`{"log":"{\"token\":\"SECRET\"}"}`,
		`Cookie: a=SECRET; b=SECRET`,
		`cookie="a=SECRET; b=SECRET" status=200`,
		`{"set-cookie":["a=SECRET"]}`,
		`GET /x?token=SECRET&api_key=SECRET HTTP/1.1`,
		`password=SECRET pwd: SECRET`,
		`fetch https://user:SECRET@host/x`,
		`seen eyJSECRET.eyJzdWIiOiIxIn0.c2ln in a line`,
		`cut off authorization=SECRE`,
	} {
		if got := HideSecrets(line); strings.Contains(got, "SECR") || !strings.Contains(got, hidden) {
			t.Errorf("%s\nshown as %s", line, got)
		}
	}
	for _, line := range []string{
		"", `192.0.2.1 - - [02/Mar/2026:03:10:00 +0000] "GET /v1 HTTP/1.1" 429 5 "https://h/a@b" "x"`,
		`code=503 key=7 auth: `, `{"status":200,"code":429}`, `basic`, `token`, `a://`, `a digest`,
	} {
		if got := HideSecrets(line); got != line {
			t.Errorf("%s\nshown as %s", line, got)
		}
	}
}

func FuzzHideSecrets(f *testing.F) {
	f.Add(`Authorization: Bearer x`)
	f.Add(`a://b@ cookie= eyJ..`)
	f.Fuzz(func(t *testing.T, line string) {
		once := HideSecrets(line)
		if len(once) > (len(hidden)+1)*(len(line)+1) {
			t.Errorf("%q became %q", line, once)
		}
	})
}
