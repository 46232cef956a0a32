package loadtest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"
)

var vegetaNotes = []string{"vegeta writes no client: all of it is one, told apart by nothing"}

// vegetaResult has the fields of vegeta's Result (lib/results.go) that are used;
// gob and JSON match them by name.
type vegetaResult struct {
	Attack    string
	Seq       uint64
	Code      uint16
	Timestamp time.Time // start
	Latency   time.Duration
	Error     string
	Method    string
	URL       string
	Headers   http.Header
	Body      []byte
}

func (v *vegetaResult) result() *result {
	r := &result{
		start: v.Timestamp.UnixNano(), end: v.Timestamp.Add(v.Latency).UnixNano(), step: 1, status: int(v.Code), method: v.Method, url: v.URL,
		headers: v.Headers != nil, media: v.Headers.Get("Content-Type"),
	}
	if v.Headers.Get("Content-Encoding") == "" {
		r.body = v.Body
	}
	for _, name := range slices.Sorted(maps.Keys(v.Headers)) {
		for _, value := range v.Headers[name] {
			r.answer = append(r.answer, field{name, value})
		}
	}
	return r
}

func isVegetaJSON(head []byte) bool {
	line := firstLine(head)
	return strings.HasPrefix(line, "{") && strings.Contains(line, `"attack":`) && strings.Contains(line, `"seq":`) && strings.Contains(line, `"latency":`)
}

func readVegetaJSON(r *bufio.Reader, o *output) error {
	return eachLine(r, o, func(line []byte) error {
		var v vegetaResult
		if err := json.Unmarshal(line, &v); err != nil || v.Timestamp.IsZero() {
			return o.skip(broken, string(line))
		}
		return o.add(v.result())
	})
}

// A line of vegeta's CSV: timestamp ns, code, latency ns, bytes out, bytes in,
// error, body, attack, seq, method, url, headers; the body and the headers are
// in base64.
const vegetaColumns = 12

func isVegetaCSV(head []byte) bool {
	cells := strings.Split(firstLine(head), ",")
	if len(cells) < vegetaColumns || len(cells[0]) != 19 {
		return false
	}
	for _, c := range cells[:5] {
		if _, err := strconv.ParseInt(c, 10, 64); err != nil {
			return false
		}
	}
	return true
}

func readVegetaCSV(r *bufio.Reader, o *output) error {
	return eachRow(r, o, func(row []string) error {
		if len(row) < vegetaColumns {
			return o.skip(broken, strings.Join(row, ","))
		}
		at, err1 := strconv.ParseInt(row[0], 10, 64)
		code, err2 := strconv.ParseUint(row[1], 10, 16)
		took, err3 := strconv.ParseInt(row[2], 10, 64)
		if errors.Join(err1, err2, err3) != nil {
			return o.skip(broken, strings.Join(row, ","))
		}
		v := vegetaResult{Code: uint16(code), Timestamp: time.Unix(0, at), Latency: time.Duration(took), Method: row[9], URL: row[10]}
		v.Body, _ = base64.StdEncoding.DecodeString(row[6])
		if text, err := base64.StdEncoding.DecodeString(row[11]); err == nil && len(text) > 0 {
			head, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(text))).ReadMIMEHeader()
			if err == nil || errors.Is(err, io.EOF) {
				v.Headers = http.Header(head)
			}
		}
		return o.add(v.result())
	})
}

func isVegetaGob(head []byte) bool {
	head = head[:min(len(head), 512)]
	return bytes.Contains(head, []byte("Result")) && bytes.Contains(head, []byte("Attack")) && bytes.Contains(head, []byte("Timestamp")) && bytes.IndexByte(head, 0xff) >= 0
}

func readVegetaGob(r *bufio.Reader, o *output) error {
	d := gob.NewDecoder(r)
	for {
		var v vegetaResult
		o.place++
		if err := d.Decode(&v); err != nil {
			return err
		}
		if err := o.add(v.result()); err != nil {
			return err
		}
	}
}
