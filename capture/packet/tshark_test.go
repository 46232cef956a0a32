package packet

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stormwatch/capture"
)

// TestTshark reads the project's captures with tshark as well: both must find
// the same requests and statuses, and pair them alike.
func TestTshark(t *testing.T) {
	if os.Getenv("STORMWATCH_E2E") != "1" {
		t.Skip("needs tshark: set STORMWATCH_E2E=1")
	}
	paths, err := filepath.Glob("../../testdata/pcaps/*/traffic.pcap")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no captures in testdata/pcaps (%v)", err)
	}
	for _, path := range paths {
		if speaksHTTP2(t, path) {
			continue // the test of sim reads these with tshark, stream by stream
		}
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) { compareTshark(t, path) })
	}
}

// speaksHTTP2 tells it from the capture's scenario.
func speaksHTTP2(t *testing.T, path string) bool {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(filepath.Dir(path), "scenario.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(b, []byte("protocol: h2c")) || bytes.Contains(b, []byte("protocol: grpc"))
}

func compareTshark(t *testing.T, path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, x := range readAll(t, b, Options{}).all {
		got[fmt.Sprintf("%v %s %s %d", x.Src, x.method, x.target, x.Status)]++
	}
	want := tshark(t, path)
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%s: %d times, tshark %d times", k, got[k], n)
		}
	}
	for k, n := range got {
		if want[k] == 0 {
			t.Errorf("%s: %d times, tshark never", k, n)
		}
	}
	t.Logf("%d different exchanges", len(want))
}

// tshark counts exchanges by "source method target status". Of the responses it
// names the frame of the request.
func tshark(t *testing.T, path string) map[string]int {
	t.Helper()
	cmd := exec.Command("tshark", "-n", "-2", "-o", "tcp.reassemble_out_of_order:TRUE", "-o", "tcp.try_heuristic_first:TRUE",
		"-r", path, "-Y", "http.request or http.response", "-T", "fields",
		"-e", "frame.number", "-e", "ip.src", "-e", "tcp.srcport", "-e", "http.request.method", "-e", "http.request.uri", "-e", "http.response.code", "-e", "http.request_in", "-e", "ipv6.src")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v: %s", err, stderr.Bytes())
	}
	requests, status := map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 8 {
			t.Fatalf("tshark says %q", line)
		}
		if f[7] != "" {
			f[1] = "[" + f[7] + "]"
		}
		if f[3] != "" {
			requests[f[0]] = fmt.Sprintf("%s:%s %s %s", f[1], f[2], f[3], capture.AppendMasked(nil, []byte(f[4])))
		} else if !strings.HasPrefix(f[5], "1") {
			status[f[6]] = f[5]
		}
	}
	n := map[string]int{}
	for frame, r := range requests {
		s := status[frame]
		if s == "" {
			s = "0"
		}
		n[r+" "+s]++
	}
	return n
}
