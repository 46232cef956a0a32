package packet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/capture/packet/write"
)

func thorough() bool { return os.Getenv("STORMWATCH_QUALITY") == "1" }

// labelled is the exchange number n: its target and its hint carry the number,
// so that a pair put together wrongly shows. Both stand early in their headers,
// as a short snapshot keeps them.
func labelled(n, body int) (request, response []byte) {
	request = fmt.Appendf(nil, "GET /v1/items/%d HTTP/1.1\r\nHost: api.example\r\nUser-Agent: probe/1\r\nAccept: application/json\r\n"+
		"Cookie: session=%0120d\r\nAccept-Language: en-GB,en;q=0.8\r\nX-Request-Start: %d\r\n\r\n", n, n, n)
	response = reply(429, fmt.Sprintf("%0*d", body, n), fmt.Sprint("Retry-After: ", n), "Server: nginx/1.22.1",
		"Content-Type: application/problem+json; charset=utf-8", "X-Trace: "+strings.Repeat("t", 150), "Date: Tue, 14 Nov 2023 22:13:20 GMT")
	return request, response
}

// keptAlive makes total exchanges of 30 each on connections that live side by
// side, answers of up to 8 KB, acknowledged on their own now and then.
func keptAlive(t testing.TB, total, body int) []byte {
	m := newMade(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var c *write.Conn
	at := int64(base)
	for n := range total {
		if n%30 == 0 {
			if c != nil {
				c.Close(at + ms)
			}
			at = base + int64(n/30)*7*ms
			c = m.w.Dial(at, netip.AddrPortFrom(client.Addr(), uint16(10000+n/30)), server)
		}
		request, response := labelled(n, 1+rng.IntN(body))
		at += 1 + rng.Int64N(20*ms)
		c.Send(at, true, request)
		if rng.IntN(3) == 0 {
			c.Acknowledge(at+ms/10, false)
		}
		at += ms/5 + rng.Int64N(20*ms)
		c.Send(at, false, response)
		c.Acknowledge(at+ms/10, true)
		at += ms / 5
	}
	c.Close(at + ms)
	return m.bytes()
}

// pipelined makes total exchanges of 32 each on connections whose clients send up
// to six requests in one go, and the next ones when some of the answers have come.
func pipelined(t testing.TB, total int) []byte {
	m := newMade(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for n := 0; n < total; {
		at := base + int64(n)*ms
		c := m.w.Dial(at, netip.AddrPortFrom(addrPort(fmt.Sprintf("10.0.1.%d:1", n/32%20)).Addr(), uint16(10000+n/32)), server)
		asked, answered := n, n
		for end := min(n+32, total); answered < end; {
			for range 1 + rng.IntN(6) {
				if asked < end {
					request, _ := labelled(asked, 1)
					at += ms / 5
					c.Send(at, true, request)
					asked++
				}
			}
			for range 1 + rng.IntN(asked-answered) {
				_, response := labelled(answered, 1+rng.IntN(3000))
				at += ms
				c.Send(at, false, response)
				c.Acknowledge(at+ms/10, true)
				answered++
			}
		}
		c.Close(at + ms)
		n = answered
	}
	return m.bytes()
}

// TestPipelinedLoss loses packets where clients do not wait for answers: what
// cannot be told is unknown, never another's answer.
func TestPipelinedLoss(t *testing.T) {
	b := pipelined(t, 4000)
	for loss, least := range map[float64]float64{0: 1, 0.01: 0.75, 0.05: 0.3} {
		var sum score
		for seed := range uint64(3) {
			s := scoreOf(t, defect{loss: loss}.apply(b, seed), 4000)
			sum.exact, sum.wrong, sum.possible = sum.exact+s.exact, sum.wrong+s.wrong, sum.possible+s.possible
		}
		t.Logf("%g lost: of %d possible %d right, %d wrong", loss, sum.possible, sum.exact, sum.wrong)
		if sum.wrong > 0 || float64(sum.exact) < least*float64(sum.possible) {
			t.Errorf("%g lost: of %d possible %d right, %d wrong; want %.0f right and none wrong", loss, sum.possible, sum.exact, sum.wrong, least*float64(sum.possible))
		}
	}
}

// reusedPorts makes total exchanges, one a connection, on 32 ports that are used again
// as soon as the client has reset them.
func reusedPorts(t testing.TB, total int) []byte {
	m := newMade(t)
	var free [32]int64
	for n := range total {
		port := n % len(free)
		at := max(free[port], base+int64(n)*2*ms)
		c := m.w.Dial(at, netip.AddrPortFrom(client.Addr(), uint16(20000+port)), server)
		request, response := labelled(n, 100+n%3000)
		c.Send(at+ms, true, request)
		c.Send(at+3*ms, false, response)
		c.Acknowledge(at+3*ms+ms/10, true)
		c.Abort(at+4*ms, true)
		free[port] = at + 5*ms
	}
	return m.bytes()
}

// score is how many exchanges were put together as they were, and wrongly; and
// how many could be: those whose request line and hint are both in the capture.
type score struct{ exact, wrong, possible int }

func scoreOf(t *testing.T, b []byte, total int) (s score) {
	t.Helper()
	_, recs := records(b)
	asked, answered := make([]bool, total), make([]bool, total)
	for _, r := range recs {
		payload := r[min(recPayload, len(r)):]
		for _, mark := range []struct {
			text string
			end  byte
			seen []bool
		}{{"GET /v1/items/", ' ', asked}, {"Retry-After: ", '\r', answered}} {
			for rest := payload; ; {
				i := bytes.Index(rest, []byte(mark.text))
				if i < 0 {
					break
				}
				rest = rest[i+len(mark.text):]
				if n, ok := length(rest[:max(bytes.IndexByte(rest, mark.end), 0)]); ok {
					mark.seen[n] = true
				}
			}
		}
	}
	for n := range asked {
		if asked[n] && answered[n] {
			s.possible++
		}
	}
	done := make([]bool, total)
	r := readAll(t, b, Options{})
	if r.health.Late > 0 {
		t.Errorf("%d exchanges come after the watermark has passed their start", r.health.Late)
	}
	for _, x := range r.all {
		if x.method == "" || x.Status == 0 {
			continue
		}
		n, ok := length([]byte(strings.TrimPrefix(x.target, "/v1/items/")))
		switch {
		case x.Hint.State != capture.Present: // nothing to tell it by
		case !ok || x.raw != fmt.Sprint(n) || x.Status != 429 || done[n]:
			s.wrong++
		default:
			s.exact++
			done[n] = true
		}
	}
	return s
}

// TestDefects damages clean captures. The bars are what a careful reassembly
// reached on captures of the same kinds: a share of the truth, and wrong pairs.
// Which packets are lost is drawn; where a draw leaves fewer exchanges whole than
// the bar asks for, 999 of 1,000 of those it leaves must be there.
func TestDefects(t *testing.T) {
	seeds := uint64(1)
	if thorough() {
		seeds = 10
	}
	large := 600
	if thorough() {
		large = 3000
	}
	plain, big, ports := keptAlive(t, 6000, 8000), keptAlive(t, large, 200_000), reusedPorts(t, 1617)
	t.Logf("%-42s %6s %8s %8s %6s", "defect", "truth", "possible", "exact", "wrong")
	for _, c := range []struct {
		name  string
		in    []byte
		total int
		d     defect
		exact float64 // of all; 0: all that is possible
		wrong int     // for each seed
	}{
		{"none", plain, 6000, defect{}, 1, 0},
		{"1 % lost", plain, 6000, defect{loss: 0.01}, 5885.0 / 6000, 0},
		{"5 % lost", plain, 6000, defect{loss: 0.05}, 5370.0 / 6000, 10},
		{"5 % lost, ten at a time", plain, 6000, defect{loss: 0.05, burst: 10}, 5468.0 / 6000, 0},
		{"5 % reordered by up to 8", plain, 6000, defect{swap: 0.05}, 5998.0 / 6000, 1},
		{"every packet twice", plain, 6000, defect{twice: 1}, 1, 0},
		{"snapshot length 256", plain, 6000, defect{snap: 256}, 1, 0},
		{"snapshot length 512", plain, 6000, defect{snap: 512}, 1, 0},
		{"first 30 % missing", plain, 6000, defect{skip: 0.3}, 0, 0},
		{"segments of 64 KiB", big, large, defect{merge: 65000}, 1, 0},
		{"64 KiB, 2 % lost, 3 % reordered, 5 % twice", big, large, defect{merge: 65000, loss: 0.02, swap: 0.03, twice: 0.05}, 2845.0 / 3000, 0},
		{"ports reused after RST", ports, 1617, defect{}, 1, 0},
		{"the same, 2 % lost", ports, 1617, defect{loss: 0.02}, 1558.0 / 1617, 0},
	} {
		var sum score
		for seed := range seeds {
			s := scoreOf(t, c.d.apply(c.in, seed), c.total)
			sum.exact, sum.wrong, sum.possible = sum.exact+s.exact, sum.wrong+s.wrong, sum.possible+s.possible
			if s.wrong > c.wrong {
				t.Errorf("%s, seed %d: %d wrong pairs, want at most %d", c.name, seed, s.wrong, c.wrong)
			}
		}
		n := float64(seeds)
		t.Logf("%-42s %6d %8.1f %8.1f %6.2f", c.name, c.total, float64(sum.possible)/n, float64(sum.exact)/n, float64(sum.wrong)/n)
		want := min(c.exact*float64(c.total)*n, 0.999*float64(sum.possible))
		if c.exact == 1 || c.exact == 0 {
			want = float64(sum.possible)
		}
		if float64(sum.exact) < want {
			t.Errorf("%s: %.1f exact, want %.1f", c.name, float64(sum.exact)/n, want/n)
		}
	}
}
