package chain

import "stormwatch/capture"

// Failures are told apart by what a client can see of them, since clients decide
// by it whether and when they try again.
const (
	classLost   uint8 = iota // no answer, or cut short
	classBody                // a 200 whose body is an error
	classHinted              // refused, with a wait
	class429
	class503
	class500
	class502
	class504
	class408
	class409
	class401
	class403
	class404
	classClient // other 4xx
	classServer // other 5xx
	classOther
	classes
)

func classOf(r *Result) uint8 {
	switch {
	case r.Outcome != capture.Answered, r.Status == 0, r.Status == 499, r.Status == 444:
		return classLost
	case r.Status < 400 && r.Reason == capture.BodyRefusal:
		return classBody
	case r.Status >= 400 && r.Hint.Usable(): // 403 and 413 too, where they name a wait (RFC 9110 section 15.5.14)
		return classHinted
	}
	switch r.Status {
	case 429:
		return class429
	case 503:
		return class503
	case 500:
		return class500
	case 502:
		return class502
	case 504:
		return class504
	case 408:
		return class408
	case 409:
		return class409
	case 401:
		return class401
	case 403:
		return class403
	case 404:
		return class404
	}
	switch {
	case r.Status >= 500:
		return classServer
	case r.Status >= 400:
		return classClient
	}
	return classOther
}

// worthRetrying tells whether a client that does not come back has given up, and
// has not just been refused for good.
func worthRetrying(r *Result) bool {
	switch r.Reason {
	case capture.Auth, capture.Forbidden, capture.ClientError, capture.OK, capture.Redirect:
		return false
	}
	return true
}
