package stub_test

import (
	"bytes"
	"context"
	"os"
	"testing"

	"stormwatch/capture/packet"
	"stormwatch/detect"
	"stormwatch/policy"
	"stormwatch/rules"
)

// habit is what a client's waits are by its program, and what a capture of two
// calls cannot tell of it.
type habit struct {
	family string // of the waits where none is named
	unsure string // why the family is not told from the capture without hints
	use    detect.HintUse
	why    string // why use is not what the program does with the hint of 2 s
}

const (
	fewOf    = "so few waits that may be short or long prove nothing"
	noRoom   = "the catalogue has no room for this policy, and so few waits prove no growth by themselves"
	loopback = "a JavaScript runtime takes several milliseconds for its first calls, as jitter would"
)

var habits = map[string]habit{
	"curl":            {policy.Exponential, "", detect.HintExact, ""},
	"wget":            {policy.Linear, "", detect.HintIgnored, ""},
	"aria2":           {policy.Fixed, "", detect.HintExact, "its own wait is as long as the hint"},
	"s3cmd":           {policy.Linear, noRoom, detect.HintCompatible, "its own waits are longer than the hint"},
	"urllib3":         {policy.ImmediateFirst, "the factor is the user's: of 1 it would be in the catalogue", detect.HintExact, ""},
	"requests":        {policy.Immediate, "", detect.HintExact, ""},
	"tenacity":        {policy.FullJitter, fewOf, detect.HintIgnored, ""},
	"tenacity-fixed":  {policy.Fixed, "", detect.HintExact, "its own wait is as long as the hint"},
	"backoff":         {policy.FullJitter, "", detect.HintIgnored, ""},
	"retrying":        {policy.Exponential, "", detect.HintMax, "its own first wait is as long as the hint, the others are longer"},
	"botocore":        {policy.FullJitter, fewOf, detect.HintIgnored, ""},
	"botocore-legacy": {policy.Exponential, "", detect.HintIgnored, ""},

	"google-api-python": {policy.FullJitter, fewOf, detect.HintIgnored, ""},
	"python-gitlab":     {policy.Exponential, noRoom, detect.HintExact, ""},
	"stripe-python":     {policy.ScaledJitter, "", detect.HintExact, "its own waits are never longer than the hint"},
	"swiftclient":       {policy.Exponential, "", detect.HintIgnored, ""},

	"axios-retry":             {policy.Immediate, loopback, detect.HintExact, ""},
	"axios-retry-exponential": {policy.ScaledJitter, "", detect.HintJittered, "the factor of up to 1.2 is drawn last, and its own waits are shorter than the hint"},
	"retry-axios":             {policy.Exponential, noRoom, detect.HintExact, ""},
	"got":                     {policy.AdditiveJitter, fewOf, detect.HintExact, ""},
	"ky":                      {policy.Exponential, "", detect.HintExact, ""},
	"p-retry":                 {policy.Exponential, "", detect.HintIgnored, ""},
	"async-retry":             {policy.ScaledJitter, "six waits that an uncatalogued jitter fits as well", detect.HintIgnored, ""},
	"exponential-backoff":     {policy.Exponential, noRoom, detect.HintIgnored, ""},
	"fetch-retry":             {policy.Fixed, "", detect.HintIgnored, ""},
	"superagent":              {policy.Immediate, loopback, detect.HintIgnored, ""},
	"ofetch":                  {policy.Immediate, "two retries", detect.HintIgnored, ""},
	"undici":                  {policy.Exponential, noRoom, detect.HintExact, ""},
	"octokit":                 {policy.Square, "", detect.HintIgnored, ""},
	"openai-node":             {policy.ScaledJitter, "", detect.HintExact, ""},
	"anthropic-node":          {policy.ScaledJitter, "", detect.HintExact, ""},
	"stripe-node":             {policy.ScaledJitter, "the first two waits are fixed, and only one longer one was seen", detect.HintIgnored, ""},
	"aws-sdk-js":              {policy.FullJitter, fewOf, detect.HintExact, "its own waits are never longer than the hint"},

	"go-retryablehttp": {policy.Exponential, "", detect.HintExact, ""},
	"cenkalti-v4":      {policy.ScaledJitter, "", detect.HintIgnored, ""},
	"cenkalti-v5":      {policy.ScaledJitter, "", detect.HintExact, ""},
	"avast-retry-go":   {policy.AdditiveJitter, noRoom, detect.HintIgnored, ""},
	"failsafe-go":      {policy.Immediate, "", detect.HintExact, ""},
	"gax-go":           {policy.FullJitter, fewOf, detect.HintIgnored, ""},
	"kiota-go":         {policy.AdditiveJitter, "", detect.HintExact, ""},
	"resty-v2":         {policy.ScaledJitter, "", detect.HintIgnored, ""},
	"resty-v3":         {policy.ScaledJitter, noRoom, detect.HintExact, ""},
	"client-go":        {policy.None, "it does not retry without a hint", detect.HintExact, ""},
	"grpc-go":          {policy.ScaledJitter, "", detect.HintExact, ""},
	"aws-sdk-go-v2":    {policy.FullJitter, fewOf, detect.HintIgnored, ""},
	"azcore":           {policy.ScaledJitter, "", detect.HintExact, ""},
	"minio-go":         {policy.FullJitter, noRoom, detect.HintIgnored, ""},
}

