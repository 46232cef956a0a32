package report

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"stormwatch/capture"
	"stormwatch/detect"
)

// Exchanges returns a function that writes one row of the normal form as a line
// of JSON. Each row is one Write; the writer is best a buffered one.
func Exchanges(w io.Writer) func(*detect.Row) error {
	var line []byte
	return func(r *detect.Row) error {
		line = appendRow(line[:0], r)
		_, err := w.Write(line)
		return err
	}
}

// Redacted hands on rows without who the client is: numbered, without its address,
// and without its name where that stands in a path or an agent. Values of queries
// are left out.
func Redacted(tell func(*detect.Row) error) func(*detect.Row) error {
	r := NewRedactor()
	return func(row *detect.Row) error {
		out, x := *row, *row.X
		x.Src = capture.Endpoint{}
		out.X = &x
		hide := hider{r: r, names: map[string]string{row.Client: r.of(row.Client)}}
		out.Client = r.of(row.Client)
		if label, n, ok := cutLast(row.Chain, '#'); ok {
			out.Chain = r.of(label) + "#" + n
		}
		out.Path, out.Host, out.Agent, out.Source = hide.text(BlankQuery(row.Path)), hide.text(row.Host), hide.text(row.Agent), hide.text(row.Source)
		out.HintRaw = hide.text(row.HintRaw)
		out.Tried = slices.Clone(row.Tried)
		for i := range out.Tried {
			out.Tried[i].Server = hide.text(out.Tried[i].Server)
		}
		return tell(&out)
	}
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// appendRow writes the keys in the order in which they are documented. conn_seq
// is left out where connections cannot be told apart, grpc_status where the
// exchange is no gRPC call or its status was not seen.
func appendRow(b []byte, r *detect.Row) []byte {
	x := r.X
	b = appendMoment(append(b, `{"time":`...), x.Start)
	b = appendMoment(append(b, `,"end":`...), x.End)
	b = appendText(append(b, `,"client":`...), r.Client)
	b = appendText(append(b, `,"src":`...), x.Src.String())
	if x.ConnSeq != 0 {
		b = strconv.AppendUint(append(b, `,"conn_seq":`...), uint64(x.ConnSeq), 10)
	}
	b = appendText(append(b, `,"method":`...), r.Method)
	b = appendText(append(b, `,"host":`...), r.Host)
	b = appendText(append(b, `,"path":`...), r.Path)
	b = strconv.AppendUint(append(b, `,"status":`...), uint64(x.Status), 10)
	if code, ok := x.RPC.Code(); ok {
		b = strconv.AppendInt(append(b, `,"grpc_status":`...), int64(code), 10)
	}
	b = appendText(append(b, `,"outcome":`...), x.Outcome.String())
	b = appendText(append(b, `,"reason":`...), x.Reason.String())
	b = appendHint(append(b, `,"hint":`...), &x.Hint, r.HintRaw)
	b = appendText(append(b, `,"chain":`...), r.Chain)
	b = strconv.AppendInt(append(b, `,"attempt":`...), int64(r.Attempt), 10)
	b = appendText(append(b, `,"evidence":`...), r.Evidence.String())
	b = appendNumber(append(b, `,"confidence":`...), detect.Some(r.Confidence))
	b = appendBehind(b, r)
	b = appendText(append(b, `,"source":`...), r.Source)
	b = appendText(append(b, `,"at":`...), x.At.String())
	return append(b, '}', '\n')
}

func appendHint(b []byte, h *capture.Hint, raw string) []byte {
	b = appendText(append(b, `{"state":`...), h.State.String())
	b = appendMaybe(append(b, `,"kind":`...), h.Kind.String())
	b = appendNumber(append(b, `,"wait_s":`...), detect.Number{V: float64(h.Wait) / 1e9, Known: h.Usable()})
	b = appendMaybe(append(b, `,"raw":`...), raw)
	return append(b, '}')
}
