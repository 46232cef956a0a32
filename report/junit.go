package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"stormwatch/detect"
)

// JUnit writes the verdict as a test suite, for pipelines that show those: one
// case for the verdict, which fails from Options.FailOn on (storm where that is
// not set) and is an error where nothing could be judged, and one for each
// signature. Those that are raised fail with the verdict, so that a gate that
// passed shows no failure; those that could not be judged are skipped. The shape
// is that of Apache Ant's JUnit reports, as Jenkins and GitLab read it.
func JUnit(w io.Writer, s *detect.Snapshot, o Options) error {
	s = prepared(s, o)
	limit := o.FailOn
	if limit == detect.Unknown {
		limit = detect.Storm
	}
	list := cases(s, limit)
	var count [3]int
	for i := range list {
		count[list[i].result]++
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	attrs := fmt.Sprintf(`name="stormwatch" tests="%d" failures="%d" errors="%d" skipped="%d" time="%s"`,
		len(list), count[failed], btoi(s.Verdict.State == detect.Unknown), count[skipped], windowSeconds(s))
	stamp := ""
	if s.Start != 0 {
		stamp = ` timestamp="` + utc(s.Start).Format("2006-01-02T15:04:05") + `"`
	}
	fmt.Fprintf(&b, "<testsuites %s>\n  <testsuite %s%s>\n", attrs, attrs, stamp)
	if o.Version != "" {
		fmt.Fprintf(&b, "    <properties><property name=\"version\" value=\"%s\"/></properties>\n", escXML(o.Version))
	}
	for i := range list {
		list[i].write(&b, s.Verdict.State)
	}
	b.WriteString("  </testsuite>\n</testsuites>\n")
	return write(w, &b, o)
}

type result int

const (
	passed result = iota
	failed
	skipped
)

// testcase is a case of the suite.
type testcase struct {
	class, name, message, text string
	result                     result
	verdict                    bool
}

func cases(s *detect.Snapshot, limit detect.State) []testcase {
	v := &s.Verdict
	head := testcase{class: "stormwatch", name: "verdict is below " + limitName(limit), verdict: true, message: strings.ToUpper(v.State.String()) + ": " + v.What}
	for _, f := range verdictFacts(s) {
		if f.text != "" {
			head.text += f.label + ": " + clip(f.text, longest) + "\n"
		}
	}
	alarm := v.State >= limit
	if alarm {
		head.result = failed
	}
	list := []testcase{head}
	for i := range s.Findings {
		f := &s.Findings[i]
		if f.Severity == detect.Info {
			continue
		}
		c := testcase{class: "stormwatch.signature", name: f.Signature, message: f.Severity.String() + ", score " + score(f.Score) + ": " + f.Says}
		c.text = "when: " + findingTimes(f) + "\nwho: " + clip(findingWho(f), longest) + "\nrule: " + clip(f.When, longest) + "\n"
		for k := range f.Evidence {
			c.text += "measured: " + clip(evidenceText(&f.Evidence[k]), longest) + "\n"
		}
		if alarm {
			c.result = failed
		}
		list = append(list, c)
	}
	for _, n := range s.NotJudged {
		list = append(list, testcase{class: "stormwatch.signature", name: n.Signature, message: n.Reason, result: skipped})
	}
	return list
}

func limitName(limit detect.State) string {
	if limit > detect.Storm {
		return "anything (never fails)"
	}
	return limit.String()
}

func (c *testcase) write(b *bytes.Buffer, state detect.State) {
	fmt.Fprintf(b, "    <testcase classname=\"%s\" name=\"%s\">", escXML(c.class), escXML(c.name))
	switch {
	case c.verdict && state == detect.Unknown:
		fmt.Fprintf(b, "<error message=\"%s\" type=\"unknown\">%s</error>", escXML(c.message), escLines(c.text))
	case c.result == failed:
		fmt.Fprintf(b, "<failure message=\"%s\" type=\"%s\">%s</failure>", escXML(c.message), state, escLines(c.text))
	case c.result == skipped:
		fmt.Fprintf(b, "<skipped message=\"%s\"/>", escXML(c.message))
	default:
		fmt.Fprintf(b, "<system-out>%s</system-out>", escLines(c.message+"\n"+c.text))
	}
	b.WriteString("</testcase>\n")
}

// windowSeconds is how long the input is, s.
func windowSeconds(s *detect.Snapshot) string {
	return fmt.Sprintf("%.3f", float64(max(s.End-s.Start, 0))/1e9)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func escXML(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(clip(s, longest))) // a Buffer never fails
	return b.String()
}

// escLines escapes a text of several lines.
func escLines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range lines {
		lines[i] = escXML(lines[i])
	}
	return strings.Join(lines, "\n")
}
