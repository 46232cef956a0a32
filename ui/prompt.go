package ui

import (
	"strings"
	"unicode/utf8"
)

// prompt opens the bottom row for typing a command or the filter.
func (c *console) prompt(command bool, draft string) {
	v := &c.v
	v.editing, v.command, v.draft, v.draftErr = true, command, draft, nil
	c.typing = c.raw
	v.offers = c.completions()
}

// completions are what the draft may become.
func (c *console) completions() []string {
	if c.v.command {
		return completeCommand(&c.v, c.typing, c.v.draft)
	}
	return completeFilter(c.typing, c.v.draft)
}

// edit types into the prompt. A filter that can be read takes effect at once, a
// command when it is entered.
func (c *console) edit(p press) effect {
	v := &c.v
	switch p.name {
	case "enter":
		return c.accept()
	case "esc":
		v.editing = false
		if !v.command && v.draft != "" {
			c.apply(filter{})
		}
		return effect{}
	case "ctrl+c":
		return effect{quit: true}
	case "tab":
		v.draft = completed(v.draft, v.offers)
	case "backspace", "ctrl+h":
		_, n := utf8.DecodeLastRuneInString(v.draft)
		v.draft = v.draft[:len(v.draft)-n]
	case "ctrl+u":
		v.draft = ""
	case "ctrl+w":
		v.draft = v.draft[:strings.LastIndexByte(strings.TrimRight(v.draft, " "), ' ')+1]
	default:
		const longest = 400
		if len(v.draft)+len(p.text) <= longest {
			v.draft += p.text
		}
	}
	v.offers = c.completions()
	if v.command {
		v.draftErr = nil
		if v.draft != "" && len(v.offers) == 0 {
			_, v.draftErr = c.parseCommand(v.draft)
		}
		return effect{}
	}
	f, err := parseFilter(v.draft)
	if v.draftErr = err; err == nil {
		c.apply(f)
	}
	return effect{}
}

// accept takes what was typed; what cannot be read stays, with the reason.
func (c *console) accept() effect {
	v := &c.v
	if !v.command {
		v.editing = v.draftErr != nil
		return effect{}
	}
	if strings.TrimSpace(v.draft) == "" {
		v.editing = false
		return effect{}
	}
	run, err := c.parseCommand(v.draft)
	if v.draftErr = err; err != nil {
		v.offers = nil
		return effect{}
	}
	v.editing = false
	return run()
}

// completed is the draft with its last word made as long as all offers agree.
func completed(draft string, offers []string) string {
	if len(offers) == 0 {
		return draft
	}
	word := offers[0]
	for _, o := range offers[1:] {
		for !strings.HasPrefix(o, word) {
			_, n := utf8.DecodeLastRuneInString(word)
			word = word[:len(word)-n]
		}
	}
	head := draft[:lastWord(draft)]
	if len(offers) == 1 && !strings.HasSuffix(word, ":") {
		word += " "
	}
	if len(head)+len(word) < len(draft) {
		return draft
	}
	return head + word
}

// lastWord is where the last word of a draft begins. Quotes hold a word together.
func lastWord(draft string) int {
	from, quoted := 0, false
	for i, r := range draft {
		switch {
		case r == '"':
			quoted = !quoted
		case r == ' ' && !quoted:
			from = i + 1
		}
	}
	return from
}

// offered are the words of a list that a beginning may become, unless it is one of
// them already.
func offered(list []string, begun string) (out []string) {
	for _, w := range list {
		if w == begun {
			return nil
		}
		if strings.HasPrefix(w, begun) {
			out = append(out, w)
		}
	}
	return out
}

// drawPrompt draws what is being typed, red with the reason while it cannot be
// read, else with what it may become.
func drawPrompt(c *canvas, v *view) {
	st, note := styleText, promptNote(v)
	if v.draftErr != nil {
		st, note = styleInvalid, v.draftErr.Error()
	}
	sign := "/"
	if v.command {
		sign = ":"
	}
	x := c.text(1, 0, sign, styleKey)
	text := v.draft
	for width(text) > c.w/2 { // the end is what is being typed
		_, n := utf8.DecodeRuneInString(text)
		text = text[n:]
	}
	x = c.text(x, 0, text, st)
	c.set(x, 0, '▏', styleBold)
	c.text(x+2, 0, fit(note, c.w-x-2), noteStyle(v))
}

func promptNote(v *view) string {
	switch {
	case v.command && len(v.offers) > 0:
		return "tab: " + strings.Join(v.offers, " ")
	case v.command:
		return "enter does it, esc leaves it"
	case v.draft == "":
		return filterHelp
	case len(v.offers) > 0:
		return "tab: " + strings.Join(v.offers, " ")
	}
	return "enter keeps it, esc clears it"
}

func noteStyle(v *view) style {
	if v.draftErr != nil {
		return styleRefused
	}
	return styleDim
}
