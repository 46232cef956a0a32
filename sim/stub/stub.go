// Package stub is a server for real clients: it refuses their requests as it is
// told to, on 127.0.0.1 only, and records what came and went as a capture, with
// the truth beside it. It measures with the machine's clock, since its clients
// wait by theirs.
package stub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say what a Server answers.
type Options struct {
	// Calls are the logical calls to expect, by a text that the path of their
	// requests contains, with the number of refusals before a success; a negative
	// number refuses for ever. Any other request is answered 404.
	Calls   map[string]int
	Refusal Reply
	Success Reply
}

// Reply is an answer to a request.
type Reply struct {
	Status int
	Header map[string]string
	Body   string
	// Trailer makes the answer one of gRPC: its fields end the answer, or are all
	// of it where there is no body (Trailers-Only).
	Trailer map[string]string
}

// Served is one request that was answered, in order of arrival.
type Served struct {
	Call   string `json:"call"` // "" where the request belonged to no call
	Method string `json:"method"`
	Status int    `json:"status"`
	// Refused tells whether the answer was Options.Refusal.
	Refused bool `json:"refused"`
}

// maxServed bounds how many requests are answered; clients are to give up sooner.
const maxServed = 1000

// Server is a running stub.
type Server struct {
	opt    Options
	http   http.Server
	listen *listener
	done   chan error

	mu     sync.Mutex
	seen   map[string]int
	served []Served
}

// Start listens on a free port of 127.0.0.1 and writes what it sees to capture
// when it is closed. HTTP/1.1 and unencrypted HTTP/2 are spoken.
func Start(capture io.Writer, opt Options) (*Server, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("stub: %w", err)
	}
	tape, err := newTape(capture)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &Server{opt: opt, listen: &listener{l, tape}, done: make(chan error, 1), seen: map[string]int{}}
	s.http.Handler = http.HandlerFunc(s.answer)
	s.http.ReadHeaderTimeout = time.Minute
	s.http.Protocols = new(http.Protocols)
	s.http.Protocols.SetHTTP1(true)
	s.http.Protocols.SetUnencryptedHTTP2(true)
	go func() { s.done <- s.http.Serve(s.listen) }()
	return s, nil
}

// Addr is the address to call, "127.0.0.1:port".
func (s *Server) Addr() string { return s.listen.Addr().String() }

// Close ends the server, writes the capture, and returns what was served.
func (s *Server) Close() ([]Served, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // a client holds on to its connection
		err = s.http.Close()
	}
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served, errors.Join(err, s.listen.tape.finish())
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20)) // else the answer might overtake the request
	reply, served := s.choose(r.URL.Path)
	served.Method = r.Method
	s.mu.Lock()
	full := len(s.served) >= maxServed
	if !full {
		s.served = append(s.served, served)
	}
	s.mu.Unlock()
	if full {
		panic(http.ErrAbortHandler) // ends the connection: a client without end must not run on
	}
	reply.write(w)
}

// choose finds the call that a path belongs to, and whether it is refused.
func (s *Server) choose(path string) (Reply, Served) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := sorted(s.opt.Calls)
	i := slices.IndexFunc(names, func(name string) bool { return strings.Contains(path, name) })
	if i < 0 {
		return Reply{Status: http.StatusNotFound}, Served{Status: http.StatusNotFound}
	}
	call := names[i]
	s.seen[call]++
	if n := s.opt.Calls[call]; n < 0 || s.seen[call] <= n {
		return s.opt.Refusal, Served{Call: call, Status: s.opt.Refusal.Status, Refused: true}
	}
	return s.opt.Success, Served{Call: call, Status: s.opt.Success.Status}
}

func (a *Reply) write(w http.ResponseWriter) {
	h := w.Header()
	for name, value := range a.Header {
		h.Set(name, value)
	}
	prefix := ""
	if a.Body != "" {
		prefix = http.TrailerPrefix
	}
	for _, name := range sorted(a.Trailer) {
		h.Set(prefix+name, a.Trailer[name])
	}
	if a.Trailer == nil {
		h.Set("Content-Length", fmt.Sprint(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
