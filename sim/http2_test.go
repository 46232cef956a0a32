package sim

import (
	"bytes"
	"context"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/capture/packet"
)

// multiplexed are small traffics over HTTP/2: refusals, losses, resets, bodies.
const multiplexedScene = `
server:
  protocol: %s
  limiter: {limit: 3, window: 1s}
  hint: [{wait: 2s..3s, header: %s, form: %s}]
  faults: [{from: 10s, to: 12s, do: timeout}, {from: 20s, to: 22s, do: reset}, {from: 25s, to: 27s, do: "503"}]
groups:
  - {name: a, count: 6, agent: a/1, method: POST, policy: full-jitter base=200ms cap=1s attempts=4, timeout: 1s, identity: {key: each}, paths: ["/s.A/B"], demand: [{rate: 0.5}]}
`

func overProtocol(t *testing.T, protocol string) *Result {
	t.Helper()
	header, form := "Retry-After", "seconds"
	if protocol == overGRPC {
		header, form = "grpc-retry-pushback-ms", "ms"
	}
	return parsed(t, strings.NewReplacer("header: %s", "header: "+header, "form: %s", "form: "+form, "%s", protocol).Replace(multiplexedScene))
}

// What a capture over HTTP/2 shows is what the result hands over without packets.
func TestHTTP2CaptureEqualsSource(t *testing.T) {
	for _, protocol := range []string{overHTTP2, overGRPC} {
		r := overProtocol(t, protocol)
		var b bytes.Buffer
		if err := r.WriteCapture(&b); err != nil {
			t.Fatal(err)
		}
		src, err := packet.Open("x", &b, packet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		type told struct {
			src, method, target string
			start               int64
			seq                 uint32
			status              uint16
			rpc                 capture.RPCStatus
			reason              capture.Reason
			wait                int64
			hint                capture.HintKind
			attempt             capture.Attempt
			body                uint64
			credential          bool
		}
		read := func(s capture.Source) map[told]int {
			all := map[told]int{}
			err := s.Run(context.Background(), func(b *capture.Batch) error {
				for _, x := range b.Exchanges {
					all[told{
						x.Src.String(), b.Names.Text(x.Method), string(b.Bytes(x.Target)), x.Start, x.ConnSeq, x.Status, x.RPC, x.Reason,
						x.Hint.Wait, x.Hint.Kind, x.Attempt, 0, x.Credential != 0,
					}]++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		want, got := read(r.Source("x")), read(src)
		if len(want) < 50 || len(want) != len(r.Rows) {
			t.Fatalf("%s: %d different exchanges of %d", protocol, len(want), len(r.Rows))
		}
		for x := range want {
			if got[x] != 1 {
				t.Errorf("%s: not in the capture: %+v", protocol, x)
			}
		}
		for x := range got {
			if want[x] != 1 {
				t.Errorf("%s: in the capture alone: %+v", protocol, x)
			}
		}
	}
}

// A protocol that is none, and a method that gRPC does not use, are told.
func TestProtocolMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"{protocol: h3, limiter: {limit: 1}}":   "want h2c or grpc",
		"{protocol: grpc, limiter: {limit: 1}}": "calls of gRPC are POST",
	} {
		_, err := Parse([]byte("name: x\nstart: 2026-03-02T03:10:00Z\nduration: 1s\nserver: " + text + "\ngroups: [{name: g, count: 1, policy: none, paths: [/a], demand: [{units: 1}]}]\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := Parse(nil); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("an empty file: %v", err)
	}
}

// compareHTTP2 reads a capture over HTTP/2 with tshark: each stream is where the
// truth says, with its time, status and waits, and there are no others.
func compareHTTP2(t *testing.T, r *Result) {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteCapture(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "traffic.pcap")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-n", "-r", file, "-Y", "http2.headers", "-T", "fields", "-E", "aggregator=\x1f"}
	for _, field := range []string{"frame.time_epoch", "ip.src", "tcp.srcport", "ip.dst", "tcp.dstport", "http2.streamid", "http2.header.name", "http2.header.value"} {
		args = append(args, "-e", field)
	}
	out, err := exec.Command("tshark", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	type stream struct {
		client netip.AddrPort
		id     string
	}
	rows := map[stream]*Row{}
	for i := range r.Rows {
		row := &r.Rows[i]
		rows[stream{r.Conns[row.Conn].Src, strconv.Itoa(int(streamOf(row)))}] = row
	}
	asked, answered := 0, 0
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		names, values := strings.Split(f[6], "\x1f"), strings.Split(f[7], "\x1f")
		field := map[string]string{}
		for i, n := range names {
			field[n] = values[i]
		}
		ids := strings.Split(f[5], "\x1f") // settings come first, on stream 0
		client := netip.MustParseAddrPort(f[3] + ":" + f[4])
		request := field[":method"] != ""
		if request {
			client = netip.MustParseAddrPort(f[1] + ":" + f[2])
		}
		row := rows[stream{client, ids[len(ids)-1]}]
		if row == nil {
			t.Fatalf("tshark sees a stream that is not in the truth: %s", line)
		}
		at := nanos(t, f[0])
		if request {
			if asked++; at != row.Start || field[":path"] != row.Path || field[":method"] != r.Group(row).Method {
				t.Errorf("tshark %s, truth %+v", line, row)
			}
			continue
		}
		status, code := strconv.Itoa(int(row.Status)), ""
		if r.Scenario.Server.Protocol == overGRPC {
			status, code = strconv.Itoa(http.StatusOK), strconv.Itoa(rpcCode(row.Status))
		}
		if answered++; at != row.End || field[":status"] != status || field["grpc-status"] != code {
			t.Errorf("tshark %s, truth %+v", line, row)
		}
		for hint := range strings.SplitSeq(strings.TrimSuffix(row.Fields, "\r\n"), "\r\n") {
			if name, value, ok := strings.Cut(hint, ": "); ok && field[strings.ToLower(name)] != value {
				t.Errorf("tshark %s, truth %q", line, hint)
			}
		}
	}
	want := 0
	for i := range r.Rows {
		if r.Rows[i].Status != 0 {
			want++
		}
	}
	if asked != len(r.Rows) || answered != want {
		t.Errorf("tshark sees %d requests and %d answers, the truth has %d and %d", asked, answered, len(r.Rows), want)
	}
	t.Logf("%d exchanges", asked)
}
