package prometheus

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

// collected is what a whole run gave.
type collected struct {
	tallies []capture.Tally
	health  capture.Health
	batches int
	mark    int64
	done    float64
}

func (c *collected) sink(b *capture.Batch) error {
	c.tallies = append(c.tallies, b.Tallies...)
	if b.Health != nil {
		c.health = *b.Health
	}
	c.batches++
	c.mark, c.done = b.Watermark, b.Done
	return nil
}

func runRange(t testing.TB, text string) collected {
	t.Helper()
	s, err := OpenRange("range.json", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if i := s.Info(); i.Kind != "prometheus" || i.Live || i.Name != "range.json" {
		t.Errorf("info %+v", i)
	}
	var c collected
	if err := s.Run(context.Background(), c.sink); err != nil {
		t.Fatal(err)
	}
	return c
}

// success wraps series into an answer.
func success(series ...string) string {
	return `{"status":"success","data":{"resultType":"matrix","result":[` + strings.Join(series, ",") + `]}}`
}

// coded is one series of a code; a value of "" leaves its step out. Steps are 10 s.
func coded(code string, values ...string) string {
	var v []string
	for i, x := range values {
		if x != "" {
			v = append(v, fmt.Sprintf(`[%d,%q]`, 1000000000+10*i, x))
		}
	}
	return `{"metric":{"code":"` + code + `"},"values":[` + strings.Join(v, ",") + `]}`
}

type counts struct{ attempts, ok, refused, failed int64 }

func countsOf(t capture.Tally) counts {
	return counts{t.Attempts.N, t.OK.N, t.Refused.N, t.Failed.N}
}

func TestKnownRates(t *testing.T) {
	c := runRange(t, success(
		coded("200", "10", "10", "2"),
		coded("301", "1", "1", "1"),
		coded("404", "0.5", "0.5", "0.5"),
		coded("429", "", "3", "9.5"), // born with the first refusal: before it, there was none
		coded("503", "0", "0.7", "0"),
	))
	want := []counts{
		{115, 110, 0, 5},
		{152, 110, 37, 42},
		{130, 30, 95, 100},
	}
	if len(c.tallies) != len(want) {
		t.Fatalf("%d tallies: %+v", len(c.tallies), c.tallies)
	}
	for i, x := range c.tallies {
		if got := countsOf(x); got != want[i] {
			t.Errorf("step %d: %+v, want %+v", i, got, want[i])
		}
		if x.Logical.Known || x.Retries.Known || !x.Attempts.Known || !x.OK.Known || !x.Refused.Known || !x.Failed.Known {
			t.Errorf("step %d: what is known: %+v", i, x)
		}
		end := (1000000000 + 10*int64(i)) * int64(time.Second)
		if x.End != end || x.Start != end-10*int64(time.Second) {
			t.Errorf("step %d: from %d to %d", i, x.Start, x.End)
		}
	}
	if h := c.health; h.Unit != "samples" || h.Read != 14 || h.Used != 14 || h.SkippedTotal() != 0 || h.Resolution != 10*int64(time.Second) || h.SeesHints {
		t.Errorf("health %+v", h)
	}
	if c.done != 1 || c.mark != c.tallies[2].End {
		t.Errorf("done %v, watermark %d", c.done, c.mark)
	}
}

// A rate below one request a step must not vanish: the parts are carried on.
func TestFractionsAddUp(t *testing.T) {
	values := make([]string, 40)
	for i := range values {
		values[i] = "0.0125" // an eighth of a request each step
	}
	c := runRange(t, success(coded("429", values...)))
	sum := int64(0)
	for _, x := range c.tallies {
		sum += x.Refused.N
	}
	if sum != 5 {
		t.Errorf("40 steps of 0.125 requests are 5, got %d", sum)
	}
}

func TestGapsStayGaps(t *testing.T) {
	c := runRange(t, success(
		coded("200", "10", "", "10", "NaN", "10", "10", "+Inf", "-1", "10"),
		coded("429", "1", "", "1", "1", "", "1", "1", "1", "1"),
	))
	var got []int64
	for _, x := range c.tallies {
		got = append(got, x.End/int64(time.Second)-1000000000)
	}
	if want := "[0 20 50 80]"; fmt.Sprint(got) != want {
		t.Errorf("steps at %v, want %s: a step is a gap where any sample is missing", got, want)
	}
	h := c.health
	if h.Read != h.Used+h.SkippedTotal() || h.Used != 8 {
		t.Errorf("every sample is counted: %+v", h)
	}
	want := map[string]uint64{"not a number (NaN or stale)": 1, "infinite": 1, "negative, which no rate is": 1, missing: 4}
	for _, s := range h.Skipped {
		if s.Count != want[s.Reason] {
			t.Errorf("%s: %d, want %d", s.Reason, s.Count, want[s.Reason])
		}
		delete(want, s.Reason)
	}
	if len(want) != 0 {
		t.Errorf("not counted: %v", want)
	}
}

// A series that had traffic and is missing for long has ended: a server was
// restarted and has refused nothing since.
func TestEndedSeriesIsZeroAfterFiveMinutes(t *testing.T) {
	all, few := make([]string, 60), make([]string, 60)
	for i := range all {
		all[i] = "10"
	}
	few[0], few[1] = "1", "1" // the last at 10 s
	c := runRange(t, success(coded("200", all...), coded("429", few...)))
	if n := len(c.tallies); n != 2+60-31 {
		t.Errorf("%d tallies: gaps must last from 20 s to 300 s", n)
	}
	// One that stood at 0 lacks nothing.
	few[0], few[1] = "1", "0"
	if c = runRange(t, success(coded("200", all...), coded("429", few...))); len(c.tallies) != 60 {
		t.Errorf("%d tallies", len(c.tallies))
	}
}

func TestCodesAndLabels(t *testing.T) {
	for code, want := range map[string]kind{
		"200": good, "304": good, "101": good, "2xx": good, "3": good, "429": refused, "503": refused, "404": failed,
		"500": failed, "499": failed, "0": failed, "000": failed, "4xx": class, "5": class, "5XX": class,
		"600": other, "": other, "OK": other, "1e2": other, "-12": other, "4x4": other, "②": other,
	} {
		if got := kindOf(code); got != want {
			t.Errorf("%q: %v, want %v", code, got, want)
		}
	}
	for _, label := range codeLabels {
		text := strings.ReplaceAll(success(coded("429", "1", "1")), `"code"`, `"`+label+`"`)
		if c := runRange(t, text); c.tallies[0].Refused.N != 10 {
			t.Errorf("label %s: %+v", label, c.tallies[0])
		}
	}
}

func TestWhatIsNotSaidStaysUnknown(t *testing.T) {
	bare := runRange(t, success(`{"metric":{},"values":[[1000001000,"2"],[1000001010,"2"]]}`))
	if x := bare.tallies[0]; x.Attempts.N != 20 || !x.Attempts.Known || x.OK.Known || x.Refused.Known || x.Failed.Known {
		t.Errorf("without a code only attempts are known: %+v", x)
	}
	classes := runRange(t, success(coded("2xx", "2", "2"), coded("4xx", "1", "1")))
	if x := classes.tallies[0]; x.Refused.Known || x.Failed.N != 10 || x.OK.N != 20 {
		t.Errorf("a class does not say what was refused: %+v", x)
	}
}

func TestUnreadableAnswers(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":       {"", "empty"},
		"page":        {"<!DOCTYPE html><html>", "web page"},
		"cut":         {success(coded("200", "1", "1"))[:60], "not valid JSON"},
		"error":       {`{"status":"error","errorType":"bad_data","error":"parse error: \u001b[2Jx"}`, "bad_data: parse error: ·[2Jx"},
		"other JSON":  {`{"a":1}`, `"status":"success" is missing`},
		"vector":      {`{"status":"success","data":{"resultType":"vector","result":[]}}`, "a matrix is needed"},
		"nothing":     {success(), "fewer than two moments"},
		"one moment":  {success(coded("200", "1")), "fewer than two moments"},
		"raw counter": {success(`{"metric":{"__name__":"http_requests_total","code":"200"},"values":[[1000001000,"2"],[1000001010,"2"]]}`), "rate(http_requests_total[1m])"},
		"no step":     {success(`{"metric":{},"values":[[1000001000.001,"2"],[1000001010.012,"2"],[1000001020.029,"2"]]}`), "no common step"},
		"wrong shape": {`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"code":5}}]}}`, "not the data"},
	} {
		_, err := OpenRange("f", strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: error %v, want one line with %q", name, err, c.want)
		}
	}
}

