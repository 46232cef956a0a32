package loadtest

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds a line: vegeta writes bodies into its own.
const maxLine = 16 << 20

// eachLine calls f with each line that is not blank.
func eachLine(r *bufio.Reader, o *output, f func(line []byte) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), maxLine)
	for s.Scan() {
		o.place++
		line := bytes.Trim(s.Bytes(), " \t\r\x00")
		if o.place == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if len(line) == 0 {
			continue
		}
		if err := f(line); err != nil {
			return err
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line longer than %d MiB", maxLine>>20)
	}
	return s.Err()
}

// eachRow calls f with each row of a CSV; the row is valid until f returns.
func eachRow(r *bufio.Reader, o *output, f func(row []string) error) error {
	c := csv.NewReader(io.LimitReader(r, 1<<62))
	c.FieldsPerRecord, c.LazyQuotes, c.ReuseRecord = -1, true, true
	for {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		line, _ := c.FieldPos(0)
		o.place = uint64(line)
		var torn *csv.ParseError
		switch {
		case errors.As(err, &torn):
			o.place = uint64(torn.Line)
			err = o.skip(broken, torn.Error())
		case err == nil:
			err = f(row)
		}
		if err != nil {
			return err
		}
	}
}

// columns finds cells by the names of a header.
type columns map[string]int

func columnsOf(row []string) columns {
	c := columns{}
	for i, name := range row {
		c[strings.Clone(strings.TrimPrefix(name, "\xef\xbb\xbf"))] = i
	}
	return c
}

// get returns a cell, "" where the row or the header has none.
func (c columns) get(row []string, name string) string {
	if i, ok := c[name]; ok && i < len(row) {
		return row[i]
	}
	return ""
}
