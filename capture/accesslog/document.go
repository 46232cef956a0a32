package accesslog

import "bytes"

// Some logs are one JSON document, not lines of objects: an array that gcloud
// exported, records that Azure wraps, objects spread over lines for readers. The
// objects in it are taken for lines.
//
// documents finds them in chunks of any size: no more is held than one object.
type documents struct {
	each   func(line []byte, end lineEnd) error
	depth  int // of brackets around the byte at hand
	inside int // depth at which objects are lines: 1 in an array, 2 in {"records":[..]}, 0 for objects one after the other
	text   []byte
	quoted bool
	escape bool
	long   bool
}

// newDocuments tells by its first bytes whether an input is a document; nil
// where it is lines.
func newDocuments(head []byte, each func([]byte, lineEnd) error) *documents {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), " \t\r\n")
	d := &documents{each: each}
	switch {
	case len(head) < 2:
		return nil
	case head[0] == '[':
		if rest := bytes.TrimLeft(head[1:], " \t\r\n"); len(rest) == 0 || rest[0] != '{' {
			return nil
		}
		d.inside = 1
	case head[0] != '{':
		return nil
	default:
		rest := bytes.TrimLeft(head[1:], " \t\r\n")
		key, rest, _ := bytes.Cut(rest, colon)
		rest = bytes.TrimLeft(rest, " \t\r\n")
		switch string(bytes.ToLower(bytes.TrimSpace(key))) {
		case `"records"`, `"entries"`, `"logs"`, `"value"`:
			if len(rest) > 0 && rest[0] == '[' {
				d.inside = 2
				return d
			}
		}
		if line, _, whole := bytes.Cut(head, newline); !whole || len(bytes.TrimSpace(line)) > 1 {
			return nil
		}
	}
	return d
}

func (d *documents) add(data []byte) error {
	for _, c := range data {
		if d.holding() {
			d.keep(c)
		}
		switch {
		case d.quoted:
			switch {
			case d.escape:
				d.escape = false
			case c == '\\':
				d.escape = true
			case c == '"':
				d.quoted = false
			}
			continue
		case c == '"':
			d.quoted = true
		case c == '{' || c == '[':
			if c == '{' && d.depth == d.inside && !d.holding() {
				d.text = append(d.text[:0], c)
				d.long = false
			}
			d.depth++
		case c == '}' || c == ']':
			d.depth = max(d.depth-1, 0)
			if c == '}' && d.depth == d.inside && d.holding() {
				if err := d.give(whole); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (d *documents) holding() bool { return len(d.text) > 0 }

func (d *documents) keep(c byte) {
	if len(d.text) < maxLine {
		d.text = append(d.text, c)
	} else {
		d.long = true
	}
}

func (d *documents) give(end lineEnd) error {
	if d.long {
		end = overlong
	}
	err := d.each(d.text, end)
	d.text = d.text[:0]
	return err
}

// end gives an object that the input breaks off in.
func (d *documents) end() error {
	if !d.holding() {
		return nil
	}
	return d.give(unended)
}
