package accesslog

import (
	"bytes"

	"stormwatch/capture"
)

// ended judges how a request ended. What nginx and Traefik log as 499 (the
// client left), 444 (nginx closed without a word) and 000 never reached the
// client as an answer.
func (b *builder) ended(x *capture.Exchange) {
	r := &b.r
	if r.has&endings == 0 && r.code >= 100 && r.code != 499 && r.code != 444 && r.code != b.format.gone {
		x.Status, x.Reason = r.code, capture.ReasonOf(r.code)
		return
	}
	refused := isRefusal(r.get(roleLimited))
	switch {
	case r.code >= 100 && r.code != 499 && r.code != 444 && (r.code != b.format.gone || r.code == 0):
		x.Status, x.Reason = r.code, capture.ReasonOf(r.code)
	case !refused:
		if x.Outcome = capture.NoAnswer; r.code == 499 || r.code != 0 && r.code == b.format.gone {
			x.Flags |= capture.GaveUp
		}
		return
	}
	x.Origin = b.origin()
	if t := r.get(roleRPC); t != nil && x.Status < 300 && x.Status != 0 {
		b.rpc(x, t)
	}
	if refused && (x.Status >= 400 || x.Status == 0) {
		x.Reason, x.Origin = capture.Throttle, capture.OriginHop
	}
	if r.has&(1<<roleFlags|1<<roleDetails) == 0 {
		return
	}
	switch flags := r.get(roleFlags); {
	case x.Status < 400:
	case hasFlag(flags, "RL"), hasFlag(flags, "RateLimited"), bytes.Contains(r.get(roleDetails), []byte("rate_limited")):
		x.Reason, x.Origin = capture.Throttle, capture.OriginHop
	case hasFlag(flags, "UO"), hasFlag(flags, "UpstreamOverflow"):
		x.Reason, x.Origin = capture.Overload, capture.OriginHop
	}
}

// endings are roles that say more of an end than the status does.
const endings uint64 = 1<<roleLimited | 1<<roleFlags | 1<<roleDetails | 1<<roleUpstreamCode | 1<<roleUpstreamAddr | 1<<roleTermination | 1<<roleServer | 1<<roleTryList | 1<<roleRPC

// isRefusal tells whether a limiter says that it refused. nginx's dry runs, and
// requests that it only delayed, were answered.
func isRefusal(limiter []byte) bool {
	switch string(limiter) {
	case "REJECTED", "THROTTLE", "RATE_BASED_BAN":
		return true
	}
	return false
}

// origin tells who made the answer.
func (b *builder) origin() capture.Origin {
	r := &b.r
	const servers = 1<<roleUpstreamCode | 1<<roleTermination | 1<<roleDetails | 1<<roleServer | 1<<roleTryList | 1<<roleUpstreamAddr
	if r.has&servers == 0 {
		return capture.OriginUnknown
	}
	switch d := r.get(roleDetails); string(d) {
	case "via_upstream", "response_sent_by_backend":
		return capture.OriginUpstream
	}
	switch {
	case r.shows(roleUpstreamCode):
		return r.upstreamOrigin()
	case r.shows(roleTermination):
		return r.sessionOrigin()
	case r.shows(roleFlags):
		if noServer(r.text[roleServer]) && r.shows(roleServer) || localFlag(r.get(roleFlags)) {
			return capture.OriginHop
		}
		if r.get(roleDetails) == nil && r.get(roleServer) != nil {
			return capture.OriginUpstream
		}
		if r.get(roleDetails) != nil {
			return capture.OriginHop
		}
	case r.shows(roleUpstreamAddr) && noServer(r.text[roleUpstreamAddr]), r.shows(roleTryList) && len(r.text[roleTryList]) < len("[{}]"):
		return capture.OriginHop
	}
	return capture.OriginUnknown
}

// upstreamOrigin compares the status of the last try with the one given to the
// client. What nginx logs as 502 and 504 of a server may be its own: no
// connection, no answer.
func (r *record) upstreamOrigin() capture.Origin {
	last := r.text[roleUpstreamCode]
	if i := bytes.LastIndexAny(last, " ,"); i >= 0 {
		last = last[i+1:]
	}
	if noServer(last) {
		return capture.OriginHop
	}
	n, ok := count(last)
	switch {
	case !ok || n == 502 || n == 504:
		return capture.OriginUnknown
	case n == int(r.code):
		return capture.OriginUpstream
	}
	return capture.OriginHop
}

// sessionOrigin reads HAProxy's termination state (configuration manual,
// "Session state at disconnection"): "-" is a normal end; P, L, I, R and K are
// the proxy's own; after S and s, and without a server, the answer is the
// proxy's as well.
func (r *record) sessionOrigin() capture.Origin {
	t := r.text[roleTermination]
	switch {
	case bytes.Equal(r.text[roleServer], []byte("<NOSRV>")) && r.shows(roleServer):
		return capture.OriginHop
	case len(t) < 2:
		return capture.OriginUnknown
	case t[0] == '-':
		return capture.OriginUpstream
	case t[0] == 'C' || t[0] == 'c', t[1] == 'D' || t[1] == 'L': // the answer had begun
		return capture.OriginUnknown
	}
	return capture.OriginHop
}

func noServer(b []byte) bool {
	switch string(b) {
	case "", "-", "0", "null", "<NOSRV>":
		return true
	}
	return false
}

// localFlag tells whether Envoy's flags say that it made the answer itself
// (access log documentation, "%RESPONSE_FLAGS%").
func localFlag(flags []byte) bool {
	for _, f := range [...]string{"UH", "UF", "UO", "NR", "NC", "UT", "LH", "UC", "RL", "RLSE", "UAEX", "FI", "DPE", "DT", "UPE", "OM", "DO", "SI", "IH", "NFCF", "UMSDR", "URX,UF"} {
		if hasFlag(flags, f) {
			return true
		}
	}
	return false
}

// hasFlag looks for a flag in a list with commas.
func hasFlag(flags []byte, flag string) bool {
	for len(flags) > 0 {
		var one []byte
		one, flags, _ = bytes.Cut(flags, comma)
		if string(one) == flag {
			return true
		}
	}
	return false
}
