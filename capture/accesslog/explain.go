package accesslog

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"stormwatch/capture"
)

// Explain reads a log and writes how each line was cut and what came of it, or
// why it was not read. Secrets are not shown.
func Explain(ctx context.Context, w io.Writer, name string, r io.Reader, opt Options) error {
	s, err := Open(name, r, opt)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	e := explainer{out: out}
	s.tell = e.line
	var health capture.Health
	err = s.Run(ctx, func(b *capture.Batch) error {
		if b.Health != nil {
			health = *b.Health
		}
		return out.Flush()
	})
	e.sum(&health)
	if failed := out.Flush(); err == nil {
		err = failed
	}
	return err
}

type explainer struct {
	out     *bufio.Writer
	formats string
}

// line tells of one line.
func (e *explainer) line(b *builder, line []byte, why fault) {
	if f := b.formatNames(); f != e.formats {
		e.formats = f
		fmt.Fprintf(e.out, "format %s\n", capture.Clean(f))
	}
	if why != "" {
		fmt.Fprintf(e.out, "line %d: not read: %s\n    %s\n", b.at, capture.Clean(string(why)), shown(line))
		return
	}
	x := &b.batch.Exchanges[len(b.batch.Exchanges)-1]
	fmt.Fprintf(e.out, "line %d: %s\n", b.at, b.sentence(x))
	var cuts []string
	for _, c := range *b.r.cuts {
		cuts = append(cuts, c.String())
	}
	fmt.Fprintf(e.out, "    %s\n", strings.Join(cuts, " "))
}

// String shows a field with its meaning; what is secret stays hidden.
func (c cut) String() string {
	name := c.name
	if strings.HasPrefix(name, "<_") {
		return name
	}
	if c.role != roleNone {
		name += "→" + c.role.String()
	}
	if (c.role.secret() || c.role == roleNone && secretField(c.name)) && len(dashless(c.value)) > 0 {
		return name + "=(hidden)"
	}
	return name + "=" + shown(c.value)
}

// secretField tells whether a field without a meaning is one that carries a
// credential, by its name in any of the languages.
func secretField(name string) bool {
	return strings.Contains(strings.ToLower(name), "cookie") || strings.HasSuffix(name, "}C") || capture.SecretName([]byte(strings.Trim(name, "$%<>{}()")))
}

func shown(b []byte) string {
	const most = 200
	cutOff := ""
	if len(b) > most {
		b, cutOff = b[:most], "…"
	}
	return capture.Clean(capture.HideSecrets(string(capture.AppendMasked(nil, b)))) + cutOff
}

// sentence tells what became of a line.
func (b *builder) sentence(x *capture.Exchange) string {
	const layout = "2006-01-02T15:04:05.000000Z07:00"
	parts := []string{
		time.Unix(0, x.Start).UTC().Format(layout) + " +" + time.Duration(x.End-x.Start).String(),
		strings.TrimSpace(x.Src.String() + " " + b.names.Text(x.Method) + " " + b.names.Text(x.Host) + string(b.batch.Bytes(x.Target))),
	}
	end := x.Outcome.String()
	if x.Outcome == capture.Answered {
		end = number(uint64(x.Status)) + " " + x.Reason.String()
	}
	if x.Origin != capture.OriginUnknown {
		end += " by the " + map[capture.Origin]string{capture.OriginHop: "hop itself", capture.OriginUpstream: "upstream"}[x.Origin]
	}
	parts = append(parts, end)
	switch {
	case x.Hint.Usable():
		parts = append(parts, "wait "+time.Duration(x.Hint.Wait).String())
	case x.Hint.State == capture.Present:
		parts = append(parts, "wait malformed: "+b.names.Text(x.Hint.Raw))
	}
	if x.Attempt.N > 0 {
		parts = append(parts, "attempt "+number(uint64(x.Attempt.N)))
	}
	if x.Tries > 0 {
		tries := number(uint64(x.Tries)) + " tries"
		for _, t := range b.batch.TriesOf(x) {
			tries += " " + b.names.Text(t.Server) + " " + number(uint64(t.Status))
			if t.Took >= 0 {
				tries += " " + time.Duration(t.Took).String()
			}
		}
		parts = append(parts, tries)
	}
	return capture.Clean(strings.Join(parts, "; "))
}

