package loadtest

import (
	"bufio"
	"strconv"
	"strings"

	"stormwatch/capture"
)

func isHey(head []byte) bool { return strings.HasPrefix(firstLine(head), "response-time,DNS+dialup") }

// readHey reads rows of hey -o csv: seconds, and the start as an offset from the
// beginning of the run.
func readHey(r *bufio.Reader, o *output) error {
	var c columns
	return eachRow(r, o, func(row []string) error {
		if c == nil {
			c = columnsOf(row)
			return o.aside()
		}
		took, err1 := strconv.ParseFloat(c.get(row, "response-time"), 64)
		offset, err2 := strconv.ParseFloat(c.get(row, "offset"), 64)
		code, err3 := strconv.Atoi(c.get(row, "status-code"))
		if err1 != nil || err2 != nil || err3 != nil || !(offset >= 0 && offset < 1e9 && took >= 0 && took < 1e9) {
			return o.skip(broken, strings.Join(row, ","))
		}
		start := int64(offset * 1e9)
		return o.add(&result{start: start, end: start + int64(took*1e9), step: relative, status: code})
	})
}

func isLocust(head []byte) bool {
	return strings.HasPrefix(firstLine(head), "Timestamp,User Count,Type,Name,Requests/s")
}

// readLocust reads the running totals of stats_history, which are of all
// requests together in the rows named Aggregated.
func readLocust(r *bufio.Reader, o *output) error {
	var c columns
	var at, requests, failures int64
	o.coarse = second
	return eachRow(r, o, func(row []string) error {
		switch {
		case c == nil:
			c = columnsOf(row)
			return o.aside()
		case c.get(row, "Name") != "Aggregated":
			return o.aside()
		}
		now, err1 := strconv.ParseInt(c.get(row, "Timestamp"), 10, 64)
		all, err2 := strconv.ParseInt(c.get(row, "Total Request Count"), 10, 64)
		bad, err3 := strconv.ParseInt(c.get(row, "Total Failure Count"), 10, 64)
		if err1 != nil || err2 != nil || err3 != nil || now <= 0 || now > 1<<33 {
			return o.skip(broken, strings.Join(row, ","))
		}
		o.health.Read++
		o.health.Used++
		if at > 0 && now > at && all >= requests && bad >= failures {
			failed := bad - failures
			count := func(n int64) capture.Count { return capture.Count{N: n, Known: true} }
			o.batch.Tallies = append(o.batch.Tallies, capture.Tally{
				Start: at * second, End: now * second, Attempts: count(all - requests), Failed: count(failed), OK: count(all - requests - failed),
			})
			o.last = now * second
		}
		at, requests, failures = now, all, bad
		return o.turn()
	})
}

func isGatling(head []byte) bool {
	line := firstLine(head)
	return strings.HasPrefix(line, "RUN\t") && strings.Count(line, "\t") >= 3
}

// readGatling reads the text log of Gatling before 3.12: REQUEST, groups, name,
// start, end, OK or KO, message. Older versions have the user before the groups.
func readGatling(r *bufio.Reader, o *output) error {
	return eachLine(r, o, func(line []byte) error {
		cells := strings.Split(string(line), "\t")
		if cells[0] != "REQUEST" {
			return o.aside()
		}
		i := 1 // of the first of the two times
		for i+2 < len(cells) && !(isMillis(cells[i]) && isMillis(cells[i+1]) && (cells[i+2] == "OK" || cells[i+2] == "KO")) {
			i++
		}
		if i+2 >= len(cells) {
			return o.skip(broken, string(line))
		}
		start, _ := strconv.ParseInt(cells[i], 10, 64)
		end, _ := strconv.ParseInt(cells[i+1], 10, 64)
		res := &result{start: start * 1e6, end: end * 1e6, step: 1e6, url: "/" + cells[i-1]}
		switch {
		case cells[i+2] == "OK":
			res.status = 200
		case i+3 < len(cells):
			res.status = statusIn(cells[i+3])
		}
		return o.add(res)
	})
}

func isMillis(s string) bool {
	if len(s) != 13 {
		return false
	}
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// statusIn finds the status in `status.find.in(200,..), but actually found 503`:
// the last number of three digits; 0 where there is none, as for what failed in
// transport.
func statusIn(message string) int {
	words := strings.FieldsFunc(message, func(r rune) bool { return r < '0' || r > '9' })
	if !strings.Contains(message, "found") {
		return 0
	}
	for i := len(words) - 1; i >= 0; i-- {
		if n, err := strconv.Atoi(words[i]); err == nil && len(words[i]) == 3 && n >= 100 && n < 600 {
			return n
		}
	}
	return 0
}
