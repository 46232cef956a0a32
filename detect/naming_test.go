package detect

import (
	"net/netip"
	"strings"
	"testing"

	"stormwatch/capture"
)

func TestNaming(t *testing.T) {
	secrets := capture.NewSecrets()
	file := "# tenants\n10.0.0.7,checkout\n10.2.0.0/16 = batch\n10.2.3.0/24,night batch\n2001:db8::/32,v6\n\n\"acme\",ACME Ltd\n"
	n, err := ReadNaming(strings.NewReader(file), secrets, false)
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{
		"10.0.0.7": "checkout", "10.0.0.8": "", "10.2.9.9": "batch", "10.2.3.4": "night batch", "2001:db8::1": "v6",
	} {
		x := capture.Exchange{Src: capture.Endpoint{IP: netip.MustParseAddr(label).As16()}}
		if got := n.of(&x, label, false); got != want {
			t.Errorf("%s: %q, want %q", label, got, want)
		}
	}
	if got := n.of(&capture.Exchange{Client: 5}, "acme", false); got != "ACME Ltd" {
		t.Errorf("a header's value: %q", got)
	}
	keys, err := ReadNaming(strings.NewReader("s3cret==,acme\n10.0.0.7=checkout\n"), secrets, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"s3cret==", "Bearer s3cret=="} {
		if got := keys.of(&capture.Exchange{Credential: secrets.Hash([]byte(text))}, "cred-1", true); got != "acme" {
			t.Errorf("%s: %q", text, got)
		}
	}
	if len(keys.byLabel) != 1 {
		t.Errorf("a key is kept: %v", keys.byLabel)
	}
	for _, bad := range []string{"10.0.0.1", ",x", "10.0.0.1,", "x=\n"} {
		if _, err := ReadNaming(strings.NewReader(bad), secrets, false); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzNaming(f *testing.F) {
	f.Add("10.0.0.7,checkout\n10.2.0.0/16=batch\n")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := ReadNaming(strings.NewReader(text), capture.NewSecrets(), false); err == nil {
			n.of(&capture.Exchange{}, "x", false)
		}
	})
}
