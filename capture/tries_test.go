package capture

import (
	"slices"
	"testing"
)

func TestTriesOf(t *testing.T) {
	b := Batch{Tries: []Try{{Status: 1}, {Status: 2}, {Status: 3}}}
	for _, c := range []struct {
		x    Exchange
		want []uint16
	}{
		{Exchange{Tries: 2, TryAt: 2}, []uint16{2, 3}},
		{Exchange{Tries: 1, TryAt: 1}, []uint16{1}},
		{Exchange{Tries: 4}, nil},           // counted, not listed
		{Exchange{Tries: 2, TryAt: 3}, nil}, // of another batch
		{Exchange{}, nil},
	} {
		var got []uint16
		for _, y := range b.TriesOf(&c.x) {
			got = append(got, y.Status)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d at %d: %v, want %v", c.x.Tries, c.x.TryAt, got, c.want)
		}
	}
}

// FNV-1a's published values (draft-eastlake-fnv, test vectors for 64 bits).
func TestHashID(t *testing.T) {
	for id, want := range map[string]uint64{"": 0, "a": 0xaf63dc4c8601ec8c, "foobar": 0x85944171f73967e8} {
		if got := HashID([]byte(id)); got != want {
			t.Errorf("%q: %x, want %x", id, got, want)
		}
	}
}

func TestHealthNotesAndSoundSkips(t *testing.T) {
	var h Health
	for range 3 {
		h.Note("once")
		h.SkipSound("a header", "line 1")
		h.Skip("torn", "line 2")
	}
	for i := range 50 {
		h.Note(string(rune('a' + i)))
	}
	if len(h.Notes) != maxNotes || h.Notes[0] != "once" {
		t.Errorf("%q", h.Notes)
	}
	if h.SkippedTotal() != 6 || h.Unreadable() != 3 {
		t.Errorf("%d skipped, %d of them unreadable", h.SkippedTotal(), h.Unreadable())
	}
	c := h.Clone()
	c.Notes[0], c.Skipped[0].Examples[0] = "changed", "changed"
	if h.Notes[0] != "once" || h.Skipped[0].Examples[0] != "line 1" {
		t.Error("a copy shares what it holds")
	}
}
