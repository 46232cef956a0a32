package capture

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSkipKeepsTheFirstExamples(t *testing.T) {
	var h Health
	for i := range 10 {
		h.Skip("odd", fmt.Sprint("line ", i))
	}
	h.Skip("long", strings.Repeat("x", 1000))
	h.Skip("silent", "")
	if got := h.Skipped[0]; got.Count != 10 || !slices.Equal(got.Examples, []string{"line 0", "line 1", "line 2"}) {
		t.Errorf("%+v", got)
	}
	if n := len(h.Skipped[1].Examples[0]); n != 200 {
		t.Errorf("an example of %d bytes", n)
	}
	if len(h.Skipped[2].Examples) != 0 || h.SkippedTotal() != 12 {
		t.Errorf("%+v", h)
	}
}

// However many reasons a hostile input makes up, none of its units is lost from
// the count, and memory stays bounded.
func TestSkipIsBounded(t *testing.T) {
	var h Health
	for i := range 1000 {
		h.Skip(fmt.Sprint("reason ", i), "x")
	}
	if len(h.Skipped) > 32 || h.SkippedTotal() != 1000 {
		t.Errorf("%d reasons, %d counted", len(h.Skipped), h.SkippedTotal())
	}
	if last := h.Skipped[len(h.Skipped)-1]; last.Reason != "other" || last.Count != 1000-31 {
		t.Errorf("the rest is %+v", last)
	}
	h.Skip("reason 3", "y")
	if h.Skipped[3].Count != 2 {
		t.Errorf("a known reason is still told apart: %+v", h.Skipped[3])
	}
}

func TestCloneIsIndependent(t *testing.T) {
	var h Health
	h.Skip("a", "1")
	c := h.Clone()
	h.Skip("a", "2")
	h.Skip("b", "3")
	h.Read++
	if c.Read != 0 || len(c.Skipped) != 1 || c.Skipped[0].Count != 1 || len(c.Skipped[0].Examples) != 1 {
		t.Errorf("%+v", c)
	}
}

func TestInterner(t *testing.T) {
	n := NewInterner(5, 10)
	a, b := n.Intern([]byte("aaa")), n.InternString("bbb")
	if a == b || n.Intern([]byte("aaa")) != a || n.Text(a) != "aaa" || n.Text(b) != "bbb" {
		t.Errorf("%d %d %q %q", a, b, n.Text(a), n.Text(b))
	}
	if n.Intern(nil) != 0 || n.InternString("") != 0 || n.Text(0) != "" {
		t.Error("the empty text is 0")
	}
	if got := n.InternString("ccccc"); got != Other || n.Text(got) != "(other)" {
		t.Errorf("beyond its bytes: %d %q", got, n.Text(got))
	}
	if got := n.InternString("cccc"); got == Other {
		t.Error("10 bytes fit")
	}
	if got := n.InternString("d"); got != Other || n.Len() != 5 || n.Overflow() != 2 {
		t.Errorf("beyond its texts: %d, %d texts, %d over", got, n.Len(), n.Overflow())
	}
	if n.Text(99) != "" {
		t.Error("an unknown symbol has no text")
	}
	key := []byte("aaa")
	if got := testing.AllocsPerRun(100, func() { n.Intern(key) }); got != 0 {
		t.Errorf("%v allocations for a known text", got)
	}
}

func TestSecrets(t *testing.T) {
	s, other := NewSecrets(), NewSecrets()
	a, b := s.Hash([]byte("key-a")), s.Hash([]byte("key-b"))
	if a == 0 || a == b || a != s.Hash([]byte("key-a")) || s.Hash(nil) != 0 {
		t.Errorf("%d %d", a, b)
	}
	if a == other.Hash([]byte("key-a")) {
		t.Error("a number must say nothing outside its process")
	}
}

// Bounds that were reached are told apart from units passed over, which lower
// the confidence.
func TestBound(t *testing.T) {
	var h Health
	h.Bound("connections")
	h.Bound("connections")
	c := h.Clone()
	h.Bound("connections")
	if len(c.Bounds) != 1 || c.Bounds[0].Count != 2 || h.Bounds[0].Count != 3 || h.SkippedTotal() != 0 {
		t.Errorf("%+v, its copy %+v", h, c)
	}
}

// Texts come again and again: one host, a few hundred agents.
func BenchmarkIntern(b *testing.B) {
	n := NewInterner(1000, 1<<20)
	var texts [][]byte
	for i := range 64 {
		texts = append(texts, fmt.Appendf(nil, "batch-sync/1.%d (+https://example.com/batch) python-requests/2.32.3", i))
	}
	b.ReportAllocs()
	for i := range b.N {
		n.Intern(texts[i%len(texts)])
	}
}
