package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Model is the console as a Bubble Tea model.
type Model struct {
	c   *console
	out *terminal // where the clipboard's escape sequence goes; nil in tests
	gen int       // of the frame tick that counts; ticks of others are dropped
	fps int
}

// New returns the console of a feed, for Run and for tests.
func New(f Feed, o Options) Model {
	fps := o.FPS
	if fps <= 0 {
		fps = 10
	}
	return Model{c: newConsole(f, o), fps: min(fps, 30)}
}

type (
	frameMsg struct{ gen int }
	flashMsg struct{ text string }
	doneMsg  struct{ text string } // a job's message
)

const flashTime = 6 * time.Second

// Init starts the one frame tick.
func (m Model) Init() tea.Cmd { return m.tick() }

// tick is armed by Init and by the tick itself, never elsewhere: two of them
// would double the frame rate for ever.
func (m Model) tick() tea.Cmd {
	gen := m.gen
	return tea.Tick(time.Second/time.Duration(m.fps), func(time.Time) tea.Msg { return frameMsg{gen} })
}

// Update takes a message.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.c.resize(msg.Width, msg.Height)
	case frameMsg:
		if msg.gen != m.gen {
			return m, nil
		}
		m.c.refresh()
		return m, m.tick()
	case flashMsg:
		if m.c.v.flash == msg.text {
			m.c.v.flash, m.c.dirty = "", true
		}
	case doneMsg:
		m.c.flash(msg.text)
		m.c.dirty = true
		return m, flashed(msg.text)
	case tea.KeyMsg:
		return m, m.keys(presses(msg))
	}
	return m, nil
}

// View returns the frame: exactly as many lines as the terminal has, each
// exactly as wide.
func (m Model) View() string { return m.c.draw() }

// Copied returns the texts that were sent to the terminal's clipboard, which
// terminals may ignore: print them when the console is left.
func (m Model) Copied() []string { return m.c.copied }

func (m Model) keys(list []press) tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range list {
		e := m.c.press(p)
		if e.quit {
			return tea.Quit
		}
		if e.copy != "" && m.out != nil {
			cmds = append(cmds, m.out.copy(e.copy))
		}
		if e.job != nil {
			cmds = append(cmds, func() tea.Msg { return doneMsg{e.job()} })
		}
		if e.flashed {
			cmds = append(cmds, flashed(m.c.v.flash))
		}
	}
	return tea.Batch(cmds...)
}

// flashed takes a message away after a while.
func flashed(text string) tea.Cmd {
	return tea.Tick(flashTime, func(time.Time) tea.Msg { return flashMsg{text} })
}

// presses splits a message into single keys: letters typed fast arrive as one.
// A paste counts as typing only.
func presses(msg tea.KeyMsg) []press {
	k := tea.Key(msg)
	if k.Paste {
		return []press{{text: string(k.Runes)}}
	}
	if k.Type != tea.KeyRunes && k.Type != tea.KeySpace {
		return []press{{name: msg.String()}}
	}
	list := make([]press, 0, len(k.Runes))
	for _, r := range k.Runes {
		one := tea.Key{Type: k.Type, Runes: []rune{r}, Alt: k.Alt}
		p := press{name: one.String(), text: string(r)}
		if k.Alt {
			p.text = ""
		}
		list = append(list, p)
	}
	return list
}
