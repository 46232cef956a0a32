package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/avast/retry-go/v4"
	backoff4 "github.com/cenkalti/backoff/v4"
	"github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/googleapis/gax-go/v2"
	"github.com/hashicorp/go-retryablehttp"
	kiota "github.com/microsoft/kiota-http-go"
	"google.golang.org/api/googleapi"
)

// get sends one request and makes an error of a refusal.
func get(ctx context.Context, c *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	return check(resp)
}

func check(resp *http.Response) error {
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode >= 400 {
		return &googleapi.Error{Code: resp.StatusCode, Header: resp.Header, Message: resp.Status}
	}
	return nil
}

func retryable(base string) caller {
	c := retryablehttp.NewClient()
	c.Logger = nil
	return func(ctx context.Context, call string) error {
		return get(ctx, c.StandardClient(), base+"/"+call)
	}
}

func cenkalti4(base string) caller {
	return func(ctx context.Context, call string) error {
		b := backoff4.NewExponentialBackOff(backoff4.WithMaxElapsedTime(8 * time.Second))
		return backoff4.Retry(func() error { return get(ctx, http.DefaultClient, base+"/"+call) }, b)
	}
}

// cenkalti5 hands on the wait that the server names, as its documentation shows.
func cenkalti5(base string) caller {
	return func(ctx context.Context, call string) error {
		_, err := backoff.Retry(ctx, func() (struct{}, error) {
			err := get(ctx, http.DefaultClient, base+"/"+call)
			var refused *googleapi.Error
			if errors.As(err, &refused) {
				if s, bad := strconv.Atoi(refused.Header.Get("Retry-After")); bad == nil {
					err = backoff.RetryAfter(s)
				}
			}
			return struct{}{}, err
		}, backoff.WithMaxTries(6))
		return err
	}
}

func avast(base string) caller {
	return func(ctx context.Context, call string) error {
		return retry.Do(func() error { return get(ctx, http.DefaultClient, base+"/"+call) }, retry.Attempts(7), retry.Context(ctx))
	}
}

func failsafe(base string) caller {
	c := &http.Client{Transport: failsafehttp.NewRoundTripper(nil, failsafehttp.NewRetryPolicyBuilder().Build())}
	return func(ctx context.Context, call string) error { return get(ctx, c, base+"/"+call) }
}

// gaxed retries as Google's generated clients do, until a deadline.
func gaxed(base string) caller {
	return func(ctx context.Context, call string) error {
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		return gax.Invoke(ctx, func(ctx context.Context, _ gax.CallSettings) error {
			return get(ctx, http.DefaultClient, base+"/"+call)
		}, gax.WithRetry(func() gax.Retryer {
			return gax.OnHTTPCodes(gax.Backoff{}, http.StatusServiceUnavailable)
		}))
	}
}

func kiotaed(base string) caller {
	c := kiota.GetDefaultClient()
	return func(ctx context.Context, call string) error {
		err := get(ctx, c, base+"/"+call)
		if err != nil {
			err = fmt.Errorf("kiota: %w", err)
		}
		return err
	}
}
