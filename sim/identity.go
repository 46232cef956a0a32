package sim

import (
	"net/netip"
	"strconv"
)

// keyring is one owner's credentials: a client's, or a group's.
type keyring struct {
	owner string
	count int
	now   int // the one in use, from 0
}

// key returns the credential in use and which of them it is, from 1.
func (k *keyring) key() (text string, nth int) {
	if k == nil {
		return "", 0
	}
	return "key-" + k.owner + "-" + strconv.Itoa(k.now+1), k.now + 1
}

func (k *keyring) rotate() { k.now = (k.now + 1) % k.count }

// keyring returns the credentials of a group's nth client; shared is the group's.
func (g *Group) keyring(nth int, shared *keyring) *keyring {
	switch g.Identity.Key {
	case "each":
		return &keyring{owner: g.Name + "-" + strconv.Itoa(nth+1), count: g.Identity.Keys}
	case "one":
		return shared
	}
	return nil
}

// address returns the own address of a group's nth client: 10.1.0.1 and up, or
// 2001:db8:0:1::1 and up.
func (g *Group) address(group, nth int) netip.Addr {
	if g.Identity.IPv6 {
		a := netip.MustParseAddr("2001:db8::").As16()
		a[7] = byte(group + 1)
		n := nth + 1
		a[13], a[14], a[15] = byte(n>>16), byte(n>>8), byte(n)
		return netip.AddrFrom16(a)
	}
	return address(group+1, nth)
}

// maxLayers is how many layers a scenario may have.
const maxLayers = 4

// layerNet is the second byte of the first layer's addresses: 10.251.0.1 and up.
const layerNet = 251

func address(net, nth int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(net), byte(nth / 250), byte(nth%250 + 1)})
}
