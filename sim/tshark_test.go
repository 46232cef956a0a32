package sim

import (
	"bytes"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// seen is an exchange as tshark reads it.
type seen struct {
	src               netip.AddrPort
	start, end        int64 // Unix ns of the frames that complete request and answer
	method, uri       string
	status            int
	request, response string // header lines
}

// TestTruthEqualsTshark reads every capture of the repository with tshark: each
// exchange is where the truth says, with its time, status and headers, and there
// are no others.
func TestTruthEqualsTshark(t *testing.T) {
	if os.Getenv("STORMWATCH_E2E") != "1" {
		t.Skip("needs tshark: set STORMWATCH_E2E=1")
	}
	names, err := filepath.Glob("../testdata/pcaps/*/scenario.yaml")
	if err != nil || len(names) < 24 {
		t.Fatalf("%d scenarios, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			sc, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			if sc.Server.multiplexed() {
				compareHTTP2(t, Run(sc))
			} else {
				compareTshark(t, Run(sc))
			}
		})
	}
}

func compareTshark(t *testing.T, r *Result) {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteCapture(&b); err != nil {
		t.Fatal(err)
	}
	all := tshark(t, b.Bytes())
	t.Logf("%d exchanges", len(all))
	if len(all) != len(r.Rows) {
		t.Errorf("tshark sees %d requests, the truth has %d", len(all), len(r.Rows))
	}
	ordinals := map[int]uint32{}
	for i, got := range all {
		row := &r.Rows[i]
		ordinals[row.Conn]++
		want := seen{
			src: r.Conns[row.Conn].Src, start: row.Start, method: r.Group(row).Method, uri: row.Path, status: int(row.Status),
			request: row.Asked,
		}
		if row.Status != 0 {
			want.end = row.End
			want.response = "Date: " + r.date(row).Format(http.TimeFormat) + "\r\nContent-Length: " + strconv.Itoa(len(row.content())) + "\r\n" + row.Fields
		}
		if got != want || ordinals[row.Conn] != row.ConnSeq {
			t.Fatalf("exchange %d, ordinal %d on its connection:\ntshark %+v\ntruth  %+v, ordinal %d", i+1, ordinals[row.Conn], got, want, row.ConnSeq)
		}
	}
}

// tshark reads a capture: requests in order, with their answers.
func tshark(t *testing.T, capture []byte) (all []seen) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "traffic.pcap")
	if err := os.WriteFile(file, capture, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-n", "-2", "-r", file, "-Y", "http.request or http.response", "-T", "fields", "-E", "aggregator=\x1f"}
	for _, field := range []string{"frame.number", "frame.time_epoch", "ip.src", "ipv6.src", "tcp.srcport", "http.request.method", "http.request.uri", "http.request.line", "http.response.code", "http.response.line", "http.request_in"} {
		args = append(args, "-e", field)
	}
	cmd := exec.Command("tshark", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v: %s", err, stderr.Bytes())
	}
	place := map[string]int{} // of a request, by its frame
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 11 {
			t.Fatalf("tshark says %q", line)
		}
		at := nanos(t, f[1])
		if f[5] == "" {
			x := &all[place[f[10]]]
			x.end, x.response = at, lines(f[9])
			x.status, _ = strconv.Atoi(f[8])
			continue
		}
		place[f[0]] = len(all)
		src, err := netip.ParseAddrPort(f[2] + ":" + f[4])
		if f[3] != "" {
			src, err = netip.ParseAddrPort("[" + f[3] + "]:" + f[4])
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seen{src: src, start: at, method: f[5], uri: f[6], request: lines(f[7])})
	}
	return all
}

// nanos reads "1772421000.000000001".
func nanos(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.Replace(text, ".", "", 1), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// lines puts header lines together again, without those that every request has.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\x1f") {
		line = strings.TrimSuffix(strings.TrimSpace(line), "\\r\\n")
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "", "Host", "User-Agent", "Content-Type":
			continue
		case "Content-Length":
			if b.Len() == 0 || !strings.HasPrefix(b.String(), "Date: ") {
				continue // of a request
			}
		}
		b.WriteString(line + "\r\n")
	}
	return b.String()
}
