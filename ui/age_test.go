package ui

import (
	"strings"
	"testing"
)

// A followed log that nobody writes any longer says nothing about now.
func TestOldEventsAreNotTakenForNow(t *testing.T) {
	s := recoveringSnapshot()
	s.Live = true
	s.Sources[0].Health.To = s.At
	s.Sources[0].Age = 273*24*3600*second + 5*second
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		rows := strings.Split(open(&fakeFeed{snap: s}, Options{}, size[0], size[1]).View(), "\n")
		for i, want := range []string{"last event 273 days ago", "273 days ago: the incident is over"} {
			if !strings.Contains(rows[i], want) {
				t.Errorf("%v: row %d %q lacks %q", size, i+1, rows[i], want)
			}
		}
		if strings.Contains(strings.Join(rows, ""), "LIVE") {
			t.Errorf("%v: told as live", size)
		}
	}
	if text := healthShort(s); strings.Contains(text, "every source is up") || !strings.Contains(text, "273 days ago") {
		t.Errorf("health: %q", text)
	}
	if text := PlainLine(s); !strings.Contains(text, "last event 273 days ago") {
		t.Errorf("plain: %q", text)
	}
	s.Sources[0].Age = 4 * second
	if rows := open(&fakeFeed{snap: s}, Options{}, 120, 40).View(); !strings.Contains(rows, "LIVE") || strings.Contains(rows, " ago:") {
		t.Errorf("a log that is written is not told as live:\n%s", rows)
	}
}

// Help to a terminal that is too small stands whole where it has the rows for it.
func TestTooSmallSaysWhatIsNeeded(t *testing.T) {
	frame := open(replay(stormSnapshot()), Options{}, 40, 10).View()
	if text := strings.Join(strings.Fields(frame), " "); !strings.Contains(text, "60x16 needed, or `stormwatch report`") {
		t.Errorf("cut:\n%s", frame)
	}
}

// No word of the verdict is cut where there are blank cells for it.
func TestVerdictUsesItsRow(t *testing.T) {
	row := strings.Split(open(live(recoveringSnapshot()), Options{}, 80, 24).View(), "\n")[1]
	if !strings.Contains(row, "over since 12 s") {
		t.Errorf("%q", row)
	}
}
