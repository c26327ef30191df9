package mcp

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"orgmem/proto/clock"
)

// A call that asks for progress first hears that its text is safe, and then what became of it. No other message is
// answered in pieces.
func TestProgressIsStreamed(t *testing.T) {
	t.Parallel()
	const token = `"_meta":{"progressToken":"p1"},`
	call := func(meta, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta +
			`"name":"add_memory","arguments":{"content":` + arguments + `}}}`
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":"p1"}}}`
	for _, c := range []struct {
		name, body       string
		status           int
		streamed, safely bool
	}{
		{"a call with a token", call(token, `"C"`), 0, true, true},
		{"a number as a token", call(`"_meta":{"progressToken":7},`, `"C"`), 0, true, true},
		{"without a token", call("", `"C"`), http.StatusOK, false, false},
		{"the word in the text", call("", `"\"progressToken\":1"`), http.StatusOK, false, false},
		{"a token that is null", call(`"_meta":{"progressToken":null},`, `"C"`), http.StatusOK, false, false},
		{"what does not fit", call(token, `7`), 0, true, false},
		{"a large one, which does not wait", call(token, `"`+strings.Repeat("x", maxWaiting)+`"`), 0, true, false},
		{"another method", list, http.StatusOK, false, false},
		{"no JSON", call(token, `"C"`)[1:], http.StatusBadRequest, false, false},
		{"two messages", "[" + call(token, `"C"`) + "]", http.StatusBadRequest, false, false},
	} {
		caller := &fakeCaller{answers: map[string][]Reply{
			"POST /v1/ingest":          {ok(jobRef)},
			"GET /v1/ingest/j1/status": {ok(`{"status":"done","result":{"items":[{"nodeId":"n1","status":"created"}]}}`)},
		}}
		s := newService(t)
		go advance(t, s.Clock.(*clock.Fake))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", http.NoBody)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		var pieces bytes.Buffer
		begun := 0
		who := Principal{Scopes: []string{"read", "write"}}
		reply, streamed := s.Answer(r, []byte(c.body), caller, who, "", func(media string) io.Writer {
			if begun++; media != mediaEvents {
				t.Errorf("%s: %s", c.name, media)
			}
			return &pieces
		})
		if streamed != c.streamed || (begun == 1) != c.streamed || !streamed && reply.Status != c.status {
			t.Errorf("%s: %d, streamed %v, begun %d times, %s", c.name, reply.Status, streamed, begun, reply.Body)
		}
		said := pieces.String()
		safe, result := strings.Index(said, "stored safely, and"), strings.Index(said, `"result"`)
		if (safe >= 0) != c.safely || c.streamed && (result < 0 || safe > result) {
			t.Errorf("%s: %s", c.name, said)
		}
		if c.safely && strings.Count(said, "notifications/progress") != 1 {
			t.Errorf("%s: %s", c.name, said)
		}
	}
}