// formatNames names the formats in use and what is around the lines.
func (b *builder) formatNames() string {
	var names []string
	for i := range b.formats {
		names = append(names, b.formats[i].name)
	}
	text := strings.Join(names, ", else ")
	if b.unwrap != nil {
		text += ", wrapped in " + b.unwrap.chain.String()
	}
	return text
}

// sum tells of all lines together.
func (e *explainer) sum(h *capture.Health) {
	fmt.Fprintf(e.out, "%d of %d lines read", h.Used, h.Read)
	if h.Resolution > 0 {
		fmt.Fprintf(e.out, "; clock %s", time.Duration(h.Resolution))
	}
	if h.Retries > 0 {
		fmt.Fprintf(e.out, "; %d retries by the hop itself", h.Retries)
	}
	fmt.Fprintln(e.out)
	for _, n := range h.Notes {
		fmt.Fprintf(e.out, "note: %s\n", capture.Clean(n))
	}
	for _, s := range h.Skipped {
		fmt.Fprintf(e.out, "not read: %d lines: %s\n", s.Count, capture.Clean(s.Reason))
	}
}

// Ask tells what a log looks like whose format is not certain, and what to do:
// the best ways to cut one of its lines.
func (g *Guess) Ask() string {
	const most = 3
	var b strings.Builder
	b.WriteString("which log format is it? Say it with --log-format NAME or a format string, --nginx-conf or --apache-conf ('stormwatch formats' lists names)")
	if len(g.best) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "; %d of %d lines are like something known:", g.read, g.lines)
	for i, s := range g.best {
		if i == most {
			break
		}
		fmt.Fprintf(&b, "\n  %s reads %d of %d", s.format.name, s.read, g.lines)
		for j, ok := range s.lines {
			if !ok {
				continue
			}
			var cuts []cut
			r := reading{cuts: &cuts, esc: s.format.esc}
			if s.format.open().cut(g.samples[j], &r) != "" {
				continue
			}
			b.WriteString(", e.g.")
			for _, c := range cuts {
				b.WriteString(" " + c.String())
			}
			break
		}
	}
	return b.String()
}

// Known tells whether any line of the sample is like something known.
func (g *Guess) Known() bool { return len(g.best) > 0 }

// Unreadable says why an input can be no log, by its first bytes; "" where it may
// be one.
func Unreadable(head []byte) string {
	switch {
	case hasPrefix(head, "\xff\xfe"), hasPrefix(head, "\xfe\xff"):
		return "UTF-16 text: give it through `iconv -f UTF-16 -t UTF-8`"
	case utf16Text(head):
		order := "LE"
		if head[0] == 0 { // the high byte of plain text comes first
			order = "BE"
		}
		return "UTF-16 text without its mark: give it through `iconv -f UTF-16" + order + " -t UTF-8`"
	}
	strange := 0
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != 0x1b && c != 0 {
			strange++
		}
	}
	if len(head) > 0 && 10*strange > len(head) {
		return "binary data, neither a capture nor a log"
	}
	return ""
}

// utf16Text tells whether every second byte is 0, as in UTF-16 of plain text.
func utf16Text(head []byte) bool {
	n := min(len(head), 256) &^ 1
	if n < 32 {
		return false
	}
	zeros := [2]int{}
	for i, c := range head[:n] {
		if c == 0 {
			zeros[i%2]++
		}
	}
	return max(zeros[0], zeros[1]) > n*2/5 && min(zeros[0], zeros[1]) < n/20
}
