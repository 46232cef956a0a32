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

// bounded hands a reader's bytes to a decoder that keeps one piece whole, however
// long: a quote that is never closed would have it keep the rest of the input.
type bounded struct {
	r    io.Reader
	left int
}

// begin begins a piece.
func (b *bounded) begin() { b.left = maxLine }

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

var errLong = fmt.Errorf("a row or element longer than %d MiB: is a quote open?", maxLine>>20)

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
	in := &bounded{r: r}
	c := csv.NewReader(in)
	c.FieldsPerRecord, c.LazyQuotes, c.ReuseRecord = -1, true, true
	for {
		in.begin()
		row, err := c.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLong):
			return fmt.Errorf("behind line %d: %w", o.place, err)
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
