package report

import (
	"encoding/json"
	"io"
	"math"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// What another reader of JSON gets back is the cleaned text, whatever it held.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", `a"b\c`, "\x1b]2;x\x07", "\u202e\u2028", "\xff\xfe", "日本</script>&", "line\n\tend\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(appendText(nil, s), &got); err != nil || got != capture.Clean(s) {
			t.Fatalf("%q came back as %q (%v)", s, got, err)
		}
		b, err := lines(s).MarshalJSON()
		if err != nil || !json.Valid(b) {
			t.Fatalf("%q as lines is %s (%v)", s, b, err)
		}
	})
}

func TestLinesKeepTheirEnds(t *testing.T) {
	b, err := lines("a {\n\tb \"c\";\x1b\n}\n").MarshalJSON()
	if want := `"a {\n\tb \"c\";·\n}\n"`; err != nil || string(b) != want {
		t.Errorf("got %s (%v), want %s", b, err, want)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		n    detect.Number
		want string
	}{
		{detect.Number{}, "null"},
		{detect.Some(math.NaN()), "null"},
		{detect.Some(math.Inf(1)), "null"},
		{detect.Some(0), "0"},
		{detect.Some(math.Copysign(1e-9, -1)), "0"},
		{detect.Some(0.1 + 0.2), "0.3"},
		{detect.Some(2.0 / 3), "0.666667"},
		{detect.Some(-1.5), "-1.5"},
		{detect.Some(123456), "123456"},
		{detect.Some(1e300), "1e+300"},
	} {
		if got := string(appendNumber(nil, c.n)); got != c.want || !json.Valid([]byte(got)) {
			t.Errorf("%v is %s, want %s", c.n, got, c.want)
		}
	}
}

// Rows are written without garbage, save the texts of the address and the place.
func BenchmarkExchanges(b *testing.B) {
	x := capture.Exchange{
		Start: 1_796_006_466_123_456_789, End: 1_796_006_466_128_000_000, ConnSeq: 3, Status: 429, Reason: capture.Throttle,
		Hint: capture.Hint{Wait: 3e9, State: capture.Present, Kind: capture.RetryAfterSeconds}, At: capture.Provenance{A: 17, B: 19},
	}
	x.Src.IP[10], x.Src.IP[11], x.Src.IP[12], x.Src.Port = 0xff, 0xff, 10, 32768
	row := detect.Row{
		X: &x, Client: "10.0.0.0", Method: "GET", Host: "api.example.com", Path: "/v1/items/2?page=7", Agent: "a/1", HintRaw: "3",
		Source: "traffic.pcap", Chain: "10.0.0.0#12", Attempt: 2, Evidence: 2, Confidence: .97,
	}
	write := Exchanges(io.Discard)
	b.ReportAllocs()
	for b.Loop() {
		if err := write(&row); err != nil {
			b.Fatal(err)
		}
	}
}
