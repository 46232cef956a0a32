package detect

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"stormwatch/capture"
)

// Naming gives clients names that people know. It is never changed once read.
type Naming struct {
	byLabel  map[string]string // by address or by what else names a client
	byCred   map[uint64]string
	prefixes []named // the longest first
}

type named struct {
	prefix netip.Prefix
	name   string
}

const maxNamingLines = 1 << 20

// ReadNaming reads a name a line, "id,name" or "id=name": the id is an address, a
// range as 10.0.0.0/8, a key or user, or what else --client-by makes a client of.
// With byKey what is no address is a key, which is compared and not kept. Blank lines and those after # say nothing.
func ReadNaming(r io.Reader, secrets capture.Secrets, byKey bool) (*Naming, error) {
	n := &Naming{byLabel: map[string]string{}, byCred: map[uint64]string{}}
	lines := bufio.NewScanner(r)
	for at := 1; lines.Scan(); at++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		cut := strings.LastIndexByte(line, ',') // ids may hold "=", as base64 does
		if cut < 0 {
			cut = strings.LastIndexByte(line, '=')
		}
		id, name := strings.Trim(strings.TrimSpace(line[:max(cut, 0)]), `"`), strings.Trim(strings.TrimSpace(line[cut+1:]), `"`)
		switch {
		case id == "" || name == "":
			return nil, fmt.Errorf("line %d: an id and a name with a comma between them, as in 10.0.0.7,checkout", at)
		case at > maxNamingLines:
			return nil, fmt.Errorf("more than %d lines", maxNamingLines)
		}
		n.add(id, name, secrets, byKey)
	}
	slices.SortStableFunc(n.prefixes, func(a, b named) int { return b.prefix.Bits() - a.prefix.Bits() })
	return n, lines.Err()
}

func (n *Naming) add(id, name string, secrets capture.Secrets, byKey bool) {
	if a, err := netip.ParseAddr(id); err == nil {
		n.byLabel[a.Unmap().String()] = name
		return
	}
	if p, err := netip.ParsePrefix(id); err == nil {
		n.prefixes = append(n.prefixes, named{p.Masked(), name})
		n.byLabel[p.Masked().String()] = name
		return
	}
	if !byKey {
		n.byLabel[id] = name
		return
	}
	for _, text := range []string{id, "Bearer " + id} { // keys come so in Authorization (RFC 6750)
		n.byCred[secrets.Hash([]byte(text))] = name
	}
}

// of returns the name of the client that sent x; "" if it has none.
func (n *Naming) of(x *capture.Exchange, label string, byKey bool) string {
	if byKey && x.Client == 0 && x.Credential != 0 {
		return n.byCred[x.Credential]
	}
	if name := n.byLabel[label]; name != "" || x.Src.IsZero() || x.Client != 0 || label != x.Src.Addr().String() {
		return name
	}
	a := x.Src.Addr()
	for i := range n.prefixes {
		if n.prefixes[i].prefix.Contains(a) {
			return n.prefixes[i].name
		}
	}
	return ""
}

// entitle puts the name of a client, where it has one, into its label.
func (n *names) entitle(x *capture.Exchange, id uint32, label *string) {
	if n.naming == nil {
		return
	}
	for int(id) >= len(n.titles) {
		n.titles = append(n.titles, "")
	}
	if n.titles[id] = n.naming.of(x, *label, n.byKey); n.titles[id] != "" {
		*label = n.titles[id] + " (" + *label + ")"
	}
}
