package witness

import (
	"net/netip"
	"slices"
	"strings"

	"stormwatch/capture"
)

// unproxy gives x the address of the client behind trusted proxies: the last one
// in X-Forwarded-For that is none of them.
func (s *Source) unproxy(b *capture.Batch, x *capture.Exchange) {
	if !s.trusted(x.Src.Addr()) {
		return
	}
	client, ok := s.behind[x.Forwarded]
	if !ok {
		client = s.last(b.Names.Text(x.Forwarded))
		s.behind[x.Forwarded] = client // as many as the interner holds
	}
	if !client.IsZero() {
		x.Src = client
	}
}

// clipped is from which length on a text may have been cut (packet keeps 256 bytes).
const clipped = 256

func (s *Source) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(s.opt.Trusted, func(p netip.Prefix) bool { return p.Contains(a) })
}

// last is the last address of a list that is no trusted proxy, or the first one
// before which stands what is no address.
func (s *Source) last(list string) (client capture.Endpoint) {
	if len(list) >= clipped {
		return client // its end is missing
	}
	parts := strings.Split(list, ",")
	for _, p := range slices.Backward(parts) {
		a, ok := address(strings.TrimSpace(p))
		if !ok {
			break
		}
		client = capture.Endpoint{IP: a.As16()}
		if !s.trusted(a) {
			break
		}
	}
	return client
}

// address reads an address, with or without a port.
func address(text string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(text); err == nil {
		return a.Unmap().WithZone(""), true
	}
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	return netip.Addr{}, false
}
