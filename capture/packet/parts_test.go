package packet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// scenes are the captures of testdata.
func scenes(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../../testdata/pcaps/*/traffic.pcap")
	if err != nil || len(files) == 0 {
		t.Fatal("no captures in testdata", err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(filepath.Dir(f))] = b
	}
	return all
}

// rotated cuts a capture into files of equally many packets.
func rotated(b []byte, n int) (files [][]byte) {
	head, recs := records(b)
	for i := range n {
		files = append(files, slices.Concat(head, slices.Concat(recs[len(recs)*i/n:len(recs)*(i+1)/n]...)))
	}
	return files
}

// directions cuts a capture into two, of what clients and what servers send: ports
// of servers are below 1024 or the well-known ones of proxies.
func directions(b []byte) (files [][]byte) {
	head, recs := records(b)
	files = [][]byte{bytes.Clone(head), bytes.Clone(head)}
	var d decoder
	for _, r := range recs {
		d.decode(&frame{link: linkEthernet, data: r[16:]}, 1)
		side := 0
		if d.src.Port < d.dst.Port {
			side = 1
		}
		files[side] = append(files[side], r...)
	}
	return files
}

func survey(t *testing.T, b []byte) *Sketch {
	t.Helper()
	s, err := Survey(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readParts(t *testing.T, files [][]byte) result {
	t.Helper()
	var parts []Part
	for i, b := range files {
		parts = append(parts, Part{fmt.Sprintf("part%d", i), bytes.NewReader(b)})
	}
	s, err := OpenParts("joined", parts, Options{Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	var r result
	if err := s.Run(t.Context(), collect(&r)); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestParts cuts every capture of testdata into files as rotation does, and into
// its two directions as a tap does, gives them in any order, and must find what
// the whole holds, no more and no less.
func TestParts(t *testing.T) {
	for name, b := range scenes(t) {
		want := readAll(t, b, Options{Secrets: secrets})
		for how, files := range map[string][][]byte{
			"rotated": rotated(b, 3), "rotated often": rotated(b, 40), "tap": directions(b),
		} {
			slices.Reverse(files)
			got := readParts(t, files)
			if got.String() != want.String() {
				t.Errorf("%s, %s: %d exchanges of %d, or others", name, how, len(got.all), len(want.all))
			}
			for i := range min(len(got.all), len(want.all)) {
				if got.all[i].Exchange != want.all[i].Exchange {
					t.Errorf("%s, %s: exchange %d is\n%+v, want\n%+v", name, how, i, got.all[i], want.all[i])
					break
				}
			}
			if got.health.Read != want.health.Read || got.health.Used != want.health.Used || len(got.health.Notes) != 1 || !strings.Contains(got.health.Notes[0], "part0") {
				t.Errorf("%s, %s: health %+v", name, how, got.health)
			}
		}
	}
}

// TestRelated recognises pieces of one capture, and takes nothing else for them.
func TestRelated(t *testing.T) {
	var kept []*Sketch
	for name, b := range scenes(t) {
		files := rotated(b, 2)
		one, two := survey(t, files[0]), survey(t, files[1])
		goesOn := false // a connection has packets in both files, and its SYN is in the first
		for k, seen := range two.head {
			_, before := one.head[k]
			goesOn = goesOn || before && seen&midway != 0
		}
		if two.Continues(one) != goesOn || one.Continues(two) || one.Complements(two) {
			t.Errorf("%s: continues %v, want %v; the other way %v, complements %v", name, two.Continues(one), goesOn, one.Continues(two), one.Complements(two))
		}
		taps := directions(b)
		ask, answer := survey(t, taps[0]), survey(t, taps[1])
		if !ask.Complements(answer) || !answer.Complements(ask) || ask.Continues(answer) {
			t.Errorf("%s: the directions do not complement each other", name)
		}
		whole := survey(t, b)
		if whole.Complements(whole) || whole.Continues(whole) || whole.Complements(ask) || whole.Continues(one) {
			t.Errorf("%s: a capture given twice, or with a part of it, is taken for pieces", name)
		}
		kept = append(kept, whole)
	}
	for i, a := range kept {
		for _, b := range kept[:i] {
			if a.Continues(b) || b.Continues(a) || a.Complements(b) {
				t.Error("two scenes are taken for pieces of one capture")
			}
		}
	}
}

// TestPartCut reads on in the other files where one was cut off, and says so.
func TestPartCut(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	for i := range 10 {
		c.Send(base+int64(i)*10*ms, true, get(fmt.Sprintf("/%d", i)))
		c.Send(base+int64(i)*10*ms+ms, false, reply(200, "x"))
	}
	c.Close(base + 200*ms)
	files := rotated(m.bytes(), 3)
	files[0] = files[0][:len(files[0])-5]
	r := readParts(t, files)
	answered := 0
	for _, x := range r.all {
		if x.Status == 200 && x.Flags == 0 {
			answered++
		}
	}
	if len(r.all) != 10 || answered < 8 || !r.health.Truncated || !strings.Contains(strings.Join(r.health.Notes, "\n"), "part0 ends inside a packet") {
		t.Errorf("%d exchanges, %d of them whole, health %+v\n%s", len(r.all), answered, r.health, r)
	}
}

// TestPartsMemory opens many files at once: what each costs before it is reached
// stays small.
func TestPartsMemory(t *testing.T) {
	m := newMade(t)
	m.dial().Send(base, true, get("/a"))
	b := m.bytes()
	var parts []Part
	for range 300 {
		parts = append(parts, Part{"p", bytes.NewReader(b)})
	}
	s, err := OpenParts("many", parts, Options{Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, p := range s.intake.parts {
		size += len(p.file.r.b)
	}
	if size > 8<<20 {
		t.Errorf("%d bytes for 300 files", size)
	}
}
