package loadtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

var k6Notes = []string{
	"k6 writes no headers: waits show only where a tag retry_after carries them, clients and attempts where tags do (client or vu, logical, attempt)",
}

// k6 writes several metrics of each request; this one has its duration, and its
// time is the request's end.
const k6Duration = "http_req_duration"

func isK6JSON(head []byte) bool {
	line := firstLine(head)
	return strings.HasPrefix(line, "{") && (strings.Contains(line, `"type":"Metric"`) || strings.Contains(line, `"type":"Point"`)) && strings.Contains(line, `"metric":"`)
}

func readK6JSON(r *bufio.Reader, o *output) error {
	return eachLine(r, o, func(line []byte) error {
		if !bytes.Contains(line, []byte(`"`+k6Duration+`"`)) || bytes.Contains(line, []byte(`"type":"Metric"`)) {
			return o.aside()
		}
		var p struct {
			Metric, Type string
			Data         struct {
				Time  time.Time
				Value float64
				Tags  map[string]string
			}
		}
		if err := json.Unmarshal(line, &p); err != nil || p.Data.Time.IsZero() {
			return o.skip(broken, string(line))
		}
		if p.Metric != k6Duration || p.Type != "Point" {
			return o.aside()
		}
		return o.add(k6Result(p.Data.Time.UnixNano(), 1, p.Data.Value, func(tag string) string { return p.Data.Tags[tag] }))
	})
}

// k6Result puts a point together: milliseconds, and its tags.
func k6Result(end, step int64, ms float64, tag func(string) string) *result {
	r := &result{end: end, start: end - int64(ms*1e6), step: step, method: tag("method"), url: tag("url"), logical: tag("logical")}
	if r.url == "" {
		r.url = tag("name")
	}
	if after := tag("retry_after"); after != "" {
		r.answer = []field{{"Retry-After", after}}
	}
	r.status, _ = strconv.Atoi(tag("status"))
	r.attempt, _ = strconv.Atoi(tag("attempt"))
	for _, t := range []string{"client", "vu"} {
		if r.client == "" {
			r.client = tag(t)
		}
	}
	return r
}

func isK6CSV(head []byte) bool {
	return strings.HasPrefix(firstLine(head), "metric_name,timestamp,metric_value")
}

func readK6CSV(r *bufio.Reader, o *output) error {
	var c columns
	return eachRow(r, o, func(row []string) error {
		switch {
		case c == nil:
			c = columnsOf(row)
			return o.aside()
		case row[0] != k6Duration:
			return o.aside()
		}
		end, step, ok := k6Time(c.get(row, "timestamp"))
		ms, err := strconv.ParseFloat(c.get(row, "metric_value"), 64)
		if !ok || err != nil || !(ms >= 0 && ms < 1e12) {
			return o.skip(broken, strings.Join(row, ","))
		}
		extra := k6Tags(c.get(row, "extra_tags"))
		return o.add(k6Result(end, step, ms, func(tag string) string {
			if v := c.get(row, tag); v != "" {
				return strings.Clone(v)
			}
			return extra[tag]
		}))
	})
}

// k6Time reads a time in the form that K6_CSV_TIME_FORMAT sets: seconds by
// default, which is all that is known then.
func k6Time(text string) (ns, step int64, ok bool) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t.UnixNano(), int64(time.Millisecond), true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, 0, false
	}
	switch len(text) {
	case 10:
		return n * second, second, true
	case 13:
		return n * int64(time.Millisecond), int64(time.Millisecond), true
	case 16:
		return n * int64(time.Microsecond), int64(time.Microsecond), true
	case 19:
		return n, 1, true
	}
	return 0, 0, false
}

// k6Tags reads a=b&c=d.
func k6Tags(text string) map[string]string {
	tags := map[string]string{}
	for pair := range strings.SplitSeq(text, "&") {
		if k, v, ok := strings.Cut(pair, "="); ok {
			tags[k] = v
		}
	}
	return tags
}
