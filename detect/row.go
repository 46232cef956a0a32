package detect

import "stormwatch/capture"

// Row is one exchange in the normal form, with its place in a chain. X is valid
// until the function that was given the Row returns.
type Row struct {
	X                                                         *capture.Exchange
	Client, Method, Host, Path, Agent, HintRaw, Source, Chain string
	Attempt                                                   int // 1-based
	Evidence                                                  Level
	Confidence                                                float64
	Tried                                                     []Tried // attempts at servers behind, where they are listed and more than one
}
