package packet

import (
	"math/rand/v2"
	"testing"

	"stormwatch/capture"
)

// TestIndex puts connections in and takes them out at random, among them many
// whose slots are the same, and compares with a map.
func TestIndex(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	x, want := newIndex(newSecret()), map[key]*conn{}
	keys := make([]key, 5000)
	for i := range keys {
		keys[i] = key{address(random.IntN(300)), capture.Endpoint{Port: uint16(i)}}
	}
	for range 200_000 {
		k := keys[random.IntN(len(keys))]
		c := x.find(&k, x.secret.tag(&k))
		if c != want[k] {
			t.Fatalf("found %p, want %p", c, want[k])
		}
		if c == nil {
			c = &conn{key: k}
			x.insert(c)
			want[k] = c
		} else if random.IntN(3) > 0 {
			x.remove(c)
			delete(want, k)
		}
	}
	n := 0
	for c := range x.all() {
		if n++; want[c.key] != c {
			t.Errorf("%v is in the index, and should not be", c.key)
		}
	}
	if n != len(want) || n != x.n {
		t.Errorf("%d connections, counted as %d, want %d", n, x.n, len(want))
	}
}

// TestConnectionSize holds what a connection costs that waits for its answer; the
// sizes are those of allocations.
func TestConnectionSize(t *testing.T) {
	p := newTap(t)
	p.client(1, 1000, 0, flagSYN, "")
	p.client(1, 1001, 5001, ackPush, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
	for c := range p.tab.conns.all() {
		if c.late != nil || c.proxied != nil || c.http.parser != [2]*parser{} || c.http.waiting != 1 {
			t.Errorf("an idle connection keeps %+v", c)
		}
	}
	p.end()
}
