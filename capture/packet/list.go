package packet

// Which list of a table a link belongs to.
const (
	byUse  = 0 // open, quiet or closed
	byHole = 1
)

type link struct{ prev, next *conn }

// list is an intrusive list of connections in order of insertion.
type list struct {
	which int
	first *conn
	last  *conn
}

func (l *list) front() *conn { return l.first }

func (l *list) link(c *conn) *link {
	if l.which == byHole {
		return &c.late.link
	}
	return &c.link
}

func (l *list) has(c *conn) bool {
	if l.which == byHole && c.late == nil {
		return false
	}
	k := l.link(c)
	return k.prev != nil || k.next != nil || l.first == c
}

func (l *list) pushBack(c *conn) { l.insert(c, l.last) }

// insert puts a connection behind another one, or in front where that is nil.
func (l *list) insert(c, after *conn) {
	k := l.link(c)
	if k.prev = after; after == nil {
		k.next, l.first = l.first, c
	} else {
		a := l.link(after)
		k.next, a.next = a.next, c
	}
	if k.next == nil {
		l.last = c
	} else {
		l.link(k.next).prev = c
	}
}

func (l *list) remove(c *conn) {
	if !l.has(c) {
		return
	}
	k := l.link(c)
	if k.prev != nil {
		l.link(k.prev).next = k.next
	} else {
		l.first = k.next
	}
	if k.next != nil {
		l.link(k.next).prev = k.prev
	} else {
		l.last = k.prev
	}
	*k = link{}
}

func (l *list) toBack(c *conn) {
	if l.last != c {
		l.remove(c)
		l.pushBack(c)
	}
}
