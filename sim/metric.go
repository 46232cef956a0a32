package sim

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"time"
)

// Step is the scrape interval and the step of WriteRange.
const Step = 5 * time.Second

// WriteRange writes the answer of a Prometheus query_range at a step of 5 s:
//
//	sum by (code) (rate(http_requests_total[15s]))
//
// The server counts requests by status when they end, is scraped at every
// multiple of 5 s, and its counters exist from the start. A range of 15 s then
// holds three scrapes; rate is the increase from the first to the last of them
// over those 10 s, since extrapolation to the range cancels out.
func (r *Result) WriteRange(w io.Writer) error {
	codes, at, counts := r.scrapes()
	out := bufio.NewWriter(w)
	out.WriteString(`{"status":"success","data":{"resultType":"matrix","result":[`)
	for c, code := range codes {
		if c > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n" + `{"metric":{"code":"` + strconv.Itoa(code) + `"},"values":[`)
		for i := 2; i < len(at); i++ {
			if i > 2 {
				out.WriteByte(',')
			}
			rate := float64(counts[i][c]-counts[i-2][c]) / (2 * Step).Seconds()
			out.WriteString("[" + strconv.FormatInt(at[i], 10) + `,"` + strconv.FormatFloat(rate, 'f', -1, 64) + `"]`)
		}
		out.WriteString("]}")
	}
	out.WriteString("\n]}}\n")
	return out.Flush()
}

// scrapes returns the codes in rising order, the moments of the scrapes in Unix
// seconds, and for each moment the counter of each code.
func (r *Result) scrapes() (codes []int, at []int64, counts [][]int64) {
	for i := range r.Rows {
		if code := r.Rows[i].code(); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	order, done := r.byEnd(), 0
	sum := make([]int64, len(codes))
	start := r.Scenario.Start.UnixNano()
	step := int64(Step)
	for t := (start + step - 1) / step * step; t <= start+int64(r.Scenario.Duration); t += step {
		for ; done < len(order) && r.Rows[order[done]].End <= t; done++ {
			c, _ := slices.BinarySearch(codes, r.Rows[order[done]].code())
			sum[c]++
		}
		at = append(at, t/int64(time.Second))
		counts = append(counts, slices.Clone(sum))
	}
	return codes, at, counts
}
