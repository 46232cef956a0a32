package packet

import (
	"errors"
	"fmt"
	"io"
)

// intake reads packets and takes them apart, down to TCP. It hands them on in
// parcels, so that it may run ahead of what puts streams together: all that depends
// on the order of packets alone is done here, all that Health tells is counted there.
type intake struct {
	name string
	in   io.Reader
	size int64 // bytes of the input; 0 unknown
	file *file // nil until the head has been read; of several, the one read last

	parts []*part // nil for a single capture
	heap  []*part // those that have not ended, by the time of their next packets

	runs   int    // captures that stood behind the first, so far
	missed uint64 // packets that the host lost before the file was written anew

	decoder decoder
	copies  copies
	doubt   doubt
	secret  secret // of the index
	newest  int64  // time of the packets so far
	read    uint64

	parcel *parcel
	shared bool                           // packets handed on lie in the buffer that is being read
	pass   func(*parcel) (*parcel, error) // hands a parcel on, and gives an empty one
}

// parcel is a piece of the input: packets in order, and what they lie in.
type parcel struct {
	packets []decoded
	apart   []byte  // payloads that do not lie in the input's buffer
	bytes   []byte  // a buffer of the input that is free once the parcel has been read
	done    float64 // share of the input that has been read
	dropped uint64  // packets that the capturing host lost so far
	end     error   // of the last one: how the input ended
}

// decoded is a packet taken apart, or something to be done before the next one.
type decoded struct {
	segment
	key     key // of its connection, where it is used
	swapped bool
	tag     uint32
	t       int64  // Unix nanoseconds
	n       uint64 // its number
	reason  string // why it is not used; "" where it is
	joined  int32  // packets held until now that it made whole
	link    uint32
	then    func(*Source) // instead of a packet
}

// parcelPackets bounds what a parcel holds where packets are tiny.
const parcelPackets = 1 << 10

// begin reads the head of a capture.
func (in *intake) begin() error {
	for {
		f, err := newFile(in.in)
		if err == nil {
			f.r.turn = in.turn
			in.file = f
			return nil
		}
		if !errors.Is(err, errAnew) {
			return fmt.Errorf("%s: %w", in.name, err)
		}
	}
}

// run reads packets until the input ends, or nobody wants more.
func (in *intake) run() error {
	var f frame
	for {
		err := in.next(&f)
		if errors.Is(err, errAnew) {
			if err = in.anew(); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		if in.file.more != in.runs && in.parts == nil {
			in.runs = in.file.more
			t := f.t
			in.then(func(s *Source) { s.run(t) })
		}
		in.take(&f)
		if len(in.parcel.packets) >= parcelPackets {
			if err := in.full(); err != nil {
				return err
			}
		}
	}
}

// turn is asked before more is read into a buffer: the packets in it are handed on
// with it. It gives the buffer to read into.
func (in *intake) turn(b []byte) ([]byte, error) {
	if len(in.parcel.packets) == 0 && !in.shared {
		return b, nil
	}
	in.shared = false
	spare := in.parcel.bytes
	in.parcel.bytes = b
	if err := in.send(); err != nil {
		return b, err
	}
	if in.parcel.bytes == nil {
		return spare, nil
	}
	b, in.parcel.bytes = in.parcel.bytes, spare
	return b, nil
}

// full hands packets on while others in the same buffer are still to be read.
func (in *intake) full() error {
	in.shared = true
	spare := in.parcel.bytes
	in.parcel.bytes = nil
	err := in.send()
	if in.parcel.bytes == nil {
		in.parcel.bytes = spare
	}
	return err
}

func (in *intake) send() (err error) {
	in.account()
	in.parcel, err = in.pass(in.parcel)
	return err
}

// account notes how far the input has been read.
func (in *intake) account() { in.parcel.done, in.parcel.dropped = in.done(), in.dropped() }

// empty makes a parcel ready to be filled.
func (p *parcel) empty() {
	p.packets, p.apart = p.packets[:0], p.apart[:0]
	if cap(p.apart) > windowBytes {
		p.apart = nil
	}
}

// next makes room for a packet. What is in it is of another one.
func (p *parcel) next() *decoded {
	n := len(p.packets)
	if n == cap(p.packets) {
		p.packets = append(p.packets, decoded{})
	}
	p.packets = p.packets[:n+1]
	return &p.packets[n]
}

// then puts something to be done in its place among the packets.
func (in *intake) then(do func(*Source)) {
	in.parcel.packets = append(in.parcel.packets, decoded{then: do})
}

// packet takes a packet apart. Its data stay as they are until the parcel has been
// read, unless they are held.
func (in *intake) packet(f *frame, held bool) {
	in.read++
	in.newest = max(in.newest, f.t)
	d := &in.decoder
	reason := d.decode(f, in.read)
	if reason == "" && in.copies.seen(&d.addressed, f.t) {
		reason = packetCopy
	}
	fragments := &d.fragments
	p := in.parcel.next() // one by one: a literal would be built and copied
	p.segment, p.t, p.n, p.reason, p.joined, p.link, p.then = d.segment, f.t, in.read, reason, int32(fragments.joined), f.link, nil
	if reason == "" {
		p.swapped = p.key.name(&d.addressed)
		p.tag = in.secret.tag(&p.key)
		if held || len(fragments.handed) > 0 {
			from := len(in.parcel.apart)
			in.parcel.apart = append(in.parcel.apart, p.payload...)
			p.payload = in.parcel.apart[from:]
		}
	}
	if len(fragments.lost) > 0 {
		in.lost()
	}
}

// lost tells of the fragments that were given up.
func (in *intake) lost() {
	lost := append([]uint64(nil), in.decoder.fragments.lost...)
	in.decoder.fragments.lost = in.decoder.fragments.lost[:0]
	in.then(func(s *Source) {
		for _, n := range lost {
			s.skip(skipFragment, linkBroken, n)
		}
	})
}

// finish gives what is still held back when no more comes.
func (in *intake) finish() {
	in.conclude()
	in.decoder.fragments.finish()
	if len(in.decoder.fragments.lost) > 0 {
		in.lost()
	}
}

// anew goes on with the capture that has taken the place of a followed one.
func (in *intake) anew() error {
	if in.file.r.buffered() > 0 { // the old one ended inside a record
		in.read++
		n := in.read
		in.then(func(s *Source) {
			s.out.health.Read = n
			s.skip(skipBroken, linkBroken, n)
		})
	}
	in.missed = in.dropped()
	return in.begin()
}

// dropped is how many packets the capturing host says it lost.
func (in *intake) dropped() uint64 {
	n := in.missed
	if in.parts == nil {
		return add(n, in.file.dropped())
	}
	for _, p := range in.parts {
		n = add(n, p.file.dropped())
	}
	return n
}

// done is the share of the input that has been read.
func (in *intake) done() float64 {
	if in.size <= 0 || in.file == nil {
		return 0
	}
	read := in.file.read + int64(in.file.pending)
	if in.parts != nil {
		read = 0
		for _, p := range in.parts {
			read += p.file.read
		}
	}
	return min(1, float64(read)/float64(in.size))
}
