package accesslog

import "bytes"

// Detect tells whether head, the first bytes of an input, is a log that this
// package reads.
func Detect(head []byte) bool { return Sniff(head, nil).Sure() }

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	newline       = []byte("\n")
)

// trimLine removes what surrounds a line: the CR of Windows tools, blanks, and
// the NUL bytes that copytruncate leaves before the first line after it.
func trimLine(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == 0 }

// Compressed names the compression in which an input comes whose first bytes
// are head, and the program that undoes it; "" if it is none known. Compressed
// input is not read yet.
func Compressed(head []byte) (kind, program string) {
	for _, c := range [...]struct{ magic, kind, program string }{
		{"\x1f\x8b", "gzip", "zcat"},
		{"\x28\xb5\x2f\xfd", "zstd", "zstdcat"},
		{"BZh", "bzip2", "bzcat"},
		{"\xfd7zXZ\x00", "xz", "xzcat"},
	} {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return c.kind, c.program
		}
	}
	return "", ""
}
