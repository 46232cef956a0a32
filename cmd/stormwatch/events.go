package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"stormwatch/detect"
	"stormwatch/report"
)

// marks are what people know to have happened: deploys, changes of a limit.
type marks struct {
	mu   sync.Mutex
	list []mark
	last []detect.Event // as placed in the span below
	from int64
	to   int64
}

// mark is a moment, or a time of day of the input.
type mark struct {
	at    int64 // 0 where only the time of day is known
	clock int64 // ns since midnight in zone
	zone  *time.Location
	text  string
}

const maxMarks = 10_000

// readMarks reads a file of events: a time and a text a line. Lines that are empty
// or begin with # are passed over.
func readMarks(r io.Reader, zone *time.Location) (*marks, error) {
	m := &marks{}
	lines := bufio.NewScanner(r)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		k, err := parseMark(line, zone)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(m.list) == maxMarks {
			return nil, fmt.Errorf("line %d: more than %d events: keep those of the incident", n, maxMarks)
		}
		m.list = append(m.list, k)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: longer than %d bytes: a time and a short text are wanted", n+1, bufio.MaxScanTokenSize)
	} else if err != nil {
		return nil, err
	}
	return m, nil
}

// parseMark reads a time, RFC 3339 or a time of day, and the text behind it.
func parseMark(line string, zone *time.Location) (k mark, err error) {
	word, text, _ := strings.Cut(line, " ")
	if at, rest, ok := strings.Cut(line, "\t"); ok && len(at) < len(word) {
		word, text = at, rest
	}
	word = strings.TrimSuffix(word, ",")
	if k.text = strings.TrimSpace(text); k.text == "" {
		return k, fmt.Errorf("%q: a text is wanted behind the time, as in 03:10:00 deploy of api 4.2", word)
	}
	if t, err := time.Parse(time.RFC3339Nano, word); err == nil {
		k.at = t.UnixNano()
		return k, nil
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, word); err == nil {
			midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
			k.clock, k.zone = int64(t.Sub(midnight)), zone
			return k, nil
		}
	}
	return k, fmt.Errorf("%q: a time is wanted first, 2026-03-02T03:10:00Z or 03:10:00 of the input's day", word)
}

// on places the marks in an input from start to end. A time of day is the first
// one within the input, else that of its first day.
func (m *marks) on(start, end int64) []detect.Event {
	if m == nil || start == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last != nil && m.from == start && m.to == end {
		return m.last
	}
	m.from, m.to, m.last = start, end, make([]detect.Event, 0, len(m.list))
	for _, k := range m.list {
		at := k.at
		if k.zone != nil {
			at = k.of(start, end)
		}
		m.last = append(m.last, detect.Event{At: at, Kind: report.Mark, Text: k.text})
	}
	return m.last
}

func (k *mark) of(start, end int64) int64 {
	day := time.Unix(0, start).In(k.zone)
	day = time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, k.zone)
	first := day.UnixNano() + k.clock
	for at := first; at <= end; {
		if at >= start {
			return at
		}
		day = day.AddDate(0, 0, 1)
		at = day.UnixNano() + k.clock
	}
	return first
}

// marked puts the marks on a snapshot.
func (m *marks) marked(s *detect.Snapshot) *detect.Snapshot {
	return report.WithMarks(s, m.on(s.Start, max(s.End, s.At)))
}

// eventMarks reads --events.
func (f *flags) eventMarks(st *streams) (*marks, error) {
	if f.events == "" {
		return nil, nil
	}
	zone, err := st.logs.zone("")
	if err != nil {
		return nil, err
	}
	if zone == nil {
		zone = time.UTC
	}
	file, err := os.Open(f.events)
	if err != nil {
		return nil, fmt.Errorf("--events: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	m, err := readMarks(file, zone)
	if err != nil {
		return nil, usage{fmt.Errorf("--events %s: %w", f.events, err)}
	}
	return m, nil
}
