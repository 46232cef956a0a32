package prometheus

// kind is what a status code says of an attempt.
type kind uint8

const (
	other   kind = iota // an attempt, and no more is known
	good                // 1xx to 3xx
	refused             // 429, 503
	failed              // other 4xx and 5xx, and 0: no answer came
	class               // "4xx", "5xx": failed, and it is unknown whether refused
	kinds
)

// codeLabels are the names under which exporters give the status code, the
// common ones first (prometheus.md of client_golang's promhttp, Micrometer,
// OpenTelemetry, Istio and Envoy).
var codeLabels = []string{
	"code", "status", "status_code", "http_status",
	"http_status_code", "http_response_status_code", "response_code", "envoy_response_code",
}

// kindOf reads the value of a code label: "429", "4xx" or "4".
func kindOf(code string) kind {
	digit := func(i int) int { return int(code[i]) - '0' }
	switch len(code) {
	case 3:
		n := digit(0)
		if n < 0 || n > 9 {
			return other
		}
		if code[1:] == "xx" || code[1:] == "XX" {
			return classOf(n)
		}
		for i := 1; i < 3; i++ {
			if d := digit(i); d < 0 || d > 9 {
				return other
			}
			n = n*10 + digit(i)
		}
		switch {
		case n == 429, n == 503:
			return refused
		case n == 0, n >= 400 && n < 600:
			return failed
		case n >= 100 && n < 400:
			return good
		}
	case 1:
		if code == "0" {
			return failed
		}
		return classOf(digit(0))
	}
	return other
}

func classOf(n int) kind {
	switch n {
	case 1, 2, 3:
		return good
	case 4, 5:
		return class
	}
	return other
}
