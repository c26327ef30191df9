package mcp

import (
	"net/http"
	"net/http/httptest"
	"testing"

	pb "orgmem/proto"
)

// BenchmarkAnswer is what the protocol costs beside the requests of a tool.
func BenchmarkAnswer(b *testing.B) {
	s := newService(b)
	caller := &fakeCaller{answers: map[string][]Reply{"POST /v1/search": {ok(`{"results":[]}`)}}}
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
		`"params":{"name":"search_memory","arguments":{"query":"q"}}}`)
	who := Principal{Scopes: []string{pb.ScopeRead, pb.ScopeWrite}}
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/mcp", http.NoBody)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if reply, _ := s.Answer(r, body, caller, who, "", nil); reply.Status != http.StatusOK {
			b.Fatal(reply.Status)
		}
	}
}
