package stub_test

import "net/http"

// client is a real client: how its program is started, and what its documentation
// or source says that it does with a stub that refuses.
//
// Waits are in seconds, "low-high" before each retry at a request that is refused
// for ever; their number is that of the retries. A client that retries until a
// deadline lists as many as it may get to, and at least how many it must.
type client struct {
	name, language string
	program        program
	api            api
	waits          string // where no wait is named
	hinted         string // where the server names a wait of 2 s; "" as without it
	later          string // before the retries of the second call, where it differs
	least          int    // retries that there must be at least; 0 all of those listed
	hint           string // what it makes of that wait: "kept", "ignored", "raised" or "needed"
	says           string // policy as documented
	missed         string // why the detector does not link all its requests, where it does not
	catalogue      string // its name in package policy, "" where the catalogue lacks it
}

// program says how a client is run.
type program struct {
	kind string   // "go", "js", "python": a program of testdata/clients; "command": one of the system
	args []string // of a command; URL, ADDR and CALL stand for what is to be called
}

var (
	inGo     = program{kind: "go"}
	inJS     = program{kind: "js"}
	inPython = program{kind: "python"}
)

func command(args ...string) program { return program{kind: "command", args: args} }

// api is what a client expects answers to look like.
type api struct {
	status                int
	kind, refusal, answer string // content type and bodies
	rpc                   bool
}

var (
	plain  = api{status: http.StatusServiceUnavailable, kind: "text/plain", refusal: "busy\n", answer: "done\n"}
	asJSON = api{
		status: http.StatusServiceUnavailable, kind: "application/json",
		refusal: `{"message":"busy","error":{"type":"api_error","message":"busy"}}`,
		answer:  `{"id":"call","object":"customer","kind":"ConfigMap","apiVersion":"v1"}`,
	}
	limited = api{
		status: http.StatusTooManyRequests, kind: "application/json",
		refusal: `{"error":{"type":"rate_limit_error","message":"slow down"}}`,
		answer:  `{"id":"call","object":"model","type":"model"}`,
	}
	throttled = api{
		status: http.StatusBadRequest, kind: "application/x-amz-json-1.0",
		refusal: `{"__type":"com.amazonaws.stub#ThrottlingException","message":"Rate exceeded"}`,
		answer:  `{}`,
	}
	storage = api{
		status: http.StatusServiceUnavailable, kind: "application/xml",
		refusal: `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>`,
		answer:  `<?xml version="1.0"?><ListBucketResult></ListBucketResult>`,
	}
	rpc = api{status: http.StatusOK, kind: "application/grpc", rpc: true}
)

// What a client makes of a wait that the server names.
const (
	kept    = "kept"    // it waits for it
	ignored = "ignored" // it waits as without one
	raised  = "raised"  // it waits for it or as long as without one, whichever is longer
	needed  = "needed"  // it waits for it, and without one does not retry
)

