package capture

import "testing"

// Two attempts of one client carry values that differ; another client's key is
// another holder.
func TestHolder(t *testing.T) {
	for _, tt := range []struct{ name, first, second, other string }{
		{
			"AWS signature version 4, over midnight",
			"AWS4-HMAC-SHA256 Credential=AKIDA/20261130/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=01",
			"AWS4-HMAC-SHA256 Credential=AKIDA/20261201/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=02",
			"AWS4-HMAC-SHA256 Credential=AKIDB/20261130/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=01",
		},
		{"AWS signature version 2", "AWS AKIDA:c2ln", "AWS AKIDA:dGhl", "AWS AKIDB:c2ln"},
		{"Azure Storage", "SharedKey acct:c2ln", "sharedkey acct:dGhl", "SharedKey other:c2ln"},
		{
			"digest", `Digest username="ann", realm="r", nonce="1", response="01"`,
			`Digest username="ann", realm="r", nonce="2", response="02"`, `Digest username="bob", realm="r", nonce="1", response="01"`,
		},
		{
			"OAuth 1", `OAuth realm="r", oauth_consumer_key="c", oauth_token="a", oauth_nonce="1", oauth_signature="01"`,
			`OAuth realm="r", oauth_consumer_key="c", oauth_token="a", oauth_nonce="2", oauth_signature="02"`,
			`OAuth realm="r", oauth_consumer_key="c", oauth_token="b", oauth_nonce="1", oauth_signature="01"`,
		},
		{"a token does not sign", "Bearer abc", "Bearer abc", "Bearer abd"},
		{"without a key", "AWS4-HMAC-SHA256 Signature=01", "AWS4-HMAC-SHA256 Signature=01", "AWS4-HMAC-SHA256 Signature=02"},
		{"cut off", "AWS4-HMAC-SHA256 Credential=AKIDA", "AWS4-HMAC-SHA256 Credential=AKIDA", "AWS4-HMAC-SHA256 Credential=AKID"},
		{"a key alone", "abc", "abc", "abd"},
	} {
		s := NewSecrets()
		if a, b := s.Holder([]byte(tt.first)), s.Holder([]byte(tt.second)); a != b || a == 0 {
			t.Errorf("%s: holders %d and %d of one key", tt.name, a, b)
		}
		if s.Holder([]byte(tt.first)) == s.Holder([]byte(tt.other)) {
			t.Errorf("%s: one holder of two keys", tt.name)
		}
	}
	if NewSecrets().Holder(nil) != 0 {
		t.Error("nothing has a holder")
	}
}
