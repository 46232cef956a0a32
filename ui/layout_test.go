package ui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// picture draws an arrangement, shrunk by dx and dy, with a letter for each panel.
func picture(w, h int, s screen, dx, dy int) string {
	rows := make([][]byte, (h+dy-1)/dy)
	for y := range rows {
		rows[y] = []byte(strings.Repeat(" ", (w+dx-1)/dx))
	}
	letters := map[panel]byte{
		panelLine: 'l', panelBanner: 'B', panelTimeline: 't', panelSignatures: 's', panelClients: 'c', panelChain: 'w', panelArrivals: 'a', panelLayers: 'y', panelFix: 'f', panelSources: 'o',
		panelTransport: 'T', panelHints: 'H',
	}
	for _, p := range arrange(w, h, s) {
		for y := p.y; y < p.y+p.h; y++ {
			for x := p.x; x < p.x+p.w; x++ {
				if x%dx == 0 && y%dy == 0 {
					rows[y/dy][x/dx] = letters[p.panel]
				}
			}
		}
	}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.TrimRight(string(r), " ") + "\n")
	}
	return b.String()
}

func TestArrange(t *testing.T) {
	for _, c := range []struct {
		name         string
		w, h, dx, dy int
		screen       screen
		want         string
	}{
		{"80x24", 80, 24, 8, 1, screenOverview, `
BBBBBBBBBB
BBBBBBBBBB
BBBBBBBBBB
BBBBBBBBBB
BBBBBBBBBB
tttttttttt
tttttttttt
tttttttttt
tttttttttt
tttttttttt
tttttttttt
tttttttttt
tttttttttt
tttttttttt
cccccccccc
cccccccccc
cccccccccc
cccccccccc
cccccccccc
cccccccccc
cccccccccc
cccccccccc
TTTTTTTTTT
HHHHHHHHHH
`},
		{"60x16", 60, 16, 6, 1, screenOverview, `
BBBBBBBBBB
BBBBBBBBBB
BBBBBBBBBB
BBBBBBBBBB
BBBBBBBBBB
tttttttttt
tttttttttt
tttttttttt
tttttttttt
tttttttttt
cccccccccc
cccccccccc
cccccccccc
cccccccccc
TTTTTTTTTT
HHHHHHHHHH
`},
		{"120x40", 120, 40, 8, 1, screenOverview, `
BBBBBBBBBBBBBBB
BBBBBBBBBBBBBBB
BBBBBBBBBBBBBBB
BBBBBBBBBBBBBBB
BBBBBBBBBBBBBBB
ttttttttt sssss
ttttttttt sssss
ttttttttt sssss
ttttttttt sssss
ttttttttt sssss
ttttttttt sssss
ttttttttt sssss
ttttttttt aaaaa
ttttttttt aaaaa
ttttttttt aaaaa
ttttttttt aaaaa
ttttttttt aaaaa
ttttttttt aaaaa
ttttttttt aaaaa
ttttttttt aaaaa
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
ccccccccccccccc
TTTTTTTTTTTTTTT
HHHHHHHHHHHHHHH
`},
		{"200x60", 200, 60, 10, 3, screenOverview, `
BBBBBBBBBBBBBBBBBBBB
BBBBBBBBBBBBBBBBBBBB
tttttttttttttsssssss
tttttttttttttsssssss
tttttttttttttsssssss
tttttttttttttsssssss
tttttttttttttaaaaaaa
tttttttttttttaaaaaaa
cccccccccccccaaaaaaa
cccccccccccccaaaaaaa
cccccccccccccaaaaaaa
cccccccccccccyyyyyyy
cccccccccccccyyyyyyy
cccccccccccccyyyyyyy
cccccccccccccwwwwwww
cccccccccccccwwwwwww
cccccccccccccwwwwwww
cccccccccccccwwwwwww
cccccccccccccwwwwwww
cccccccccccccwwwwwww
`},
		{"clients", 80, 24, 8, 4, screenClients, "\nBBBBBBBBBB\nBBBBBBBBBB\ncccccccccc\ncccccccccc\ncccccccccc\ncccccccccc\n"},
		{"chains", 80, 24, 8, 4, screenChains, "\nBBBBBBBBBB\nBBBBBBBBBB\nwwwwwwwwww\nwwwwwwwwww\nwwwwwwwwww\nwwwwwwwwww\n"},
		{"arrivals", 80, 24, 8, 4, screenArrivals, "\nBBBBBBBBBB\nBBBBBBBBBB\naaaaaaaaaa\naaaaaaaaaa\naaaaaaaaaa\naaaaaaaaaa\n"},
		{"layers", 80, 24, 8, 4, screenLayers, "\nBBBBBBBBBB\nBBBBBBBBBB\nyyyyyyyyyy\nyyyyyyyyyy\nyyyyyyyyyy\nyyyyyyyyyy\n"},
		{"fix", 80, 24, 8, 4, screenFix, "\nBBBBBBBBBB\nBBBBBBBBBB\nffffffffff\nffffffffff\nffffffffff\nffffffffff\n"},
		{"sources", 80, 24, 8, 4, screenSources, "\nBBBBBBBBBB\nBBBBBBBBBB\noooooooooo\noooooooooo\noooooooooo\noooooooooo\n"},
		{"too narrow", 59, 40, 8, 8, screenOverview, "\n" + strings.Repeat("llllllll\n", 5)},
		{"too low", 80, 15, 8, 5, screenFix, "\n" + strings.Repeat("llllllllll\n", 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(strings.TrimPrefix(c.want, "\n"), picture(c.w, c.h, c.screen, c.dx, c.dy)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// A panel alone takes the body, whatever the size.
func TestSingle(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
		w, h := size[0], size[1]
		for _, p := range panels(w, h) {
			if got, want := find(single(w, h, p), p), (rect{0, 5, w, h - 7}); got != want {
				t.Errorf("%dx%d: panel %d is at %+v, want %+v", w, h, p, got, want)
			}
		}
	}
	if n := len(panels(50, 10)); n != 0 {
		t.Errorf("%d panels on a terminal too small for one", n)
	}
}

// Panels never overlap, never leave the terminal, and leave at most the column
// between two of them empty.
func TestArrangeFillsAnySize(t *testing.T) {
	for h := 1; h <= 90; h++ {
		for w := 1; w <= 260; w += 7 {
			for _, s := range []screen{screenOverview, screenClients, screenChains, screenArrivals, screenLayers, screenFix, screenSources} {
				taken := make([]int, w*h)
				area := 0
				for _, p := range arrange(w, h, s) {
					if p.x < 0 || p.y < 0 || p.x+p.w > w || p.y+p.h > h {
						t.Fatalf("%dx%d: panel %d at %+v is outside", w, h, p.panel, p.rect)
					}
					area += p.w * p.h
					for y := p.y; y < p.y+p.h; y++ {
						for x := p.x; x < p.x+p.w; x++ {
							if taken[y*w+x]++; taken[y*w+x] > 1 {
								t.Fatalf("%dx%d: two panels at %d,%d", w, h, x, y)
							}
						}
					}
				}
				if w >= leastW && h >= leastH && area < w*h-h {
					t.Fatalf("%dx%d: %d of %d cells belong to no panel", w, h, w*h-area, w*h)
				}
			}
		}
	}
}
