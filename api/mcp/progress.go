package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mediaEvents is the type of an answer in several pieces.
const mediaEvents = "text/event-stream"

// wantsProgress reports whether a message is a call whose client wants to hear how far it is.
// The body is JSON.
func wantsProgress(body []byte) bool {
	if !bytes.Contains(body, []byte(`"progressToken"`)) {
		return false // most are not read twice for this
	}
	var message struct {
		Method string `json:"method"`
		Params struct {
			Meta struct {
				Token any `json:"progressToken"`
			} `json:"_meta"`
		} `json:"params"`
	}
	return json.Unmarshal(body, &message) == nil && message.Method == "tools/call" && message.Params.Meta.Token != nil
}

// answer is what the SDK writes an answer to. What is no stream of events is kept whole.
type answer struct {
	*Recorder
	// begin is nil where the answer must not be a stream.
	begin  Stream
	pieces io.Writer
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	streams := a.reply.Status == http.StatusOK && a.Header().Get("Content-Type") == mediaEvents
	if a.pieces == nil && a.begin != nil && streams {
		a.pieces = a.begin(mediaEvents)
	}
	if a.pieces != nil {
		return a.pieces.Write(p)
	}
	return a.Recorder.Write(p)
}

// Flush implements http.Flusher: Write has sent it.
func (*answer) Flush() {}

// progressKey is the place in a context of what tells a call's client how far it is.
type progressKey struct{}

// withProgress makes the context of a call that wants to hear of its progress.
func withProgress(ctx context.Context, r *sdk.CallToolRequest) context.Context {
	token := r.Params.GetProgressToken()
	if token == nil {
		return ctx
	}
	return context.WithValue(ctx, progressKey{}, func(done, of float64, text string) {
		// A client that does not hear it still gets the answer.
		_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: done, Total: of, Message: text,
		})
	})
}

// progress tells a client that has asked for it how far its call is.
func progress(ctx context.Context, done, of float64, text string) {
	if tell, ok := ctx.Value(progressKey{}).(func(done, of float64, text string)); ok {
		tell(done, of, text)
	}
}
