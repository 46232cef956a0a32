package packet

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"

	"stormwatch/capture"
)

// fieldsOf reads a block: "name: value", "?" where the field is unknown, and the
// hash where only that is known.
func fieldsOf(t *headerTable, b []byte) (out []string, err error) {
	r := headerReader{secrets: secrets}
	r.begin(t, b)
	var f headerField
	for r.next(&f) {
		switch {
		case !f.known:
			out = append(out, "?")
		case f.hidden:
			out = append(out, fmt.Sprintf("%s: #%d", f.name, f.hash))
		default:
			out = append(out, fmt.Sprintf("%s: %s", f.name, f.value))
		}
	}
	return out, r.err
}

// TestHPACKExamples reads the examples of RFC 7541, appendices C.4 and C.6; the
// latter evict entries from a table of 256 bytes.
func TestHPACKExamples(t *testing.T) {
	const (
		cookie1 = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
		date1   = "date: Mon, 21 Oct 2013 20:13:21 GMT"
		date2   = "date: Mon, 21 Oct 2013 20:13:22 GMT"
		page    = "location: https://www.example.com"
	)
	for _, c := range []struct {
		name   string
		limit  int
		blocks []string
		want   []string
		size   int
	}{
		{
			"C.4", 4096,
			[]string{
				"828684418cf1e3c2e5f23a6ba0ab90f4ff", "828684be5886a8eb10649cbf",
				"828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
			},
			[]string{
				":method: GET|:scheme: http|:path: /|:authority: www.example.com",
				":method: GET|:scheme: http|:path: /|:authority: www.example.com|cache-control: no-cache",
				":method: GET|:scheme: https|:path: /index.html|:authority: www.example.com|custom-key: custom-value",
			},
			164,
		},
		{
			"C.6", 256,
			[]string{
				"488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
				"4883640effc1c0bf",
				"88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
			},
			[]string{
				":status: 302|cache-control: private|" + date1 + "|" + page,
				// location comes out of the table, where its value is not kept
				":status: 307|cache-control: private|" + date1 + "|location: #",
				":status: 200|cache-control: private|" + date2 + "|location: #|content-encoding: gzip|set-cookie: " + cookie1,
			},
			215,
		},
	} {
		table := headerTable{limit: c.limit}
		for i, text := range c.blocks {
			b, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := fieldsOf(&table, b)
			want := strings.ReplaceAll(c.want[i], "#", fmt.Sprintf("#%d", secrets.Hash([]byte("https://www.example.com"))))
			if err != nil || strings.Join(got, "|") != want {
				t.Errorf("%s.%d: %v, error %v; want %v", c.name, i+1, strings.Join(got, "|"), err, want)
			}
		}
		if table.size != c.size {
			t.Errorf("%s: the table holds %d bytes, want %d", c.name, table.size, c.size)
		}
	}
}

// someField draws fields as traffic has them: few names, and values that come back.
func someField(rng *rand.Rand) hpack.HeaderField {
	names := []string{":path", "user-agent", "authorization", "cookie", "x-trace", "accept", "x-" + strings.Repeat("long", rng.IntN(30))}
	value := fmt.Sprint("/v", rng.IntN(8), strings.Repeat("y", rng.IntN(200)*rng.IntN(2)))
	return hpack.HeaderField{Name: names[rng.IntN(len(names))], Value: value, Sensitive: rng.IntN(12) == 0}
}

// matches compares with what fieldsOf gives; a field out of the table is reduced.
func matches(got string, f hpack.HeaderField) bool {
	if got == f.Name+": "+f.Value || len(f.Name) > maxFieldName && strings.HasPrefix(got, f.Name[:maxFieldName]) {
		return true
	}
	value := bytes.TrimSpace([]byte(f.Value)) // of blanks alone: no credential
	return secretField([]byte(f.Name)) && (got == fmt.Sprintf("%s: #%d", f.Name, secrets.Hash([]byte(f.Value))) || got == fmt.Sprintf("%s: #%d", f.Name, secrets.Holder(value)))
}

