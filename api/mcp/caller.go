package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	pb "orgmem/proto"
)

// Call is one request of the HTTP interface. Who asks, and as which subject, is the
// Caller's to know.
type Call struct {
	Method string
	Path   string // escaped, with its query
	Body   []byte // JSON, nil for none
	// IdempotencyKey is sent where it is not empty: the same in each try.
	IdempotencyKey string
}

// Reply is what was answered, whatever its status.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Caller sends requests. Its methods may be called from any goroutine. An error means that
// nothing was answered; its text is shown to the model, so it says what to do.
type Caller interface {
	Call(ctx context.Context, call Call) (Reply, error)
}

// Principal is who the key stands for, as GET /v1/me says.
type Principal struct {
	Org struct {
		ID          string `json:"id"`
		DisplayName string `json:"displayName"`
	} `json:"org"`
	User struct {
		ID string `json:"id"`
	} `json:"user"`
	Scopes []string `json:"scopes"`
	Plan   string   `json:"plan"`
}

// WhoAmI is the request that says who the key stands for. It is refused as any other is,
// so its refusal is that of the whole message.
func WhoAmI() Call { return Call{Method: http.MethodGet, Path: "/v1/me"} }

// ReadPrincipal reads its answer.
func ReadPrincipal(r Reply) (Principal, error) {
	var who Principal
	if r.Status != http.StatusOK {
		return who, refusalOf(r)
	}
	if err := json.Unmarshal(r.Body, &who); err != nil || who.Org.ID == "" {
		return who, notOurs(r)
	}
	return who, nil
}

// refusal is what a tool answers in place of a result. The model reads it.
type refusal struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
	// Next is what to do about it.
	Next       string       `json:"next"`
	RetryAfter int          `json:"retryAfterSeconds,omitempty"`
	RequestID  string       `json:"requestId,omitempty"`
	Errors     []fieldError `json:"errors,omitempty"`
	status     int
}

// fieldError is one refused field.
type fieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error implements error. It is read by people; Next is for models.
func (r *refusal) Error() string {
	var b strings.Builder
	b.WriteString(r.Code + ": " + r.Detail)
	for _, e := range r.Errors {
		b.WriteString("; " + e.Field + ": " + e.Message)
	}
	return b.String()
}

// Codes that the interface does not have.
const (
	codeUnreachable = "unreachable"
	codeArguments   = "invalid_arguments"
	codeAnswer      = "unexpected_answer"
	codeFailed      = "not_stored"
)

// refusalOf reads a problem.
func refusalOf(r Reply) *refusal {
	var p struct {
		Code, Title, Detail, RequestID string
		Errors                         []fieldError
	}
	if err := json.Unmarshal(r.Body, &p); err != nil || p.Code == "" {
		return notOurs(r)
	}
	out := &refusal{
		Code: p.Code, Detail: p.Detail, Next: nextSteps[p.Code], RequestID: p.RequestID, Errors: p.Errors, status: r.Status,
	}
	if out.Detail == "" {
		out.Detail = p.Title
	}
	if seconds, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && seconds > 0 {
		out.RetryAfter = seconds
		out.Next = fmt.Sprintf("Wait %d s, then call again.", seconds)
	}
	if out.Next == "" {
		out.Next = "Do not repeat the call unchanged."
	}
	return out
}

// notOurs is what somebody else answered: a proxy, or another service.
func notOurs(r Reply) *refusal {
	return &refusal{
		Code: codeAnswer, Detail: fmt.Sprintf("The answer (status %d) does not come from a memory service.", r.Status),
		Next: "Tell the user to check the address of the service.", status: r.Status,
	}
}

// nextSteps say what to do about a problem.
var nextSteps = map[string]string{
	pb.CodeAuthentication: "Tell the user that the API key is wrong or revoked; a working one goes into ORGMEM_API_KEY, " +
		"or into the Authorization header.",
	pb.CodePermissionDenied:      "Tell the user that the key lacks the scope for this; do not repeat the call.",
	pb.CodeSubjectNotProvisioned: "Tell the user to provision the subject (PUT /v1/subjects/{id}), or to name another.",
	pb.CodeSubjectNotSupported:   "Tell the user that this does not work on behalf of a subject.",
	pb.CodeValidation:            "Correct the fields that are named, and call again.",
	pb.CodeMalformed:             "Correct the arguments, and call again.",
	pb.CodePayloadTooLarge:       "Split the text, and add the parts one by one.",
	pb.CodeNodeNotFound:          "Take an id from search_memory; this one is not in this memory.",
	pb.CodeInvalidCursor:         "Leave the cursor out, to begin anew.",
	pb.CodeServiceDegraded:       "Call again in some seconds.",
	pb.CodeServiceDraining:       "Call again in some seconds.",
	pb.CodeRequestTimeout:        "Call again.",
	pb.CodeIdempotencyInProgress: "Call again in some seconds.",
	pb.CodeInternal:              "Call again once; if it fails again, tell the user the requestId.",
	pb.CodeNotFound:              "Tell the user that the service is older than this tool, or the address is another's.",
	pb.CodeRateLimit:             "Wait a minute, then call again.",
}

// ask sends a call and decodes the answer. Its error is a refusal.
func ask(ctx context.Context, c Caller, call Call, out any) error {
	reply, err := c.Call(ctx, call)
	if err != nil {
		return &refusal{Code: codeUnreachable, Detail: err.Error(), Next: "Tell the user; call again once that is mended."}
	}
	if reply.Status < 200 || reply.Status > 299 {
		return refusalOf(reply)
	}
	if err := json.Unmarshal(reply.Body, out); err != nil {
		return notOurs(reply)
	}
	return nil
}

// get and post are ask with a path and a body.
func get(ctx context.Context, c Caller, path string, out any) error {
	return ask(ctx, c, Call{Method: http.MethodGet, Path: path}, out)
}

func post(ctx context.Context, c Caller, path string, body any, key string, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the body for %s: %w", path, err)
	}
	return ask(ctx, c, Call{Method: http.MethodPost, Path: path, Body: raw, IdempotencyKey: key}, out)
}

// Recorder holds an answer that is written in process.
type Recorder struct {
	reply Reply
	body  bytes.Buffer
}

// NewRecorder returns an empty one.
func NewRecorder() *Recorder { return &Recorder{reply: Reply{Header: http.Header{}}} }

// Header implements http.ResponseWriter.
func (r *Recorder) Header() http.Header { return r.reply.Header }

// WriteHeader implements http.ResponseWriter; the first status holds.
func (r *Recorder) WriteHeader(status int) {
	if r.reply.Status == 0 {
		r.reply.Status = status
	}
}

// Write implements http.ResponseWriter.
func (r *Recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

// Reply is what was written.
func (r *Recorder) Reply() Reply {
	r.WriteHeader(http.StatusOK)
	r.reply.Body = r.body.Bytes()
	return r.reply
}
