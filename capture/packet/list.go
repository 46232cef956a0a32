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

func (l *list) pushBack(c *conn) { l.insert(c, l.last) }

// insert puts a connection behind another one, or in front where that is nil.
func (l *list) insert(c, after *conn) {
	k := &c.links[l.which]
	if k.prev = after; after == nil {
		k.next, l.first = l.first, c
	} else {
		k.next, after.links[l.which].next = after.links[l.which].next, c
	}
	if k.next == nil {
		l.last = c
	} else {
		k.next.links[l.which].prev = c
	}
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
