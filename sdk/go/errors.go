package orgmem

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Error is what every error of this package is:
//
//	var failed orgmem.Error
//	errors.As(err, &failed)
type Error interface {
	error
	orgmem()
}

// What an APIError, and an AnswerError of such a status, matches with errors.Is.
var (
	ErrBadRequest       = errors.New("orgmem: bad request")       // 400, 413, 415, 422
	ErrUnauthorized     = errors.New("orgmem: unauthorized")      // 401
	ErrPermissionDenied = errors.New("orgmem: permission denied") // 403
	ErrNotFound         = errors.New("orgmem: not found")         // 404, 405
	ErrConflict         = errors.New("orgmem: conflict")          // 409, 412
	ErrRateLimited      = errors.New("orgmem: rate limited")      // 429
	ErrServer           = errors.New("orgmem: server error")      // 5xx
)

func sentinel(status int) error {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return ErrBadRequest
	case http.StatusUnauthorized:
		return ErrUnauthorized
	case http.StatusForbidden:
		return ErrPermissionDenied
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return ErrNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return ErrConflict
	case http.StatusTooManyRequests:
		return ErrRateLimited
	}
	if status >= http.StatusInternalServerError {
		return ErrServer
	}
	return nil
}

// APIError is a refusal of the service.
type APIError struct {
	Status           int
	Code             string // stable: match on this
	Title            string
	Detail           string
	RequestID        string
	Errors           []FieldError // of a validation that failed
	RetryAfter       time.Duration
	SuggestedAction  string
	DocumentationURL string
	Request          string // method and address, without the query
	next             string
}

// FieldError is what is wrong with one field of a request.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (e *APIError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "orgmem: %s: %d %s", e.Request, e.Status, e.Code)
	if e.Detail != "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
	} else if e.Title != "" {
		fmt.Fprintf(&b, ": %s", e.Title)
	}
	for _, field := range e.Errors {
		fmt.Fprintf(&b, " [%s: %s]", field.Field, field.Message)
	}
	for _, next := range []string{e.SuggestedAction, e.next} {
		if next != "" {
			fmt.Fprintf(&b, " %s", next)
		}
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " (request %s)", e.RequestID)
	}
	return b.String()
}

// Is matches the sentinel of its status.
func (e *APIError) Is(target error) bool { return target != nil && target == sentinel(e.Status) }

// ConnectionError says that the service was not reached, or lost on the way. The
// request may have been carried out.
type ConnectionError struct {
	Request string
	Err     error
	next    string
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("orgmem: %s: %v. %s", e.Request, e.Err, e.next)
}

func (e *ConnectionError) Unwrap() error { return e.Err }

// TimeoutError says that one try took longer than Config.Timeout. The request may
// have been carried out.
type TimeoutError struct {
	Request string
	After   time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("orgmem: %s: nothing came for %v. Look whether the service is well, or give it more time with Config.Timeout.", e.Request, e.After)
}

// Timeout is true, as of net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// AnswerError is an answer that the service does not give: the page of a proxy, a
// redirect, a body that was cut off.
type AnswerError struct {
	Request     string
	Status      int
	ContentType string
	Excerpt     string // the beginning of it
	RetryAfter  time.Duration
	Err         error // what was wrong with it
	next        string
}

func (e *AnswerError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "orgmem: %s: %d: %v", e.Request, e.Status, e.Err)
	if e.Excerpt != "" {
		fmt.Fprintf(&b, " (it begins with %q)", e.Excerpt)
	}
	fmt.Fprintf(&b, ". %s", e.next)
	return b.String()
}

func (e *AnswerError) Unwrap() error { return e.Err }

// Is matches the sentinel of its status.
func (e *AnswerError) Is(target error) bool { return target != nil && target == sentinel(e.Status) }

// JobFailedError says that a job ended without success.
type JobFailedError struct{ Job *Job }

func (e *JobFailedError) Error() string {
	why := "without a reason"
	if e.Job.Error != nil {
		why = fmt.Sprintf("%s: %s", e.Job.Error.Code, e.Job.Error.Detail)
	}
	if e.Job.Status == JobStatusCancelled {
		return fmt.Sprintf("orgmem: the %s job %s was cancelled. What it had done before stays; send the rest again.", e.Job.Type, e.Job.ID)
	}
	return fmt.Sprintf("orgmem: the %s job %s has failed after %d attempts: %s. Look at its items, mend what they name, and send it again.",
		e.Job.Type, e.Job.ID, e.Job.Attempts, why)
}

// ExportFailedError says that a document was not written, or is gone.
type ExportFailedError struct{ Export *Export }

func (e *ExportFailedError) Error() string {
	if e.Export.Status == ExportStatusExpired {
		return fmt.Sprintf("orgmem: the export %s has expired. Make a new one.", e.Export.ExportID)
	}
	return fmt.Sprintf("orgmem: the export %s has failed: %s. Make a new one.", e.Export.ExportID, e.Export.Error)
}

// ArgumentError says that a request was not sent, since it could not be right.
type ArgumentError struct {
	message string
	Err     error // why, where something else has said so
}

func (e *ArgumentError) Error() string { return "orgmem: " + e.message }

func (e *ArgumentError) Unwrap() error { return e.Err }

func argument(format string, args ...any) error {
	return &ArgumentError{message: fmt.Sprintf(format, args...)}
}

// endedError is a call whose context has ended.
type endedError struct {
	request string
	err     error // of the context
	cause   error
	last    error // of the last try, nil if it was under way
}

func (e *endedError) Error() string {
	if e.last == nil {
		return fmt.Sprintf("orgmem: %s: %v", e.request, e.cause)
	}
	return fmt.Sprintf("orgmem: %s: %v, and the try before that: %v", e.request, e.cause, e.last)
}

func (e *endedError) Unwrap() []error {
	return slices.DeleteFunc([]error{e.err, e.cause, e.last}, func(err error) bool { return err == nil })
}

func (*APIError) orgmem()          {}
func (*ConnectionError) orgmem()   {}
func (*TimeoutError) orgmem()      {}
func (*AnswerError) orgmem()       {}
func (*JobFailedError) orgmem()    {}
func (*ExportFailedError) orgmem() {}
func (*ArgumentError) orgmem()     {}
func (*SignatureError) orgmem()    {}
func (*endedError) orgmem()        {}
