package problems

const (
	// MaxViolations bounds the errors that one problem lists; a client that has
	// a hundred wrong fields does not miss the hundred and first.
	MaxViolations = 100

	// MaxFieldName bounds an unknown field's name in an answer: it is the
	// client's text, shown so that a typing error can be found.
	MaxFieldName = 64

	// retryBusySeconds is the advice of a node that sheds load: overload passes
	// quickly or not at all.
	retryBusySeconds = 1

	// retryDrainSeconds is the advice of a node that shuts down: by then its
	// successor, or a neighbour, answers.
	retryDrainSeconds = 5
)
