package packet

import "io"

// windowBytes is how much of an input is read at a time: little enough for the
// caches, and more than the buffer of whoever looked at its first bytes, so that
// it is not copied twice.
const windowBytes = 320 << 10

// firstBytes is what the window begins with: of many files read as one, most have
// not been reached yet, or are at their end.
const firstBytes = 16 << 10

// window shows the next bytes of an input. It grows only as far as one peek
// reaches, and never beyond 2*maxRecord.
type window struct {
	r        io.Reader
	b        []byte
	from, to int // of b, not yet passed over
	err      error
	turn     func([]byte) ([]byte, error) // nil, or which buffer to read into when more is needed
}

func (w *window) buffered() int { return w.to - w.from }

// peek shows the next n bytes, valid until the next call; fewer only with the
// error that ended the input.
func (w *window) peek(n int) ([]byte, error) {
	if w.to-w.from >= n {
		return w.b[w.from : w.from+n], nil
	}
	return w.fill(n)
}

func (w *window) fill(n int) (_ []byte, err error) {
	const idle = 100 // readings without bytes, as bufio bears them
	for empty := 0; w.to-w.from < n; {
		if err := w.err; err != nil {
			w.err = nil // told once: a followed file may go on
			return w.b[w.from:w.to], err
		}
		size := max(len(w.b), n)
		if w.from > 0 {
			size = max(size, windowBytes)
		}
		b := w.b
		if w.turn != nil {
			if b, err = w.turn(b); err != nil {
				return w.b[w.from:w.to], err
			}
		}
		if size > len(b) {
			b = make([]byte, size)
		}
		w.from, w.to, w.b = 0, copy(b, w.b[w.from:w.to]), b
		k, err := w.r.Read(w.b[w.to:])
		w.to += k
		w.err = err
		if k > 0 {
			empty = 0
		} else if empty++; err == nil && empty == idle {
			w.err = io.ErrNoProgress
		}
	}
	return w.b[w.from : w.from+n], nil
}

// discard passes over n bytes, and tells over how many.
func (w *window) discard(n int) (int, error) {
	if w.to-w.from >= n {
		w.from += n
		return n, nil
	}
	for left := n; ; {
		k := min(left, w.to-w.from)
		w.from += k
		if left -= k; left == 0 {
			return n, nil
		}
		if _, err := w.fill(1); err != nil {
			return n - left, err
		}
	}
}
