package ruletest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stormwatch/detect"
	"stormwatch/rules"
)

// one reads a file that holds one test.
func one(t *testing.T, text string) (*rules.TestFile, *rules.Test) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tests.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, problems := rules.ReadTests(path)
	if problems == nil {
		problems = Check(f)
	}
	for _, p := range problems {
		t.Fatal(p)
	}
	return f, f.Tests[0]
}

func run(t *testing.T, text string) []string {
	t.Helper()
	f, test := one(t, text)
	diff, err := Run(t.Context(), test, f.Set, nil)
	if err != nil {
		t.Fatal(err)
	}
	return diff
}

const herd = `
    exchanges:
      - 0s..30s every 1s 10.0.0.{1..40} GET /items/{n} 200 15ms agent=app/1
      - 31s 10.0.0.{1..40} GET /jobs/{n} 429 2ms agent=job/1, +2s 429 2ms agent=job/1 x4, +2s 200 agent=job/1
`

// What is expected and there passes; each miss is told with what was found instead.
func TestDifferences(t *testing.T) {
	for name, c := range map[string]struct {
		expect string
		want   []string // beginnings of the lines
	}{
		"right":        {"state: storm\n    findings: [{signature: lockstep, severity: high, clients: 40, by: 45s}]", nil},
		"state":        {"state: clear", []string{"- state clear", "+ state storm: "}},
		"cause":        {"cause: capacity", []string{"- cause capacity", "+ cause client-behaviour"}},
		"severity":     {"findings: [{signature: lockstep, severity: low}]", []string{"- lockstep: low", "+ lockstep: high, "}},
		"clients":      {"findings: [{signature: lockstep, clients: 3}]", []string{"- lockstep: 3 clients", "+ lockstep: high, "}},
		"late":         {"findings: [{signature: lockstep, by: 31s}]", []string{"- lockstep: by 31s", "+ lockstep: high, "}},
		"not raised":   {"findings: [hint-zero]", []string{"- hint-zero", "+ hint-zero was not raised"}},
		"never":        {"never: [lockstep]", []string{"- never lockstep", "+ lockstep: high, "}},
		"nothing else": {"findings: [lockstep, budget-exceeded]\n    only: true", []string{"- nothing else", "+ hint-missing: "}},
	} {
		diff := run(t, "tests:\n  - name: herd"+herd+"    "+c.expect+"\n")
		if len(diff) != len(c.want) {
			t.Errorf("%s: %q, want %q", name, diff, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(diff[i], want) {
				t.Errorf("%s: %q, want %q", name, diff[i], want)
			}
		}
	}
}

// A signature that cannot be judged is told with the reason, as every report does.
func TestNotJudgedIsTold(t *testing.T) {
	diff := run(t, "tests:\n  - name: few\n    exchanges: [0s..40s every 1s 10.0.0.1 GET /a 200]\n    findings: [lockstep]\n")
	if len(diff) != 2 || !strings.HasPrefix(diff[1], "+ lockstep was not judged: too little data") {
		t.Errorf("%q", diff)
	}
}

// The short form, written out by hand.
func TestTraffic(t *testing.T) {
	s, err := parse(`1s..3s every 1s 10.0.0.{1..2} POST /a/{n} none 250ms agent="my app/1", +2s 503 5ms retry-after=3 x2`)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := spread([]schedule{s})
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		begin, end time.Duration
		from       string
		number     int
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	want := []row{
		{ms(1000), ms(1250), "10.0.0.1", 1},
		{ms(1500), ms(1750), "10.0.0.2", 2},
		{ms(2000), ms(2250), "10.0.0.1", 3},
		{ms(2500), ms(2750), "10.0.0.2", 4},
		{ms(3250), ms(3255), "10.0.0.1", 1},
		{ms(3750), ms(3755), "10.0.0.2", 2},
		{ms(4250), ms(4255), "10.0.0.1", 3},
		{ms(4750), ms(4755), "10.0.0.2", 4},
		{ms(5255), ms(5260), "10.0.0.1", 1},
		{ms(5755), ms(5760), "10.0.0.2", 2},
		{ms(6255), ms(6260), "10.0.0.1", 3},
		{ms(6755), ms(6760), "10.0.0.2", 4},
	}
	var got []row
	for _, r := range sent {
		got = append(got, row{r.begin, r.end, r.from.String(), r.number})
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant\n%v", got, want)
	}
	if a := s.attempts[0]; a.end != noAnswer || a.fields[0] != (field{"agent", "my app/1"}) {
		t.Errorf("%+v", a)
	}
	together, err := parse("0s..1s every 500ms together 10.0.0.{1..2} GET / 200")
	if err != nil {
		t.Fatal(err)
	}
	if sent, _ = spread([]schedule{together}); sent[0].begin != sent[1].begin || sent[2].begin != ms(500) {
		t.Errorf("%v", sent)
	}
}

// Mistakes are told with their place in the line.
func TestMistakesInLines(t *testing.T) {
	for line, want := range map[string]struct {
		at   int
		says string
	}{
		"":                                         {0, "a moment"},
		"soon 10.0.0.1 GET / 200":                  {0, "no time"},
		"5s..1s every 1s 10.0.0.1 GET / 200":       {0, "ends before"},
		"0s..1s 10.0.0.1 GET / 200":                {7, "how often"},
		"0s..1s every 0s 10.0.0.1 GET / 200":       {13, "never ends"},
		"0s..1s every 200h 10.0.0.1 GET / 200":     {13, "no time"},
		"0s nobody GET / 200":                      {3, "no address"},
		"0s 10.0.0.{9..1} GET / 200":               {3, "no range"},
		"0s 10.0.0.{0..999999} GET / 200":          {3, "more than"},
		"0s 10.0.0.{1..300} GET / 200":             {3, "no address"},
		"0s 10.0.0.1 GET a 200":                    {16, "begins with /"},
		"0s 10.0.0.1 GET /":                        {17, "ends where a status"},
		"0s 10.0.0.1 GET / 20":                     {18, "no status"},
		"0s 10.0.0.1 GET / 200 fast":               {22, "no time"},
		"0s 10.0.0.1 GET / 200 5ms x0":             {26, "number of attempts"},
		"0s 10.0.0.1 GET / 429 x9 x1001":           {25, "number of attempts"},
		"0s 10.0.0.1 GET / 429 colour=red":         {22, "the names are"},
		"0s 10.0.0.1 GET / 429 answer:x-nothing=1": {22, "says nothing about retries"},
		"0s 10.0.0.1 GET / 429,":                   {22, "nothing follows"},
		"0s 10.0.0.1 GET / 429, 2s 200":            {23, "+2s"},
	} {
		_, err := parse(line)
		var m mistake
		if !errors.As(err, &m) || m.at != want.at || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%q: %d, %v; want %d, %q", line, m.at, err, want.at, want.says)
		}
	}
	if s, err := parse("0s..168h every 1ms 10.0.0.1 GET / 200"); err != nil {
		t.Error(err)
	} else if _, err := spread([]schedule{s}); err == nil {
		t.Error("traffic without bound was written out")
	}
}