func TestOddAnswers(t *testing.T) {
	c := runRange(t, ` {"status":"success","warnings":["store x is down"],"isPartial":true,"data":{"resultType":"matrix","result":[
		{"metric":{"code":"200"},"values":[ [ 1000001000 , "1" ], [1000001010.000,"1"], [1000001010,"7"], ["x","1"], null, [5,"1"], [1000001020,"1"] ],
		 "histograms":[[1000001000,{}]]}]}}`)
	if len(c.tallies) != 3 || c.tallies[1].OK.N != 10 {
		t.Errorf("tallies %+v", c.tallies)
	}
	want := map[string]uint64{
		`not a [time, "value"] pair`: 3, "a second sample of one moment": 1, "a histogram, not a number": 1,
		"warning of the server": 1, "the server says that its answer is partial": 1,
	}
	for _, s := range c.health.Skipped {
		if s.Count != want[s.Reason] {
			t.Errorf("%s: %d, want %d", s.Reason, s.Count, want[s.Reason])
		}
		delete(want, s.Reason)
	}
	if len(want) > 0 {
		t.Errorf("not noted: %v", want)
	}
}

func TestLongRangeComesInBatches(t *testing.T) {
	values := make([]string, 1100)
	for i := range values {
		values[i] = "1"
	}
	c := runRange(t, success(coded("200", values...)))
	if len(c.tallies) != 1100 || c.batches != 3 || c.done != 1 {
		t.Errorf("%d tallies in %d batches, done %v", len(c.tallies), c.batches, c.done)
	}
}

