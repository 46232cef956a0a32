package packet

import (
	"bytes"
	"errors"
	"unsafe"

	"golang.org/x/net/http2/hpack"

	"stormwatch/capture"
)

const (
	defaultTable = 4096     // SETTINGS_HEADER_TABLE_SIZE before any SETTINGS (RFC 9113 section 6.5.2)
	maxTable     = 64 << 10 // what is kept of a table at most, in bytes as HPACK counts them
	entryCost    = 32       // overhead of an entry (RFC 7541 section 4.1)
	maxFieldName = 64       // a longer name is none that is looked for: only its beginning is kept
)

var (
	errHPACK      = errors.New("damaged header block")
	errHPACKShort = errors.New("header block ends inside a field")
)

// headerTable is the dynamic table of one direction (RFC 7541 section 2.3.2), as
// far as its insertions have been seen. Index 62 is the newest insertion, so the
// insertions seen resolve every later reference to them, whenever the reading
// began; what was inserted before is unknown. A table that is smaller here than
// at the peers knows less, and never anything wrong. After bytes are lost it must
// be forgotten: an insertion not seen shifts every index.
//
// Values of fields that carry secrets are reduced to a number before they are kept.
type headerTable struct {
	entries []entry // from head on, oldest first
	head    int
	data    []byte // names and values, in order
	size    int    // of the entries from head on, as HPACK counts
	limit   int
}

type entry struct {
	at, value, size uint32 // where the name begins in data, the value's length, and the size as HPACK counts it
	name            uint8  // the name's length
	known, hidden   bool
}

// reset empties the table; mid tells that its beginning was not seen, so that its
// size is not known either.
func (t *headerTable) reset(mid bool) {
	t.forget()
	if t.limit = defaultTable; mid {
		t.limit = maxTable
	}
}

// forget drops all entries.
func (t *headerTable) forget() {
	t.entries, t.data, t.head, t.size = t.entries[:0], t.data[:0], 0, 0
}

// allow takes the size that the reader of the table has announced. The writer may
// use less, which it says in the header block.
func (t *headerTable) allow(size uint32) {
	t.limit = max(t.limit, int(min(size, maxTable)))
}

// resize takes the size that the writer of the table uses from now on.
func (t *headerTable) resize(size uint64) {
	t.limit = int(min(size, maxTable))
	t.evict()
}

func (t *headerTable) evict() {
	for t.size > t.limit && t.head < len(t.entries) {
		t.size -= int(t.entries[t.head].size)
		t.head++
	}
}

// get finds the field of an index.
func (t *headerTable) get(i uint64, f *headerField) {
	f.known, f.hidden, f.name, f.value = false, false, nil, nil
	switch {
	case i < firstDynamic:
		f.known, f.name, f.value = true, staticFields[i].name, staticFields[i].value
		return
	case i-firstDynamic >= uint64(len(t.entries)-t.head):
		return
	}
	e := &t.entries[len(t.entries)-1-int(i-firstDynamic)]
	if f.known = e.known; !e.known {
		return
	}
	f.name = t.data[e.at:][:e.name]
	f.value = t.data[e.at+uint32(e.name):][:e.value]
	if f.hidden = e.hidden; e.hidden {
		f.hash, f.value = be.Uint64(f.value), nil
	}
}

// insert adds a field. Its slices may be parts of the table.
func (t *headerTable) insert(f *headerField, secrets capture.Secrets) {
	e := entry{size: uint32(entryCost + len(f.name) + len(f.value))}
	if int(e.size) > t.limit { // RFC 7541 section 4.4: the table is emptied
		t.forget()
		return
	}
	t.size += int(e.size)
	t.evict()
	var buf [maxFieldName]byte
	name := buf[:copy(buf[:], f.name)] // out of the table, which moves
	long := len(f.name) > maxFieldName
	t.settle()
	if e.at, e.known = uint32(len(t.data)), f.known; e.known {
		e.name = uint8(len(name))
		t.data = append(t.data, name...)
		switch {
		case long: // none that is looked for
		case secretField(name):
			e.hidden = true
			t.data = be.AppendUint64(t.data, secrets.Holder(bytes.TrimSpace(f.value)))
		case string(name) == ":path":
			t.data = capture.AppendMasked(t.data, f.value)
		default:
			t.data = append(t.data, f.value...)
		}
		e.value = uint32(len(t.data)) - e.at - uint32(e.name)
		if !long {
			f.name = t.data[e.at:][:e.name]
		}
	}
	t.entries = append(t.entries, e)
}

