package accesslog

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"stormwatch/capture"
)

// A few lines that lost their milliseconds do not hide what the others show;
// many do.
func TestResolutionOfAMixedLog(t *testing.T) {
	for _, c := range []struct {
		coarse int
		want   int64
	}{{0, 1e6}, {5, 1e6}, {6, 1e9}, {100, 1e9}} {
		var b strings.Builder
		for i := range 100 {
			tail := fmt.Sprintf(" 0.004 1796006466.%03d", i)
			if i < c.coarse {
				tail = ""
			}
			fmt.Fprintf(&b, "10.0.0.1 - - [30/Nov/2026:08:11:06 +0000] \"GET /a HTTP/1.1\" 200 25 \"-\" \"a\"%s\n", tail)
		}
		src, err := Open("log", strings.NewReader(b.String()), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var h capture.Health
		if err := src.Run(context.Background(), func(b *capture.Batch) error {
			if b.Health != nil {
				h = *b.Health
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if h.Resolution != c.want || h.Used != 100 {
			t.Errorf("%d coarse lines of 100: resolution %d, %d used; want %d", c.coarse, h.Resolution, h.Used, c.want)
		}
	}
}
