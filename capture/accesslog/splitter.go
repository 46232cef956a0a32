package accesslog

import "bytes"

// maxLine bounds a line: JSON logs with headers and audit logs with bodies write
// lines of hundreds of KiB.
const maxLine = 1 << 20

// splitter cuts chunks into lines. Whole lines are not copied; one that spans
// chunks is put together in a buffer of at most maxLine bytes.
type splitter struct {
	each  func(line []byte, end lineEnd) error
	carry []byte
	long  bool // inside a line longer than maxLine
	hole  func()
	holed bool // NUL bytes before the present line have been told
}

// lineEnd says how a line ended.
type lineEnd uint8

const (
	whole    lineEnd = iota // with a newline
	unended                 // with the input
	overlong                // it was longer than maxLine: its text is the first part
)

func (s *splitter) add(data []byte) error {
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			s.keep(data)
			return nil
		}
		line := data[:i]
		data = data[i+1:]
		if len(s.carry) > 0 || s.long {
			s.keep(line)
			line = s.carry
		}
		end := whole
		if s.long || len(line) > maxLine {
			line, end = line[:min(len(line), maxLine)], overlong
		}
		err := s.each(line, end)
		s.carry, s.long, s.holed = s.carry[:0], false, false
		if err != nil {
			return err
		}
	}
	return nil
}

// keep holds back a part of a line.
func (s *splitter) keep(part []byte) {
	if len(s.carry) == 0 && !s.long { // a hole that copytruncate left may be of any size
		text := bytes.TrimLeft(part, "\x00")
		if len(text) < len(part) && !s.holed && s.hole != nil {
			s.hole()
			s.holed = true
		}
		part = text
	}
	room := maxLine - len(s.carry)
	if len(part) > room {
		part, s.long = part[:room], true
	}
	s.carry = append(s.carry, part...)
}

// end gives the last line, if no newline ended it.
func (s *splitter) end() error {
	if len(s.carry) == 0 {
		return nil
	}
	end := unended
	if s.long {
		end = overlong
	}
	err := s.each(s.carry, end)
	s.carry, s.long = s.carry[:0], false
	return err
}
