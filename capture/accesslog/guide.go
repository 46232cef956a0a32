package accesslog

import (
	"fmt"
	"io"
	"strings"
)

// Preset is a format known by name.
type Preset struct {
	Name     string
	About    string
	Evidence string // what it carries of retries, limits and waits
}

// Presets lists the formats known by name.
func Presets() (list []Preset) {
	for i := range presetSources {
		p := &presetSources[i]
		list = append(list, Preset{p.name, p.about, p.evidence})
	}
	for i := range schemas {
		s := &schemas[i]
		list = append(list, Preset{s.name, s.about, s.evidence})
	}
	return list
}

// Guide writes what is understood, and lines to configure servers with so that
// their logs carry what can be used here. None of them logs a credential.
func Guide(w io.Writer) error {
	var b strings.Builder
	b.WriteString("Formats found by content, or named with --log-format NAME\n\n")
	for _, p := range Presets() {
		fmt.Fprintf(&b, "  %-20s %s\n  %-20s   retries: %s\n", p.Name, p.About, "", p.Evidence)
	}
	b.WriteString("\nWraps taken off first: ")
	var names []string
	for w := wrapCRI; w < wraps; w++ {
		names = append(names, w.String())
	}
	b.WriteString(strings.Join(names, "; ") + "\n")
	b.WriteString(guide)
	_, err := io.WriteString(w, b.String())
	return err
}

const guide = `
Format strings: --log-format 'nginx:...', 'nginx-json:...', 'nginx-none:...' (escape=), 'apache:...', 'envoy:...', 'haproxy:...',
or a pattern such as '<ip> - <user> [<time>] "<request>" <status> <_> <took:ms>'. --nginx-conf FILE[:NAME] and --apache-conf FILE[:NAME]
read them from a configuration. --map status=resp.code,dur=took:ms names the keys of JSON or key=value lines.

Log lines that carry what stormwatch can use (to the millisecond, tries, request id, Retry-After, attempt headers; no credentials)

nginx, in http {}, then access_log /var/log/nginx/storm.log storm;
` + "\n" + NginxStorm + `

Apache, then CustomLog logs/storm.log storm
` + "\n" + ApacheStorm + `

Envoy, as text_format_source.inline_string of the file access log
` + "\n" + EnvoyStorm + `

HAProxy, in the frontend
` + "\n" + HAProxyStorm + `

k6, so that attempt, logical request, client and Retry-After reach the output (k6 run --out json=out.ndjson)

    import http from 'k6/http'; import { sleep } from 'k6';
    export default function () {
      const logical = __VU + '-' + __ITER;
      for (let attempt = 1; attempt <= 4; attempt++) {
        const tags = { attempt: String(attempt), logical: logical, client: 'vu-' + __VU };
        const r = http.get('http://HOST/path', { tags: tags });
        if (r.status < 429) break;
        const wait = parseFloat(r.headers['Retry-After']);
        sleep(wait >= 0 ? wait : Math.random() * 2 ** (attempt - 1));
      }
    }

vegeta, whose results keep the response headers (Retry-After) by themselves; name client and attempt in the request

    printf 'GET http://HOST/path\nX-Client: c1\nX-Attempt: 1\n' | vegeta attack -rate 20 -duration 60s | vegeta encode -to json > out.ndjson
`

// Ready formats for servers' configurations. A test compiles each of them.
const (
	NginxStorm = `    log_format storm '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" '
                     'rt=$request_time msec=$msec rid=$request_id host="$host" xff="$http_x_forwarded_for" us="$upstream_status" ua="$upstream_addr" '
                     'urt="$upstream_response_time" lrs=$limit_req_status ra="$sent_http_retry_after" date="$sent_http_date" idem="$http_idempotency_key" '
                     'amz="$http_amz_sdk_request" inv="$http_amz_sdk_invocation_id" sl="$http_x_stainless_retry_count" ea="$http_x_envoy_attempt_count"';`

	ApacheStorm = `    LogFormat "%a - - %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" usec=%{usec}t dur=%D rid=%{UNIQUE_ID}e host=\"%v\" xff=\"%{X-Forwarded-For}i\" worker=\"%{BALANCER_WORKER_NAME}e\" ra=\"%{Retry-After}o\" idem=\"%{Idempotency-Key}i\" amz=\"%{Amz-Sdk-Request}i\" inv=\"%{Amz-Sdk-Invocation-Id}i\" sl=\"%{X-Stainless-Retry-Count}i\" ea=\"%{X-Envoy-Attempt-Count}i\"" storm`

	EnvoyStorm = `    [%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %DURATION% "%DOWNSTREAM_REMOTE_ADDRESS%" "%REQ(X-FORWARDED-FOR)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%" %UPSTREAM_CLUSTER% %UPSTREAM_REQUEST_ATTEMPT_COUNT% "%RESP(RETRY-AFTER)%" "%REQ(IDEMPOTENCY-KEY)%" "%REQ(AMZ-SDK-REQUEST)%" "%REQ(AMZ-SDK-INVOCATION-ID)%" "%REQ(X-STAINLESS-RETRY-COUNT)%" "%REQ(USER-AGENT)%"\n`

	HAProxyStorm = `    unique-id-format %[uuid()]
    http-request set-var(txn.agent) req.hdr(User-Agent)
    http-request set-var(txn.xff) req.hdr(X-Forwarded-For)
    http-request set-var(txn.idempotency_key) req.hdr(Idempotency-Key)
    http-request set-var(txn.amz_sdk_request) req.hdr(Amz-Sdk-Request)
    http-request set-var(txn.x_stainless_retry_count) req.hdr(X-Stainless-Retry-Count)
    http-response set-var(txn.retry_after) res.hdr(Retry-After)
    log-format "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %ID \"%[var(txn.agent)]\" \"%[var(txn.xff)]\" \"%[var(txn.idempotency_key)]\" \"%[var(txn.amz_sdk_request)]\" \"%[var(txn.x_stainless_retry_count)]\" \"%[var(txn.retry_after)]\" %{+Q}r"`
)
