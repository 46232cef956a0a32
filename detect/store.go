package detect

import (
	"fmt"
	"io"
	"os"
	"slices"
	"unsafe"

	"stormwatch/capture"
)

// record is an exchange as the engine keeps it: the source's symbols replaced by
// the engine's own, and the groups it counts in. It holds no pointer.
type record struct {
	capture.Exchange
	client uint32
	route  uint16
	agent  uint8 // group, from 1; 0 stands for the whole population
	source uint8
}

const (
	recordBytes  = int64(unsafe.Sizeof(record{}))
	chunkRecords = 2048
)

// chunk is a run of records and the texts that their Targets name.
type chunk struct {
	recs []record
	text []byte
	off  int64 // in the store's file, if it was written out
	n, t int32 // records and bytes of text, once written out
}

func (c *chunk) target(r *record) []byte { return c.text[r.Target.Off:][:r.Target.Len] }

func (c *chunk) add(r *record, target []byte) {
	if len(c.recs) == cap(c.recs) { // twice as many, since append would copy each five times over
		c.recs = slices.Grow(c.recs, max(len(c.recs), 64))
	}
	if need := len(c.text) + len(target); need > cap(c.text) {
		c.text = slices.Grow(c.text, max(len(c.text), len(target), 1<<10))
	}
	c.recs = append(c.recs, *r)
	c.recs[len(c.recs)-1].Target = capture.Span{Off: uint32(len(c.text)), Len: uint32(len(target))}
	c.text = append(c.text, target...)
}

// store is an append-only sequence of records. What exceeds the memory it was
// given is written to a temporary file, which only this process reads and which
// has no name once it is open.
type store struct {
	chunks []chunk
	last   chunk
	mem    *budget
	dir    string
	file   *os.File
	end    int64
}

// budget is memory that several stores share.
type budget struct{ left int64 }

func (s *store) append(r *record, target []byte) error {
	if s.last.recs == nil {
		s.last.recs = make([]record, 0, chunkRecords)
	}
	s.last.add(r, target)
	if len(s.last.recs) == chunkRecords || len(s.last.text) > 1<<20 {
		return s.flush()
	}
	return nil
}

// flush closes the chunk being filled; after it, cursors see every record.
func (s *store) flush() error {
	if len(s.last.recs) == 0 {
		return nil
	}
	size := int64(cap(s.last.recs))*recordBytes + int64(cap(s.last.text))
	if s.mem.left >= size {
		s.mem.left -= size
		s.chunks = append(s.chunks, s.last)
		s.last = chunk{text: make([]byte, 0, len(s.last.text)+len(s.last.text)/8)} // as much as that one, or little more
		return nil
	}
	if err := s.spill(&s.last); err != nil {
		return err
	}
	s.last.recs, s.last.text = s.last.recs[:0], s.last.text[:0]
	return nil
}

func (s *store) spill(c *chunk) error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "stormwatch-spool-*")
		if err != nil {
			return fmt.Errorf("no room in memory and no temporary file (set TMPDIR to a writable folder): %w", err)
		}
		s.file = f
		_ = os.Remove(f.Name()) // best effort: some systems cannot remove an open file, close removes it there
	}
	out := chunk{off: s.end, n: int32(len(c.recs)), t: int32(len(c.text))}
	for _, b := range [][]byte{rawBytes(c.recs), c.text} {
		if _, err := s.file.WriteAt(b, s.end); err != nil {
			return fmt.Errorf("writing the spool (is the disk of %s full?): %w", s.file.Name(), err)
		}
		s.end += int64(len(b))
	}
	s.chunks = append(s.chunks, out)
	return nil
}

// rawBytes views records as the bytes they are: they hold no pointer, and the
// file they go to is read by this process alone.
func rawBytes(recs []record) []byte {
	if len(recs) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&recs[0])), len(recs)*int(recordBytes))
}

func (s *store) close() error {
	s.chunks, s.last = nil, chunk{}
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	_ = os.Remove(s.file.Name()) // already gone where that was possible
	s.file = nil
	return err
}

// cursor reads a store in order. Several may read one store.
type cursor struct {
	s    *store
	next int // chunk to load
	i    int // record in cur
	cur  chunk
	buf  chunk // reused for chunks read back from the file
}

// at returns the number of records read, which seek takes.
func (c *cursor) at() (chunkIndex, i int) { return c.next, c.i }

func (c *cursor) seek(chunkIndex, i int) error {
	c.cur, c.next, c.i = chunk{}, max(chunkIndex-1, 0), 0
	if chunkIndex == 0 {
		return nil
	}
	if err := c.load(); err != nil {
		return err
	}
	c.i = i
	return nil
}

func (c *cursor) load() error {
	k := &c.s.chunks[c.next]
	c.next++
	c.i = 0
	if k.recs != nil {
		c.cur = *k
		return nil
	}
	if cap(c.buf.recs) < int(k.n) {
		c.buf.recs = make([]record, k.n)
	}
	c.buf.recs = c.buf.recs[:k.n]
	if cap(c.buf.text) < int(k.t) {
		c.buf.text = make([]byte, k.t)
	}
	c.buf.text = c.buf.text[:k.t]
	raw := rawBytes(c.buf.recs)
	if _, err := c.s.file.ReadAt(raw, k.off); err != nil {
		return fmt.Errorf("reading the spool back: %w", err)
	}
	if _, err := c.s.file.ReadAt(c.buf.text, k.off+int64(len(raw))); err != nil {
		return fmt.Errorf("reading the spool back: %w", err)
	}
	c.cur = c.buf
	return nil
}

// peek returns the next record without passing it; io.EOF after the last.
func (c *cursor) peek() (*record, error) {
	for c.i >= len(c.cur.recs) {
		if c.next >= len(c.s.chunks) {
			return nil, io.EOF
		}
		if err := c.load(); err != nil {
			return nil, err
		}
	}
	return &c.cur.recs[c.i], nil
}
