package problems

import (
	"fmt"

	pb "orgmem/proto"
)

// Problem is an RFC 9457 problem as it is written.
type Problem struct {
	Type             string       `json:"type" format:"uri-reference" doc:"Address of the page that explains the code."`
	Title            string       `json:"title"`
	Status           int          `json:"status" doc:"The HTTP status."`
	Detail           string       `json:"detail" doc:"What went wrong, for a person."`
	Code             string       `json:"code" doc:"What went wrong, for a program: stable."`
	RequestID        string       `json:"requestId" doc:"The value of the X-Request-Id header."`
	Errors           []fieldError `json:"errors,omitempty" doc:"On validation_failed: each field that is wrong."`
	SuggestedAction  string       `json:"suggestedAction,omitempty"`
	DocumentationURL string       `json:"documentationUrl,omitempty" format:"uri-reference"`
}

type fieldError struct {
	Field   string `json:"field" doc:"Path of the field, such as items[3].content."`
	Message string `json:"message" doc:"What is expected. It never repeats what was sent."`
}

// New makes a problem with the catalogue's own words.
func New(code string) *pb.Problem { return &pb.Problem{Code: code} }

// Newf makes a problem with a detail of its own.
func Newf(code, format string, args ...any) *pb.Problem {
	return &pb.Problem{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// entryOf looks a problem's code up. A code outside the catalogue is our
// mistake, and reads as internal_error: a status invented here would be one
// that no document mentions.
func entryOf(p *pb.Problem) Entry {
	if e, ok := Catalogue[p.GetCode()]; ok {
		return e
	}
	return Catalogue[pb.CodeInternal]
}

// Render is the one translator from a problem to what the client reads. docsURL is
// where the pages of the codes are served.
func Render(docsURL string, p *pb.Problem, requestID string) (Entry, Problem) {
	e := entryOf(p)
	b := Problem{
		Type:            docsURL + "/errors/" + e.Code,
		Title:           e.Title,
		Status:          e.Status,
		Detail:          p.GetDetail(),
		Code:            e.Code,
		RequestID:       requestID,
		SuggestedAction: e.Action,
	}
	if b.Detail == "" || e.Fixed || e.Code != p.GetCode() {
		b.Detail = e.Explanation
	}
	if e.Section != "" {
		b.DocumentationURL = docsURL + "#" + e.Section
	}
	for _, f := range p.GetErrors() {
		b.Errors = append(b.Errors, fieldError{f.GetField(), f.GetMessage()})
	}
	return e, b
}

// RetryAfter returns the seconds that a problem advises to wait; 0: no advice.
func RetryAfter(e Entry, p *pb.Problem, rate *pb.RateLimit) uint32 {
	switch {
	case e.Code == pb.CodeRateLimit && rate.GetRetryAfterS() > 0:
		return rate.GetRetryAfterS()
	case p.GetRetryAfterS() > 0:
		return p.GetRetryAfterS()
	case e.Code == pb.CodeRateLimit:
		return 1
	}
	return e.RetryAfter
}
