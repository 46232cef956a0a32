package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func zipped(tb testing.TB, kind string, text []byte, o ...zstd.EOption) []byte {
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if kind == "zstd" {
		z, err := zstd.NewWriter(&b, o...)
		if err != nil {
			tb.Fatal(err)
		}
		w = z
	}
	if _, err := w.Write(text); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// sample is a text that does not compress to nothing.
func sample() []byte {
	var b bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&b, "line %d of a log, %x\n", i, i*i*7919)
	}
	return b.Bytes()
}

func TestCompression(t *testing.T) {
	for head, want := range map[string]string{
		"\x1f\x8b": "gzip", "\x1f\x8b\x08": "gzip", "\x28\xb5\x2f\xfd": "zstd", "\x50\x2a\x4d\x18": "zstd", "\x5f\x2a\x4d\x18": "zstd",
		"\x60\x2a\x4d\x18": "", "\x50\x2a\x4d": "", "\x1f": "", "": "", "BZh9": "", "\x28\xb5\x2f": "", "\xa1\xb2\xc3\xd4": "",
	} {
		if got := Compression([]byte(head)); got != want {
			t.Errorf("%x: %q, want %q", head, got, want)
		}
	}
}

// TestDecompress reads parts that are joined, frames to skip, and inputs that come
// byte by byte.
func TestDecompress(t *testing.T) {
	text := sample()
	for _, kind := range []string{"gzip", "zstd"} {
		whole := zipped(t, kind, text)
		inputs := map[string][]byte{
			"whole":  whole,
			"joined": append(append(zipped(t, kind, text[:100]), zipped(t, kind, nil)...), zipped(t, kind, text[100:])...),
		}
		if kind == "zstd" {
			inputs["frame to skip"] = append([]byte("\x53\x2a\x4d\x18\x04\x00\x00\x00skip"), whole...)
		}
		for name, b := range inputs {
			if got := Compression(b); got != kind {
				t.Errorf("%s %s: taken for %q", name, kind, got)
			}
			for _, r := range []io.Reader{bytes.NewReader(b), iotest.OneByteReader(bytes.NewReader(b)), iotest.DataErrReader(bytes.NewReader(b))} {
				if got, err := io.ReadAll(Decompress(kind, r)); err != nil || !bytes.Equal(got, text) {
					t.Errorf("%s %s: %d bytes of %d, error %v", name, kind, len(got), len(text), err)
				}
			}
		}
		if got, err := io.ReadAll(Decompress(kind, bytes.NewReader(zipped(t, kind, nil)))); len(got) > 0 || err != nil {
			t.Errorf("nothing as %s: %d bytes, %v", kind, len(got), err)
		}
	}
}

// TestDecompressCut cuts at every byte: what comes is a part of the whole, and
// the end is never taken for the true one.
func TestDecompressCut(t *testing.T) {
	text := sample()[:6000]
	for _, kind := range []string{"gzip", "zstd"} {
		one, two := zipped(t, kind, text[:3000]), zipped(t, kind, text[3000:])
		b := append(bytes.Clone(one), two...)
		for n := 4; n < len(b); n++ {
			got, err := io.ReadAll(Decompress(kind, bytes.NewReader(b[:n])))
			if n == len(one) {
				if err != nil || len(got) != 3000 {
					t.Errorf("%s, first part: %d bytes, %v", kind, len(got), err)
				}
				continue
			}
			if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), kind+" data ends early") {
				t.Errorf("%s cut after %d of %d: %v", kind, n, len(b), err)
			}
			if !bytes.HasPrefix(text, got) || n > len(one) && len(got) < 3000 {
				t.Errorf("%s cut after %d: %d bytes", kind, n, len(got))
			}
		}
	}
}

