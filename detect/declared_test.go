package detect_test

import (
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// families are the headers that number attempts, with what three attempts send:
// detection.md 3.1. "" is a header left out.
var families = [][4]string{
	{"x-envoy-attempt-count", "1", "2", "3"},
	{"x-stainless-retry-count", "0", "1", "2"},
	{"amz-sdk-request", "attempt=1; max=3", "ttl=20260807T233447Z; attempt=2; max=3", "attempt=3; max=3"},
	{"grpc-previous-rpc-attempts", "", "1", "2"},
	{"x-goog-api-client", "gccl-attempt-count/1", "gl-py/3 gccl-attempt-count/2", "gccl-attempt-count/3"},
	{"retry-attempt", "", "1", "2"},
	{"x-retry-count", "", "1", "2"},
	{"rsa-retry-attempt", "", "1", "2"},
	{"svix-retry-count", "", "1", "2"},
	{"x-slack-retry-num", "", "1", "2"},
	{"x-atlassian-webhook-retry", "", "1", "2"},
	{"square-retry-number", "", "1", "2"},
	{"x-cloudtasks-taskretrycount", "0", "1", "2"},
	{"x-appengine-taskretrycount", "0", "1", "2"},
	{"upstash-retried", "0", "1", "2"},
	{"x-hookdeck-attempt-count", "1", "2", "3"},
	{"x-attempt-number", "1", "2", "3"},
	{"aeg-delivery-count", "0", "1", "2"},
	{"aeg-delivery-count", "1", "2", "3"},
	{"idempotency-key", "a", "a", "a"},
	{"amz-sdk-invocation-id", "a", "a", "a"},
	{"x-goog-gcs-idempotency-token", "a", "a", "a"},
	{"repeatability-request-id", "a", "a", "a"},
	{"webhook-id", "a", "a", "a"},
}

// asks are exchanges made by hand, a second or more apart.
type hand struct {
	at     float64 // seconds
	host   string
	path   string
	fields []string // names and values by turns
	status uint16
	change func(*capture.Exchange)
}

const dawn = int64(1772421000e9)

func byHand(info capture.Info, all ...hand) given {
	b := capture.Batch{Names: capture.NewInterner(1<<10, 1<<16), Health: &capture.Health{Unit: "packets", Resolution: 1, SeesHints: true, SeesPorts: true}}
	for i, h := range all {
		x := capture.Exchange{
			Start: dawn + int64(h.at*1e9), Status: h.status, Reason: capture.ReasonOf(h.status), ConnSeq: uint32(i + 1),
			Method: b.Names.InternString("POST"), Host: b.Names.InternString(h.host), At: capture.Provenance{A: uint64(2*i + 1), B: uint64(2*i + 2)},
			Src: capture.Endpoint{IP: [16]byte{10: 255, 11: 255, 12: 10, 15: 1}, Port: uint16(2000 + i)}, Hint: capture.Hint{State: capture.Absent},
		}
		x.End = x.Start + 20e6
		for k := 0; k+1 < len(h.fields); k += 2 {
			if h.fields[k+1] != "" {
				x.Declare([]byte(h.fields[k]), []byte(h.fields[k+1]))
			}
		}
		x.Target = capture.Span{Off: uint32(len(b.Text)), Len: uint32(len(h.path))}
		b.Text = append(b.Text, h.path...)
		if h.change != nil {
			h.change(&x)
		}
		b.Exchanges = append(b.Exchanges, x)
	}
	b.Done = 1
	return given{info, []*capture.Batch{&b}}
}

var tap = capture.Info{Name: "tap", Kind: "capture", Vantage: "tap"}

// rowsOf tells the rows of one source.
func rowsOf(t *testing.T, g given) (rows []detect.Row) {
	t.Helper()
	p := sealed(t, detect.Options{}, g.info, func(take capture.Sink) error { return take(g.all[0]) })
	p.OnRow(func(r *detect.Row) error {
		rows = append(rows, *r)
		return nil
	})
	runAll(t, p)
	return rows
}

// A chain of three reads as attempts 1, 2 and 3 whatever header says so, at waits
// from which nothing could be told.
func TestEveryFamilyReadsOneTwoThree(t *testing.T) {
	for _, f := range families {
		rows := rowsOf(t, byHand(
			tap,
			hand{at: 0, path: "/a", fields: []string{f[0], f[1]}, status: 503},
			hand{at: 1, path: "/a", status: 200, fields: []string{f[0], ""}, change: other},
			hand{at: 61, path: "/a", fields: []string{f[0], f[2]}, status: 503},
			hand{at: 62, path: "/a", status: 200, change: other},
			hand{at: 170, path: "/a", fields: []string{f[0], f[3]}, status: 200},
		))
		for i, k := range []int{0, 2, 4} {
			r := &rows[k]
			if r.Attempt != i+1 || r.Chain != rows[0].Chain || i > 0 && r.Evidence < 4 {
				t.Errorf("%s: attempt %d is number %d of %s, %v", f[0], i+1, r.Attempt, r.Chain, r.Evidence)
			}
		}
		if rows[1].Chain == rows[0].Chain || rows[1].Attempt != 1 {
			t.Errorf("%s: another client's request is number %d of %s", f[0], rows[1].Attempt, rows[1].Chain)
		}
	}
}

// other makes it another client's.
func other(x *capture.Exchange) { x.Src.IP[15] = 2 }

// What configures a proxy's retries does not number attempts.
func TestConfigurationIsNotCounted(t *testing.T) {
	for _, name := range []string{"x-envoy-max-retries", "x-portkey-retry-count", "l5d-retry-limit", "upstash-retries"} {
		rows := rowsOf(t, byHand(
			tap,
			hand{at: 0, path: "/a", fields: []string{name, "3"}, status: 200},
			hand{at: 9, path: "/b", fields: []string{name, "3"}, status: 503},
			hand{at: 300, path: "/c", fields: []string{name, "3"}, status: 503},
		))
		for i, r := range rows {
			if r.Attempt != 1 || r.Evidence >= 4 {
				t.Errorf("%s: request %d is attempt %d, %v", name, i+1, r.Attempt, r.Evidence)
			}
		}
	}
}

// Later attempts whose first was not seen are chains of their own, each with an id
// of its own.
func TestUnseenParents(t *testing.T) {
	rows := rowsOf(t, byHand(
		tap,
		hand{at: 0, path: "/a", fields: []string{"x-stainless-retry-count", "1"}, status: 503},
		hand{at: .5, path: "/b", fields: []string{"x-stainless-retry-count", "1"}, status: 503},
		hand{at: 1, path: "/a", fields: []string{"x-stainless-retry-count", "2"}, status: 200},
		hand{at: 1.5, path: "/b", fields: []string{"x-stainless-retry-count", "2"}, status: 200},
		hand{at: 2, path: "/c", fields: []string{"x-stainless-retry-count", "0"}, status: 200},
	))
	want := []place{{"10.0.0.1#1", 2}, {"10.0.0.1#2", 2}, {"10.0.0.1#1", 3}, {"10.0.0.1#2", 3}, {"10.0.0.1#3", 1}}
	for i, r := range rows {
		if (place{r.Chain, r.Attempt}) != want[i] {
			t.Errorf("row %d: attempt %d of %s, want %+v", i+1, r.Attempt, r.Chain, want[i])
		}
	}
}
