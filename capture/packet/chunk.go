package packet

import "bytes"

// maxLine bounds a chunk size line, and a trailer section as a whole.
const maxLine = 16 << 10

// framing reads the lines between chunks (RFC 9112 section 7.1).
func (s *stream) framing(d int, c *chunk) bool {
	p := s.reading(d)
	if p.state == inChunkSize && len(p.buf) == 0 && p.bodiless(c.b) {
		s.finish(d, p.last)
		return true
	}
	line, ok := s.line(p, c)
	if !ok {
		if p.lines > maxLine {
			s.breakOff(d)
			return len(c.b) > 0
		}
		return false
	}
	switch p.state {
	case atChunkEnd:
		p.state = inChunkSize
	case inChunkSize:
		n, ok := chunkSize(line)
		switch {
		case !ok:
			s.breakOff(d)
			return len(c.b) > 0
		case n == 0:
			p.state = inTrailer
		default:
			p.state, p.remain, p.lines = inChunk, n, 0
		}
	case inTrailer:
		if len(line) == 0 {
			s.finish(d, c.at.t)
		}
	}
	return true
}

// line takes one line; it keeps an unfinished one. The result is valid until
// the next call.
func (s *stream) line(p *parser, c *chunk) ([]byte, bool) {
	i := bytes.IndexByte(c.b, '\n')
	if i < 0 {
		p.lines += len(c.b)
		if p.lines <= maxLine {
			s.keep(p, c.b)
		}
		c.take(len(c.b))
		return nil, false
	}
	if p.lines += i + 1; p.lines > maxLine {
		return nil, false
	}
	line := c.b[:i]
	if len(p.buf) > 0 {
		s.keep(p, line)
		line = p.buf
		s.drop(p)
	}
	c.take(i + 1)
	return trimEnd(line), true
}

// chunkSize reads a chunk's size, without its extensions.
func chunkSize(line []byte) (n int64, ok bool) {
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 || len(line) > 15 {
		return 0, false
	}
	for _, c := range line {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | int64(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}
