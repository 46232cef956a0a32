package accesslog

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOrderOfRotatedLogs(t *testing.T) {
	for name, c := range map[string]struct{ given, want []string }{
		"numbers":        {[]string{"access.log", "access.log.1", "access.log.10.gz", "access.log.2.gz"}, []string{"access.log.10.gz", "access.log.2.gz", "access.log.1", "access.log"}},
		"dates":          {[]string{"a.log", "a.log-20261130", "a.log-20261101.gz", "a.log-20261129"}, []string{"a.log-20261101.gz", "a.log-20261129", "a.log-20261130", "a.log"}},
		"dates inside":   {[]string{"access-2026-11-30.log", "access-2026-11-02.log", "access.log"}, []string{"access-2026-11-02.log", "access-2026-11-30.log", "access.log"}},
		"hours":          {[]string{"u_ex26113012.log", "x.20261130-13", "x.20261130-02"}, []string{"u_ex26113012.log", "x.20261130-02", "x.20261130-13"}},
		"two sets":       {[]string{"b.log", "a.log", "b.log.1", "a.log.1"}, []string{"b.log.1", "a.log.1", "b.log", "a.log"}},
		"other folders":  {[]string{"web1/a.log", "web2/a.log.1"}, []string{"web1/a.log", "web2/a.log.1"}},
		"not of a set":   {[]string{"-", "z.pcap", "a.pcap"}, []string{"-", "z.pcap", "a.pcap"}},
		"twice":          {[]string{"a.log", "./a.log", "-"}, []string{"a.log", "-"}},
		"addresses stay": {[]string{"10.0.0.1.log", "10.0.0.2.log"}, []string{"10.0.0.1.log", "10.0.0.2.log"}},
	} {
		if got := Order(c.given); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A file is read once, whatever it is called.
func TestOrderKnowsFiles(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "access.log.1")
	for _, p := range []string{a, a + ".gz"} {
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(a, link); err != nil {
		t.Fatal(err)
	}
	if got := Order([]string{a, link, a + ".gz", filepath.Join(dir, "..", filepath.Base(dir), "access.log.1")}); !slices.Equal(got, []string{a}) {
		t.Errorf("%v", got)
	}
}
