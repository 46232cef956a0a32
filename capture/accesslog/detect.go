package accesslog

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
