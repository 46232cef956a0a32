package detect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"stormwatch/capture"
)

// What leaves is in order of start, then of where it was read, then of coming, with
// its own target, in room that does not grow with the input.
func TestSorter(t *testing.T) {
	const records = 8 * blockRecords
	r := rand.New(rand.NewPCG(1, 3))
	w := newSorter(records)
	var want, got []string
	text := func(x *capture.Exchange, target []byte) string {
		return fmt.Sprintf("%08d %03d %03d %s", x.Start, x.At.A, x.At.B, target)
	}
	leave := func(n int) {
		w.settle()
		for range n {
			x, target := w.first()
			got = append(got, text(&x.Exchange, target))
			w.reuse(w.next(nil))
		}
	}
	for i := range 40 * records {
		x := capture.Exchange{Start: int64(i/4 + r.IntN(records/16)), At: capture.Provenance{A: uint64(r.IntN(3)), B: uint64(r.IntN(2))}}
		target := fmt.Appendf(nil, "%09d", i)
		if !w.put(&x, 0, target) {
			t.Fatalf("exchange %d did not go in, %d are waiting", i, w.len())
		}
		want = append(want, text(&x, target))
		if i%100 == 0 && w.len() > records/2 {
			leave(w.len() - records/2)
		}
	}
	leave(w.len())
	slices.Sort(want) // the target tells the order of coming
	if !slices.Equal(got, want) {
		t.Error("they left in another order")
	}
	if len(w.blocks) > w.max || cap(w.order) > 4*records {
		t.Errorf("%d blocks and %d places for %d records", len(w.blocks), cap(w.order), records)
	}
	if x := (capture.Exchange{Start: 5}); w.put(&x, 0, nil) {
		t.Error("one that comes long after its time went in")
	}
}

// A window that is full says so.
func TestSorterIsBounded(t *testing.T) {
	w := newSorter(4 * blockRecords)
	n := 0
	for x := (capture.Exchange{}); w.put(&x, 0, make([]byte, 1000)); x.Start++ {
		n++
	}
	if n == 0 || n > 4*blockRecords {
		t.Errorf("%d went in", n)
	}
}

// Clients and addresses are found again however many there are, and those who left
// are not.
func TestAddrTable(t *testing.T) {
	tab := newAddrTable()
	ip := func(i uint32) *[16]byte {
		return &[16]byte{12: byte(i >> 24), 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)}
	}
	const n = 20_000
	for i := uint32(1); i <= n; i++ {
		if tab.find(ip(i)).id != 0 {
			t.Fatalf("%d was there before", i)
		}
		tab.put(ip(i), i)
	}
	tab.rebuild(len(tab.cells), func(id uint32) bool { return id%2 == 0 })
	for i := uint32(1); i <= n; i++ {
		want := i
		if i%2 == 1 {
			want = 0
		}
		if id := tab.find(ip(i)).id; id != want {
			t.Fatalf("%d is %d", i, id)
		}
	}
	if tab.used != n/2 {
		t.Errorf("%d used", tab.used)
	}
}

// Outcomes come by their second, near and far, in order: by moment, those that end
// as they begin last, then by request.
func TestCalendar(t *testing.T) {
	c := newCalendar()
	now := int64(1000) * tick
	for i, after := range []int64{500, 0, 63, 64, 2, 0, 500, 10_000} {
		at := now + after*tick
		c.add(now, at, ending(at+int64(10-i), uint64(i), false, int32(i)))
	}
	at := now + 10
	c.add(now, now, ending(at, 9, true, 9))
	c.add(now, now, ending(at, 10, false, 10))
	copied := c.clone()
	for name, c := range map[string]*calendar{"itself": &c, "its copy": &copied} {
		var got []int32
		for second := now; c.n > 0; second += tick {
			second = c.next(second)
			if !c.any(second) {
				t.Fatalf("%s: nothing in the next second", name)
			}
			for _, e := range c.take(second) {
				got = append(got, int32(e.at))
			}
		}
		if want := []int32{5, 1, 10, 9, 4, 2, 3, 6, 0, 7}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
