package detect_test

import (
	"context"
	"slices"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// declaring gives the exchanges of a source made by hand the tries that its log
// lists.
func declaring(g given, tries map[int][]capture.Try, counted map[int]uint16) given {
	g.info.Kind = "log"
	b := g.all[0]
	server := b.Names.InternString("10.0.0.7:80")
	for i, list := range tries {
		x := &b.Exchanges[i]
		x.Tries, x.TryAt = uint16(len(list)), uint32(len(b.Tries)+1)
		for _, t := range list {
			t.Server = server
			if !t.Fresh {
				x.Again++
			}
			b.Tries = append(b.Tries, t)
		}
	}
	for i, n := range counted {
		b.Exchanges[i].Tries, b.Exchanges[i].Again = n, n-1
	}
	return g
}

func made(by capture.Origin) func(*capture.Exchange) {
	return func(x *capture.Exchange) { x.Origin = by }
}

// Tries that a proxy makes at the servers behind it are attempts of that layer:
// they multiply, and are no requests of the client.
func TestDeclaredTriesAreALayer(t *testing.T) {
	g := declaring(byHand(
		tap,
		hand{at: 0, path: "/a", status: 200},
		hand{at: 1, path: "/b", status: 502},
		hand{at: 2, path: "/b", status: 200},
		hand{at: 9, path: "/c", status: 503, change: made(capture.OriginHop)},
		hand{at: 19, path: "/d", status: 429, change: made(capture.OriginUpstream)},
		hand{at: 29, path: "/e", status: 429},
	), map[int][]capture.Try{
		0: {{Status: 502, Fresh: true}, {Status: 200}},
		1: {{Status: 502, Fresh: true}, {Status: 504}, {Status: 502, Fresh: true}}, // the last one after an internal redirect
		4: {{Status: 429, Fresh: true}},
	}, map[int]uint16{2: 3})
	for _, shards := range []int{1, 2, 7} {
		p := sealed(t, detect.Options{Shards: shards}, g.info, func(take capture.Sink) error { return take(g.all[0]) })
		runAll(t, p)
		s := p.Snapshot(detect.View{Whole: true, Client: "10.0.0.1"})
		if s.Totals.Exchanges != 6 || s.Totals.LogicalRequests != 5 || s.Totals.Retries != 1 {
			t.Errorf("totals doubled: %+v", s.Totals)
		}
		want := detect.Behind{
			Requests: 4, Attempts: 9, Retries: 4, Retried: 3, Rescued: 2, Amplification: detect.Some(9. / 4), PerLogical: detect.Some(9. / 5),
			RefusedByHop: 1, RefusedByUpstream: 1,
		}
		if s.Behind != want || s.Totals.Refused != 3 {
			t.Errorf("%d shards: %+v, want %+v", shards, s.Behind, want)
		}
		i := slices.IndexFunc(s.Chains, func(c detect.Chain) bool { return c.Path == "/b" })
		if i < 0 || len(s.Chains[i].Attempts) != 2 {
			t.Fatalf("chains %+v", s.Chains)
		}
		first, second := s.Chains[i].Attempts[0], s.Chains[i].Attempts[1]
		list := []detect.Tried{{Server: "10.0.0.7:80", Status: 502, Fresh: true}, {Server: "10.0.0.7:80", Status: 504}, {Server: "10.0.0.7:80", Status: 502, Fresh: true}}
		if first.Tries != 3 || !slices.Equal(first.Tried, list) || second.Tries != 3 || second.Tried != nil {
			t.Errorf("tries of the chain: %+v, then %+v", first, second)
		}
	}
}

// Live input is told alike.
func TestDeclaredTriesLive(t *testing.T) {
	g := declaring(byHand(tap, hand{at: 0, path: "/a", status: 200}, hand{at: 5, path: "/b", status: 200}),
		map[int][]capture.Try{0: {{Status: 502, Fresh: true}, {Status: 200}}}, nil)
	l := detect.NewLive(withRules(t, detect.Options{}))
	if err := l.Inlet(g.info).Take(g.all[0]); err != nil {
		t.Fatal(err)
	}
	l.Finish()
	if s := l.Snapshot(detect.View{Client: "10.0.0.1"}); s.Behind.Attempts != 2 || s.Behind.Retries != 1 || len(s.Chains[0].Attempts[0].Tried) != 2 {
		t.Errorf("%+v, %+v", s.Behind, s.Chains)
	}
}

// However many different lists a log has, few are kept; all are counted.
func TestListsOfTriesAreBounded(t *testing.T) {
	const n = 70_000
	b := capture.Batch{Names: capture.NewInterner(1<<10, 1<<16), Done: 1}
	for i := range n {
		b.Exchanges = append(b.Exchanges, capture.Exchange{
			Start: dawn + int64(i)*1e6, End: dawn + int64(i)*1e6, Status: 200, Reason: capture.OK, Tries: 2, Again: 1, TryAt: uint32(2*i + 1),
		})
		b.Tries = append(b.Tries, capture.Try{Server: capture.Symbol(i + 2), Fresh: true}, capture.Try{Status: uint16(i)})
	}
	p := sealed(t, detect.Options{}, tap, func(take capture.Sink) error { return take(&b) })
	if err := p.RunAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s := p.Snapshot(detect.View{}); s.Behind.Attempts != 2*n || s.Behind.Retries != n {
		t.Errorf("%+v", s.Behind)
	}
}