// settle moves what is in use to the front, once more is not.
func (t *headerTable) settle() {
	const worth = 64 // entries
	unused := len(t.data)
	if t.head < len(t.entries) {
		unused = int(t.entries[t.head].at)
	}
	if (t.head < worth || t.head < len(t.entries)/2) && unused <= t.limit {
		return
	}
	n := copy(t.entries, t.entries[t.head:])
	t.entries, t.head = t.entries[:n], 0
	t.data = t.data[:copy(t.data, t.data[unused:])]
	for i := range t.entries {
		t.entries[i].at -= uint32(unused)
	}
}

// kept is how many bytes the table holds on to.
func (t *headerTable) kept() int { return cap(t.data) + cap(t.entries)*int(unsafe.Sizeof(entry{})) }

// secretField tells whether a field's value must not be kept. Addresses of pages
// may carry a secret in their query.
func secretField(name []byte) bool {
	switch string(name) {
	case "cookie", "set-cookie", "referer", "location", "content-location":
		return true
	}
	return capture.SecretName(name)
}

// headerField is one field of a header block. Where it is not known, it was
// inserted before the reading began; where it is hidden, only the hash of its
// value is known. Its slices are valid until the next one is read.
type headerField struct {
	name, value   []byte
	hash          uint64
	known, hidden bool
}

// headerReader reads the fields of a header block (RFC 7541 section 6).
type headerReader struct {
	table   *headerTable
	secrets capture.Secrets
	b       []byte
	text    [2]plain // Huffman decoded name and value
	err     error
}

// plain collects what hpack.HuffmanDecode writes.
type plain []byte

func (p *plain) Write(b []byte) (int, error) {
	*p = append(*p, b...)
	return len(b), nil
}

func (r *headerReader) begin(t *headerTable, b []byte) { r.table, r.b, r.err = t, b, nil }

// next reads one field. It is false at the end, with err set where the block is
// damaged; the table then is of no use any more.
func (r *headerReader) next(f *headerField) bool {
	for len(r.b) > 0 && r.err == nil {
		c := r.b[0]
		switch {
		case c&0x80 != 0: // indexed, section 6.1
			i := r.number(7)
			if r.err != nil || i == 0 {
				return r.fail()
			}
			r.table.get(i, f)
			return true
		case c&0xe0 == 0x20: // size of the table, section 6.3
			if size := r.number(5); r.err == nil {
				r.table.resize(size)
			}
		case c&0xc0 == 0x40: // literal with indexing, section 6.2.1
			if !r.literal(f, 6) {
				return r.fail()
			}
			r.table.insert(f, r.secrets)
			return true
		default: // literal without indexing, sections 6.2.2 and 6.2.3
			if !r.literal(f, 4) {
				return r.fail()
			}
			return true
		}
	}
	return false
}

func (r *headerReader) fail() bool {
	if r.err == nil {
		r.err = errHPACK
	}
	return false
}

func (r *headerReader) literal(f *headerField, prefix uint) bool {
	i := r.number(prefix)
	if r.err != nil {
		return false
	}
	if i == 0 {
		f.known, f.name = true, r.string(0)
	} else {
		r.table.get(i, f)
	}
	f.hidden = false
	f.value = r.string(1)
	return r.err == nil
}

// number reads an integer (section 5.1); 32 bits are more than any may need.
func (r *headerReader) number(prefix uint) uint64 {
	most := uint64(1)<<prefix - 1
	n := uint64(r.b[0]) & most
	r.b = r.b[1:]
	if n < most {
		return n
	}
	for shift := uint(0); shift < 32; shift += 7 {
		if len(r.b) == 0 {
			r.err = errHPACKShort
			return 0
		}
		c := r.b[0]
		r.b = r.b[1:]
		if n += uint64(c&0x7f) << shift; c&0x80 == 0 {
			return n
		}
	}
	r.err = errHPACK
	return 0
}

// string reads a string literal (section 5.2).
func (r *headerReader) string(which int) []byte {
	if r.err == nil && len(r.b) == 0 {
		r.err = errHPACKShort
	}
	if r.err != nil {
		return nil
	}
	huffman := r.b[0]&0x80 != 0
	n := r.number(7)
	if r.err != nil {
		return nil
	}
	if n > uint64(len(r.b)) {
		r.err = errHPACKShort
		return nil
	}
	s := r.b[:n]
	r.b = r.b[n:]
	if !huffman {
		return s
	}
	text := &r.text[which]
	*text = (*text)[:0]
	if _, err := hpack.HuffmanDecode(text, s); err != nil {
		r.err = errHPACK
		return nil
	}
	return *text
}
