package stub_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"stormwatch/sim/stub"
)

// folder holds the programs, the captures and the truth beside them.
const folder = "../../testdata/clients"

// modes are what the stub does: name no wait, or one of 2 s.
var modes = []string{"bare", "hint"}

const hintSeconds = 2

// A call is refused for ever, the other until it is served.
const (
	forever = "call-a"
	served  = "call-b"
)

// truth is what the stub knows of one capture.
type truth struct {
	Client  string        `json:"client"`
	Version string        `json:"version"`
	Mode    string        `json:"mode"`
	Served  []stub.Served `json:"served"`
}

// options are those of a stub for a client: the second call is served after two
// refusals, or after one that names a wait.
func (c *client) options(mode string) stub.Options {
	o := stub.Options{
		Calls:   map[string]int{forever: -1, served: 2},
		Refusal: stub.Reply{Status: c.api.status, Body: c.api.refusal, Header: map[string]string{"Content-Type": c.api.kind}},
		Success: stub.Reply{Status: 200, Body: c.api.answer, Header: map[string]string{"Content-Type": c.api.kind}},
	}
	if c.api.rpc {
		o.Refusal.Trailer = map[string]string{"Grpc-Status": "14", "Grpc-Message": "busy"}
		o.Success.Trailer = map[string]string{"Grpc-Status": "0"}
		o.Success.Body = "\x00\x00\x00\x00\x00" // an empty message
	}
	if mode == "hint" {
		o.Calls[served] = 1
		if c.api.rpc {
			o.Refusal.Trailer["Grpc-Retry-Pushback-Ms"] = fmt.Sprint(hintSeconds * 1000)
		} else {
			o.Refusal.Header["Retry-After"] = fmt.Sprint(hintSeconds)
		}
	}
	return o
}

// limit is how long a client may take for both calls: on a quiet machine none needs
// more than 60 s.
const limit = 150 * time.Second

// run has a client make its two calls, and returns what was served and the capture.
func (c *client) run(ctx context.Context, mode, goClients, dir string) (*truth, []byte, error) {
	var capture bytes.Buffer
	s, err := stub.Start(&capture, c.options(mode))
	if err != nil {
		return nil, nil, err
	}
	said, err := c.call(ctx, s.Addr(), goClients, dir)
	served, closed := s.Close()
	if err == nil {
		err = closed
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s, %s: %w\n%s", c.name, mode, err, said)
	}
	return &truth{c.name, versionIn(said), mode, served}, capture.Bytes(), nil
}

func (c *client) call(ctx context.Context, addr, goClients, dir string) (said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	switch c.program.kind {
	case "go":
		return output(ctx, addr, dir, goClients, c.name)
	case "js":
		return output(ctx, addr, dir, "node", absolute("js/clients.mjs"), c.name)
	case "python":
		return output(ctx, addr, dir, "/usr/bin/python3", absolute("python/clients.py"), c.name)
	}
	version, err := output(ctx, addr, dir, c.program.args[0], "--version")
	if err != nil {
		return version, err
	}
	words := strings.Fields(version)
	for i, w := range words {
		if i > 0 && w[0] >= '0' && w[0] <= '9' {
			said = "version " + w + "\n"
			break
		}
	}
	for _, call := range []string{forever, served} {
		args := make([]string, len(c.program.args))
		for i, a := range c.program.args {
			args[i] = strings.NewReplacer("URL", "http://"+addr+"/"+call, "ADDR", addr, "CALL", call, "DIR", dir).Replace(a)
		}
		out, err := output(ctx, addr, dir, args...)
		said += out
		if _, failed := err.(*exec.ExitError); err != nil && (!failed || ctx.Err() != nil) {
			return said, err // that the refused call fails is expected
		}
	}
	return said, nil
}

// output runs a program; it and what it started end with ctx.
func output(ctx context.Context, addr, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"STUB=http://" + addr, "HOME=" + dir, "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.Writer(&out)
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("did not end within %s", limit)
	}
	return out.String(), err
}

func versionIn(said string) string {
	for line := range strings.Lines(said) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "version "); ok {
			return strings.TrimPrefix(v, "v")
		}
	}
	return "unknown"
}

func absolute(path string) string {
	p, err := filepath.Abs(filepath.Join(folder, path))
	if err != nil {
		return path
	}
	return p
}
