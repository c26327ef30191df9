package web

import "time"

// The bounds that no configuration changes. Those that an operator may change
// are fields of Config.
const (
	// MaxHeaderBytes bounds the request line and the headers of one request:
	// four times what the longest legal combination of ours needs (a subject of
	// 256 percent-encoded bytes, an idempotency key, a credential, a path).
	MaxHeaderBytes = 32 << 10

	// headerTimeout and idleTimeout free connections that send nothing: 5 s is
	// long for a header on any network, 60 s outlives the keep-alive of the
	// usual clients and proxies.
	headerTimeout = 5 * time.Second
	idleTimeout   = 60 * time.Second

	// writeSlack is added to the time-outs of body and actor to bound the whole
	// of one request, so that a client that reads its answer slowly holds a
	// connection no longer than this.
	writeSlack = 30 * time.Second

	// streamWriteTimeout bounds the sending of one piece of a streamed answer: a
	// client that takes half a mebibyte in 30 s has 140 kbit/s.
	streamWriteTimeout = 30 * time.Second

	// maxStreamsPerConnection bounds the requests that one HTTP/2 connection
	// runs at a time; 100 is the least that the RFC recommends.
	maxStreamsPerConnection = 100

	// A body draws from Config.MaxBodiesInFlight in steps, ahead of its arrival:
	// FirstBodyStep, then twice as much each time, up to bodyStep. What has
	// arrived counts, not what was announced, so that a connection that drips
	// books 4 KiB and not the megabytes it promised: 5,000 of them hold a sixth
	// of the default budget.
	FirstBodyStep = 4 << 10
	bodyStep      = 64 << 10

	// trustedPart of what was announced makes the rest likely: once it has arrived the
	// buffer grows to all of it, rather than to twice what it is. Half of a large file
	// is then never copied, nor left as garbage.
	trustedPart = 4

	// uploadShare quarters of the budget are the most that uploads take: a few
	// large files that arrive slowly must not keep out the small bodies of others.
	uploadShare, uploadShareOf = 3, 4

	// maxPooledBuffer is the largest buffer that is kept for the next request;
	// one large body must not pin its memory for ever.
	maxPooledBuffer = 64 << 10

	// A form has as many parts as it has fields, and one to spare for an error
	// that says more than that there are too many. maxFilename is what file systems
	// take; maxTitle is that of an ingest.
	MaxFormParts = 8
	maxFilename  = 255
	maxTitle     = 1000

	// MaxRequestID bounds the characters of a caller's own request id.
	MaxRequestID = 128

	// MaxIdempotencyKey bounds the characters of an Idempotency-Key.
	MaxIdempotencyKey = 255

	// MaxSubjectBytes bounds the UTF-8 of a subject's id.
	MaxSubjectBytes = 256

	// MaxPageSize and DefaultPageSize are the interface's: a larger page is read as the
	// largest, and one without a size has the default.
	MaxPageSize     = 100
	DefaultPageSize = 50
)
