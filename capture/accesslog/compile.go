package accesslog

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// FormatError is a format string that cannot be used, and where.
type FormatError struct {
	Format string // as given
	At     int    // byte in Format
	Reason string
}

// Error shows the format with a caret below the place.
func (e *FormatError) Error() string {
	const before, after = 60, 20
	from, to := max(0, e.At-before), min(len(e.Format), e.At+after)
	lead, tail := e.Format[from:e.At], e.Format[e.At:to]
	if from > 0 {
		lead = "..." + lead
	}
	if to < len(e.Format) {
		tail += "..."
	}
	flat := strings.NewReplacer("\n", " ", "\t", " ")
	return fmt.Sprintf("log format, column %d: %s\n  %s\n  %s^", e.At+1, e.Reason, flat.Replace(lead+tail), strings.Repeat(" ", utf8.RuneCountInString(lead)))
}

// piece is a literal or a field of a format string.
type piece struct {
	lit   string
	field field // where lit is ""
	at    int   // in the format string
}

const maxFields = 200

// compile builds the scanner of a format string that was taken apart.
func compile(format string, pieces []piece, esc escape) (*scanner, error) {
	s := &scanner{}
	var lit strings.Builder
	open := false // inside quotes
	var had [roles]bool
	for i := range pieces {
		p := &pieces[i]
		if p.field.name == "" {
			lit.WriteString(p.lit)
			open = open != (strings.Count(p.lit, `"`)%2 == 1)
			continue
		}
		st := step{field: p.field, lit: newLiteral(lit.String()), quoted: open && esc.quotes()}
		lit.Reset()
		if had[st.role] && st.role.single() { // the first one that is not empty tells it
			if st.spare = st.role.kept(); !st.spare {
				st.role = roleNone
			}
		}
		had[st.role] = true
		if st.lit.s == "" && len(s.steps) > 0 {
			if err := s.join(format, p, &st); err != nil {
				return nil, err
			}
		}
		if n := len(s.steps); n > 0 && st.lit.s != "" {
			s.steps[n-1].stop = st.lit
		}
		s.steps = append(s.steps, st)
	}
	s.end = newLiteral(lit.String())
	n := len(s.steps)
	switch {
	case n == 0:
		return nil, &FormatError{format, 0, "it names no field"}
	case n > maxFields:
		return nil, &FormatError{format, 0, fmt.Sprintf("more than %d fields", maxFields)}
	}
	s.steps[n-1].stop = s.end
	for i := range s.steps {
		s.steps[i].explain()
		s.prepare(i)
	}
	return s, nil
}

// judged refuses a format that does not say how requests ended.
func (s *scanner) judged(format string) error {
	for i := range s.steps {
		if r := s.steps[i].role; r == roleCode || r == roleLimited {
			return nil
		}
	}
	return &FormatError{format, 0, "it has no status: whether a request was answered or refused cannot be told without"}
}

// single tells whether a role is taken from one field only: of several times and
// durations the finest is taken.
func (r role) single() bool {
	return r != roleStartTime && r != roleEndTime && r != roleTook && r != roleNone && r != roleLimited && r != roleAnswer
}

// join lets two fields stand beside each other where their forms keep them
// apart.
func (s *scanner) join(format string, p *piece, st *step) error {
	before := &s.steps[len(s.steps)-1]
	switch {
	case st.head != 0:
		before.stop = newLiteral(string(st.head))
	case before.kind == kindFixed || before.kind == kindCLF || before.kind == kindDate || before.kind == kindBraces:
	case before.kind == kindNumber && st.kind == kindText && st.role == roleZone:
	default:
		return &FormatError{format, p.at, fmt.Sprintf("nothing stands between %s and %s: where one ends and the other begins cannot be told", before.name, st.name)}
	}
	return nil
}

// prepare notes what spares work on each line.
func (s *scanner) prepare(i int) {
	st := &s.steps[i]
	st.kept = st.role.kept()
	st.whole = strings.HasPrefix(st.stop.s, ".")
	if (st.kind == kindAddrList || st.kind == kindNumList) && st.stop.s != "" && st.stop.s[0] != ' ' && st.stop.s[0] != ',' {
		st.kind = kindText // what comes after it cannot be taken for a part of it
	}
	if i == len(s.steps)-1 || st.quoted || len(st.stop.s) != 1 {
		return
	}
	switch next := &s.steps[i+1]; next.kind {
	case kindStatus, kindNumber, kindCLF:
	default:
		st.blind = next.kind != kindText || next.head == 0 && next.role != roleMethod
	}
}

// explain words the faults of a step.
func (st *step) explain() {
	form := map[kind]string{
		kindStatus: "a status of three digits", kindNumber: "a number", kindIP: "an IP address", kindCLF: "a date as 30/Nov/2026:08:11:06 +0000",
		kindDate: "a date of the form given", kindAddrList: "an address or a list of them", kindNumList: "a number or a list of them",
		kindBraces: "captured headers in braces", kindMillis: "seconds with three decimals", kindEpochTime: "seconds since 1970 with three decimals",
		kindFixed: fmt.Sprintf("%d digits", st.size),
	}[st.kind]
	if form == "" {
		form = "an end"
		if st.stop.s != "" {
			form = fmt.Sprintf("a text that %q ends", st.stop.s)
		}
	}
	st.miss = fault(fmt.Sprintf("%s is not %s", st.name, form))
	st.differ = fault(fmt.Sprintf("%q is not where the format has it, before %s", st.lit.s, st.name))
}
