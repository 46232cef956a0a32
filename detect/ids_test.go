package detect_test

import (
	"math"
	"math/rand/v2"
	"slices"
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
				again := r.IntN(3)
				for range again {
					y := x
					y.Status, y.Reason = 503, 0
					tries = append(tries, y)
				}
				tries = append(tries, x)
			}
			b.Exchanges = tries
		}
		return g
	}
	got := together(t, detect.Options{}, popular(portless(t, res, "edge.log", 1e6)), service())
	layersOf(t, got, want, 2)
	agree(t, "edge and service", unsure(unplaced(got)), unsure(unplaced(want)))
	s := &got.Sources[1]
	if n := s.PerRequest; s.Primary || !n.Known || n.V < 1.8 || n.V > 2.2 || !strings.Contains(s.Note, "behind edge.log") || !strings.Contains(got.Sources[0].Note, "attempts at the hop behind") {
		t.Errorf("%+v, %q", n, s.Note)
	}
	// Given the other way the service's exchanges count, and the edge's are not added.
	got = together(t, detect.Options{}, service(), popular(portless(t, res, "edge.log", 1e6)))
	if s := &got.Sources[1]; s.Primary || !strings.Contains(s.Note, "in front of service.log") || !strings.Contains(s.Note, "attempts here") {
		t.Errorf("%q", s.Note)
	}
	if got.Totals.Exchanges <= want.Totals.Exchanges {
		t.Errorf("%d exchanges at the service, %d at the edge", got.Totals.Exchanges, want.Totals.Exchanges)
	}
}

// Pods behind a gateway each logged a part of its attempts: the gateway's requests
// count once, and all pods together tell what became of them.
func TestPodsBehindAGateway(t *testing.T) {
	res := load(t, "retry-after-ignored")
	gateway := func() given { return popular(portless(t, res, "gateway.log", 1e6)) }
	want := together(t, detect.Options{}, gateway())
	r := rand.New(rand.NewPCG(2, 2))
	in := []given{gateway()}
	for _, name := range []string{"pod0", "pod1", "pod2"} {
		in = append(in, given{info: capture.Info{Name: name, Kind: "log", Vantage: "log"}})
	}
	for _, b := range gateway().all {
		var pods [3]capture.Batch
		for _, x := range b.Exchanges {
			length := (x.End - x.Start) / 3
			for try := range int64(3) {
				y := x
				y.Src.IP, y.Start, y.End = [16]byte{15: 9}, x.Start+try*length, x.Start+(try+1)*length-1e3
				if try < 2 {
					y.Status, y.Reason = 503, 0
				}
				y.Line = uint64(y.Start) | 1
				p := &pods[r.IntN(3)]
				p.Exchanges = append(p.Exchanges, y)
			}
		}
		for i := range pods {
			pods[i].Names, pods[i].Text, pods[i].Health = b.Names, b.Text, b.Health
			in[i+1].all = append(in[i+1].all, &pods[i])
		}
	}
	got := together(t, detect.Options{}, in...)
	layersOf(t, got, want, 3)
	agree(t, "gateway and pods", unsure(unplaced(got)), unsure(unplaced(want)))
	if note := got.Sources[0].Note; !strings.Contains(note, "3.00 for one, by the ids in pod0, pod1, pod2") {
		t.Errorf("%q", note)
	}
}

// layersOf checks what a hop behind adds to the picture of layers, and nothing else:
// the clients' attempts, and so many times as many behind the hop.
func layersOf(t *testing.T, got, want *detect.Snapshot, times float64) {
	t.Helper()
	clients := want.Totals.Amplification.V
	l := &got.Layers
	if len(l.Rows) != 2 || l.Proof != "ids" || l.Inferred || math.Abs(l.Rows[0].PerRequest.V-clients) > 1e-9 || math.Abs(l.Multiplier.V/clients-times) > .1*times {
		t.Errorf("%.2f attempts of clients, %g for each: %+v", clients, times, *l)
	}
	if len(want.Layers.Rows) > 0 {
		t.Errorf("layers without the hop behind: %+v", want.Layers)
	}
	*l = want.Layers
	// The hop is found out, by name, and no client for it; what that moves beside is no
	// matter here.
	i := slices.IndexFunc(got.Findings, func(f detect.Finding) bool { return f.Signature == "layered-retries" })
	if i < 0 {
		t.Fatal("the hop is not found to retry")
	}
	if f := &got.Findings[i]; f.Layer != got.Sources[0].Name || len(f.Clients) > 0 || !strings.Contains(f.Says, f.Layer+" sends on ") {
		t.Errorf("%+v", f)
	}
	got.Findings = slices.Delete(got.Findings, i, i+1)
	got.Verdict, got.Mitigations, got.Events, got.Reach = want.Verdict, want.Mitigations, want.Events, want.Reach
	got.Growth, got.Newcomers = want.Growth, want.Newcomers // before the incident, which began with it
	for _, s := range []*detect.Snapshot{got, want} {       // what could be spared is told since the incident began
		s.Clients, s.ClientsOthers.AvoidablePerS = slices.Clone(s.Clients), detect.Number{}
		for i := range s.Clients {
			s.Clients[i].AvoidablePerS = detect.Number{}
		}
		slices.SortFunc(s.Clients, func(a, b detect.Client) int { return strings.Compare(a.Label, b.Label) })
	}
	got.Recent.RefusedShareBefore, got.Recent.AmplificationBefore = want.Recent.RefusedShareBefore, want.Recent.AmplificationBefore
	got.Totals.DetectS, got.Totals.RecoverS, got.Recent.Amplification = want.Totals.DetectS, want.Totals.RecoverS, want.Recent.Amplification
}
