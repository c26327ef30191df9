// Package orgmem is a client of orgmem, a memory for an organization: text is pushed
// in, and found again by meaning. It needs nothing but the standard library.
//
// # Calls
//
// New makes a Client, which is safe for concurrent use, keeps no state but its
// connections, and needs no closing. Its methods, and those of its services
// (client.Jobs, client.Edges and so on), are the verbs of the service: they take a
// context, the ids of a path, and one struct for all that is optional. A list is a
// List, which gives all of its entries (All) or one page (Page).
//
// # What is repeated
//
// A request is sent again after a network error, a time-out, and the answers 408, 429,
// 502, 503, 504 and 409 idempotency_in_progress, if it may be: GET, PUT and DELETE, and a
// POST that only reads or carries an Idempotency-Key, which every write whose route takes
// one does by itself. Any other is sent again where it had no effect: after 429, and
// where there was no connection. The pauses have full jitter and respect Retry-After; Config bounds
// their number and sum. Config.Timeout is for one try, the context for all of them and
// the pauses between.
//
// # Errors
//
// Every error of this package is an Error. APIError is a refusal of the service and
// matches ErrNotFound and its like; ConnectionError, TimeoutError and AnswerError say
// that there was no answer of the service, JobFailedError that a job did not succeed,
// ArgumentError that a request was not sent, SignatureError that a webhook is not
// genuine. Where the context has ended the error matches context.Canceled or
// context.DeadlineExceeded, and the failure of the last try beside it.
package orgmem