// 2^43 moments of 4096 clients with 512 attempts each are 2^64 exchanges, which an int64
// takes for none; a second more or less is no different.
func TestTrafficBeyondWhatCanBeCounted(t *testing.T) {
	for _, to := range []string{"8796093022208ns", "8797s", "168h"} {
		for _, clients := range []int{4096, 10000} {
			s, err := parse("0s.." + to + " every 1ns 10.0.0.1 GET / 429 x512")
			if err != nil {
				t.Fatal(err)
			}
			s.clients = slices.Repeat(s.clients, clients)
			if _, err := spread([]schedule{s}); err == nil {
				t.Errorf("%s of %d clients were written out", to, clients)
			}
		}
	}
}

// The place of a mistake is that in the file.
func TestMistakeInFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tests.yaml")
	text := "tests:\n  - name: x\n    exchanges:\n      - 0s 10.0.0.1 GET / 200\n      - '0s 10.0.0.1 GET / 2000'\n    only: true\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, problems := rules.ReadTests(path)
	if problems = append(problems, Check(f)...); len(problems) != 1 || problems[0].Line != 5 || problems[0].Column != 28 {
		t.Errorf("%+v", problems)
	}
}

func FuzzLine(f *testing.F) {
	for _, line := range []string{
		"0s..60s every 1s 10.0.0.{1..20} GET /items/{n} 200 15ms",
		`31s 10.0.0.{1..9} POST /a 429 2ms agent="a b" ask:idempotency-key=1, +2s reset x3, +1s none`,
		"1s ::1 GET / 503 retry-after=5 says={} answer:x-ratelimit-reset=9 , +0s 200",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s, err := parse(line)
		if err != nil {
			return
		}
		sent, err := spread([]schedule{s})
		if err != nil || len(sent) > 2000 {
			return
		}
		rec := detect.NewRecording(detect.Options{MaxCheckpoints: -1})
		if _, err := replay(context.Background(), rec, sent); err != nil {
			t.Error(err)
		}
		_ = rec.Close()
	})
}
