package detect

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"stormwatch/capture"
)

// Perspectives: whose side the input was seen from. At a server many clients call
// few hosts; at a client few addresses call many.
const (
	PerspectiveServer = "server"
	PerspectiveClient = "client"
	PerspectiveAuto   = "auto" // the one or the other, as the input shows; live input is a server's for a minute
)

// outlook counts who calls whom, as far as it matters for the perspective.
type outlook struct {
	sources, servers [outlookMost][16]byte
	hosts            []string
	seen             [outlookMost]capture.Symbol // of the hosts
	nsources         int
	nservers         int
	all, forwarded   int64
	crowded          bool // more addresses call than one client has
}

const (
	outlookMost  = 16 // addresses and hosts kept: more decide nothing
	fewSources   = 4  // addresses that one client may call from: IPv4 and IPv6, of two interfaces
	manyHosts    = 3  // that it calls, at least: a service behind one address may have two names,
	hostsEach    = 2  // and twice as many as it has addresses
	leastOutlook = 20 // requests: fewer may be one page of a browser
)

// note takes in an exchange of a source.
func (o *outlook) note(x *capture.Exchange, names *capture.Interner) {
	if o.crowded {
		return
	}
	o.all++
	if x.Forwarded != 0 {
		o.forwarded++
	}
	if o.nsources = noteAddr(&o.sources, o.nsources, x.Src.IP); o.nsources > fewSources {
		*o = outlook{crowded: true}
		return
	}
	o.nservers = noteAddr(&o.servers, o.nservers, x.Dst.IP)
	if x.Host == 0 || len(o.hosts) == outlookMost || slices.Contains(o.seen[:len(o.hosts)], x.Host) {
		return
	}
	o.seen[len(o.hosts)] = x.Host
	o.hosts = append(o.hosts, names.Text(x.Host))
}

func noteAddr(set *[outlookMost][16]byte, n int, ip [16]byte) int {
	if ip == [16]byte{} || n == outlookMost || slices.Contains(set[:n], ip) {
		return n
	}
	set[n] = ip
	return n + 1
}

// outward tells whether recordings were seen from a client's side: few addresses call
// many hosts at addresses of their own. A proxy before a server says for whom it calls,
// and the hosts that it serves for are at one address; a log is written by a server.
func outward(ins []*Inlet) bool {
	var sum outlook
	var hosts []string
	for _, in := range ins {
		o := &in.outlook
		if in.info.Kind != "capture" || o.crowded {
			return false
		}
		for _, ip := range o.sources[:o.nsources] {
			sum.nsources = noteAddr(&sum.sources, sum.nsources, ip)
		}
		for _, ip := range o.servers[:o.nservers] {
			sum.nservers = noteAddr(&sum.servers, sum.nservers, ip)
		}
		hosts = append(hosts, o.hosts...)
		sum.all, sum.forwarded = sum.all+o.all, sum.forwarded+o.forwarded
	}
	slices.Sort(hosts)
	many := max(manyHosts, hostsEach*sum.nsources)
	return sum.all >= leastOutlook && sum.nsources > 0 && sum.nsources <= fewSources && 2*sum.forwarded < sum.all &&
		len(slices.Compact(hosts)) >= many && sum.nservers >= many
}

func (r *Recording) looksOutward() bool {
	return r.opt.Perspective == PerspectiveAuto && outward(r.inlets)
}

// look decides the perspective of a recording, before any client has a number.
func (r *Recording) look() {
	if r.looksOutward() {
		r.names.outward, r.names.upstream = true, !r.names.byKey
	}
}

// upstreamOf is the key of who is called, and by which credential.
func upstreamOf(x *capture.Exchange) uint64 {
	key := uint64(x.Host)
	if x.Host == 0 {
		key = hash(5, x.Dst.IP[:])
	}
	return mix(key+1, mixGolden) ^ x.Credential
}

// enterUpstream numbers who is called, and by which credential.
func (n *names) enterUpstream(x *capture.Exchange, id uint32) (label string) {
	n.byUpstream[upstreamOf(x)] = id
	if label = n.texts.Text(x.Host); label == "" {
		label = x.Dst.Addr().String()
	}
	if x.Credential == 0 {
		return label
	}
	n.credBy[id] = x.Credential
	c, known := n.credOf[x.Credential]
	if !known {
		n.creds++
		c = n.creds
		n.credOf[x.Credential] = c
	}
	return label + " cred-" + strconv.Itoa(c)
}

// outwards puts a verdict into the words of those who call: what they can do, and
// what to tell whom they call.
func (j *judge) outwards(e *engine, v *Verdict) {
	worst, at := e.worstUpstream()
	if worst == nil {
		return
	}
	whom := e.names.labels[at]
	if !e.names.upstream { // it is called by what tells clients apart
		whom = "the upstream as " + whom
	}
	failed := worst.refused + worst.failed
	v.Party, v.Who = Party{}, fmt.Sprintf("our calls to %s: %.0f %% of %d refused or failed, %.1f attempts per request", whom, 100*float64(failed)/float64(worst.attempts), worst.attempts,
		float64(worst.attempts)/float64(max(worst.first, 1)))
	switch {
	case v.Cause == CauseServer || worst.failed > worst.refused:
		v.Do = "Open a ticket with the vendor of " + whom + ", with this evidence; until it answers, halve the concurrency of these calls and try each once more at most."
	case v.Cause == CauseCapacity || v.Cause == CauseMixed:
		v.Do = "Pause the back-fill, and halve the concurrency of calls to " + whom + " until nothing is refused; then ask the vendor for a higher quota."
	case v.Cause == CauseDraining:
		v.Do = "Let the backlog drain: keep the back-fill paused, and the concurrency of calls to " + whom + " as it is."
	default:
		v.Do = "Halve the concurrency of calls to " + whom + ", pause the back-fill, and hold every retry until the wait that the answer names is over."
	}
	v.Dont = "Do not add workers, keys or addresses to get more through: the limit may count them together, and vendors block for it."
	t, seen := e.troubles[at]
	if !seen {
		return
	}
	v.NextEvidence = append(v.NextEvidence, ticket(t, &e.histories.of(worst).obeys, whom))
}

// worstUpstream is who refused most, nil where nobody did.
func (e *engine) worstUpstream() (worst *client, at uint32) {
	for id := uint32(1); id < uint32(min(e.clients.len(), mostTroubled)); id++ { // 0 is the row of all others, whom no ticket reaches
		if c := e.clients.at(id); c.refused+c.failed > 0 && (worst == nil || c.refused+c.failed > worst.refused+worst.failed) {
			worst, at = c, id
		}
	}
	return worst, at
}

// ticket is what the vendor is to be told, of the time since the onset.
func ticket(t trouble, kept *obeys, whom string) string {
	text := fmt.Sprintf("for the vendor's ticket: %s refused %d and failed %d of %d requests from %s to %s UTC",
		whom, t.refused, t.failed, t.answers, stamp(t.from), stamp(t.to))
	switch o := kept.reading(); {
	case o.N == 0:
		text += ", and named no wait that could be kept to"
	case o.Use == HintIgnored:
		text += fmt.Sprintf("; we came early after %d of %d waits, which is ours to mend first", kept.early, o.N)
	default:
		text += fmt.Sprintf("; we kept to the wait %d of %d times", o.N-int64(kept.early), o.N)
	}
	return text
}

func stamp(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05") }