var clients = []client{
	// Programs.
	{
		name: "curl", language: "C", program: command("curl", "-sS", "--retry", "4", "URL"), api: plain,
		waits: "1 2 4 8", hinted: "2 2 2 2", hint: kept, says: "--retry 4: 1 s, doubled; Retry-After exactly", catalogue: "curl",
	},
	{
		name: "wget", language: "C", program: command("wget", "-q", "-O", "/dev/null", "--tries=5", "--retry-on-http-error=503", "URL"), api: plain,
		waits: "1 2 3 4", hint: ignored, says: "--tries=5: linear, 1 s more each time, up to --waitretry (10 s)", catalogue: "wget",
	},
	{
		name: "aria2", language: "C++", program: command("aria2c", "-q", "--no-conf", "--allow-overwrite=true", "-d", "DIR", "-o", "out", "--max-tries=4", "--retry-wait=2", "URL"), api: plain,
		waits: "2 2 2", hint: ignored, says: "--max-tries=4 --retry-wait=2: 2 s",
	},
	{
		name: "s3cmd", language: "Python", program: command("s3cmd", "-q", "-c", "/dev/null", "--no-ssl", "--host=ADDR", "--host-bucket=ADDR", "--access_key=key", "--secret_key=none", "--region=us-east-1", "ls", "s3://CALL"), api: storage,
		waits: "3 6 9 12 15", hint: ignored, says: "5 retries: 3 s more each time",
	},

	// Python.
	{
		name: "urllib3", language: "Python", program: inPython, api: plain,
		waits: "0 1 2 4", hinted: "2 2 2 2", hint: kept, says: "Retry(total=4, backoff_factor=0.5): 0, then 0.5 * 2^(n-1) s; Retry-After exactly",
	},
	{
		name: "requests", language: "Python", program: inPython, api: plain,
		waits: "0 0 0 0", hinted: "2 2 2 2", hint: kept, says: "Retry(total=4): at once; Retry-After exactly", catalogue: "urllib3",
	},
	{
		name: "tenacity", language: "Python", program: inPython, api: plain,
		waits: "0-1 0-2 0-4 0-8", hint: ignored, says: "wait_random_exponential(multiplier=1), 5 attempts: U(0, 2^(n-1)) s", catalogue: "tenacity-random-exponential",
	},
	{
		name: "tenacity-fixed", language: "Python", program: inPython, api: plain,
		waits: "2 2 2", hint: ignored, says: "wait_fixed(2), 4 attempts",
	},
	{
		name: "backoff", language: "Python", program: inPython, api: plain,
		waits: "0-1 0-2 0-4 0-8", hint: ignored, says: "expo with full jitter, 5 tries: U(0, 2^(n-1)) s",
	},
	{
		name: "retrying", language: "Python", program: inPython, api: plain,
		waits: "2 4 8", hint: ignored, says: "wait_exponential_multiplier=1000, 4 attempts: 2^n s, up to 10 s",
	},
	{
		name: "botocore", language: "Python", program: inPython, api: throttled,
		waits: "0-1 0-2", hint: ignored, says: "standard mode, 3 attempts: U(0, 1) * 2^(n-1) s, at most 20 s", catalogue: "aws-standard",
	},
	{
		name: "botocore-legacy", language: "Python", program: inPython, api: throttled,
		waits: "0.05 0.1 0.2 0.4 0.8 1.6 3.2 6.4 12.8", hint: ignored, says: "legacy mode of DynamoDB, 10 attempts: 50 ms, doubled",
	},
	{
		name: "google-api-python", language: "Python", program: inPython, api: asJSON,
		waits: "0-2 0-4 0-8 0-16", hint: ignored, says: "num_retries=4: U(0, 1) * 2^n s", catalogue: "google-api-python",
	},
	{
		name: "python-gitlab", language: "Python", program: inPython, api: asJSON,
		waits: "0.1 0.2 0.4 0.8 1.6", hinted: "2 2 2 2 2", hint: kept, says: "max_retries=5: 0.1 * 2^(n-1) s; Retry-After exactly",
	},
	{
		name: "stripe-python", language: "Python", program: inPython, api: asJSON,
		waits: "0.5 0.5-1 1-2", hinted: "2 2 2", hint: raised, says: "max_network_retries=3: 0.5 * 2^(n-1) s, at most 2 s, * U(0.5, 1), at least 0.5 s and Retry-After", catalogue: "stripe-python",
	},
	{
		name: "swiftclient", language: "Python", program: inPython, api: plain,
		waits: "1 2 4", hint: ignored, says: "retries=3: 1 s, doubled up to 64 s", catalogue: "swiftclient",
	},

	// JavaScript.
	{
		name: "axios-retry", language: "JavaScript", program: inJS, api: plain,
		waits: "0 0 0", hinted: "2 2 2", hint: kept, says: "3 retries at once; Retry-After", catalogue: "axios-retry",
	},
	{
		name: "axios-retry-exponential", language: "JavaScript", program: inJS, api: plain,
		waits: "0.2-0.24 0.4-0.48 0.8-0.96 1.6-1.92", hinted: "2-2.4 2-2.4 2-2.4 2-2.4", hint: raised,
		says: "exponentialDelay, retries: 4: the longer of 0.1 * 2^n s and Retry-After, * U(1, 1.2)", catalogue: "axios-retry-exponential",
	},
	{
		name: "retry-axios", language: "JavaScript", program: inJS, api: plain,
		waits: "0.05 0.15 0.35", hinted: "2 2 2", hint: kept, says: "3 retries: (2^n - 1) / 2 * 0.1 s; Retry-After exactly",
	},
	{
		name: "got", language: "JavaScript", program: inJS, api: plain,
		waits: "1-1.1 2-2.1", hinted: "2 2", hint: kept, says: "2 retries: 2^(n-1) s + U(0, 0.1) s; Retry-After exactly", catalogue: "got",
	},
	{
		name: "ky", language: "JavaScript", program: inJS, api: plain,
		waits: "0.3 0.6", hinted: "2 2", hint: kept, says: "2 retries: 0.3 * 2^(n-1) s; Retry-After exactly", catalogue: "ky",
	},
	{
		name: "p-retry", language: "JavaScript", program: inJS, api: plain,
		waits: "1 2 4 8", hint: ignored, says: "retries: 4: 1 s, doubled", catalogue: "p-retry",
	},
	{
		name: "async-retry", language: "JavaScript", program: inJS, api: plain,
		waits: "1-2 2-4 4-8 8-16", hint: ignored, says: "retries: 4: 2^(n-1) s * U(1, 2)", catalogue: "async-retry",
	},
	{
		name: "exponential-backoff", language: "JavaScript", program: inJS, api: plain,
		waits: "0.1 0.2 0.4 0.8 1.6", hint: ignored, says: "numOfAttempts: 6: 0.1 s, doubled",
	},
	{
		name: "fetch-retry", language: "JavaScript", program: inJS, api: plain,
		waits: "1 1 1", hint: ignored, says: "3 retries, 1 s", catalogue: "fetch-retry",
	},
	{
		name: "superagent", language: "JavaScript", program: inJS, api: plain,
		waits: "0 0 0", hint: ignored, says: "retry(3): at once", catalogue: "superagent",
	},
	{
		name: "ofetch", language: "JavaScript", program: inJS, api: plain,
		waits: "0", hint: ignored, says: "one retry, at once",
	},
	{
		name: "undici", language: "JavaScript", program: inJS, api: plain,
		waits: "0.5 1 2 4 8", hinted: "2 2 2 2 2", hint: kept, says: "RetryAgent, 5 retries: 0.5 s, doubled up to 30 s; Retry-After",
	},
	{
		name: "octokit", language: "JavaScript", program: inJS, api: asJSON,
		waits: "1 4 9", later: "25 4", hint: ignored, missed: "one retry 25 s after the first refusal of a client may as well be a new request",
		says: "plugin-retry, 3 retries: n^2 s; a later call begins with the square after those of the call before", catalogue: "octokit",
	},
	{
		name: "openai-node", language: "JavaScript", program: inJS, api: limited,
		waits: "0.375-0.5 0.75-1", hinted: "2 2", hint: kept, says: "2 retries: 0.5 * 2^(n-1) s, at most 8 s, * U(0.75, 1); Retry-After exactly", catalogue: "openai",
	},
	{
		name: "anthropic-node", language: "JavaScript", program: inJS, api: limited,
		waits: "0.375-0.5 0.75-1", hinted: "2 2", hint: kept, says: "as openai-node", catalogue: "anthropic",
	},
	{
		name: "stripe-node", language: "JavaScript", program: inJS, api: asJSON,
		waits: "0.5 0.5 0.5-1", hint: ignored, says: "maxNetworkRetries: 3: 0.5 * 2^(n-2) s, at most 5 s, * U(0.5, 1), at least 0.5 s", catalogue: "stripe-node",
	},
	{
		name: "aws-sdk-js", language: "JavaScript", program: inJS, api: throttled,
		waits: "0-1 0-2", hinted: "2 2", hint: raised, says: "standard mode, 3 attempts; at least Retry-After, up to 5 s more",
	},

	// Go.
	{
		name: "go-retryablehttp", language: "Go", program: inGo, api: plain,
		waits: "1 2 4 8", hinted: "2 2 2 2", hint: kept, says: "4 retries: 1 s, doubled up to 30 s; Retry-After exactly", catalogue: "go-retryablehttp",
	},
	{
		name: "cenkalti-v4", language: "Go", program: inGo, api: plain,
		waits: "0.25-0.75 0.375-1.125 0.562-1.688 0.843-2.532 1.265-3.797 1.898-5.696 2.847-8.543 4.271-12.815", least: 3, hint: ignored,
		says: "0.5 * 1.5^(n-1) s * U(0.5, 1.5), up to MaxElapsedTime (8 s)", catalogue: "cenkalti",
	},
	{
		name: "cenkalti-v5", language: "Go", program: inGo, api: plain,
		waits: "0.25-0.75 0.375-1.125 0.562-1.688 0.843-2.532 1.265-3.797", hinted: "2 2 2 2 2", hint: kept,
		says: "as v4, WithMaxTries(6); RetryAfter exactly",
	},
	{
		name: "avast-retry-go", language: "Go", program: inGo, api: plain,
		waits: "0.1-0.2 0.2-0.3 0.4-0.5 0.8-0.9 1.6-1.7 3.2-3.3", hint: ignored, says: "Attempts(7): 0.1 * 2^(n-1) s + U(0, 0.1) s",
	},
	{
		name: "failsafe-go", language: "Go", program: inGo, api: plain,
		waits: "0 0", hinted: "2 2", hint: kept, says: "2 retries at once; Retry-After exactly",
	},
	{
		name: "gax-go", language: "Go", program: inGo, api: plain,
		waits: "0-1 0-2 0-4 0-8 0-15 0-15 0-15 0-15 0-15", least: 2, hint: ignored, says: "U(0, 2^(n-1)) s, up to 30 s, until the deadline (15 s)", catalogue: "gax",
	},
	{
		name: "kiota-go", language: "Go", program: inGo, api: plain,
		waits: "3-4 6-7 12-13", hinted: "2 2 2", hint: kept, says: "3 retries: 3 * 2^(n-1) s + U(0, 1) s; Retry-After exactly", catalogue: "kiota",
	},
	{
		name: "resty-v2", language: "Go", program: inGo, api: plain,
		waits: "0.1 0.1-0.2 0.2-0.4 0.4-0.8", hint: ignored, says: "SetRetryCount(4): 0.1 * 2^(n-1) s * U(0.5, 1), from 0.1 to 2 s", catalogue: "resty",
	},
	{
		name: "resty-v3", language: "Go", program: inGo, api: plain,
		waits: "0.1-0.2 0.2-0.4 0.4-0.8 0.8-1.6", hinted: "2 2 2 2", hint: kept, says: "SetRetryCount(4): 0.1 * 2^n s * U(0.5, 1), from 0.1 to 2 s; Retry-After exactly",
	},
	{
		name: "client-go", language: "Go", program: inGo, api: asJSON,
		waits: "", hinted: "2 2 2 2 2 2 2 2 2 2", hint: needed, says: "10 retries, each after Retry-After; none without it", catalogue: "client-go",
	},
	{
		name: "grpc-go", language: "Go", program: inGo, api: rpc,
		waits: "0.4-0.6 0.8-1.2 1.6-2.4 3.2-4.8", hinted: "2 2 2 2", hint: kept,
		says: "service config of 5 attempts, 0.5 s, doubled up to 8 s: * U(0.8, 1.2) (gRFC A6); grpc-retry-pushback-ms exactly",
	},
	{
		name: "aws-sdk-go-v2", language: "Go", program: inGo, api: throttled,
		waits: "0-2 0-4", hint: ignored, says: "standard mode, 3 attempts: U(0, 1) * 2^n s, at most 20 s", catalogue: "aws-sdk-go-v2",
	},
	{
		name: "azcore", language: "Go", program: inGo, api: asJSON,
		waits: "0.64-1.04 1.92-3.12 4.48-7.28", hinted: "2 2 2", hint: kept, says: "3 retries: (2^n - 1) * 0.8 s * U(0.8, 1.3); Retry-After exactly", catalogue: "azcore",
	},
	{
		name: "minio-go", language: "Go", program: inGo, api: storage,
		waits: "0-0.2 0-0.4 0-0.8 0-1 0-1 0-1 0-1 0-1 0-1", hint: ignored, says: "10 attempts: U(0, min(1, 0.2 * 2^(n-1))) s",
	},
}
