package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stormwatch/capture"
)

// client asks a server's query API.
type client struct {
	base    *url.URL
	http    *http.Client
	wire    *wire
	timeout time.Duration
}

// parseBase accepts the address of a server, also as copied from its web page.
func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, errors.New("not a URL: give the server's address, such as http://prometheus:9090")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s is no http(s) address of a server, such as http://prometheus:9090", u.Redacted())
	}
	u.RawQuery, u.Fragment = "", ""
	path := strings.TrimRight(u.Path, "/")
	for _, page := range []string{"/api/v1/query_range", "/api/v1/query", "/api/v1", "/graph", "/query"} {
		path = strings.TrimSuffix(path, page)
	}
	u.Path = path
	return u, nil
}

func newClient(base *url.URL, transport http.RoundTripper, timeout time.Duration, now func() time.Time) *client {
	if transport == nil {
		transport = newTransport()
	}
	w := &wire{base: transport, now: now, limit: maxBody}
	return &client{base: base, wire: w, timeout: timeout, http: &http.Client{Transport: w, CheckRedirect: fewRedirects}}
}

func fewRedirects(_ *http.Request, via []*http.Request) error {
	if len(via) > 3 {
		return errors.New("more than three redirects")
	}
	return nil
}

// get asks one endpoint, once.
func (c *client) get(ctx context.Context, path string, q url.Values) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	u := *c.base
	u.Path += path
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "stormwatch")
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, c.unsent(err)
	}
	defer func() { _ = resp.Body.Close() }() // it was only read from
	body, err := readAll(resp.Body, maxBody)
	if err != nil {
		return answer{}, fmt.Errorf("reading the answer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		return answer{}, &StatusError{Code: resp.StatusCode, Message: reason(body), Wait: c.wire.floor}
	}
	return open(body)
}

// unsent shortens net/http's error, which repeats the whole query.
func (c *client) unsent(err error) error {
	var long *url.Error
	if errors.As(err, &long) {
		return long.Err
	}
	return err
}

// reason finds what the server says in an error's body.
func reason(body []byte) string {
	var a answer
	if json.Unmarshal(body, &a) == nil && a.Error != "" {
		return capture.Clean(strings.TrimSpace(a.ErrorType + " " + a.Error))
	}
	return ""
}

// query is the generic preset's: any program that counts its answers in
// http_requests_total.
func query(label string, window time.Duration) string {
	return "sum by (" + label + ") (rate(" + metric + "[" + strconv.FormatInt(int64(window/time.Second), 10) + "s]))"
}

const metric = "http_requests_total"

// probe finds the label that carries the status code: by the labels endpoint, or,
// where a proxy does not offer that, by trying.
func (c *client) probe(ctx context.Context, now time.Time) (string, error) {
	candidates := codeLabels
	q := url.Values{"match[]": {metric}, "start": {unix(now.Add(-time.Hour))}, "end": {unix(now)}}
	a, err := c.get(ctx, "/api/v1/labels", q)
	var status *StatusError
	switch {
	case errors.As(err, &status) && status.Final() && status.Code != http.StatusUnauthorized && status.Code != http.StatusForbidden:
		return c.try(ctx, candidates)
	case err != nil:
		return "", err
	}
	var names []string
	if err := json.Unmarshal(a.Data, &names); err != nil {
		return "", fmt.Errorf("not a list of labels: %w", err)
	}
	there := map[string]bool{}
	for _, n := range names {
		there[n] = true
	}
	for _, label := range candidates {
		if there[label] {
			return label, nil
		}
	}
	return "", noCodes(len(names) > 0)
}

// try asks for one label after the other.
func (c *client) try(ctx context.Context, candidates []string) (string, error) {
	for _, label := range candidates {
		a, err := c.get(ctx, "/api/v1/query", url.Values{"query": {"count(" + metric + "{" + label + `!=""})`}})
		if err != nil {
			return "", err
		}
		var d struct {
			Result []json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(a.Data, &d); err != nil {
			return "", fmt.Errorf("not the data of a query answer: %w", err)
		}
		if len(d.Result) > 0 {
			return label, nil
		}
	}
	return "", noCodes(false)
}

// errNoCodes marks a server that has nothing for this source.
var errNoCodes = errors.New("no usable metric")

func noCodes(there bool) error {
	labels := strings.Join(codeLabels[:4], ", ")
	if there {
		return fmt.Errorf("%w: %s has none of the labels %s", errNoCodes, metric, labels)
	}
	return fmt.Errorf("%w: no series %s with a label %s in the last hour; other metrics can be read from a saved query_range answer", errNoCodes, metric, labels)
}

// queryRange asks for the steps in [from, to].
func (c *client) queryRange(ctx context.Context, expr string, from, to time.Time, step time.Duration) (answer, error) {
	return c.get(ctx, "/api/v1/query_range", url.Values{
		"query": {expr}, "start": {unix(from)}, "end": {unix(to)},
		"step":    {strconv.FormatFloat(step.Seconds(), 'f', -1, 64)},
		"timeout": {strconv.FormatFloat(c.timeout.Seconds(), 'f', -1, 64) + "s"},
	})
}

func unix(t time.Time) string {
	return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', -1, 64)
}
