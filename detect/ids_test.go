package detect_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// popular has everybody ask for the same two things, and gives each exchange an id
// of its own: nothing but ids can tell whether two sources saw the same.
func popular(g given) given {
	for _, b := range g.all {
		two := [2]capture.Span{b.Exchanges[0].Target, b.Exchanges[min(1, len(b.Exchanges)-1)].Target}
		for i := range b.Exchanges {
			x := &b.Exchanges[i]
			x.Target = two[i%2]
			x.RequestID = x.At.A*7919 + 1
		}
	}
	return g
}

// A capture and its own log give the capture's totals, whatever was asked.
func TestCaptureAndItsOwnLogByID(t *testing.T) {
	for _, name := range captures {
		res := load(t, name)
		want := together(t, detect.Options{}, popular(from(t, res, "tap", "capture")))
		log := func() given {
			g := popular(portless(t, res, "access.log", 1e6))
			for _, b := range g.all {
				for i := range b.Exchanges {
					b.Exchanges[i].Start -= 2_400_000_000
					b.Exchanges[i].End -= 2_400_000_000
				}
			}
			return g
		}
		for _, order := range [][]given{{popular(from(t, res, "tap", "capture")), log()}, {log(), popular(from(t, res, "tap", "capture"))}} {
			got := together(t, detect.Options{}, order...)
			agree(t, name, unsure(unplaced(got)), unsure(unplaced(want)))
			for i := range got.Sources {
				if s := &got.Sources[i]; s.Primary != (s.Kind == "capture") || s.Kind == "log" && (s.OffsetSeconds < -2.402 || s.OffsetSeconds > -2.398 || !strings.Contains(s.Note, "request ids are the same")) {
					t.Errorf("%s: %s: primary %v, %+.4f s, %q", name, s.Name, s.Primary, s.OffsetSeconds, s.Note)
				}
			}
		}
	}
}

// A gateway tries up to three times behind itself under one id: the service's log
// is a layer with a multiplier, and no request is counted twice.
func TestOneIDAtTwoHops(t *testing.T) {
	res := load(t, "retry-after-ignored")
	want := together(t, detect.Options{}, popular(portless(t, res, "edge.log", 1e6)))
	service := func() given {
		r := rand.New(rand.NewPCG(1, 1))
		g := popular(portless(t, res, "service.log", 1e6))
		for _, b := range g.all {
			var tries []capture.Exchange
			for _, x := range b.Exchanges {
				x.Src.IP, x.Start, x.End = [16]byte{15: 9}, x.Start+1e6, max(x.End-1e6, x.Start+1e6)
				for range 1 + r.IntN(3) {
					tries = append(tries, x)
				}
			}
			b.Exchanges = tries
		}
		return g
	}
	got := together(t, detect.Options{}, popular(portless(t, res, "edge.log", 1e6)), service())
	agree(t, "edge and service", unsure(unplaced(got)), unsure(unplaced(want)))
	s := &got.Sources[1]
	if n := s.PerRequest; s.Primary || !n.Known || n.V < 1.8 || n.V > 2.2 || !strings.Contains(s.Note, "behind edge.log") || !strings.Contains(s.Note, "attempts for each request at edge.log") {
		t.Errorf("%+v, %q", n, s.Note)
	}
	// Given the other way the service's exchanges count, and the edge's are not added.
	got = together(t, detect.Options{}, service(), popular(portless(t, res, "edge.log", 1e6)))
	if s := &got.Sources[1]; s.Primary || !strings.Contains(s.Note, "in front of service.log") || !strings.Contains(s.Note, "service.log saw") {
		t.Errorf("%q", s.Note)
	}
	if got.Totals.Exchanges <= want.Totals.Exchanges {
		t.Errorf("%d exchanges at the service, %d at the edge", got.Totals.Exchanges, want.Totals.Exchanges)
	}
}
