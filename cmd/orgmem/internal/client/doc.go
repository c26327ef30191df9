// Package client speaks the service's HTTP interfaces for the command line: the
// public one with an API key, the operator's with its token.
//
// It promises that a call either succeeds, or fails with a *Problem (the
// service's own words) or a transport error that names the address; that it
// waits out 429, 503 and idempotency_in_progress as Retry-After says, within
// MaxWait in all, and says so meanwhile; that it sends a request again after a
// broken connection only where sending it twice does no harm; and that an address
// where nobody has answered yet fails at once.
//
// It hides net/http. It is no SDK: it has the calls that the commands need.
package client
