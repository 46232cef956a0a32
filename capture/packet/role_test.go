package packet

import (
	"fmt"
	"strings"
	"testing"
)

// TestBodiesThatLookLikeMessages joins connections in the middle of a body that holds
// HTTP: an upload of answers, a download of requests, inside a packet or at the start of
// one, and with the server's port below or above its client's. What follows is read
// from the right side.
func TestBodiesThatLookLikeMessages(t *testing.T) {
	text := func(line string, atStart bool) string {
		s := line + "\r\nHost: quoted\r\nContent-Length: 70000\r\n\r\n" + strings.Repeat("x", 300)
		if !atStart {
			s = strings.Repeat("y", 300) + "\r\n" + s
		}
		return s
	}
	const answer, request = "HTTP/1.1 503 Service Unavailable", "GET /quoted HTTP/1.1"
	for _, servers := range []int{80, 60000} {
		for _, upload := range []bool{true, false} {
			for _, atStart := range []bool{true, false} {
				p := newTap(t)
				seq := [2]uint32{1000, 9000}
				send := func(fromClient bool, text string) {
					seg := addressed{segment: segment{flags: ackPush, payload: []byte(text), wire: len(text)}}
					a, b := endpointOf(client), endpointOf(server)
					b.Port = uint16(servers)
					d := 0
					if !fromClient {
						a, b, d = b, a, 1
					}
					seg.src, seg.dst, seg.seq, seg.ack = a, b, seq[d], seq[1-d]
					seq[d] += uint32(len(text))
					p.pass(5 * ms)
					p.segment(&seg)
				}
				line := request
				if upload {
					line = answer
				}
				send(upload, strings.Repeat("z", 100))
				send(upload, text(line, atStart))
				send(upload, strings.Repeat("z", 100))
				if upload {
					send(false, string(reply(201, "made")))
				}
				want := []string{}
				for i := range 4 {
					send(true, string(get("/"+fmt.Sprint(i))))
					send(false, string(reply(200+i, "fine")))
					want = append(want, fmt.Sprintf("GET /%d %d answered", i, 200+i))
				}
				r := p.end()
				missed := 0 // the side is known only when it has been contradicted twice
				if servers > 40000 && atStart {
					missed = 2
				}
				got := r.String()
				for _, w := range want[missed:] {
					if !strings.Contains(got, w) {
						t.Errorf("server's port %d, upload %v, at the start of a packet %v: no %q in\n%s", servers, upload, atStart, w, got)
					}
				}
				if strings.Contains(got, "quoted") || strings.Contains(got, "503") {
					t.Errorf("server's port %d, upload %v, at the start of a packet %v: the body was taken for a message:\n%s", servers, upload, atStart, got)
				}
				for _, x := range r.all {
					if x.Dst.Port != uint16(servers) {
						t.Errorf("server's port %d, upload %v, at the start of a packet %v: %v was sent to port %d", servers, upload, atStart, x, x.Dst.Port)
					}
				}
			}
		}
	}
}
