package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"orgmem/proto/tracing"
)

// failureAnswer is what a trace calls ErrAnswer.
const failureAnswer = "answer"

// span begins a call of the endpoint in the trace that the context has, and has the endpoint go on in it.
func (c *Client) span(ctx context.Context, header http.Header) tracing.Span {
	if c.cfg.Tracer == nil {
		return tracing.Span{}
	}
	trace := tracing.From(ctx)
	s := c.cfg.Tracer.Start(trace, tracing.StepModel)
	s.Headers(header, trace)
	s.About(tracing.StepModel, c.cfg.Model)
	s.Word(tracing.AttributeOperation, tracing.OperationChat)
	s.Word(tracing.AttributeProvider, tracing.ProviderOpenAI)
	s.Word(tracing.AttributeModel, c.cfg.Model)
	s.Word(tracing.AttributeServer, c.host)
	s.Int(tracing.AttributePort, c.port)
	return s
}

// answered says of a call what came back: its status, and how many tokens it took.
func answered(s tracing.Span, status int, raw []byte) {
	if !s.Recorded() {
		return
	}
	s.Int(tracing.AttributeStatus, status)
	var said struct {
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if json.Unmarshal(raw, &said) != nil { // not every endpoint tells, nor all in this form
		return
	}
	s.Int(tracing.AttributeTokensIn, said.Usage.Prompt)
	s.Int(tracing.AttributeTokensOut, said.Usage.Completion)
}

// ended ends a call.
func ended(s tracing.Span, err error) {
	if errors.Is(err, ErrAnswer) {
		s.Fail(failureAnswer)
	} else {
		s.FailedIf(err)
	}
	s.End()
}

// portOf is the port of an address, by its scheme where it names none.
func portOf(u *url.URL) int {
	if n, err := strconv.Atoi(u.Port()); err == nil {
		return n
	}
	if u.Scheme == "http" {
		return 80
	}
	return 443
}
