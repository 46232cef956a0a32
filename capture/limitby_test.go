package capture

import "testing"

// By what a limit counts is read where the fields of an answer say so: those of
// Discord and GitHub as their documentation has them, and the names of policies.
func TestWhatALimitCountsBy(t *testing.T) {
	for _, c := range []struct {
		fields []string // names and values by turns
		want   LimitBy
	}{
		{[]string{"X-RateLimit-Scope", "user", "X-RateLimit-Bucket", "abcd1234"}, ByCredential},
		{[]string{"X-RateLimit-Bucket", "abcd1234", "X-RateLimit-Scope", "shared"}, ByRoute},
		{[]string{"X-RateLimit-Global", "true", "X-RateLimit-Scope", "global"}, ByCredential},
		{[]string{"X-RateLimit-Global", "false"}, ByUntold},
		{[]string{"X-RateLimit-Bucket", "abcd1234"}, ByRoute},
		{[]string{"X-RateLimit-Resource", "search", "X-RateLimit-Remaining", "0"}, ByRoute},
		{[]string{"X-RateLimit-Scope", "ip"}, ByAddress},
		{[]string{"RateLimit-Policy", `"default";q=100;w=60`, "RateLimit", `"default";r=0;t=30`}, ByUntold},
		{[]string{"RateLimit-Policy", `"per-user";q=100;w=60;pk=:cHsdsRa894==:`}, ByCredential},
		{[]string{"RateLimit", `"perIP";r=0;t=5`}, ByAddress},
		{[]string{"RateLimit-Policy", `"user_minute";q=10;w=60, "user_day";q=1000;w=86400`}, ByCredential},
		{[]string{"RateLimit-Policy", `"per-user";q=10;w=60, "global";q=1000;w=60`}, ByUntold},
		{[]string{"RateLimit-Policy", "100;w=60"}, ByUntold},
		{[]string{"RateLimit", "limit=100, remaining=0, reset=30"}, ByUntold},
		{[]string{"RateLimit-Policy", `"ships";q=10`}, ByUntold},
		{[]string{"X-RateLimit-Resource", ""}, ByUntold},
		{nil, ByUntold},
	} {
		var h Health
		a := NewAnswers(NewInterner(16, 1<<10), &h)
		a.Begin()
		for i := 0; i+1 < len(c.fields); i += 2 {
			a.Tell(FieldOf([]byte(c.fields[i])), []byte(c.fields[i+1]))
		}
		x := Exchange{Status: 429, Reason: Throttle}
		a.Settle(&x, true)
		if x.Limit.By != c.want {
			t.Errorf("%q: by %v, want %v", c.fields, x.Limit.By, c.want)
		}
	}
}

// A name of any length and bytes is read without a fault.
func FuzzWordOf(f *testing.F) {
	for _, s := range []string{"per-user", "perUserPerRoute", "AAAAAAAAAAAAAAAAAAAAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaA", "\xff--per", `"a";q=1,"b"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if by := wordOf(b); by >= limitBys {
			t.Error(by)
		}
		policyBy(b)
	})
}
