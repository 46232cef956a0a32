package packet

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stormwatch/capture"
)

// The four things that are compared with tshark, each counted by content.
const (
	corpusRequests = iota // method and target
	corpusStatuses
	corpusPairs // method, target and status
	corpusHints // status and Retry-After
	corpusKinds
)

// census counts contents by kind.
type census [corpusKinds]map[string]int

func newCensus() (c census) {
	for k := range c {
		c[k] = map[string]int{}
	}
	return c
}

func (c *census) total(k int) (n int) {
	for _, v := range c[k] {
		n += v
	}
	return n
}

// common is how many of kind k both have.
func (c *census) common(o *census, k int) (n int) {
	for text, v := range c[k] {
		n += min(v, o[k][text])
	}
	return n
}

// most keeps the larger count of everything.
func (c *census) most(o *census) census {
	m := newCensus()
	for k := range m {
		maps.Copy(m[k], c[k])
		for text, v := range o[k] {
			m[k][text] = max(m[k][text], v)
		}
	}
	return m
}

// missing lists what of o is not in c, with its count.
func (c *census) missing(o *census, k int) (list []string) {
	for text, v := range o[k] {
		if n := v - c[k][text]; n > 0 {
			list = append(list, fmt.Sprint(n, " x ", text))
		}
	}
	slices.Sort(list)
	return list
}

func censusOf(r result) census {
	c := newCensus()
	for _, x := range r.all {
		target := x.method + " " + x.target
		if x.method != "" {
			c[corpusRequests][target]++
		}
		if x.Status == 0 {
			continue
		}
		status := fmt.Sprint(x.Status)
		c[corpusStatuses][status]++
		if x.method != "" {
			c[corpusPairs][target+" "+status]++
		}
		if x.Hint.State == capture.Present {
			c[corpusHints][status+" "+x.raw]++
		}
	}
	return c
}

// truthOf reads what tshark found (columns file, kind, proto, frame, time,
// tcpstream, h2stream, src, sport, dst, dport, method, host, uri, status,
// retry_after, peer_frame, clen, note), by file and protocol. A response names
// the frame in which its request ended; of several in one frame, the next one.
func truthOf(t *testing.T, path, proto string) map[string]census {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	type place struct{ file, frame string }
	asked := map[place][]string{}
	out := map[string]census{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	var answers [][]string
	for lines.Scan() {
		c := strings.Split(lines.Text(), "\t")
		if len(c) < 17 || c[2] != proto {
			continue
		}
		if _, ok := out[c[0]]; !ok {
			out[c[0]] = newCensus()
		}
		switch {
		case c[1] == "req":
			target := c[11] + " " + string(capture.AppendMasked(nil, []byte(c[13])))
			out[c[0]][corpusRequests][target]++
			at := place{c[0], c[3]}
			asked[at] = append(asked[at], target)
		case c[1] == "resp" && (!strings.HasPrefix(c[14], "1") || c[14] == "101"): // other interim responses are no answers
			answers = append(answers, c)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for _, c := range answers {
		status, count := c[14], out[c[0]]
		count[corpusStatuses][status]++
		if c[15] != "" {
			count[corpusHints][status+" "+c[15]]++
		}
		at := place{c[0], c[16]}
		if list := asked[at]; len(list) > 0 {
			count[corpusPairs][list[0]+" "+status]++
			asked[at] = list[1:]
		}
	}
	return out
}

// TestCorpus reads the captures of a folder that holds truth made with tshark in
// both its ways to reassemble. Not one may make the reader panic; what tshark
// found in either way must be there, and what it did not must be explained.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("STORMWATCH_CORPUS")
	if dir == "" {
		t.Skip("STORMWATCH_CORPUS names no folder")
	}
	if _, err := os.Stat(filepath.Join(dir, "truth")); err != nil {
		dir = filepath.Join(dir, "pcap")
	}
	origins, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var sum corpusSum
	t.Logf("%-60s %-23s %-23s %-23s %s", "read/in order/out of order, of 1", "requests", "statuses", "pairs", "hints")
	for _, o := range origins {
		files, err := os.ReadDir(filepath.Join(dir, o.Name()))
		if err != nil || o.Name() == "truth" {
			continue
		}
		inOrder := truthOf(t, filepath.Join(dir, "truth", o.Name()+".inorder.tsv"), "http1")
		reordered := truthOf(t, filepath.Join(dir, "truth", o.Name()+".tsv"), "http1")
		h2 := truthOf(t, filepath.Join(dir, "truth", o.Name()+".tsv"), "http2")
		for _, f := range files {
			name := o.Name() + "/" + f.Name()
			if r, ok := corpusFile(t, filepath.Join(dir, name)); ok {
				sum.file(t, name, r, inOrder[name], reordered[name], h2[name])
			}
		}
	}
	sum.judge(t)
}

// corpusSum adds up files that are whole and those that are not.
type corpusSum struct{ want, got [corpusKinds]int }

// file compares one file. What tshark does not have is not looked at where it
// found HTTP/2, whose pairs it does not tell.
func (s *corpusSum) file(t *testing.T, name string, r result, a, b, h2 census) {
	truth, got := a.most(&b), censusOf(r)
	except := corpusExceptions[name]
	var cells [corpusKinds]string
	line, odd := false, false
	for k := range corpusKinds {
		hit, want := got.common(&truth, k), max(a.total(k), b.total(k))
		cells[k] = fmt.Sprintf("%d/%d/%d of %d", got.total(k), a.total(k), b.total(k), truth.total(k))
		line = line || want > 0 || got.total(k) > 0
		missing, extra := got.missing(&truth, k), truth.missing(&got, k)
		if except.http2 || h2.total(corpusRequests)+h2.total(corpusStatuses) > 0 {
			extra = nil
		}
		if len(missing) > except.missing[k] {
			t.Errorf("%s: %s missing: %s", name, corpusNames[k], brief(missing))
		}
		if len(extra) > except.extra[k] {
			t.Errorf("%s: %s that tshark does not have: %s", name, corpusNames[k], brief(extra))
		}
		odd = odd || len(missing)+len(extra) > 0
		if r.health.GapBytes == 0 && !r.health.Truncated && except.missing == ([corpusKinds]int{}) {
			s.want[k] += truth.total(k)
			s.got[k] += hit
		}
	}
	if line {
		t.Logf("%-60s %-23s %-23s %-23s %s", name, cells[0], cells[1], cells[2], cells[3])
	}
	if odd && except.why != "" {
		t.Logf("    %s", except.why)
	}
}

var corpusNames = [corpusKinds]string{"requests", "statuses", "pairs", "hints"}

func (s *corpusSum) judge(t *testing.T) {
	for k, n := range s.want {
		t.Logf("well-formed captures: %d of %d %s", s.got[k], n, corpusNames[k])
		if n == 0 || float64(s.got[k]) < 0.999*float64(n) {
			t.Errorf("%d of %d %s, want 99.9 %%", s.got[k], n, corpusNames[k])
		}
	}
}

func brief(list []string) string {
	const most = 8
	n := len(list)
	list = list[:min(n, most)]
	return cmp.Or(strings.Join(list, "; "), "-") + fmt.Sprintf(" (%d in all)", n)
}

// exception says how many different requests, statuses, pairs and hints a file
// may lack, and may have beyond what tshark has, and why.
type exception struct {
	missing, extra [corpusKinds]int
	http2          bool // there may be HTTP/2 that tshark was not told to look for
	why            string
}