// TestDecompressDamaged tells damage from an end, and from an input that fails;
// an error stays.
func TestDecompressDamaged(t *testing.T) {
	text := sample()
	broken := errors.New("cable pulled")
	for _, kind := range []string{"gzip", "zstd"} {
		b := zipped(t, kind, text)
		bad := bytes.Clone(b)
		bad[len(bad)/2] ^= 0x55
		for name, in := range map[string][]byte{"flipped": bad, "followed by something else": append(bytes.Clone(b), "garbage that is no part"...)} {
			r := Decompress(kind, bytes.NewReader(in))
			_, err := io.ReadAll(r)
			if err == nil || !strings.Contains(err.Error(), kind+" data is damaged") || errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
			if n, again := r.Read(make([]byte, 10)); n != 0 || again != err {
				t.Errorf("%s, %s: then %d bytes, %v", kind, name, n, again)
			}
		}
		for n := range 3 {
			r := Decompress(kind, io.MultiReader(bytes.NewReader(b[:n*len(b)/3]), iotest.ErrReader(broken)))
			if _, err := io.ReadAll(r); !errors.Is(err, broken) || strings.Contains(err.Error(), "damaged") {
				t.Errorf("%s, input fails after %d: %v", kind, n, err)
			}
		}
	}
}

// TestDecompressMemory reads what grows a thousandfold, and refuses a window that
// would take more memory than the bound.
func TestDecompressMemory(t *testing.T) {
	const size = 256 << 20
	for _, kind := range []string{"gzip", "zstd"} {
		var b bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&b)
		if kind == "zstd" {
			w, _ = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		}
		zeros := make([]byte, 1<<20)
		for range size >> 20 {
			if _, err := w.Write(zeros); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := io.Copy(io.Discard, Decompress(kind, &b))
		runtime.ReadMemStats(&after)
		if err != nil || n != size {
			t.Errorf("%s: %d bytes, %v", kind, n, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 32<<20 {
			t.Errorf("%s: %d bytes allocated", kind, got)
		}
	}
	// A frame that asks for a window of 256 MiB (RFC 8878 section 3.1.1.1.2:
	// exponent 18 of 1 KiB), and a raw block of one byte.
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 18 << 3, 9, 0, 0, 'x'}
	if _, err := io.ReadAll(Decompress("zstd", bytes.NewReader(frame))); err == nil || !strings.Contains(err.Error(), "zstd -dc --long=31") {
		t.Errorf("a window of 256 MiB: %v", err)
	}
	frame[5] = 17 << 3
	if got, err := io.ReadAll(Decompress("zstd", bytes.NewReader(frame))); err != nil || string(got) != "x" {
		t.Errorf("a window of 128 MiB: %q, %v", got, err)
	}
}

// FuzzDecompress takes compressed inputs that are damaged: they end or fail, and
// give no more than the window allows to be kept.
func FuzzDecompress(f *testing.F) {
	for _, kind := range []string{"gzip", "zstd"} {
		b := zipped(f, kind, []byte("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"))
		f.Add(b)
		f.Add(b[:len(b)-3])
		f.Add(append(bytes.Clone(b), b...))
	}
	f.Add([]byte("\x50\x2a\x4d\x18\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		kind := Compression(b)
		if kind == "" {
			return
		}
		r := Decompress(kind, bytes.NewReader(b))
		_, err := io.Copy(io.Discard, io.LimitReader(r, 64<<20))
		if err == nil {
			return
		}
		if n, again := r.Read(make([]byte, 1)); n != 0 || again == nil || again.Error() != err.Error() {
			t.Errorf("after %v: %d bytes, %v", err, n, again)
		}
	})
}

// Zeros behind the last member are padding; members that follow one another, and
// one that is empty, are read through.
func TestDecompressMembers(t *testing.T) {
	member := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	zeros := make([]byte, 1000)
	for name, parts := range map[string][][]byte{
		"padded":        {member("one two"), zeros},
		"joined":        {member("one "), member("two")},
		"an empty one":  {member("one "), member(""), member("two")},
		"zeros between": {member("one "), zeros[:3], member("two"), zeros},
	} {
		got, err := io.ReadAll(Decompress("gzip", bytes.NewReader(bytes.Join(parts, nil))))
		if err != nil || string(got) != "one two" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
