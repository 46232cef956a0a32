package prometheus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"

	"stormwatch/capture"
)

// answer is the envelope of the query API
// (https://prometheus.io/docs/prometheus/latest/querying/api/).
type answer struct {
	Status    string          `json:"status"`
	Data      json.RawMessage `json:"data"`
	ErrorType string          `json:"errorType"`
	Error     string          `json:"error"`
	Warnings  []string        `json:"warnings"`
	Partial   bool            `json:"isPartial"` // VictoriaMetrics
}

// matrix is the data of a query_range answer.
type matrix struct {
	ResultType string      `json:"resultType"`
	Result     []rawSeries `json:"result"`
}

type rawSeries struct {
	Metric     model.Metric      `json:"metric"`
	Values     []sample          `json:"values"`
	Histograms []json.RawMessage `json:"histograms"`
}

// sample is one [seconds, "value"] pair. One that is none of that is kept as
// such, so that it costs itself and not the whole answer.
type sample struct {
	ms  int64
	v   float64
	bad bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *sample) UnmarshalJSON(b []byte) error {
	s.bad = true
	b = bytes.TrimSpace(b)
	if len(b) < 2 || b[0] != '[' {
		return nil
	}
	at, value, ok := bytes.Cut(b[1:len(b)-1], []byte(","))
	if !ok {
		return nil
	}
	seconds, err1 := strconv.ParseFloat(string(bytes.TrimSpace(at)), 64)
	v, err2 := strconv.ParseFloat(strings.Trim(string(bytes.TrimSpace(value)), `"`), 64)
	if err1 != nil || err2 != nil || !(seconds >= minSeconds && seconds <= maxSeconds) {
		return nil
	}
	*s = sample{ms: int64(math.Round(seconds * 1000)), v: v}
	return nil
}

const (
	minSeconds = 365 * 86400   // 1971: a smaller one is no time of day
	maxSeconds = 9_200_000_000 // int64 nanoseconds end there

	maxAnswer = 64 << 20 // bytes of a saved answer; 11,000 points of 100 codes are 30 MB
	maxSeries = 4096     // there are a few dozen status codes
)

// errTooLarge is given for an answer that exceeds its bound. It is an error, not
// a silent cut: half a picture looks like a calm one.
var errTooLarge = errors.New("larger than this program reads: ask for a shorter range or a wider step")

// readAll reads at most limit bytes.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, errTooLarge
	}
	return b, nil
}

// open reads the envelope; a server's own error becomes one here.
func open(b []byte) (answer, error) {
	var a answer
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if err := json.Unmarshal(b, &a); err != nil {
		return a, notJSON(b, err)
	}
	if a.Status != "success" {
		if a.Error == "" {
			return a, errors.New(`no answer of the Prometheus query API: "status":"success" is missing`)
		}
		return a, fmt.Errorf("the server answered %s: %s", orUnnamed(a.ErrorType), capture.Clean(a.Error))
	}
	return a, nil
}

func notJSON(b []byte, err error) error {
	var syntax *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(b)) == 0:
		return errors.New("the answer is empty")
	case bytes.HasPrefix(bytes.TrimSpace(b), []byte("<")):
		return errors.New("the answer is a web page, not JSON: is this the Prometheus server itself, or a login before it?")
	case errors.As(err, &syntax):
		return fmt.Errorf("not valid JSON at byte %d: %w", syntax.Offset, err)
	}
	return fmt.Errorf("not the JSON of a query_range answer: %w", err)
}

func orUnnamed(s string) string {
	if s == "" {
		return "an error"
	}
	return capture.Clean(s)
}

// series are the samples of one label set.
type series struct {
	key     string // its labels, to know it again in the next answer
	kind    kind
	samples []sample
}

// series reads the matrix of an answer. coded tells whether its series carry a
// status code.
func (a *answer) series(h *capture.Health) (out []series, coded bool, err error) {
	var m matrix
	if err := json.Unmarshal(a.Data, &m); err != nil {
		return nil, false, fmt.Errorf("not the data of a query_range answer: %w", err)
	}
	if m.ResultType != "matrix" {
		return nil, false, fmt.Errorf("resultType is %q, a matrix is needed: save the answer of /api/v1/query_range", capture.Clean(m.ResultType))
	}
	if len(m.Result) > maxSeries {
		return nil, false, fmt.Errorf("%d series, at most %d are read: aggregate with sum by (code)", len(m.Result), maxSeries)
	}
	label := codeLabel(m.Result)
	for _, r := range m.Result {
		if err := rawCounter(r.Metric); err != nil {
			return nil, false, err
		}
		s := series{key: r.Metric.String(), samples: r.Values}
		if label != "" {
			s.kind = kindOf(string(r.Metric[label]))
		}
		for range r.Histograms {
			h.Read++
			h.Skip("a histogram, not a number", s.key)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b series) int { return strings.Compare(a.key, b.key) })
	a.remarks(h)
	return out, label != "", nil
}

// remarks keeps what the server says of its own answer.
func (a *answer) remarks(h *capture.Health) {
	for _, w := range a.Warnings {
		h.Skip("warning of the server", w)
	}
	if a.Partial {
		h.Skip("the server says that its answer is partial", "")
	}
}

func codeLabel(all []rawSeries) model.LabelName {
	for _, name := range codeLabels {
		for _, r := range all {
			if _, ok := r.Metric[model.LabelName(name)]; ok {
				return model.LabelName(name)
			}
		}
	}
	return ""
}

// rawCounter refuses series that were never put through rate(), which drops the
// name: their values would be read as absurd rates.
func rawCounter(metric model.Metric) error {
	name := string(metric[model.MetricNameLabel])
	for _, suffix := range []string{"_total", "_count", "_sum", "_bucket"} {
		if strings.HasSuffix(name, suffix) {
			return fmt.Errorf("holds the raw counter %s: save the answer to sum by (code) (rate(%s[1m]))", capture.Clean(name), capture.Clean(name))
		}
	}
	return nil
}
