package capture

import (
	"strings"
	"testing"
	"time"
)

func ask(name string) AskField { return AskFieldOf([]byte(name)) }

// TestDeadlines: seconds after the request was sent; -1 none.
func TestDeadlines(t *testing.T) {
	const start = int64(noon)*second + 500e6
	for _, c := range []struct {
		name, value string
		want        int64 // ns from noon
	}{
		{"grpc-timeout", "100m", 600e6},
		{"grpc-timeout", "2S", 2500e6},
		{"grpc-timeout", "1H", 3600_500e6},
		{"grpc-timeout", "1500u", 501_500e3},
		{"grpc-timeout", "123456789S", -1}, // nine digits
		{"grpc-timeout", "5", -1},
		{"grpc-timeout", "S", -1},
		{"amz-sdk-request", "ttl=20210216T080003Z; attempt=2; max=3", 3e9},
		{"amz-sdk-request", "attempt=1; max=3; ttl=20210216T080003Z", 3e9},
		{"amz-sdk-request", "attempt=1; max=3", -1},
		{"amz-sdk-request", "ttl=20211316T080003Z", -1},
		{"x-envoy-expected-rq-timeout-ms", "250", 750e6},
		{"Connect-Timeout-Ms", "1000", 1500e6},
		{"x-stainless-timeout", "600", 600_500e6},
		{"X-Request-Timeout", "1.5s", 2e9},
		{"X-Request-Timeout", "30", 30_500e6},
		{"X-Request-Deadline", "1613462403", 3e9},
		{"X-Request-Deadline", "1613462403250", 3250e6},
		{"X-Request-Deadline", "1613462403.25", 3e9},
		{"X-Request-Deadline", "1613462403250000000", 3250e6},
		{"X-Request-Deadline", "2021-02-16T08:00:03.5Z", 3500e6},
		{"X-Request-Deadline", "30", -1}, // from now on, or not: not told
		{"X-Request-Deadline", "99999999999999999999", -1},
		{"Finagle-Ctx-com.twitter.finagle.Deadline", "1613462400000000000 1613462403000000000", 3e9},
		{"timeout", "5", -1},
	} {
		got := ask(c.name).Deadline([]byte(c.value), start)
		if got != 0 {
			got -= int64(noon) * second
		} else {
			got = -1
		}
		if got != c.want {
			t.Errorf("%s: %s: %v, want %v", c.name, c.value, time.Duration(got), time.Duration(c.want))
		}
	}
}

func TestAskNames(t *testing.T) {
	for i := 1; i < len(askRows); i++ {
		if name := askRows[i].name; ask(strings.ToUpper(name)) != AskField(i) {
			t.Errorf("%s is not found", name)
		}
	}
}
