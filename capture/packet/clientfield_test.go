package packet

import (
	"bytes"
	"context"
	"testing"

	"stormwatch/capture"
)

// The header that names clients is read in HTTP/1 and HTTP/2; one that is secret
// is the only credential then.
func TestClientHeader(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	p.ask(1, "/c", "x-tenant", "globex", "x-app-token", "t")
	p.ask(3, "/d", "x-tenant", "globex", "x-app-token", "t")
	p.send(base+8*ms, toServer)
	p.reply(1, "200")
	p.reply(3, "200")
	p.send(base+9*ms, toClient)
	p.c.Close(base + 10*ms)
	plain := newMade(t)
	conn := plain.dial()
	conn.Send(base+21*ms, true, []byte("GET /a HTTP/1.1\r\nHost: h\r\nX-Tenant: acme\r\nX-Api-Key: k\r\n\r\n"))
	conn.Send(base+22*ms, false, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	conn.Send(base+23*ms, true, []byte("GET /b HTTP/1.1\r\nHost: h\r\nX-Api-Key: k\r\nAuthorization: Bearer e30.eyJzdWIiOiJhY21lIn0.x\r\n\r\n"))
	conn.Send(base+24*ms, false, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	conn.Close(base + 25*ms)
	hash := func(text string) uint64 { return secrets.Hash([]byte(text)) }
	for _, c := range []struct {
		field   capture.ClientField
		clients map[string]string
		creds   map[string]uint64
	}{
		{capture.ClientField{Header: "x-tenant"}, map[string]string{"/a": "acme", "/b": "", "/c": "globex", "/d": "globex"}, map[string]uint64{"/a": hash("k")}},
		{capture.ClientField{Header: "x-app-token"}, map[string]string{}, map[string]uint64{"/a": 0, "/b": 0, "/c": hash("t"), "/d": hash("t")}},
		{capture.ClientField{Header: "authorization", Claim: "sub"}, map[string]string{}, map[string]uint64{"/a": 0, "/b": hash("acme")}},
	} {
		seen := 0
		for _, text := range [][]byte{m.bytes(), plain.bytes()} {
			src, err := Open("a.pcap", bytes.NewReader(text), Options{Secrets: secrets, Client: c.field})
			if err != nil {
				t.Fatal(err)
			}
			err = src.Run(context.Background(), func(b *capture.Batch) error {
				for i := range b.Exchanges {
					x := &b.Exchanges[i]
					target := string(b.Bytes(x.Target))
					seen++
					if got := b.Names.Text(x.Client); got != c.clients[target] {
						t.Errorf("%+v: %s: client %q, want %q", c.field, target, got, c.clients[target])
					}
					if want, ok := c.creds[target]; ok && x.Credential != want {
						t.Errorf("%+v: %s: credential %d, want %d", c.field, target, x.Credential, want)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if seen != 4 {
			t.Fatalf("%d exchanges", seen)
		}
	}
}
