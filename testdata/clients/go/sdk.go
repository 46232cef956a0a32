package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/go-resty/resty/v2"
	"github.com/minio/minio-go/v7"
	miniocreds "github.com/minio/minio-go/v7/pkg/credentials"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	resty3 "resty.dev/v3"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

var libraries = map[string]library{
	"go-retryablehttp": {"github.com/hashicorp/go-retryablehttp", retryable},
	"cenkalti-v4":      {"github.com/cenkalti/backoff/v4", cenkalti4},
	"cenkalti-v5":      {"github.com/cenkalti/backoff/v5", cenkalti5},
	"avast-retry-go":   {"github.com/avast/retry-go/v4", avast},
	"failsafe-go":      {"github.com/failsafe-go/failsafe-go", failsafe},
	"gax-go":           {"github.com/googleapis/gax-go/v2", gaxed},
	"kiota-go":         {"github.com/microsoft/kiota-http-go", kiotaed},
	"resty-v2":         {"github.com/go-resty/resty/v2", resty2},
	"resty-v3":         {"resty.dev/v3", restyThree},
	"client-go":        {"k8s.io/client-go", kubernetes},
	"grpc-go":          {"google.golang.org/grpc", rpc},
	"aws-sdk-go-v2":    {"github.com/aws/aws-sdk-go-v2", amazon},
	"azcore":           {"github.com/Azure/azure-sdk-for-go/sdk/azcore", azure},
	"minio-go":         {"github.com/minio/minio-go/v7", objects},
}

func resty2(base string) caller {
	c := resty.New().SetRetryCount(4).AddRetryCondition(func(r *resty.Response, _ error) bool {
		return r.StatusCode() >= 500
	})
	return func(ctx context.Context, call string) error {
		_, err := c.R().SetContext(ctx).Get(base + "/" + call)
		return err
	}
}

func restyThree(base string) caller {
	c := resty3.New().SetRetryCount(4).AddRetryConditions(resty3.RetryConditionStatus5XX)
	return func(ctx context.Context, call string) error {
		_, err := c.R().SetContext(ctx).Get(base + "/" + call)
		return err
	}
}

func kubernetes(base string) caller {
	return func(ctx context.Context, call string) error {
		c, err := rest.UnversionedRESTClientFor(&rest.Config{Host: base, ContentConfig: rest.ContentConfig{
			GroupVersion: &schema.GroupVersion{Version: "v1"}, NegotiatedSerializer: serializer.NewCodecFactory(scheme.Scheme).WithoutConversion(),
		}})
		if err != nil {
			return err
		}
		return c.Get().AbsPath("/api/v1/namespaces/default/configmaps/" + call).Do(ctx).Error()
	}
}

// rpc is configured as gRPC proposal A6 shows: a client without a service config
// does not retry.
func rpc(base string) caller {
	const config = `{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.5s",
		"maxBackoff": "8s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`
	conn, err := grpc.NewClient(strings.TrimPrefix(base, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(config))
	return func(ctx context.Context, call string) error {
		if err != nil {
			return err
		}
		return conn.Invoke(ctx, "/stub.Stub/"+call, &emptypb.Empty{}, &emptypb.Empty{})
	}
}

func amazon(base string) caller {
	return func(ctx context.Context, call string) error {
		c := sqs.New(sqs.Options{
			Region: "us-east-1", BaseEndpoint: aws.String(base + "/" + call),
			Credentials: credentials.NewStaticCredentialsProvider("key", "none", ""),
		})
		_, err := c.ListQueues(ctx, &sqs.ListQueuesInput{})
		return err
	}
}

func azure(base string) caller {
	pipeline := runtime.NewPipeline("stub", "v1", runtime.PipelineOptions{}, nil)
	return func(ctx context.Context, call string) error {
		req, err := runtime.NewRequest(ctx, http.MethodGet, base+"/"+call)
		if err != nil {
			return err
		}
		resp, err := pipeline.Do(req)
		if err == nil && resp.StatusCode >= 400 {
			err = runtime.NewResponseError(resp)
		}
		return err
	}
}

func objects(base string) caller {
	c, err := minio.New(strings.TrimPrefix(base, "http://"), &minio.Options{Creds: miniocreds.NewStaticV4("key", "none-at-all", ""), Region: "us-east-1"})
	return func(ctx context.Context, call string) error {
		if err != nil {
			return err
		}
		_, err := c.StatObject(ctx, call, "object", minio.StatObjectOptions{})
		return err
	}
}
