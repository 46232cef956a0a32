package packet

const (
	whyKeys     = "TLS: tshark was given the keys"
	whyTunnel   = "inside a tunnel or link layer that may not be read"
	whyCutBody  = "a response whose body is not whole: tshark tells of it only at its end"
	whyOwnLog   = "the server's own log has them: tshark does not tell of a request whose body comes in another packet before its answer"
	whyMethod   = "a method tshark 4.0 does not know, in a whole request line"
	whyOld      = "HTTP/0.9: a request line without a version"
	whyHTTP2    = "HTTP/2 on a port of its own"
	whyExpected = "TestAccessLog compares this capture with the server's own log"
)

// corpusExceptions are the differences from tshark that are understood.
var corpusExceptions = map[string]exception{
	"storm/storm-tls-dsb.pcapng":                 {missing: [4]int{9, 3, 10, 2}, why: whyKeys},
	"storm/storm-tls.pcap":                       {missing: [4]int{9, 3, 10, 2}, why: whyKeys},
	"wireshark/challenge01_ooo_stream.pcapng.gz": {missing: [4]int{12, 1, 12}, why: whyKeys},
	"wireshark/tls12-chacha20poly1305.pcap":      {missing: [4]int{1}, why: whyKeys},
	"wireshark/tls12-dsb.pcapng":                 {missing: [4]int{1, 1, 1}, why: whyKeys},
	"wireshark/tls13-rfc8446.pcap":               {missing: [4]int{3, 1, 3}, why: whyKeys},

	"zeek/erspan.pcap":                                          {missing: [4]int{0, 1, 5}, extra: [4]int{0, 1, 3}, why: whyTunnel + "; " + whyCutBody},
	"zeek/snap-tcp.pcap":                                        {missing: [4]int{1, 1, 1}, why: whyTunnel},
	"zeek/tunnels__ayiya3.pcap":                                 {missing: [4]int{3, 2, 3}, why: whyTunnel},
	"zeek/tunnels__gre-aruba.pcap":                              {missing: [4]int{9}, why: whyTunnel},
	"zeek/tunnels__gre-over-udp-4754.pcap":                      {missing: [4]int{1, 1, 1}, why: whyTunnel},
	"zeek/tunnels__gtp__gtp1_gn_normal_incl_fragmentation.pcap": {missing: [4]int{1}, extra: [4]int{0, 1, 1}, why: whyTunnel + "; " + whyCutBody},
	"zeek/tunnels__gtp__gtp2_different_udp_port.pcap":           {missing: [4]int{2, 1, 2}, why: whyTunnel},

	"storm/storm-h1-drop2.pcap": {
		missing: [4]int{0, 0, 2}, extra: [4]int{2, 1, 6, 1},
		why: "2 % of the packets are missing: tshark pairs two requests with the answers of others, as the server's log of storm-h1 shows (TestLossAgainstLog)",
	},
	"storm/storm-h1-midstream.pcap":  {extra: [4]int{0, 0, 2}, why: whyOwnLog},
	"storm/storm-h1-sll.pcap":        {extra: [4]int{1, 0, 6}, why: whyOwnLog + "; " + whyExpected},
	"storm/storm-h1-snap128.pcap":    {extra: [4]int{50, 0, 87}, why: "tshark does not read a request that the snapshot length cuts; " + whyExpected},
	"storm/storm-h1.pcap":            {extra: [4]int{1, 0, 4}, why: whyOwnLog + "; " + whyExpected},
	"storm/storm-h1.pcapng":          {extra: [4]int{1, 0, 4}, why: whyOwnLog},
	"storm/storm-mixed-links.pcapng": {extra: [4]int{1, 0, 6}, why: whyOwnLog},

	"scapy/http2_h2c.pcap": {missing: [4]int{0, 1, 1}, http2: true, why: "an upgrade to HTTP/2: the answer proper comes in it"},
	"wireshark/grpc_person_search_json_with_image.pcapng.gz":                     {http2: true, why: whyHTTP2},
	"wireshark/grpc_person_search_protobuf_with_image.pcapng.gz":                 {http2: true, why: whyHTTP2},
	"wireshark/grpc_person_search_protobuf_with_image-missing_headers.pcapng.gz": {http2: true, why: whyHTTP2},
	"wireshark/grpc_stream_reassembly_sample.pcapng.gz":                          {http2: true, why: whyHTTP2},
	"wireshark/grpc_web.pcapng.gz":                                               {http2: true, why: whyHTTP2},
	"wireshark/packet-h2-14_headers.pcapng":                                      {http2: true, why: whyHTTP2},

	"scapy/http_compressed-zstd.pcap":        {extra: [4]int{0, 1}, why: whyCutBody},
	"tcpdump/accecn_handshake.pcap":          {extra: [4]int{0, 1, 1}, why: whyCutBody},
	"zeek/http__bro.org.pcap":                {extra: [4]int{0, 1, 1}, why: whyCutBody},
	"zeek/http__content-range-gap-skip.pcap": {extra: [4]int{0, 1, 1}, why: whyCutBody},
	"zeek/http__content-range-gap.pcap":      {extra: [4]int{0, 1, 1}, why: whyCutBody},
	"zeek/http__entity_gap.pcap":             {extra: [4]int{0, 1, 1}, why: whyCutBody},
	"zeek/http__entity_gap2.pcap":            {extra: [4]int{0, 1, 1}, why: whyCutBody},
	"zeek/pe__pe_files_timestamp.pcap.gz":    {extra: [4]int{0, 1, 1}, why: whyCutBody},
	"zeek/spicy__gap-recovery.pcap":          {extra: [4]int{0, 1, 1}, why: whyCutBody},

	"zeek/doc__traces__quickstart.pcap":                    {extra: [4]int{1, 0, 1}, why: whyMethod},
	"zeek/http__query-method-non-standard-port.pcap":       {extra: [4]int{1, 0, 1}, why: whyMethod},
	"zeek/http__query-method.pcap":                         {extra: [4]int{1, 0, 1}, why: whyMethod},
	"zeek/http__http-inner-transfer-encoding-ossfuzz.pcap": {extra: [4]int{1}, why: whyMethod + " (made by a fuzzer)"},

	"zeek/http__http_09.pcap":         {extra: [4]int{2}, why: whyOld},
	"zeek/http__no-version.pcap":      {extra: [4]int{1}, why: whyOld},
	"zeek/ipv6-http-atomic-frag.pcap": {extra: [4]int{1}, why: whyOld},

	"zeek/http__261__variant-01-chunk_2pow64_overflow.pcap": {extra: [4]int{1}, why: "after a chunk size that nobody can read, a whole request line is believed"},
	"zeek/http__261__variant-09-te_obs_fold.pcap":           {extra: [4]int{1}, why: "Transfer-Encoding is folded (RFC 9112 section 5.2): a second request follows the last chunk"},
	"zeek/http__http-09-content-length-confusion.pcap":      {missing: [4]int{0, 0, 1}, why: "the answer was sent before the request: it answers nothing"},
	"zeek/http__http-desync-request-response-5.pcap":        {extra: [4]int{0, 0, 1}, why: "the server sends more answers than it was asked for: each request goes with the one sent after it"},
	"zeek/http__methods.pcap":                               {missing: [4]int{1, 0, 1}, why: "a method with nothing behind it"},
	"zeek/http__putty-upload.pcap":                          {extra: [4]int{1, 0, 1}, why: "an upload of which tshark tells only the answer"},
	"zeek/tcp-http-with-padding.pcap":                       {extra: [4]int{1, 0, 1}, why: "typed by hand, a byte a packet, on a port of its own"},
	"zeek/tcp__reassembly.pcap":                             {extra: [4]int{1}, why: "a request that never ends"},
	"wireshark/tcp-badsegments.pcap":                        {extra: [4]int{1}, why: "a request put together from overlapping segments that do not agree"},
}
