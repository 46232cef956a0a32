package accesslog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

// Records in one document are read as lines are, however they are laid out.
func TestDocuments(t *testing.T) {
	const gcp = `{"httpRequest":{"requestMethod":"GET","requestUrl":"https://e.com/%d?a={\"]","status":429,"remoteIp":"192.0.2.1","latency":"0.250s"},"timestamp":"2026-11-30T08:11:06.250Z","jsonPayload":{"statusDetails":"x"}}`
	var objects, pretty []string
	for i := range 5 {
		o := fmt.Sprintf(gcp, i)
		var v any
		if err := json.Unmarshal([]byte(o), &v); err != nil {
			t.Fatal(err)
		}
		text, err := json.MarshalIndent(v, "  ", "  ")
		if err != nil {
			t.Fatal(err)
		}
		objects, pretty = append(objects, o), append(pretty, string(text))
	}
	for name, text := range map[string]string{
		"lines":                 strings.Join(objects, "\n") + "\n",
		"an array":              "[" + strings.Join(objects, ",") + "]",
		"an array of gcloud's":  "[\n  " + strings.Join(pretty, ",\n  ") + "\n]\n",
		"records":               `{"records":[` + strings.Join(objects, ",") + `]}`,
		"records, laid out":     "{\n \"records\" : [\n" + strings.Join(pretty, ",") + "]}",
		"objects laid out":      strings.Join(pretty, "\n") + "\n",
		"an array that is torn": "[" + strings.Join(objects, ",") + `,{"httpRequest":{"requ`,
	} {
		for _, bytewise := range []bool{false, true} {
			if bytewise && !strings.HasPrefix(name, "lines") {
				continue // a document is known by its first bytes together
			}
			r := iotest.DataErrReader(strings.NewReader(text))
			if bytewise {
				r = iotest.OneByteReader(r)
			}
			out, err := readAll(t, r, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(out.rows) != 5 || out.rows[4].target != `/4?a={"]` || out.rows[4].At.A != 5 || out.health.Truncated != strings.HasSuffix(name, "torn") {
				t.Errorf("%s: %d rows, %+v", name, len(out.rows), out.health)
			}
		}
		if !Detect([]byte(text)) {
			t.Errorf("%s: not found to be a log", name)
		}
	}
}

// Keys that servers' own examples use.
func TestUsualJSON(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		took int64
		src  string
	}{
		"ingress-nginx":  {`{"time":"2026-11-30T08:11:06+00:00","remote_addr":"10.0.0.1","x_forward_for":"192.0.2.1","request_id":"r","remote_user":"","bytes_sent":1,"request_time":0.250,"status":429,"vhost":"e","request_proto":"HTTP/1.1","path":"/a","request_query":"b=1","request_length":1,"duration":0.250,"method":"GET","http_referrer":"","http_user_agent":"x"}`, 250e6, "10.0.0.1"},
		"common in Asia": {`{"@timestamp":"2026-11-30T08:11:06+00:00","host":"10.0.0.9","clientip":"192.0.2.1","size":1,"responsetime":0.250,"upstreamtime":"0.250","upstreamhost":"10.0.0.2:80","http_host":"e","url":"/a?b=1","xff":"-","status":"429"}`, 0, "192.0.2.1"},
		"Elastic":        {`{"@timestamp":"2026-11-30T08:11:06.000Z","event":{"duration":250000000},"http":{"request":{"method":"GET"},"response":{"status_code":429}},"url":{"original":"/a?b=1","domain":"e"},"source":{"ip":"192.0.2.1"},"user_agent":{"original":"x"}}`, 250e6, "192.0.2.1"},
		"Go":             {`{"ts":1796026266,"method":"GET","uri":"/a?b=1","host":"e","status":429,"latency":"250ms","remote_ip":"192.0.2.1"}`, 250e6, "192.0.2.1"},
	} {
		text := strings.Repeat(c.line+"\n", 3)
		if !Detect([]byte(text)) {
			t.Errorf("%s: not found", name)
		}
		out := mustRead(t, text, Options{})
		if len(out.rows) != 3 {
			t.Errorf("%s: %+v", name, out.health.Skipped)
			continue
		}
		if x := out.rows[0]; x.Status != 429 || x.End-x.Start != c.took || x.target != "/a?b=1" || x.host != "e" || x.Src.String() != c.src || x.End != utc0811*second {
			t.Errorf("%s: %+v %q %q", name, x.Exchange, x.target, x.host)
		}
	}
}

// One duration after combined is the request's; the clock stays coarse.
func TestDurationAfterCombined(t *testing.T) {
	out := mustRead(t, strings.Replace(msLine, " 1796026266.123", "", 1)+"\n", Options{})
	if x := out.rows[0]; x.End-x.Start != 4e6 || out.health.Resolution != second {
		t.Errorf("%+v, clock %d", x.Exchange, out.health.Resolution)
	}
}

func FuzzDocuments(f *testing.F) {
	f.Add([]byte(`[{"a":1},{"status":200,"time":1796026266,"url":"/","method":"GET"}]`))
	f.Add([]byte("{\n\"records\":[{\"a\":\"\\\"]\"},"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := newDocuments(text, func(line []byte, end lineEnd) error {
			if len(line) == 0 || line[0] != '{' || end == whole && line[len(line)-1] != '}' || len(line) > len(text) {
				t.Errorf("%q of %q", line, text)
			}
			return nil
		})
		if d != nil {
			_ = d.add(text)
			_ = d.end()
		}
	})
}
