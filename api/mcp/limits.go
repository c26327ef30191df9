package mcp

import "time"

// Bounds of what one tool takes and answers. A model pays for every word of an answer, so
// these are smaller than the interface's own.
const (
	defaultHits, maxHits = 5, 20
	defaultView, maxView = 30, 200
	defaultList, maxList = 10, 50
	// maxContent bounds the bytes of one text in one answer; offset reads on.
	maxContent = 24 << 10
	// maxPassage bounds the bytes of one text in a list.
	maxPassage = 4 << 10
	// maxTitle bounds those of a title there.
	maxTitle = 160
	// maxAnswer bounds what a list quotes in all; what does not fit is said to be left out.
	maxAnswer = 48 << 10
	// A context's tokens.
	defaultContext, minContext, maxContext = 1500, 200, 8000
	// contextHits are asked of retrieve: more than any budget that is usual holds.
	contextHits = 30

	// addWait is how long add_memory waits until a text can be found. Usually it takes
	// less than a second.
	addWait = 10 * time.Second
	// firstPoll doubles each time: a wait costs seven reads of the caller's rate at most.
	firstPoll = 100 * time.Millisecond

	// maxWaiting bounds the bytes of a message that may wait over HTTP. A node holds 128 MiB
	// of bodies, so it takes two thousand calls that wait before it refuses another's.
	maxWaiting = 64 << 10

	// maxArguments bounds the bytes of a tool's arguments, other than of add_memory. The
	// longest is a query, of 10,000 characters.
	maxArguments = 64 << 10

	// maxDepth bounds the nesting of a message; the interface's own bodies have the same.
	maxDepth = 64
	// maxLine bounds one message on standard input: content of the interface's largest
	// body, with room for escapes.
	maxLine = 16 << 20
)
