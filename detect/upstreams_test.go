package detect

import (
	"testing"

	"stormwatch/capture"
)

// A client that calls with ever new credentials, one an hour, keeps the numbers of
// those only whose upstreams are still in the table.
func TestCredentialsOfUpstreamsAreForgotten(t *testing.T) {
	const most = 8
	n := newNames(Options{Perspective: PerspectiveClient, MaxClients: most})
	n.leaving = &leaving{idle: leaveAfter, forget: func([]uint32) {}}
	host := n.intern("api.vendor-a.example")
	for i := range int64(1000) {
		x := capture.Exchange{Host: host, Credential: uint64(1000 + i), Start: i * 3600 * tick}
		if n.client(&x) == 0 {
			t.Fatalf("credential %d finds no room", i)
		}
		if len(n.credOf) > most || len(n.credBy) > most {
			t.Fatalf("after %d credentials the numbers of %d are kept, for %d clients", i+1, len(n.credOf), most)
		}
	}
	if n.creds != 1000 {
		t.Errorf("%d credentials were numbered, want 1000, none twice", n.creds)
	}
}

// Those beyond the bound of the table share a row, which is nobody to write to.
func TestWorstUpstreamIsOne(t *testing.T) {
	e := newEngine(Options{Perspective: PerspectiveClient}, &newNames(Options{Perspective: PerspectiveClient, MaxClients: 4}).roster)
	e.clients.grow(3)
	e.clients.at(0).refused, e.clients.at(2).refused = 100, 5
	if worst, at := e.worstUpstream(); worst != e.clients.at(2) || at != 2 {
		t.Errorf("the worst is client %d, want 2", at)
	}
}