// uses are what a client's documents say of the hint.
var uses = map[string]detect.HintUse{kept: detect.HintExact, needed: detect.HintExact, ignored: detect.HintIgnored, raised: detect.HintMax}

// TestHabits holds what the detector says of each client's policy, and of what it
// makes of a hint, against what its program does.
func TestHabits(t *testing.T) {
	all := truths(t)
	told, bare, right, hinted := 0, 0, 0, 0
	for i := range all {
		tr := &all[i]
		c, want := find(tr.Client), habits[tr.Client]
		if want.family == "" {
			t.Errorf("%s: the table has no line for it", tr.Client)
			continue
		}
		b, err := os.ReadFile(tr.path())
		if err != nil {
			t.Fatal(err)
		}
		h, row := reading(t, b)
		if h.Sure && h.Policy.Family != want.family {
			t.Errorf("%s %s: surely %s, %q; it is %s", tr.Client, tr.Mode, h.Policy.Family, h.Says, want.family)
		}
		if tr.Mode == "bare" {
			bare++
			if h.Sure {
				told++
			}
			if h.Sure == (want.unsure != "") {
				t.Errorf("%s: sure %v, %q; said to be missed for %q", tr.Client, h.Sure, h.Says, want.unsure)
			}
			continue
		}
		hinted++
		use := row.Hints.Use
		if use == uses[c.hint] {
			right++
		}
		if use != want.use || h.Hints.Use != want.use {
			t.Errorf("%s: what it makes of the hint is read as %v (its agent's as %v), of %d retries, want %v", tr.Client, use, h.Hints.Use, row.Hints.N, want.use)
		}
		if (use == uses[c.hint]) != (want.why == "") {
			t.Errorf("%s: it is known that the hint is %s; read as %v, for %q", tr.Client, c.hint, use, want.why)
		}
	}
	t.Logf("family told of %d of %d captures without hints, what is made of a hint right in %d of %d", told, bare, right, hinted)
	if told < 25 || right < 39 {
		t.Errorf("family told of %d of %d captures without hints, want 25; what is made of a hint right in %d of %d, want 39", told, bare, right, hinted)
	}
}

// reading is what the detector says of the agent and the client of a capture.
func reading(t *testing.T, b []byte) (h detect.Habit, c detect.Client) {
	t.Helper()
	set, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	src, err := packet.Open("capture", bytes.NewReader(b), packet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rec := detect.NewRecording(detect.Options{Rules: set, TempDir: t.TempDir()})
	defer rec.Close()
	if err := src.Run(context.Background(), rec.Inlet(src.Info()).Take); err != nil {
		t.Fatal(err)
	}
	if err := rec.Seal(); err != nil {
		t.Fatal(err)
	}
	replay, err := detect.NewReplay(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := replay.RunAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	s := replay.Snapshot(detect.View{Whole: true})
	if len(s.Clients) != 1 || len(s.Habits) > 1 {
		t.Fatalf("%d clients, %d agents that retried, want one", len(s.Clients), len(s.Habits))
	}
	if len(s.Habits) == 1 {
		h = s.Habits[0]
	}
	return h, s.Clients[0]
}
