package sim

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each capture of testdata shows what its text says, so that what is expected of
// it is fair. Those of the first four are TestFixturesShowWhatTheyExpect.
var scenes = map[string]func(scene){
	"armed": func(s scene) {
		s.gaps("worker", 10, 2*time.Second, 2020*time.Millisecond)
		bins := map[int64]int{}
		for _, r := range s.retries("") {
			bins[r.row.Start/50e6]++
		}
		for _, n := range bins {
			s.want("retries in one instant", n, 1, 2)
		}
	},
	"body-error": func(s scene) {
		s.want("bad statuses", count(s.Rows, func(r Row) bool { return r.Status != 200 }), 0, 0)
		s.want("bodies that are errors", count(s.Rows, func(r Row) bool { return r.BodyError }), 100, many)
		s.want("retries of them", count(s.retries("checker"), func(r retry) bool { return r.before.BodyError }), 100, many)
	},
	"budget-exceeded": func(s scene) {
		for group, bounds := range map[string][2]int{"app": {50, 80}, "frugal": {0, 25}} {
			all, again := 0, 0
			for _, row := range s.of(group) {
				if at := s.at(row); at > 20*time.Second && at < 36*time.Second {
					all++
					again += min(row.Attempt-1, 1)
				}
			}
			s.want("retries in a hundred requests of "+group, 100*again/all, bounds[0], bounds[1])
		}
	},
	"clock-skew": func(s scene) {
		s.refusedWith("GMT")
		s.want("retries 3 s early", s.early("", 3*time.Second), 20, many)
		s.want("retries", len(s.retries("")), 40, 3*s.early("", 100*time.Millisecond))
	},
	"credential-rotation": func(s scene) {
		refused := func(r retry) bool { return r.before.Status == 429 }
		s.want("retries of scrapers with another key", count(s.retries("scraper"), func(r retry) bool { return r.row.Key != r.before.Key }), 20, many)
		s.want("retries of scrapers", count(s.retries("scraper"), refused), 20, many)
		s.want("keys of partners", count(s.of("partner"), func(r Row) bool { return r.Key != 1 }), 0, 0)
		s.want("partners early", s.early("partner", time.Millisecond), 0, 0)
		s.want("scrapers early", s.early("scraper", time.Millisecond), 15, many)
	},
	"date-hints": func(s scene) {
		s.refusedWith("GMT")
		s.want("retries more than a second early", s.early("", time.Second), 0, 0)
		s.want("retries a little early", s.early("", 100*time.Millisecond), 1, many)
	},
	"h2c-lockstep": func(s scene) {
		s.gaps("worker", 100, 3*time.Second, 3020*time.Millisecond)
		s.want("early", s.early("", 0), 0, 0)
	},
	"grpc-pushback": func(s scene) {
		refused := count(s.Rows, func(r Row) bool { return r.Refused() })
		s.want("refusals with a pushback", count(s.Rows, func(r Row) bool { return strings.Contains(r.Fields, "grpc-retry-pushback-ms: ") }), max(refused, 60), refused)
		s.want("importers early", s.early("importer", 0), 100, many)
		s.want("obedient early", s.early("obedient", 0), 0, 0)
	},
	"health-checks": func(s scene) {
		s.want("ill answers", count(s.of("probe"), func(r Row) bool { return r.Status == 503 }), 10, 20)
		s.want("retries", len(s.retries("")), 0, 0)
	},
	"hedged-reads": func(s scene) {
		s.want("copies", count(s.Rows, func(r Row) bool { return r.Copy }), 50, many)
		s.want("retries", len(s.retries("")), 0, 0)
	},
	"hint-absurd":    func(s scene) { s.refusedWith("Retry-After: 999999999\r\n") },
	"hint-malformed": func(s scene) { s.refusedWith("Retry-After: 2 minutes\r\n") },
	"hint-zero":      func(s scene) { s.refusedWith("Retry-After: 0\r\n") },
	"hints-disagree": func(s scene) {
		s.refusedWith("Retry-After: 2\r\nRateLimit-Reset: 33\r\n")
		s.want("early", s.early("", 0), 0, 0)
	},
	"hint-too-short": func(s scene) {
		s.refusedWith("Retry-After: 1\r\n")
		s.want("early", s.early("", 0), 0, 0)
		all := s.retries("")
		s.want("obeyed and refused again, in a hundred", 100*count(all, func(r retry) bool { return r.row.Refused() })/len(all), 60, 100)
	},
	"immediate-retry": func(s scene) { s.gaps("widget", 200, 0, 50*time.Millisecond) },
	"insufficient-spread": func(s scene) {
		var gaps []time.Duration
		for _, r := range s.retries("worker") {
			gaps = append(gaps, r.gap())
		}
		slices.Sort(gaps)
		n := len(gaps)
		spread := 100 * (gaps[3*n/4] - gaps[n/4]) / gaps[n/2]
		s.want("interquartile range in percent of the median", int(spread), 6, 25)
		s.want("attempts of the last", s.lengths("worker")[len(s.lengths("worker"))-1], 6, many)
	},
	"ipv6-noisy-tap": func(s scene) {
		s.want("over IPv6", count(s.Rows, func(r Row) bool { return s.Conns[r.Conn].Src.Addr().Is6() }), 100, 250)
		s.want("seen twice", count(s.Rows, func(r Row) bool { return r.Repeated }), 15, many)
		s.want("retries", len(s.retries("")), 0, 0)
	},
	"layered-counted": func(s scene) {
		n := s.lengths("bot")
		s.want("most requests for one", n[len(n)-1], 9, 9)
		s.want("units of nine", count(n, func(n int) bool { return n == 9 }), 10, many)
		s.want("with two counters", count(s.Rows, func(r Row) bool {
			return strings.Contains(r.Asked, "x-envoy-attempt-count: ") && strings.Contains(r.Asked, "x-stainless-retry-count: ")
		}), len(s.Rows), len(s.Rows))
	},
	"layered-retries": func(s scene) {
		n := s.lengths("web")
		s.want("most requests for one", n[len(n)-1], 27, 27)
		s.want("units of 27", count(n, func(n int) bool { return n == 27 }), 5, many)
		s.want("telling headers", count(s.Rows, func(r Row) bool { return r.Asked != "" }), 0, 0)
	},
	"limit-known-ignored": func(s scene) {
		for group, bounds := range map[string][2]int{"crawler": {60, many}, "reader": {0, 3}} {
			last := map[int]Row{}
			n := 0
			for _, row := range s.of(group) {
				reset, _ := fieldValue(last[row.Client].Fields, "X-RateLimit-Reset")
				until, _ := readForm(reset, inSeconds, 0)
				if before := last[row.Client]; strings.Contains(before.Fields, "Remaining: 0") && time.Duration(row.Start-before.End) < until-time.Second {
					n++
				}
				last[row.Client] = row
			}
			s.want("requests of "+group+" though nothing is left", n, bounds[0], bounds[1])
		}
	},
	"load-test": func(s scene) {
		s.want("requests of the test", len(s.of("vu")), 350, 450)
		s.want("failures", count(s.Rows, func(r Row) bool { return r.Status != 200 }), 0, 0)
	},
	"lockstep-by-hint": func(s scene) {
		s.gaps("worker", 100, 3*time.Second, 3020*time.Millisecond)
		s.want("early", s.early("", 0), 0, 0)
	},
	"loop-after-burst": func(s scene) {
		fresh := func(from, to time.Duration) (n, failed int) {
			for _, row := range s.Rows {
				if at := s.at(row); row.Attempt == 1 && at >= from && at < to {
					n++
					if row.Refused() {
						failed++
					}
				}
			}
			return n, failed
		}
		_, early := fresh(0, 26*time.Second)
		before, _ := fresh(6*time.Second, 26*time.Second)
		after, failed := fresh(32*time.Second, 52*time.Second)
		s.want("refused in the calm", early, 0, 1)
		s.want("new requests after the burst, in a hundred of those before", 100*after/before, 60, 140)
		s.want("of them refused, in a hundred", 100*failed/after, 95, 100)
	},
	"low-ceiling": func(s scene) {
		s.gaps("importer", 200, 45*time.Millisecond, 820*time.Millisecond)
		s.want("units with ten attempts", count(s.lengths("importer"), func(n int) bool { return n == 10 }), 10, many)
	},
	"non-retryable": func(s scene) {
		s.want("404 and 403 retried", count(s.retries("importer"), func(r retry) bool { return r.before.Status == 404 || r.before.Status == 403 }), 60, many)
		s.want("importers", s.clients("importer", func(r *Row) bool { return r.Attempt == 4 }), 6, 6)
		s.want("retries of apps", len(s.retries("app")), 0, 0)
	},
	"office-nat": func(s scene) {
		s.want("addresses seen", count(s.Conns, func(c Conn) bool { return c.Src.Addr().String() != "203.0.113.7" }), 0, 0)
		s.want("people", s.clients("", func(r *Row) bool { return strings.HasPrefix(r.Asked, "X-Forwarded-For: ") }), 40, 40)
		s.want("refusals", count(s.Rows, func(r Row) bool { return r.Refused() }), 5, 40)
		s.want("early", s.early("", 0), 0, 0)
	},
	"outage": func(s scene) {
		failed, during := 0, 0
		for _, row := range s.Rows {
			if at := s.at(row); at < 25*time.Second || at >= 40*time.Second {
				s.want("failures before and after", int(row.Status), 200, 200)
				continue
			}
			during++
			if row.Status == 502 {
				failed++
			}
		}
		s.want("failures in a hundred", 100*failed/during, 90, 100)
		s.want("attempts", s.lengths("")[len(s.lengths(""))-1], 2, 2)
	},
	"paginators": func(s scene) {
		last, quick := map[int]Row{}, 0
		for _, row := range s.of("export") {
			if before, seen := last[row.Client]; seen && row.Start-before.End < 100e6 {
				quick++
			}
			last[row.Client] = row
		}
		s.want("pages in quick succession", quick, 200, many)
		s.want("failures", count(s.Rows, func(r Row) bool { return r.Status != 200 }), 0, 0)
	},
	"parked-clients": func(s scene) {
		last := map[int]Row{}
		for _, row := range s.of("tablet") {
			last[row.Client] = row
		}
		gone := 0
		for _, row := range last {
			if row.Refused() && s.at(row) < 50*time.Second {
				gone++
			}
		}
		s.want("tablets gone after a refusal", gone, 6, 12)
		s.gaps("kiosk", 5, 26*time.Second, 37*time.Second)
		s.want("early", s.early("", 0), 0, 0)
	},
	"past-deadline": func(s scene) {
		for group, bounds := range map[string][2]int{"lambda": {20, many}, "api": {0, 0}} {
			late := count(s.of(group), func(r Row) bool {
				ttl, err := time.Parse("20060102T150405Z", strings.TrimPrefix(r.Asked, "amz-sdk-request: ttl=")[:16])
				return err != nil || r.Start > ttl.Add(time.Second).UnixNano()
			})
			s.want("attempts of "+group+" after their ttl", late, bounds[0], bounds[1])
		}
	},
	"polite-backoff": func(s scene) {
		s.want("failures", count(s.Rows, func(r Row) bool { return r.Status != 200 }), 8, 25)
		s.want("early", s.early("app", 0), 0, 0)
	},
	"pollers": func(s scene) {
		s.want("failures", count(s.Rows, func(r Row) bool { return r.Status != 200 }), 1, 10)
		s.want("retries", len(s.retries("")), 0, 0)
	},
	"shared-quota": func(s scene) {
		s.want("keys", count(s.Rows, func(r Row) bool { return !strings.HasSuffix(r.Asked, "-1\r\n") }), 0, 0)
		s.want("early", s.early("", 0), 0, 0)
		s.want("clients refused", s.clients("", (*Row).Refused), 22, 30)
		s.want("refused in the calm", count(s.Rows, func(r Row) bool { return s.at(r) < 30*time.Second && r.Refused() }), 0, 8)
	},
	"sync-start": func(s scene) {
		first := 0
		for _, row := range s.of("pod") {
			if at := s.at(row) - 25*time.Second; at >= 0 && at < time.Second && row.Path == "/v1/config" && row.ConnSeq == 1 {
				first++
			}
		}
		s.want("first calls on new connections", first, 30, 40)
		s.want("early", s.early("", 0), 0, 0)
	},
	"ms-hints": func(s scene) {
		s.refusedWith("x-ms-retry-after-ms: ")
		s.want("early", s.early("", 0), 0, 0)
	},
	"reset-only": func(s scene) {
		s.refusedWith("X-RateLimit-Reset: 17724636") // 15:00 to 15:01:40 of that day
		s.want("early", s.early("", 0), 0, 0)
	},
	"tides": func(s scene) {
		s.want("failures", count(s.Rows, func(r Row) bool { return r.Status != 200 }), 0, 0)
	},
	"token-refresh": func(s scene) {
		s.want("401", count(s.Rows, func(r Row) bool { return r.Status == 401 }), 20, 24)
		s.want("retries refused", count(s.retries(""), func(r retry) bool { return r.row.Status != 200 }), 0, 0)
	},
	"uncapped-attempts": func(s scene) {
		s.want("units with more than ten attempts", count(s.lengths("agent"), func(n int) bool { return n > 10 }), 5, many)
		s.want("agents with one", s.clients("agent", func(r *Row) bool { return r.Attempt > 10 }), 4, many)
	},
	"unit-confusion": func(s scene) {
		s.gaps("sync", 100, 0, 50*time.Millisecond)
		s.want("apps early", s.early("app", 0), 0, 0)
	},
	"unsafe-write": func(s scene) {
		for group, keyed := range map[string]bool{"till": false, "shop": true} {
			again := s.retries(group)
			s.want("writes of "+group+" sent again without an answer", count(again, func(r retry) bool {
				return r.before.Status == 0 && r.row.Asked == r.before.Asked && strings.Contains(r.row.Asked, "Idempotency-Key") == keyed
			}), 6, len(again))
		}
	},
}

func TestScenes(t *testing.T) {
	for name, look := range scenes {
		t.Run(name, func(t *testing.T) { look(play(t, name)) })
	}
	names, err := filepath.Glob("../testdata/pcaps/*/scenario.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first := []string{"healthy", "lockstep-bare-429", "retry-after-ignored", "capacity-growth"}
	for _, name := range names {
		name = filepath.Base(filepath.Dir(name))
		if scenes[name] == nil && !slices.Contains(first, name) {
			t.Errorf("%s is looked at by nobody", name)
		}
	}
}
