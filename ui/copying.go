package ui

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"stormwatch/report"
)

const copyLimit = 100_000 // bytes; terminals drop longer OSC 52 texts

// copyChosen sends what is selected to the terminal's clipboard: a snippet, a
// chain, a client, or the verdict where an overlay lies over the rest.
func (c *console) copyChosen() effect {
	v := &c.v
	switch {
	case v.overlay != overlayNone:
		return c.copy(c.verdictText(), "the verdict")
	case v.screen == screenFix:
		sn := v.snippet(v.mitigation(c.snap))
		if sn == nil {
			return c.flash("no snippet here to copy")
		}
		return c.copy(cleanLines(sn.Text), "the snippet")
	case v.screen == screenChains:
		if list, at := v.chains(c.snap); at >= 0 {
			k := &list[at]
			lines := []string{k.Client + " " + k.Method + " " + k.Host + report.BlankQuery(k.Path) + "  " + plain(summary(k))}
			for i := range k.Attempts {
				a := &k.Attempts[i]
				lines = append(lines, fmt.Sprintf("%d %s %s wait named %s %s %s", a.N, clockTenths(a.Start), report.Answer(a), report.Asked(a), timing(earlyAt(k, i)), a.At))
			}
			return c.copy(cleanLines(strings.Join(lines, "\n")), "the chain")
		}
	case v.screen == screenOverview || v.screen == screenClients:
		if row := v.current(); row != nil {
			return c.copy(cleanLines(fmt.Sprintf("%s  agent %s  attempts %d  ok %d  refused %d  amp %s  gap %s  early %s  %s",
				clientName(row), row.Agent, row.Attempts, row.OK, row.Refused, times(row.Amplification), gap(row.GapMedianS, row.GapMADS), percent(row.EarlyShare), signOf(c.snap, row, true))), "the client")
		}
	}
	return c.copy(c.verdictText(), "the verdict")
}

// verdictText is the verdict as it is pasted into a chat.
func (c *console) verdictText() string {
	var b bytes.Buffer
	if err := report.Brief(&b, c.snap, report.Options{Version: c.v.version}); err != nil {
		return c.snap.Verdict.What
	}
	return strings.TrimRight(b.String(), "\n")
}

func (c *console) copy(text, what string) effect {
	if len(text) > copyLimit {
		return c.flash(what + " is too long for a terminal's clipboard; e writes it into a file")
	}
	const most = 50 // texts kept for printing on quit
	if !slices.Contains(c.copied, text) && len(c.copied) < most {
		c.copied = append(c.copied, text)
	}
	e := c.flash(what + " is sent to the terminal's clipboard; also printed on quit")
	e.copy = text
	return e
}

// cleanLines sanitises a text of several lines.
func cleanLines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
	for i := range lines {
		lines[i] = safe(lines[i], len(lines[i]))
	}
	return strings.Join(lines, "\n")
}

// plain writes labels and values in a line.
func plain(parts [][2]string) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = p[0] + " " + p[1]
	}
	return strings.Join(words, "  ")
}
