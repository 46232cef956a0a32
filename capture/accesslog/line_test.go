package accesslog

import (
	"bytes"
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

func TestDatesAgreeWithTheStandardLibrary(t *testing.T) {
	const layout = "02/Jan/2006:15:04:05 -0700"
	var c dateCache
	for _, zone := range []int{0, 19800, -12600, 50400} {
		for at := time.Date(1971, 3, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2261; at = at.Add(1777*time.Hour + 1234567*time.Millisecond) {
			text := at.In(time.FixedZone("", zone)).Format(layout)
			if got, ok := c.parse([]byte(text)); !ok || got != at.Unix()*second {
				t.Fatalf("%s: %d, %v", text, got, ok)
			}
		}
	}
	for _, bad := range []string{
		"31/Feb/2026:08:11:06 +0000", "00/Nov/2026:08:11:06 +0000", "30/nov/2026:08:11:06 +0000", "30/Nov/2026:24:11:06 +0000",
		"30/Nov/2026:08:60:06 +0000", "30/Nov/2026:08:11:61 +0000", "30/Nov/2026 08:11:06 +0000", "30/Nov/2026:08:11:06 00000",
		"30/Nov/2026:08:11:06 +9999", "30/Nov/1970:08:11:06 +0000", "30/Nov/2262:08:11:06 +0000", "3a/Nov/2026:08:11:06 +0000",
	} {
		if _, ok := c.parse([]byte(bad)); ok {
			t.Errorf("%s was read", bad)
		}
	}
	if got, ok := c.parse([]byte("31/Dec/2016:23:59:60 +0000")); !ok || got != time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano() {
		t.Errorf("a leap second: %d, %v", got, ok)
	}
}

func TestAddressesAgreeWithNetip(t *testing.T) {
	for _, text := range addresses {
		checkIP(t, text)
	}
}

var addresses = []string{
	"192.0.2.1", "0.0.0.0", "255.255.255.255", "256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1..2.3", "1.2.3.4.", "", ".", "-", "a.b.c.d",
	"::", "::1", "1::", "2001:db8::1", "2001:db8:0:0:0:0:0:1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7", "::ffff:192.0.2.1",
	"64:ff9b::192.0.2.33", "1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:7:192.0.2.1", "1::2::3", ":1", "1:", ":::", "12345::", "g::", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8",
	"2001:DB8::A", "::1.2.3", "::192.0.2.1:1", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8",
}

func checkIP(t *testing.T, text string) {
	t.Helper()
	want, err := netip.ParseAddr(text)
	if err == nil && want.Zone() != "" {
		return
	}
	got, ok := parseIP([]byte(text))
	if ok != (err == nil) {
		t.Errorf("%q: read %v, netip says %v", text, ok, err)
	} else if ok && got != want.As16() {
		t.Errorf("%q: %v, want %v", text, got, want)
	}
}

func FuzzIP(f *testing.F) {
	for _, a := range addresses {
		f.Add(a)
	}
	f.Fuzz(func(t *testing.T, text string) { checkIP(t, text) })
}

// FuzzLine checks that no line panics, that each is used or counted, and that
// what is read lies within the line.
func FuzzLine(f *testing.F) {
	f.Add([]byte(msLine))
	f.Add([]byte(`2001:db8::1 - bob [x] [30/Nov/2026:13:41:06 +0530] "" 400 0 "-" "\x22\\\"" "192.0.2.1, ::1"`))
	f.Add([]byte(`unix: - - [30/Nov/2026:08:11:06 +0000] "\x16\x03\x01" 000 - "" "" 9999999999.999 1796026266.123`))
	f.Add([]byte(`1.2.3.4 - - [30/Nov/2026:08:11:06 +0000] "GET /a b?token=x HTTP/1.1" 499 0 "-" "-" rt=0.1`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, live := range []bool{false, true} {
			out, err := readAll(t, bytes.NewReader(text), Options{Live: live})
			if err != nil {
				if kind, _ := capture.Compressed(text); kind == "" {
					t.Fatal(err)
				}
				return
			}
			h := out.health
			if h.Read != h.Used+h.SkippedTotal() || h.Used != uint64(len(out.rows)) {
				t.Errorf("lost uncounted: %+v, %d rows", h, len(out.rows))
			}
			for _, x := range out.rows {
				if x.Start > x.End || x.End <= 0 {
					t.Errorf("start %d, end %d", x.Start, x.End)
				}
				if len(x.target) > 2*len(text)+3 {
					t.Errorf("a target of %d bytes from %d", len(x.target), len(text))
				}
				if x.Status != 0 && (x.Status < 100 || x.Status > 999) {
					t.Errorf("status %d", x.Status)
				}
			}
		}
		Detect(text)
	})
}

func benchmarkLog() string {
	var b strings.Builder
	for i := range int64(20000) {
		b.WriteString(strings.Replace(line(i, i%100), `"a"`, `"python-requests/2.31.0 \x22x\x22"`, 1))
	}
	return b.String()
}

// BenchmarkLine gives the cost of one line, read to exchange.
func BenchmarkLine(b *testing.B) {
	text := benchmarkLog()
	builder := newBuilder(Options{Secrets: capture.NewSecrets()}, func(*capture.Batch) error { return nil })
	lines := bytes.Split([]byte(text), []byte("\n"))
	for _, l := range lines[:2*sampleLines] { // by then the format is known
		_ = builder.line(l, whole)
	}
	b.SetBytes(int64(len(text) / len(lines)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_ = builder.line(lines[i%len(lines)], whole)
	}
}

// BenchmarkSource gives the cost of a log of 20,000 lines, all included.
func BenchmarkSource(b *testing.B) {
	text := benchmarkLog()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s, _ := Open("b", strings.NewReader(text), Options{})
		if err := s.Run(context.Background(), func(*capture.Batch) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// A line costs no allocation once its names are known.
func TestLineAllocatesNothing(t *testing.T) {
	builder := newBuilder(Options{Secrets: capture.NewSecrets()}, func(*capture.Batch) error { return nil })
	text := []byte(`2001:db8::7 - bob [30/Nov/2026:08:11:06 +0000] "GET /v1/items?page=0\x22 HTTP/1.1" 429 25 "-" "agent \x22x\x22" "192.0.2.1" 0.004 1796026266.123`)
	give := func() { _ = builder.line(text, whole) }
	for range 2 * batchSize {
		give()
	}
	// The batch's copy of Health is the one allocation left: one in 512 lines.
	if got := testing.AllocsPerRun(400, give); got > 0 {
		t.Errorf("%v allocations a line", got)
	}
}

// BenchmarkFormats gives the cost of one line of other formats.
func BenchmarkFormats(b *testing.B) {
	for _, c := range presetCases {
		b.Run(c.format, func(b *testing.B) {
			builder := newBuilder(Options{Secrets: capture.NewSecrets(), Format: preset(c.format)}, func(*capture.Batch) error { return nil })
			line := []byte(c.line)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				_ = builder.line(line, whole)
			}
		})
	}
}
