package ui

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
)

// Run shows the console until the operator quits or ctx ends, and restores the
// terminal whatever happens. Snippets copied meanwhile are printed at the end,
// for terminals that ignored the clipboard. An operator's quit, an interrupt and
// the end of ctx are no errors.
func Run(ctx context.Context, f Feed, o Options) error {
	out := o.Output
	if out == nil {
		out = os.Stdout
	}
	o.Output = out
	o.ASCII = o.ASCII || needsASCII(os.Getenv)
	if o.FPS <= 0 && os.Getenv("SSH_TTY") != "" {
		o.FPS = 4
	}
	m := New(f, o)
	// Signals end ctx. A handler of Bubble Tea beside that would block on the loop
	// that ctx has ended, and leave the terminal raw.
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithAltScreen(), tea.WithFPS(30)}
	if file, ok := out.(*os.File); ok {
		m.out = &terminal{File: file}
		options = append(options, tea.WithOutput(m.out))
	} else {
		options = append(options, tea.WithOutput(out))
	}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	_, err := tea.NewProgram(m, options...).Run()
	for _, text := range m.Copied() {
		if _, e := io.WriteString(out, strings.TrimRight(text, "\n")+"\n"); e != nil && err == nil {
			err = e
		}
	}
	switch {
	case err == nil, errors.Is(err, tea.ErrInterrupted):
		return nil
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("the console stopped on an internal error; the terminal is restored, use --plain meanwhile: %w", err)
	case ctx.Err() != nil:
		return nil
	}
	return fmt.Errorf("console: %w; use --plain where there is no terminal", err)
}

// needsASCII tells whether the environment names a terminal or a locale without
// the glyphs of the console. A locale that is not set says nothing.
func needsASCII(getenv func(string) string) bool {
	switch getenv("TERM") {
	case "linux", "dumb":
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if l := strings.ToLower(getenv(name)); l != "" {
			return !strings.Contains(l, "utf-8") && !strings.Contains(l, "utf8")
		}
	}
	return false
}

// terminal is the output of the console. Frames and the clipboard's sequence are
// written by different goroutines, one after the other.
type terminal struct {
	*os.File
	mu sync.Mutex
}

func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.File.Write(b)
}

// WriteString keeps io.WriteString from passing the lock by.
func (t *terminal) WriteString(s string) (int, error) { return t.Write([]byte(s)) }

// copy sends a text to the terminal's clipboard (OSC 52, XTerm Control
// Sequences, "Manipulate Selection Data").
func (t *terminal) copy(text string) tea.Cmd {
	return func() tea.Msg {
		// A terminal that cannot be written to shows nothing anyhow, and the
		// text is printed on quit.
		_, _ = t.WriteString("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x07")
		return nil
	}
}
