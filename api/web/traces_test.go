package web

import (
	"net/http"
	"testing"
)

// Without traces, what a request does for them costs nothing.
func TestNoTraceCostsNoMemory(t *testing.T) {
	ex := &Exchange{edge: &Edge{}, R: &http.Request{Header: http.Header{
		"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	}}, route: &Route{Memory: "search_memory"}, meter: &routeMeter{method: "POST", pattern: "/v1/search"}}
	if n := testing.AllocsPerRun(100, func() {
		ex.traced()
		if ex.endSpan() != "" || ex.span.Context() != nil {
			t.Error("something is traced")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
