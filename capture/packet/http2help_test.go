package packet

import (
	"bytes"
	"encoding/binary"
	"testing"

	h2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"stormwatch/capture/packet/write"
)

// peers makes the frames of both sides of a connection, with header tables as real
// peers keep them.
type peers struct {
	t    testing.TB
	c    *write.Conn
	out  [2]bytes.Buffer // client, server
	fr   [2]*h2.Framer
	text [2]bytes.Buffer
	enc  [2]*hpack.Encoder
	bare bool // fields are not inserted into the tables, as nginx and others do it
}

const (
	toServer = 0
	toClient = 1
)

func newPeers(t testing.TB, c *write.Conn) *peers {
	p := &peers{t: t, c: c}
	for d := range p.fr {
		p.fr[d] = h2.NewFramer(&p.out[d], nil)
		p.fr[d].AllowIllegalWrites = true
		p.enc[d] = hpack.NewEncoder(&p.text[d])
	}
	return p
}

// talk dials, and exchanges prefaces.
func (m *made) talk() *peers {
	p := newPeers(m.t, m.dial())
	p.begin(base)
	return p
}

func (p *peers) begin(t int64) {
	p.out[toServer].WriteString(h2.ClientPreface)
	p.check(p.fr[toServer].WriteSettings())
	p.check(p.fr[toClient].WriteSettings(h2.Setting{ID: h2.SettingMaxConcurrentStreams, Val: 100}))
	p.check(p.fr[toClient].WriteSettingsAck())
	p.send(t, toServer)
	p.send(t, toClient)
}

func (p *peers) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// take returns the frames made so far in one direction.
func (p *peers) take(d int) []byte {
	b := bytes.Clone(p.out[d].Bytes())
	p.out[d].Reset()
	return b
}

// send sends them.
func (p *peers) send(t int64, d int) { p.c.Send(t, d == toServer, p.take(d)) }

// block encodes fields given as name, value, name, value ...
func (p *peers) block(d int, fields ...string) []byte {
	p.text[d].Reset()
	for i := 0; i < len(fields); i += 2 {
		p.check(p.enc[d].WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1], Sensitive: p.bare}))
	}
	return bytes.Clone(p.text[d].Bytes())
}

func (p *peers) headers(d int, id uint32, end bool, fields ...string) {
	p.check(p.fr[d].WriteHeaders(h2.HeadersFrameParam{StreamID: id, BlockFragment: p.block(d, fields...), EndHeaders: true, EndStream: end}))
}

// ask adds a GET request.
func (p *peers) ask(id uint32, path string, fields ...string) {
	p.headers(toServer, id, true, append([]string{":method", "GET", ":scheme", "http", ":path", path, ":authority", "api.example", "user-agent", "probe/1"}, fields...)...)
}

// call adds a gRPC request.
func (p *peers) call(id uint32, fields ...string) {
	p.headers(toServer, id, false, append([]string{":method", "POST", ":scheme", "http", ":path", "/shop.Cart/Add", ":authority", "cart:50051", "content-type", "application/grpc+proto"}, fields...)...)
	p.body(toServer, id, true, "\x00\x00\x00\x00\x01x")
}

// reply adds a whole response.
func (p *peers) reply(id uint32, status string, fields ...string) {
	p.headers(toClient, id, true, append([]string{":status", status}, fields...)...)
}

func (p *peers) body(d int, id uint32, end bool, text string) {
	p.check(p.fr[d].WriteData(id, end, []byte(text)))
}

// raw makes a frame of any kind.
func raw(kind, flags byte, id uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(b, id), payload...)
}

// counted tells how often a reason was counted.
func (r result) counted(reason string) (n uint64) {
	for _, k := range r.health.Skipped {
		if k.Reason == reason {
			n = k.Count
		}
	}
	return n
}
