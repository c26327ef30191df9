package api

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

// collidingPaths lists the paths of a router, each parameter filled with a plain id
// and with every fixed segment that some other route has in its place.
func collidingPaths(routes gin.RoutesInfo) []string {
	paths := map[string]bool{}
	fixed := map[int]map[string]bool{} // by place
	for _, r := range routes {
		for i, segment := range strings.Split(r.Path, "/") {
			if fixed[i] == nil {
				fixed[i] = map[string]bool{"an-id": true}
			}
			if !strings.HasPrefix(segment, ":") {
				fixed[i][segment] = true
			}
		}
	}
	for _, r := range routes {
		filled := []string{""}
		for i, segment := range strings.Split(r.Path, "/")[1:] {
			values := []string{segment}
			if strings.HasPrefix(segment, ":") {
				values = slices.Sorted(maps.Keys(fixed[i+1]))
			}
			var longer []string
			for _, path := range filled {
				for _, value := range values {
					longer = append(longer, path+"/"+value)
				}
			}
			filled = longer
		}
		for _, path := range filled {
			paths[path] = true
			paths[path+"/an-id"] = true // one segment further there may be nothing, or a route of another method
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// TestAllowIsWhatThePathAnswers asks every path of both routers with every method:
// what Allow names is answered, and what it does not name is 405. Static segments
// take the place of parameters, where routers confuse the routes of one method with
// those of another.
func TestAllowIsWhatThePathAnswers(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	methods := []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
	for name, handler := range map[string]http.Handler{"public": h.s.public.Handler, "operator": h.s.operator.Handler} {
		engine, ok := handler.(*gin.Engine)
		if !ok {
			t.Fatalf("%s: the handler is a %T", name, handler)
		}
		paths := collidingPaths(engine.Routes())
		if len(paths) < len(engine.Routes()) {
			t.Errorf("%s: only %d paths of %d routes", name, len(paths), len(engine.Routes()))
		}
		for _, path := range paths {
			var answered, allows []string
			for _, method := range methods {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
				r.Method, r.Host = method, "localhost"
				r.Header.Set("X-Svc-API-Key", badKey) // 401 is an answer, too, and changes nothing
				w := httptest.NewRecorder()
				engine.ServeHTTP(w, r)
				switch w.Code {
				case http.StatusMethodNotAllowed:
					allows = append(allows, w.Header().Get("Allow"))
				case http.StatusNotFound:
					allows = append(allows, "")
				default:
					answered = append(answered, method)
				}
			}
			want := strings.Join(answered, ", ")
			for _, allow := range allows {
				if !sameList(allow, want) {
					t.Errorf("%s %s: Allow says %q, and answered is %q", name, path, allow, want)
					break
				}
			}
		}
	}
}
