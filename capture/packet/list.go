package packet

// Which list of a table a link belongs to.
const (
	byUse  = 0 // open or closed
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

func (l *list) has(c *conn) bool {
	k := &c.links[l.which]
	return k.prev != nil || k.next != nil || l.first == c
}

func (l *list) pushBack(c *conn) {
	k := &c.links[l.which]
	k.prev, k.next = l.last, nil
	if l.last != nil {
		l.last.links[l.which].next = c
	} else {
		l.first = c
	}
	l.last = c
}

func (l *list) remove(c *conn) {
	if !l.has(c) {
		return
	}
	k := &c.links[l.which]
	if k.prev != nil {
		k.prev.links[l.which].next = k.next
	} else {
		l.first = k.next
	}
	if k.next != nil {
		k.next.links[l.which].prev = k.prev
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
