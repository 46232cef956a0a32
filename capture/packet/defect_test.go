package packet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// defect is what goes wrong with a capture, in the order of its fields. Equal
// seeds give equal captures.
type defect struct {
	merge int     // segments of one direction are merged up to so many bytes, as network cards do
	skip  float64 // the share at the beginning that is missing
	loss  float64 // the share of packets lost,
	burst int     // so many at a time
	twice float64 // the share captured twice, a moment apart
	swap  float64 // the share moved back by up to eight
	snap  int     // bytes kept of each packet
}

func (d defect) apply(b []byte, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	head, recs := records(b)
	if d.merge > 0 {
		recs = merged(recs, d.merge)
	}
	recs = recs[int(d.skip*float64(len(recs))):]
	var kept [][]byte
	gone := 0
	for _, r := range recs {
		if gone--; gone >= 0 {
			continue
		}
		if burst := max(d.burst, 1); rng.Float64() < d.loss/float64(burst) {
			gone = burst - 1
			continue
		}
		kept = append(kept, r)
		if rng.Float64() < d.twice {
			again := bytes.Clone(r)
			binary.LittleEndian.PutUint32(again[4:], min(binary.LittleEndian.Uint32(again[4:])+3000, 999_999_999))
			kept = append(kept, again)
		}
	}
	for i := range kept {
		if j := i + 1 + rng.IntN(8); rng.Float64() < d.swap && j < len(kept) {
			moved := kept[i]
			copy(kept[i:j], kept[i+1:j+1])
			kept[j] = moved
		}
	}
	out := bytes.Clone(head)
	for _, r := range kept {
		out = append(out, shortened(r, d.snap)...)
	}
	return out
}

// shortened cuts a record as a snapshot length does; 0 leaves it.
func shortened(rec []byte, snap int) []byte {
	if snap == 0 || len(rec)-16 <= snap {
		return rec
	}
	rec = bytes.Clone(rec[:16+snap])
	binary.LittleEndian.PutUint32(rec[8:], uint32(snap))
	return rec
}

// Offsets in a record of capture/packet/write: its header, Ethernet, IPv4, TCP.
const (
	recIP      = 16 + 14
	recTCP     = recIP + 20
	recPayload = recTCP + 20
)

// merged joins what one side sent in several segments without a word from the
// other, up to a size.
func merged(recs [][]byte, size int) (out [][]byte) {
	last := map[string]int{} // by addresses and ports: the newest record of that direction, while nothing followed in the other
	for _, r := range recs {
		forth, back := string(r[recIP+12:recTCP+4]), reversed(r)
		delete(last, back)
		i, ok := last[forth]
		payload := r[min(recPayload, len(r)):]
		if r[recTCP+13]&^0x18 != 0 || len(payload) == 0 { // SYN, FIN, RST, or an acknowledgement alone
			delete(last, forth)
			out = append(out, r)
			continue
		}
		if ok && len(out[i])-recPayload+len(payload) <= size {
			out[i] = append(out[i], payload...)
			n := uint32(len(out[i]) - 16)
			binary.LittleEndian.PutUint32(out[i][8:], n)
			binary.LittleEndian.PutUint32(out[i][12:], n)
			be.PutUint16(out[i][recIP+2:], uint16(n-14))
			continue
		}
		last[forth] = len(out)
		out = append(out, bytes.Clone(r))
	}
	return out
}

// reversed is the key of the other direction.
func reversed(r []byte) string {
	ip, tcp := r[recIP:], r[recTCP:]
	return string(ip[16:20]) + string(ip[12:16]) + string(tcp[2:4]) + string(tcp[0:2])
}

// shifted moves the sequence numbers of the client's and the server's side, so
// that they wrap elsewhere.
func shifted(b []byte, port uint16, by [2]uint32) []byte {
	out := bytes.Clone(b)
	_, recs := records(out)
	for _, r := range recs {
		tcp := r[recTCP:]
		d := dir(be.Uint16(tcp) == port)
		be.PutUint32(tcp[4:], be.Uint32(tcp[4:])+by[d])
		be.PutUint32(tcp[8:], be.Uint32(tcp[8:])+by[1-d])
	}
	return out
}
