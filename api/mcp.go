package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"orgmem/api/mcp"
	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
)

// pathMCP is where the public interface speaks the Model Context Protocol. It is no route
// of the table: what it takes and answers is said by that protocol.
const pathMCP = "/mcp"

// serveMCP adds the protocol to the public interface.
func (s *Server) serveMCP(public *gin.Engine) error {
	if s.cfg.MCP.Off {
		return nil
	}
	service, err := mcp.New(mcp.Settings{
		Version: s.cfg.MCP.Version, Clock: s.cfg.Clock, Random: s.cfg.Random, Logger: s.cfg.Logger, Tools: s.cfg.MCP.Tools,
		Source: s.cfg.MCP.Source, Complete: s.cfg.MCP.Complete,
	})
	if err != nil {
		return err
	}
	s.edge.Mount(public, http.MethodPost, pathMCP, func(ex *web.Exchange) { s.answerMCP(ex, service, public) })
	return nil
}

// answerMCP answers one message. GET /v1/me comes before it: its refusal of the credential,
// of the rate or of the subject is that of the whole request, with its status and headers,
// and its scopes are those that decide what is listed. Only then is the body read.
func (s *Server) answerMCP(ex *web.Exchange, service *mcp.Service, public http.Handler) {
	if !web.MayCall(ex.R) {
		ex.Refuse(problems.Newf(pb.CodePermissionDenied, "A page of another origin may not call this."), nil)
		return
	}
	caller := inProcess{public, ex}
	me, err := caller.Call(ex.R.Context(), mcp.WhoAmI())
	if err != nil {
		ex.RefuseError(err, web.AskProblem)
		return
	}
	if me.Status != http.StatusOK {
		ex.PassOn(me.Status, me.Header, me.Body)
		return
	}
	who, err := mcp.ReadPrincipal(me)
	if err != nil {
		ex.RefuseError(err, web.AskProblem)
		return
	}
	if ex.R.ContentLength != 0 && !web.JSONContent(ex.R.Header) {
		ex.Refuse(problems.New(pb.CodeUnsupportedMediaType), nil)
		return
	}
	if !ex.ReadWhole(s.cfg.MaxIngestBody) {
		return
	}
	subject, err := url.PathUnescape(ex.R.Header.Get("X-Svc-Subject"))
	if err != nil {
		subject = "" // GET /v1/me has refused it
	}
	answer, streamed := service.Answer(ex.R, ex.Body, caller, who, subject, func(media string) io.Writer {
		ex.W.Header()["X-Accel-Buffering"] = noBuffering
		return ex.StartStream(http.StatusOK, media)
	})
	if streamed {
		return
	}
	if answer.Status >= http.StatusBadRequest && strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain") {
		ex.Refuse(problems.Newf(pb.CodeMalformed, "%s", strings.TrimSpace(string(answer.Body))), nil)
		return
	}
	ex.PassOn(answer.Status, answer.Header, answer.Body)
}

// inProcess sends requests through the public interface's own handler, as the caller of the
// one under way: so they pass the same checks, in the same order, as if they had come from
// outside, and their log lines have its id.
type inProcess struct {
	public http.Handler
	outer  *web.Exchange
}

// callerHeaders say who asks, and as whom. All their values are passed on: where there are two,
// the request is refused as it would be outside.
var callerHeaders = []string{"X-Svc-Api-Key", "Authorization", "X-Svc-Subject"}

// Call implements mcp.Caller.
func (c inProcess) Call(ctx context.Context, call mcp.Call) (reply mcp.Reply, err error) {
	r, err := http.NewRequestWithContext(ctx, call.Method, "http://"+pathMCP[1:]+call.Path, bytes.NewReader(call.Body))
	if err != nil {
		return reply, fmt.Errorf("make a request: %w", err)
	}
	for _, name := range callerHeaders {
		if values := c.outer.R.Header[name]; values != nil {
			r.Header[name] = values
		}
	}
	c.outer.InTrace(r.Header) //nolint:contextcheck // it waits for nothing
	r.Header[web.HeaderRequestID] = []string{c.outer.ID()}
	if call.Body != nil {
		r.Header["Content-Type"] = web.ContentJSON
	}
	if call.IdempotencyKey != "" {
		r.Header["Idempotency-Key"] = []string{call.IdempotencyKey}
	}
	r.RemoteAddr = c.outer.R.RemoteAddr
	out := mcp.NewRecorder()
	// The edge cuts the connection of a client that has left by a panic, which net/http
	// would catch. Here it is on a goroutine of the protocol's.
	defer func() {
		if p := recover(); p != nil {
			err = errLeft
		}
	}()
	c.public.ServeHTTP(out, r)
	return out.Reply(), nil
}

// errLeft means that the client did not wait for the answer.
var errLeft = errors.New("the request was given up before it was answered")