func TestDetectRange(t *testing.T) {
	for text, want := range map[string]bool{
		success(coded("200", "1", "1")):       true,
		"\ufeff\n" + success():                true,
		`{"status":"error","errorType":"x"}`:  true,
		`{"data":{"result":[{"metric":{}}`:    true,
		`{"a":1}`:                             false,
		`[{"resultType":1}]`:                  false,
		"":                                    false,
		"192.0.2.1 - - [30/Nov/2026:08:11:06": false,
	} {
		if got := DetectRange([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzRange(f *testing.F) {
	f.Add(success(coded("200", "10", "", "10", "NaN"), coded("429", "1", "1", "2", "3")))
	f.Add(success(coded("5xx", "1e300", "1"), coded("", "0.5", "-1")))
	f.Add(`{"status":"error","errorType":"bad_data","error":"x"}`)
	f.Add(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"code":"200"},"values":[[9e9,"1"],[1,"1"],null]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := OpenRange("f", strings.NewReader(text))
		if err != nil {
			if strings.Contains(err.Error(), "\x1b") {
				t.Errorf("an escape in %q", err)
			}
			return
		}
		var c collected
		if err := s.Run(context.Background(), c.sink); err != nil {
			t.Fatal(err)
		}
		last := int64(math.MinInt64) // a long first step may begin before 1970
		for _, x := range c.tallies {
			if x.Start >= x.End || x.Start < last {
				t.Errorf("steps overlap or go back: %+v", x)
			}
			last = x.End
			for _, n := range []capture.Count{x.Attempts, x.OK, x.Refused, x.Failed} {
				if n.N < 0 || n.Known && n.N > x.Attempts.N {
					t.Errorf("counts %+v", x)
				}
			}
		}
		if c.health.Used > c.health.Read {
			t.Errorf("health %+v", c.health)
		}
	})
}
