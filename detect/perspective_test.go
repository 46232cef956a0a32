package detect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// outgoing is what a service of few instances asks of vendors: each vendor is a host
// at an address of its own; vendor refused refuses from 20 s on, and the service comes
// back after a second each time. Forwarded marks the requests as a proxy's.
func outgoing(instances, vendors, addresses int, forwarded bool) given {
	var all []hand
	for i := range 400 {
		at, v := float64(i)*.2, i%vendors
		status := uint16(200)
		if v == 0 && at > 20 {
			status = 429
		}
		all = append(all, hand{
			at: at, path: fmt.Sprintf("/v2/items/%d", i/vendors), status: status,
			change: func(x *capture.Exchange) {
				x.Src.IP[15] = byte(1 + i%instances)
				x.Dst = capture.Endpoint{IP: [16]byte{10: 255, 11: 255, 12: 192, 14: 2, 15: byte(10 + v%addresses)}, Port: 443}
				x.Credential = uint64(100 + v)
			},
		})
		if status == 429 {
			for k := range 4 {
				again := all[len(all)-1]
				again.at = at + 1.02*float64(k+1)
				all = append(all, again)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b hand) int { return compareFloat(a.at, b.at) })
	for i := range all {
		host, change := fmt.Sprintf("api.vendor-%c.example", 'a'+vendorOf(&all[i], vendors)), all[i].change
		all[i].host = host
		if forwarded {
			all[i].change = func(x *capture.Exchange) {
				change(x)
				x.Forwarded = 1 + capture.Symbol(i%5)
			}
		}
	}
	return byHand(tap, all...)
}

func vendorOf(h *hand, vendors int) int {
	var x capture.Exchange
	h.change(&x)
	return int(x.Credential-100) % vendors
}

func seen(t *testing.T, g given, o detect.Options) *detect.Snapshot {
	t.Helper()
	p := sealed(t, o, g.info, func(take capture.Sink) error { return take(g.all[0]) })
	runAll(t, p)
	return p.Snapshot(detect.View{Whole: true})
}

// Few addresses that call many hosts are a client; a proxy before a server, hosts that
// share an address, and a server's own traffic are not.
func TestPerspectiveAuto(t *testing.T) {
	for name, c := range map[string]struct {
		g    given
		want string
	}{
		"two instances, six vendors":   {outgoing(2, 6, 6, false), "client"},
		"one instance, three vendors":  {outgoing(1, 3, 3, false), "client"},
		"one instance, two vendors":    {outgoing(1, 2, 2, false), "server"},
		"four instances, six vendors":  {outgoing(4, 6, 6, false), "server"},
		"nine instances, many vendors": {outgoing(9, 20, 20, false), "server"},
		"a proxy before six hosts":     {outgoing(1, 6, 6, true), "server"},
		"six hosts at one address":     {outgoing(1, 6, 1, false), "server"},
	} {
		if s := seen(t, c.g, detect.Options{Perspective: detect.PerspectiveAuto}); s.Perspective != c.want {
			t.Errorf("%s: %s, want %s", name, s.Perspective, c.want)
		}
	}
	log := outgoing(2, 6, 6, false)
	log.info.Kind = "log"
	if s := seen(t, log, detect.Options{Perspective: detect.PerspectiveAuto}); s.Perspective != "server" {
		t.Error("a log was written by a server")
	}
	res := load(t, "lockstep-bare-429")
	if s := judged(t, res, detect.Options{Perspective: detect.PerspectiveAuto}); s.Perspective != "server" {
		t.Error("a server's capture is taken for a client's")
	}
}

// From the client's side it is told whom we call, by which key, and what we can do
// about it; nobody is told to change the vendor's gateway.
func TestPerspectiveClient(t *testing.T) {
	s := seen(t, outgoing(2, 6, 6, false), detect.Options{Perspective: detect.PerspectiveAuto})
	if s.ClientCount != 6 {
		t.Errorf("%d clients, want the six vendors", s.ClientCount)
	}
	v := &s.Verdict
	const whom = "api.vendor-a.example cred-1"
	if !strings.Contains(v.Who, "our calls to "+whom) || !strings.Contains(v.Do, whom) || !strings.Contains(strings.ToLower(v.Do), "halve the concurrency") || !strings.Contains(v.Dont, "keys or addresses") {
		t.Errorf("%v: who %q, do %q, dont %q", v.State, v.Who, v.Do, v.Dont)
	}
	// The ticket is of the moment of the verdict. By hand: the first 17 requests (0 to
	// 19.2 s) are served, all later ones are refused.
	var refused, of int
	i := slices.IndexFunc(v.NextEvidence, func(e string) bool {
		n, _ := fmt.Sscanf(e, "for the vendor's ticket: "+whom+" refused %d and failed 0 of %d", &refused, &of)
		return n == 2
	})
	if i < 0 || of != refused+17 || !strings.Contains(v.NextEvidence[i], "named no wait") {
		t.Errorf("no ticket of 17 requests more than were refused in %q", v.NextEvidence)
	}
	for _, m := range s.Mitigations {
		if m.When == "server release" || m.ID == "throttle-early" || m.ID == "send-hint" {
			t.Errorf("advised to %s, which is the vendor's to do", m.ID)
		}
	}
	// By key it is still the client's side, told as such.
	k := seen(t, outgoing(2, 6, 6, false), detect.Options{Perspective: detect.PerspectiveClient, ClientBy: "key"})
	if k.Perspective != "client" || !strings.Contains(k.Verdict.Who, "our calls to the upstream as cred-1") {
		t.Errorf("by key: %s, %q", k.Perspective, k.Verdict.Who)
	}
	// The chains are the same from either side.
	o := seen(t, outgoing(2, 6, 6, false), detect.Options{Perspective: detect.PerspectiveServer})
	if o.ClientCount != 2 || o.Totals != s.Totals && o.Totals.Retries != s.Totals.Retries {
		t.Errorf("from the server's side %d clients, %d retries, %d from the client's", o.ClientCount, o.Totals.Retries, s.Totals.Retries)
	}
}

// Live input shows its side within a minute; then all is told as if it had been known.
func TestPerspectiveLive(t *testing.T) {
	g := outgoing(2, 6, 6, false)
	want := seen(t, g, detect.Options{Perspective: detect.PerspectiveAuto})
	l := live(t, detect.Options{Perspective: detect.PerspectiveAuto})
	in := l.Inlet(capture.Info{Name: g.info.Name, Kind: g.info.Kind, Vantage: g.info.Vantage, Live: true})
	var before, after string
	now := wall
	for _, b := range small(g.all) {
		take(t, in, b)
		now += 1e8
		advance(t, l, now)
		s := l.Snapshot(detect.View{})
		if s.At-s.Start < 55e9 {
			before = s.Perspective
		} else if s.At-s.Start > 65e9 {
			after = s.Perspective
		}
	}
	if before != "server" || after != "client" {
		t.Errorf("%s within the first minute, %s after it", before, after)
	}
	l.Finish()
	agree(t, "from the client's side", l.Snapshot(detect.View{Whole: true}), want)
	// Seen for less than a minute it is decided at the end; what many call is a server.
	for name, c := range map[string]struct {
		g    given
		want string
	}{
		"short":     {given{g.info, small(g.all)[:20]}, "client"},
		"crowded":   {outgoing(9, 20, 20, false), "server"},
		"a proxy's": {outgoing(1, 6, 6, true), "server"},
	} {
		l := live(t, detect.Options{Perspective: detect.PerspectiveAuto})
		in := l.Inlet(c.g.info)
		for _, b := range c.g.all {
			take(t, in, b)
			advance(t, l, wall)
		}
		l.Finish()
		if s := l.Snapshot(detect.View{}); s.Perspective != c.want {
			t.Errorf("%s: %s, want %s", name, s.Perspective, c.want)
		}
	}
}

// Judged while it is read or afterwards, the perspective is the same: where it is
// known too late, the input is read again.
func TestPerspectiveAhead(t *testing.T) {
	g := outgoing(2, 6, 6, false)
	want := seen(t, g, detect.Options{Perspective: detect.PerspectiveAuto})
	rec := detect.NewRecording(withRules(t, detect.Options{Perspective: detect.PerspectiveAuto, Once: true, TempDir: t.TempDir()}))
	defer rec.Close()
	if err := rec.Inlet(g.info).Take(g.all[0]); err != nil {
		t.Fatal(err)
	}
	if err := rec.Seal(); err != nil {
		t.Fatal(err)
	}
	p, err := detect.NewReplay(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.RunAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s := p.Snapshot(detect.View{Whole: true}); s.Perspective != want.Perspective || s.ClientCount != want.ClientCount || s.Verdict.Who != want.Verdict.Who {
		t.Errorf("%s of %d, %q; want %s of %d, %q", s.Perspective, s.ClientCount, s.Verdict.Who, want.Perspective, want.ClientCount, want.Verdict.Who)
	}
}
