package stub

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"stormwatch/capture/packet/write"
)

// maxTape bounds the payload that is recorded, in bytes.
const maxTape = 16 << 20

// tape records what passes connections. A request is stamped when it has been
// read, an answer before it is written, so that no answer seems later than what
// the client did on it.
type tape struct {
	mu    sync.Mutex
	w     *write.Writer
	began time.Time
	bytes int
	over  bool
	ended bool
}

func newTape(w io.Writer) (*tape, error) {
	packets, err := write.New(w)
	return &tape{w: packets, began: time.Now()}, err
}

// record calls f with the time, in the order in which things happened.
func (t *tape) record(f func(now int64)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		f(t.began.UnixNano() + int64(time.Since(t.began))) // monotonic: a clock step would change waits
	}
}

// finish writes the capture; what is still open has no end in it.
func (t *tape) finish() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.over {
		return fmt.Errorf("stub: more than %d bytes passed: the capture is cut", maxTape)
	}
	return t.w.Flush()
}

type listener struct {
	net.Listener
	tape *tape
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	client, err1 := netip.ParseAddrPort(c.RemoteAddr().String())
	server, err2 := netip.ParseAddrPort(c.LocalAddr().String())
	if err := errors.Join(err1, err2); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	rec := &conn{Conn: c, tape: l.tape}
	l.tape.record(func(now int64) { rec.packets = l.tape.w.Dial(now, client, server) })
	return rec, nil
}

type conn struct {
	net.Conn
	tape    *tape
	packets *write.Conn
	ended   bool // its end is recorded; guarded by the tape
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.pass(true, b[:n])
	}
	switch {
	case errors.Is(err, io.EOF):
		c.end(func(now int64) { c.packets.Close(now) })
	case errors.Is(err, syscall.ECONNRESET):
		c.end(func(now int64) { c.packets.Abort(now, true) })
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	c.pass(false, b)
	return c.Conn.Write(b)
}

func (c *conn) Close() error {
	c.end(func(now int64) { c.packets.Close(now) })
	return c.Conn.Close()
}

func (c *conn) pass(fromClient bool, b []byte) {
	c.tape.record(func(now int64) {
		c.tape.bytes += len(b)
		c.tape.over = c.tape.over || c.tape.bytes > maxTape
		if !c.ended && !c.tape.over {
			c.packets.Send(now, fromClient, b)
		}
	})
}

func (c *conn) end(how func(now int64)) {
	c.tape.record(func(now int64) {
		if !c.ended {
			how(now)
		}
		c.ended = true
	})
}
