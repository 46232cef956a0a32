package detect

import (
	"testing"

	"stormwatch/capture"
)

// refusal is an outcome of a credential that was refused for want of quota.
func refusal(credential uint64) *flight {
	f := &flight{}
	f.rec.Credential, f.rec.Status, f.rec.Reason = credential, 429, capture.Throttle
	return f
}

// Credentials are hashed by a seed of the process: whatever their hashes are, each of
// 40 that are refused is counted.
func TestEachCredentialIsCounted(t *testing.T) {
	for name, key := range map[string]func(i int) uint64{
		"in a row":           func(i int) uint64 { return uint64(1 + i) },
		"alike in low bits":  func(i int) uint64 { return 7 + uint64(i)<<6 },
		"alike in high bits": func(i int) uint64 { return 7<<58 + uint64(i) },
		"spread":             func(i int) uint64 { return mix(uint64(i)+1, 0xe7037ed1a0b428db) | 1 },
	} {
		var q quotas
		for round := range int64(3) {
			for i := range 40 {
				q.note(refusal(key(i)), true, (1+round)*tick)
			}
		}
		if len(q.keys) != 40 || q.left != 0 {
			t.Fatalf("%s: %d credentials are followed and %d refusals left out, want 40 and 0", name, len(q.keys), q.left)
		}
		for i := range 40 {
			if s := &q.slots[i]; q.keys[i] != key(i) || s.now.refused != 3 || s.now.seconds != 3 {
				t.Errorf("%s: credential %d: %d refusals in %d seconds, want 3 in 3", name, i, s.now.refused, s.now.seconds)
			}
		}
	}
}

// Beyond the bound refusals are counted, and room that nobody uses is given anew.
func TestCredentialsBeyondTheBound(t *testing.T) {
	var q quotas
	for i := range quotaSlots + 5 {
		q.note(refusal(uint64(1+i)), true, tick)
	}
	if len(q.keys) != quotaSlots || q.left != 5 {
		t.Fatalf("%d credentials are followed and %d refusals left out, want %d and 5", len(q.keys), q.left, quotaSlots)
	}
	q.note(refusal(1000), true, tick+quotaIdle)
	if q.keys[0] != 1000 || q.slots[0].now.refused != 1 || q.left != 5 {
		t.Errorf("the first place is held by %d with %d refusals", q.keys[0], q.slots[0].now.refused)
	}
}
