package loadtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"testing"
	"time"

	"stormwatch/capture"
)

// What a server says of its limit and of why it refuses counts wherever an output has
// headers and bodies: a wait in milliseconds, the end of a window, an advice, a no in a
// body, and the client's own count.
func TestAnswersOfServers(t *testing.T) {
	har := func(status int, asked, answer, media, body string) string {
		list := func(block string) (out []field) { return append([]field{}, fieldsOf(block)...) }
		e := map[string]any{
			"startedDateTime": "2026-11-30T08:11:06.250Z", "time": 1,
			"request":  map[string]any{"method": "GET", "url": "http://api/a", "headers": list(asked)},
			"response": map[string]any{"status": status, "headers": list(answer), "content": map[string]string{"mimeType": media, "text": body}},
		}
		b, err := json.Marshal(map[string]any{"entries": []any{e}})
		if err != nil {
			t.Fatal(err)
		}
		return `{"log":{"creator":{},` + string(b[1:]) + "}"
	}
	jmeter := func(status int, asked, answer, media, body string) string {
		if media != "" {
			answer += "\nContent-Type: " + media
		}
		return fmt.Sprintf(`<testResults><httpSample t="1" ts="1796026266250" lb="L" rc="%d"><requestHeader>%s</requestHeader><responseHeader>HTTP/1.1 %d
%s</responseHeader><responseData>%s</responseData></httpSample></testResults>`, status, asked, status, answer, html.EscapeString(body))
	}
	vegeta := func(status int, _, answer, media, body string) string {
		h := http.Header{}
		for _, f := range fieldsOf(answer) {
			h.Add(f.Name, f.Value)
		}
		if media != "" {
			h.Set("Content-Type", media)
		}
		b, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"attack":"","seq":0,"code":%d,"timestamp":"2026-11-30T08:11:06.250Z","latency":1000000,"method":"GET","url":"http://api/a","body":"%s","headers":%s}`+"\n",
			status, base64.StdEncoding.EncodeToString([]byte(body)), b)
	}
	for output, write := range map[string]func(status int, asked, answer, media, body string) string{"HAR": har, "JMeter XML": jmeter, "vegeta JSON": vegeta} {
		read := func(status int, asked, answer, media, body string) capture.Exchange {
			text := write(status, asked, answer, media, body)
			if !Detect([]byte(text)) {
				t.Fatalf("%s is not known: %s", output, text)
			}
			out := mustRead(t, text)
			if len(out.rows) != 1 {
				t.Fatalf("%s: %d rows of %s", output, len(out.rows), text)
			}
			return out.rows[0].Exchange
		}
		if x := read(429, "", "Retry-After: 2\nretry-after-ms: 1500", "", ""); x.Hint.Wait != int64(1500*time.Millisecond) {
			t.Errorf("%s: milliseconds: %+v", output, x.Hint)
		}
		if x := read(429, "", "RateLimit-Remaining: 0\nRateLimit-Reset: 7", "", ""); x.Hint.State != capture.Present || x.Hint.Wait != int64(7*time.Second) || !x.Limit.Exhausted() {
			t.Errorf("%s: a window: %+v, %+v", output, x.Hint, x.Limit)
		}
		if x := read(429, "", "X-Should-Retry: false", "", ""); x.Advice != capture.MustNotRetry {
			t.Errorf("%s: advice: %v", output, x.Advice)
		}
		if x := read(200, "", "", "application/json", `{"error":{"code":"rate_limit_exceeded"}}`); !x.Failed() {
			t.Errorf("%s: a no under 200 is taken for a yes: %v", output, x.Reason)
		}
		if x := read(200, "", "", "application/json", `{"items":[]}`); x.Failed() || x.Hint.State != capture.Absent {
			t.Errorf("%s: %v, %v", output, x.Reason, x.Hint.State)
		}
		if x := read(429, "x-stainless-retry-count: 2", "", "", ""); output != "vegeta JSON" && x.Attempt.N == 0 {
			t.Errorf("%s: the client's count is not read", output)
		}
	}
}