// TestHPACKAgainstEncoder reads what the encoder of x/net writes, with tables whose
// size changes: from the beginning on every field is known; from some block on a
// field is right or unknown, and in the end it is known again.
func TestHPACKAgainstEncoder(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var buf bytes.Buffer
		enc := hpack.NewEncoder(&buf)
		enc.SetMaxDynamicTableSizeLimit(maxTable)
		var from, late headerTable
		from.reset(false)
		late.reset(true)
		join, unknown, knownAfter := rng.IntN(40), 0, 0
		for i := range 120 {
			if rng.IntN(10) == 0 {
				enc.SetMaxDynamicTableSize([]uint32{0, 60, 500, 4096, 20000}[rng.IntN(5)])
			}
			buf.Reset()
			var fields []hpack.HeaderField
			for range 1 + rng.IntN(8) {
				fields = append(fields, someField(rng))
				if err := enc.WriteField(fields[len(fields)-1]); err != nil {
					t.Fatal(err)
				}
			}
			got, err := fieldsOf(&from, buf.Bytes())
			if err != nil || len(got) != len(fields) {
				t.Fatalf("seed %d, block %d: %d fields of %d, error %v", seed, i, len(got), len(fields), err)
			}
			for j, f := range fields {
				if !matches(got[j], f) {
					t.Fatalf("seed %d, block %d: %q, want %q", seed, i, got[j], f)
				}
			}
			if i < join {
				continue
			}
			if got, err = fieldsOf(&late, buf.Bytes()); err != nil || len(got) != len(fields) {
				t.Fatalf("seed %d, late, block %d: %d fields of %d, error %v", seed, i, len(got), len(fields), err)
			}
			for j, f := range fields {
				switch {
				case got[j] == "?":
					unknown++
				case !matches(got[j], f):
					t.Fatalf("seed %d, late, block %d: %q, want %q", seed, i, got[j], f)
				default:
					knownAfter++
				}
			}
		}
		if unknown > knownAfter/4 {
			t.Errorf("seed %d: joined at block %d: %d unknown, %d known", seed, join, unknown, knownAfter)
		}
	}
}

// TestHPACKForgets loses one block: after it nothing may be resolved by an index
// that an unseen insertion has shifted.
func TestHPACKForgets(t *testing.T) {
	var buf bytes.Buffer
	enc := hpack.NewEncoder(&buf)
	write := func(path string) []byte {
		buf.Reset()
		_ = enc.WriteField(hpack.HeaderField{Name: ":path", Value: path})
		return bytes.Clone(buf.Bytes())
	}
	var table headerTable
	table.reset(false)
	read := func(b []byte, want string) {
		t.Helper()
		if got, err := fieldsOf(&table, b); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%v, error %v, want %s", got, err, want)
		}
	}
	read(write("/a"), ":path: /a")
	_ = write("/b") // lost
	table.forget()
	read(write("/a"), "?") // index 63; with the old table it would be none
	read(write("/b"), "?") // index 62; with the old table it would be /a
	read(write("/c"), ":path: /c")
	read(write("/c"), ":path: /c")
	read(write("/b"), "?")
}

// TestHPACKDamage has blocks that no peer may send. None may be taken for good, and
// all end.
func TestHPACKDamage(t *testing.T) {
	for name, c := range map[string]struct {
		block string
		err   error
	}{
		"index 0":                {"80", errHPACK},
		"endless number":         {"ffffffffffffffff", errHPACK},
		"number cut":             {"ff", errHPACKShort},
		"name cut":               {"400a6375", errHPACKShort},
		"value missing":          {"4003616263", errHPACKShort},
		"length beyond the end":  {"4003616263ff8080808001", errHPACKShort},
		"Huffman end of string":  {"40036162638584ffffffff", errHPACK}, // EOS must not be there (RFC 7541 section 5.2)
		"Huffman padding of 0":   {"400361626381" + "fe", errHPACK},
		"size far beyond limits": {"3fffffffff0f82", nil},
		"empty":                  {"", nil},
		"index of nothing":       {"ff807f", nil},
	} {
		b, err := hex.DecodeString(c.block)
		if err != nil {
			t.Fatal(err)
		}
		var table headerTable
		table.reset(true)
		if _, err := fieldsOf(&table, b); err != c.err {
			t.Errorf("%s: error %v, want %v", name, err, c.err)
		}
		if table.limit > maxTable {
			t.Errorf("%s: a table of %d bytes", name, table.limit)
		}
	}
}

// TestHPACKTableIsBounded inserts without end.
func TestHPACKTableIsBounded(t *testing.T) {
	var table headerTable
	table.reset(true)
	name := strings.Repeat("n", maxFieldName)
	for i := range 20_000 {
		f := headerField{known: true, name: []byte(name), value: fmt.Appendf(nil, "%d%s", i, strings.Repeat("v", i%3000))}
		if i%5 == 0 {
			f = headerField{value: f.value} // of an unknown name: nothing is kept but its size
		}
		table.insert(&f, secrets)
		if kept := table.kept(); kept > 6*maxTable {
			t.Fatalf("after %d insertions %d bytes are kept", i+1, kept)
		}
	}
}

// TestMaskedInTable keeps the target of a request as it is shown.
func TestMaskedInTable(t *testing.T) {
	var table headerTable
	table.reset(false)
	f := headerField{known: true, name: []byte(":path"), value: []byte("/?token=hush&n=1")}
	table.insert(&f, capture.NewSecrets())
	table.get(firstDynamic, &f)
	if string(f.value) != "/?token=***&n=1" {
		t.Errorf("%q", f.value)
	}
}
