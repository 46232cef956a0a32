package detect

import "fmt"

// sealed counts the connections that are encrypted, of the sources judged.
func (e *engine) sealed() (n uint64) {
	for i := range e.sources {
		if e.sources[i].Primary {
			n += e.sources[i].Health.Encrypted
		}
	}
	return n
}

// mostlySealed tells whether no fewer connections are encrypted than there are
// requests in clear text: each has carried at least one, so that calm among
// those that could be read says nothing. A CONNECT is a request for each.
func (e *engine) mostlySealed() bool {
	n := e.sealed()
	return n > 0 && n >= uint64(e.pop.total.attempts)
}

const unsealing = "capture behind TLS termination (between the proxy and the service), or use the server's access log"

func sealedText(n uint64) string {
	if n == 1 {
		return "1 connection is encrypted"
	}
	return fmt.Sprintf("%d connections are encrypted", n)
}

// unseen is the verdict over an input without requests.
func (e *engine) unseen() Verdict {
	n := e.sealed()
	if n == 0 {
		return Verdict{State: Unknown, What: "no requests seen", Do: "Check that the input holds HTTP traffic or log lines stormwatch reads."}
	}
	text := sealedText(n)
	return Verdict{
		State: Unknown, What: "no requests seen: " + text,
		Do:           "C" + unsealing[1:] + ".",
		NextEvidence: []string{text + ": " + unsealing},
	}
}
