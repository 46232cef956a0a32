package detect_test

// obedient is a group of clients beside those at fault: of them nothing may be said.
const obedient = `
  - {name: app, count: 10, agent: app/1, policy: hint-floor base=1s cap=8s attempts=4, paths: ["/i/{id}"], demand: [{rate: 0.1}]}`

// conductKinds each have a group at fault. May holds what follows from its conduct.
var conductKinds = map[string]kind{
	"immediate": {
		text: limited(6, "none", obedient+`
  - {name: job, count: 15, agent: job/1, policy: immediate attempts=5, paths: ["/j/{id}"], demand: [{to: 30s, rate: 0.07}, {from: 30s, to: 60s, rate: 0.6}, {from: 60s, to: 100s, rate: 0.07}]}`),
		must: []string{"immediate-retry", "hint-missing", "budget-exceeded"},
	},
	"endless": {
		text: limited(6, "none", obedient+`
  - {name: job, count: 20, agent: job/1, policy: full-jitter base=500ms cap=2s, paths: ["/j/{id}"], demand: [{to: 30s, rate: 0.05}, {from: 30s, to: 60s, rate: 0.6}, {from: 60s, to: 100s, rate: 0.05}]}`),
		must: []string{"uncapped-attempts", "hint-missing", "budget-exceeded"}, may: []string{"rising-share-after-burst"},
	},
	"no for an answer": {
		text: faulty("{paths: [/j/gone], do: 404}, {from: 20s, paths: [/j/private], do: 403}", `
  - {name: job, count: 6, agent: job/1, policy: exponential base=500ms attempts=4, retry_on: [403, 404, 429, 503, lost], paths: ["/j/x/{id}", "/j/gone/{id}", "/j/private/{id}"], demand: [{rate: 0.3}]}`+`
  - {name: app, count: 10, agent: app/1, policy: full-jitter base=1s attempts=4, paths: ["/i/{id}", "/j/gone/{id}"], demand: [{rate: 0.1}]}`),
		must: []string{"non-retryable-retried", "budget-exceeded"},
	},
	"renewed tokens": {text: faulty("{from: 30s, do: 401, key: 1}", `
  - {name: app, count: 24, agent: app/1, policy: full-jitter base=300ms cap=2s attempts=2, retry_on: [401, 429, 503], identity: {key: each, keys: 2, rotate_on: [401]}, paths: ["/i/{id}"], demand: [{rate: 0.2}]}`)},
	"error in the body": {
		text: "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 100s\nserver: {limiter: {limit: 5, window: 1s, refuse: 200}}\ngroups:" + `
  - {name: job, count: 15, agent: job/1, policy: full-jitter base=1s cap=4s attempts=5, retry_on: [body, lost], paths: ["/j/{id}"], demand: [{to: 30s, rate: 0.1}, {from: 30s, to: 60s, rate: 0.6}, {from: 60s, to: 100s, rate: 0.1}]}`,
		must: []string{"body-error-retried"}, may: []string{"budget-exceeded"},
	},
	"one key after another": {
		text: "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 100s\nserver: {limiter: {limit: 5, window: 5s, scope: key}, hint: slot}\ngroups:" + `
  - {name: job, count: 4, agent: job/1, policy: fixed base=200ms attempts=5, identity: {key: each, header: X-Api-Key, keys: 5, rotate_on: [429]}, paths: ["/j/{id}"], demand: [{to: 30s, rate: 0.3}, {from: 30s, to: 70s, every: 450ms}]}
  - {name: app, count: 8, agent: app/1, policy: hint-floor base=1s cap=8s attempts=4, identity: {key: each, header: X-Api-Key}, paths: ["/j/{id}"], demand: [{rate: 0.3}]}`,
		must: []string{"credential-rotation"}, may: []string{"hint-ignored", "budget-exceeded", "uncapped-attempts"},
	},
	"writes again": {
		text: faulty("{from: 30s, to: 60s, share: 0.35, do: timeout}", `
  - {name: job, count: 10, agent: job/1, method: POST, policy: equal-jitter base=1s cap=8s attempts=3, timeout: 2s, paths: [/orders], demand: [{rate: 0.12}]}
  - {name: app, count: 10, agent: app/1, method: POST, policy: equal-jitter base=1s cap=8s attempts=3, idempotency: same, timeout: 2s, paths: [/orders], demand: [{rate: 0.12}]}`),
		must: []string{"unsafe-write-retried"}, may: []string{"budget-exceeded"},
	},
	"writes refused": {text: limited(6, "2s..4s", `
  - {name: app, count: 20, agent: app/1, method: POST, policy: hint-floor base=1s cap=8s attempts=3, paths: [/orders], demand: [{rate: 0.1}, {from: 30s, to: 30500ms, units: 2}]}`)},
	"waits unread": {
		text: limited(8, "[{text: 2 minutes}]", `
  - {name: app, count: 30, agent: app/1, policy: full-jitter base=2s cap=10s attempts=6, paths: ["/i/{id}"], demand: [{rate: 0.1}, {from: 30s, to: 30500ms, units: 2}]}`),
		must: []string{"hint-malformed"}, may: []string{"budget-exceeded"},
	},
	"waits of a year": {
		text: limited(8, "31536000s", `
  - {name: app, count: 30, agent: app/1, policy: full-jitter base=2s cap=10s attempts=6, paths: ["/i/{id}"], demand: [{rate: 0.1}, {from: 30s, to: 30500ms, units: 2}]}`),
		must: []string{"hint-absurd"}, may: []string{"budget-exceeded"},
	},
	"come back now": {
		text: limited(8, "0s", `
  - {name: app, count: 30, agent: app/1, policy: hint-floor base=3s cap=6s attempts=6, paths: ["/i/{id}"], demand: [{rate: 0.1}, {from: 30s, to: 30500ms, units: 2}]}`),
		must: []string{"hint-zero"}, may: []string{"budget-exceeded"},
	},
	"too short": {
		text: "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 100s\nserver: {limiter: {kind: fixed-window, limit: 40, window: 20s}, hint: 1s}\ngroups:" + `
  - {name: app, count: 20, agent: app/1, policy: hint-floor base=400ms cap=2s attempts=8, paths: ["/i/{id}"], demand: [{to: 30s, rate: 0.04}, {from: 30s, to: 80s, rate: 0.2}]}`,
		must: []string{"hint-too-short"}, may: []string{"capacity-not-behaviour", "rising-share-after-burst"},
	},
	"another clock": {
		text: "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 100s\nserver: {limiter: {limit: 6, window: 1s}, skew: -5s, hint: [{wait: 6s..9s, form: date}]}\ngroups:" + `
  - {name: app, count: 30, agent: app/1, policy: hint-floor base=2s cap=4s attempts=8, paths: ["/i/{id}"], demand: [{rate: 0.08}, {from: 30s, to: 30500ms, units: 2}]}`,
		must: []string{"clock-skew-early"},
	},
	"dates kept": {text: "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 100s\nserver: {limiter: {limit: 6, window: 1s}, hint: [{wait: 6s..9s, form: date}]}\ngroups:" + `
  - {name: app, count: 30, agent: app/1, policy: hint-floor base=2s cap=4s attempts=8, paths: ["/i/{id}"], demand: [{rate: 0.08}, {from: 30s, to: 30500ms, units: 2}]}`},
	"dates ignored": {
		text: "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 100s\nserver: {limiter: {limit: 10, window: 1s}, hint: [{wait: 4s..8s, form: date}]}\ngroups:" + `
  - {name: job, count: 30, agent: job/1, policy: full-jitter base=300ms cap=2s attempts=8, paths: ["/j/{id}"], demand: [{rate: 0.1}, {from: 30s, to: 60s, rate: 0.6}]}`,
		must: []string{"hint-ignored"}, may: []string{"rising-share-after-burst", "budget-exceeded"},
	},
	"ten times the wait": {
		text: limited(6, "3s", `
  - {name: job, count: 12, agent: job/1, policy: hint-scaled own=fixed base=3s low=9 high=12, paths: ["/j/{id}"], demand: [{to: 30s, units: 3, sequential: true, think: 6s}, {from: 30s, to: 30500ms, units: 12, sequential: true, think: 3s}]}`),
		must: []string{"hint-overwaited"},
	},
}

// faulty is a server that fails where its faults say so, and refuses nobody.
func faulty(faults, groups string) string {
	return "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 100s\nserver: {limiter: {limit: 200, window: 1s}, faults: [" + faults + "]}\ngroups:" + groups
}
