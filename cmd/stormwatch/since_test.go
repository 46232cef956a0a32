package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

// With --since a log that is followed begins with its rotated part: the files
// written to since, the oldest first, each line once, and then what comes.
func TestFollowSinceReadsRotated(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "access.log")
	now := time.Now().UTC()
	at := func(ago time.Duration, target string) string {
		when := now.Add(-ago)
		return fmt.Sprintf(`10.0.0.1 - - [%s] "GET /%s HTTP/1.1" 200 5 "-" "a"`+"\n", when.Format("02/Jan/2006:15:04:05 -0700"), target)
	}
	write := func(path, text string, age time.Duration) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		var w io.WriteCloser = f
		if strings.HasSuffix(path, ".gz") {
			w = gzip.NewWriter(f)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	write(path+".3.gz", at(9*time.Hour, "ancient"), 8*time.Hour)
	write(path+".2.gz", at(3*time.Hour, "older")+at(100*time.Minute, "a"), 100*time.Minute)
	write(path+".1", strings.TrimSuffix(at(70*time.Minute, "b"), "\n"), time.Hour)
	write(path, at(time.Minute, "c"), 0)
	write(filepath.Join(dir, "other.log.1"), at(time.Minute, "other"), 0)
	f := &flags{since: "2h", from: mustMoment(t, "2h")}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ins, err := f.openAll(ctx, &streams{out: io.Discard, err: io.Discard}, []string{path}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(ins)
	var got []string
	err = ins[0].Run(ctx, func(b *capture.Batch) error {
		for i := range b.Exchanges {
			got = append(got, string(b.Bytes(b.Exchanges[i].Target)))
		}
		if slices.Contains(got, "/c") && !slices.Contains(got, "/d") {
			write(path, at(0, "d"), 0)
		}
		if slices.Contains(got, "/d") {
			cancel()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/older", "/a", "/b", "/c", "/d"}; !slices.Equal(got, want) { // the window itself is the engine's
		t.Errorf("%v, want %v", got, want)
	}
}
