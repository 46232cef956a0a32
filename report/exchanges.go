package report

import (
	"encoding/json"
	"io"

	"stormwatch/capture"
	"stormwatch/detect"
)

type jsonExchange struct {
	Time       moment   `json:"time"`
	End        moment   `json:"end"`
	Client     text     `json:"client"`
	Src        string   `json:"src"`
	ConnSeq    uint32   `json:"conn_seq,omitempty"`
	Method     text     `json:"method"`
	Host       text     `json:"host"`
	Path       text     `json:"path"`
	Status     uint16   `json:"status"`
	Outcome    string   `json:"outcome"`
	Reason     string   `json:"reason"`
	Hint       jsonHint `json:"hint"`
	Chain      text     `json:"chain"`
	Attempt    int      `json:"attempt"`
	Evidence   string   `json:"evidence"`
	Confidence float64  `json:"confidence"`
	Source     text     `json:"source"`
	At         string   `json:"at"`
}

type jsonHint struct {
	State string `json:"state"`
	Kind  maybe  `json:"kind"`
	Wait  number `json:"wait_s"`
	Raw   maybe  `json:"raw"`
}

// Exchanges returns a function that writes one row of the normal form as a line
// of JSON.
func Exchanges(w io.Writer) func(*detect.Row) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(r *detect.Row) error {
		x := r.X
		h := x.Hint
		return enc.Encode(&jsonExchange{
			Time: moment(x.Start), End: moment(x.End), Client: text(r.Client), Src: x.Src.String(), ConnSeq: x.ConnSeq,
			Method: text(r.Method), Host: text(r.Host), Path: text(r.Path), Status: x.Status,
			Outcome: x.Outcome.String(), Reason: x.Reason.String(),
			Hint: jsonHint{
				State: h.State.String(), Kind: maybe(h.Kind.String()), Raw: maybe(r.HintRaw),
				Wait: number{V: float64(h.Wait) / 1e9, Known: h.State == capture.Present && h.Kind != capture.Malformed},
			},
			Chain: text(r.Chain), Attempt: r.Attempt, Evidence: r.Evidence.String(), Confidence: round(r.Confidence),
			Source: text(r.Source), At: x.At.String(),
		})
	}
}
