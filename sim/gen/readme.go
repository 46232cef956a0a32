package main

import (
	"fmt"
	"strings"

	"stormwatch/sim"
)

const readmeHead = `# Captures

Each folder holds ` + "`scenario.yaml`" + ` (who asked whom for what, and what a reader of
the traffic should conclude), ` + "`traffic.pcap`" + ` made from it, ` + "`truth.ndjson`" + ` (which
request was an attempt of which), and ` + "`want.txt`" + ` (the text report).

` + "`go generate ./sim`" + ` makes the captures, truths and this page again, byte for byte; a
test of ` + "`sim/gen`" + ` checks that they are what the scenarios make. A tap beside the
server sees HTTP/1.1 over TCP, or where the scenario says so HTTP/2 or gRPC in clear
text, nanosecond time stamps. Clients have addresses in
10.1.0.0 to 10.250.255.255, one /16 a group, layers in 10.251.0.0 to 10.254.255.255,
IPv6 clients in 2001:db8::/32, and the server is 10.0.0.1:80 or [2001:db8::1]:80.

A finding in parentheses is not judged yet: tests let it be raised or not. Where the
verdict is in parentheses, the whole conclusion is not reached yet; the scenario says
why. Without a state, the verdict is left open. "quiet" is nothing above info.

| folder | exchanges | verdict | findings | what it shows |
|---|---|---|---|---|
`

const readmeTail = `
To add one: a folder with a ` + "`scenario.yaml`" + ` (fields: package ` + "`stormwatch/sim`" + `), then
` + "`go generate ./sim`" + `, ` + "`go test ./cmd/stormwatch -run TestWant -update`" + `, and a look in
` + "`sim/scenes_test.go`" + ` at whether it shows what its text says. Keep a capture below 300 kB,
and begin it with at least 15 s of calm, so that the onset can be dated and the
capacity judged against a baseline.
`

// row is a line of the table.
func row(r *sim.Result) string {
	e := &r.Scenario.Expect
	var verdict []string
	for _, word := range []string{e.State, e.Cause} {
		if word != "" && word != "none" {
			verdict = append(verdict, word)
		}
	}
	var findings []string
	if e.Quiet {
		findings = append(findings, "quiet")
	}
	for _, f := range e.Findings {
		name := f.Signature
		if f.Clients != "" {
			name += " of " + f.Clients
		}
		if f.Later {
			name = "(" + name + ")"
		}
		findings = append(findings, name)
	}
	said := strings.Join(verdict, ", ")
	if e.Later {
		said = "(" + said + ")"
	}
	about := strings.Join(strings.Fields(r.Scenario.About), " ")
	return fmt.Sprintf("| %s | %d | %s | %s | %s |\n", r.Scenario.Name, len(r.Rows), said, strings.Join(findings, ", "), about)
}
