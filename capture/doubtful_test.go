package capture

import (
	"strings"
	"testing"
)

// Wherever among the first 128 bytes what says no begins, it is seen; behind them
// it is not, nor what only resembles it.
func TestDoubtfulAnywhere(t *testing.T) {
	for text, no := range map[string]bool{
		`"error`: true, `"errors`: true, `"code"`: true, `"status`: true, `:false`: true, `: false`: true, `:f`: true,
		`"erro`: false, `"coder`: false, `"cost"`: false, `"stat"`: false, `: true`: false, `,false`: false, `error"`: false,
	} {
		for at := range 140 {
			for _, after := range []int{0, 1, 20} {
				body := strings.Repeat("x", at) + text + strings.Repeat("x", after)
				seen := at < 127 // the last of 128 has nothing behind it
				if got := doubtful([]byte(body)); got != (no && seen) {
					t.Errorf("%q at %d of %d: %v", text, at, len(body), got)
				}
			}
		}
	}
}
