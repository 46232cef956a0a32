package main

import (
	"io"
	"sync/atomic"
)

// meter counts the bytes read of an input, as they lie on the disk.
type meter struct {
	in    io.Reader
	n     atomic.Int64
	total int64 // 0 unknown
}

// Read implements io.Reader.
func (m *meter) Read(b []byte) (int, error) {
	n, err := m.in.Read(b)
	m.n.Add(int64(n))
	return n, err
}

// metered is what is read of all inputs, and of how much; 0 where one does not say.
func metered(ins []input) (read, total int64) {
	known := true
	for _, in := range ins {
		if in.read == nil {
			return 0, 0
		}
		read += in.read.n.Load()
		total += in.read.total
		known = known && in.read.total > 0
	}
	if !known {
		total = 0
	}
	return read, total
}
