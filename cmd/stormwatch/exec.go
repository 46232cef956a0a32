package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// command is the output of a command that ought never to end, such as tail -F on
// another machine. When it ends it is run anew, after a wait that grows and
// differs from time to time, and at most maxRestarts times in a row. Lines that it
// tells again, as tail does with the last ten, are told once.
type command struct {
	ctx    context.Context
	text   string
	random *rand.Rand
	first  time.Duration // wait before the first restart
	stderr lastLine

	mu    sync.Mutex // guards cmd, which Close ends
	cmd   *exec.Cmd
	out   io.ReadCloser
	ended bool

	failed int // runs in a row that did not last
	lines  rejoiner
	down   atomic.Pointer[string]
}

const (
	maxRestarts  = 20               // in a row: some 15 minutes
	firstRestart = time.Second      // doubled each time,
	longRestart  = time.Minute      // up to here
	lasting      = 30 * time.Second // a run of so long was none of the row
	termGrace    = 2 * time.Second  // between being asked to end and being killed
)

func newCommand(ctx context.Context, name, text string) *command {
	seed := uint64(14695981039346656037)
	for i := 0; i < len(name); i++ {
		seed = (seed ^ uint64(name[i])) * 1099511628211
	}
	return &command{ctx: ctx, text: text, random: rand.New(rand.NewPCG(seed, 1)), first: firstRestart, lines: rejoiner{seed: maphash.MakeSeed()}}
}

// Down says why nothing comes at present.
func (c *command) Down() string {
	if s := c.down.Load(); s != nil {
		return *s
	}
	return ""
}

// Read implements io.Reader. It ends with the context, or when the command has
// ended too often.
func (c *command) Read(b []byte) (int, error) {
	for {
		if n := c.lines.take(b); n > 0 {
			return n, nil
		}
		if c.ctx.Err() != nil {
			return 0, io.EOF
		}
		if c.out == nil {
			if err := c.start(); err != nil {
				if !c.wait(err.Error(), 0) {
					return 0, io.EOF
				}
				continue
			}
		}
		began := time.Now()
		for {
			n, err := c.out.Read(b)
			if n > 0 {
				c.tell("")
				c.lines.give(b[:n])
				break
			}
			if err != nil {
				if !c.wait(c.reap(), time.Since(began)) {
					return 0, io.EOF
				}
				break
			}
		}
	}
}

// start runs the command in a process group of its own, so that all of it can be
// ended.
func (c *command) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return errors.New("it was ended")
	}
	cmd := exec.Command("/bin/sh", "-c", c.text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.stderr.reset()
	cmd.Stderr = &c.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.cmd, c.out = cmd, out
	return nil
}

// reap takes leave of a command whose output has ended, and says how it went.
func (c *command) reap() string {
	c.mu.Lock()
	cmd := c.cmd
	c.cmd, c.out = nil, nil
	c.mu.Unlock()
	if cmd == nil {
		return "ended"
	}
	end(cmd.Process.Pid) // what it started and left behind
	err := cmd.Wait()
	text := "it ended"
	if err != nil {
		text = "it ended: " + err.Error()
	}
	if last := c.stderr.text(); last != "" {
		text += ", having said: " + last
	}
	return text
}

// wait lets time pass before the next run; it is false where there is none.
func (c *command) wait(why string, ran time.Duration) bool {
	if ran >= lasting {
		c.failed = 0
	}
	c.failed++
	if c.failed > maxRestarts {
		c.tell(fmt.Sprintf("given up after %d runs: %s", c.failed, why))
		return false
	}
	pause := min(c.first<<min(c.failed-1, 10), longRestart)
	pause = pause/2 + time.Duration(c.random.Int64N(int64(pause))) // half to one and a half
	c.tell(fmt.Sprintf("%s; run %d begins in about %s", why, c.failed+1, pause.Round(time.Second/10)))
	c.lines.again()
	select {
	case <-c.ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

func (c *command) tell(down string) {
	if down != c.Down() {
		c.down.Store(&down)
	}
}

// Close ends the command, and all in its process group.
func (c *command) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cmd == nil {
		return nil
	}
	cmd := c.cmd
	c.cmd = nil // nobody else takes leave of it
	pid := cmd.Process.Pid
	end(pid)
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it was told to end: how it did says nothing
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(termGrace):
		_ = syscall.Kill(-pid, syscall.SIGKILL) // gone by itself otherwise
		<-gone
	}
	return nil
}

func end(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGTERM) // it may have ended already
}

// lastLine keeps the end of what a command complains of.
type lastLine struct {
	mu sync.Mutex
	b  []byte
}

const maxComplaint = 200

// Write implements io.Writer.
func (l *lastLine) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, b...)
	if n := len(l.b) - 2*maxComplaint; n > 0 {
		l.b = append(l.b[:0], l.b[n:]...)
	}
	return len(b), nil
}

func (l *lastLine) reset() {
	l.mu.Lock()
	l.b = l.b[:0]
	l.mu.Unlock()
}

func (l *lastLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := bytes.TrimSpace(l.b)
	b = b[bytes.LastIndexByte(b, '\n')+1:]
	return string(b[max(0, len(b)-maxComplaint):])
}
