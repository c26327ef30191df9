package web

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// methodsOf lists, in order, the methods that a router answers at a path as it was
// sent. The list that gin makes itself is not used: it looks through the trees of
// all methods with one memory of the branches that it passed over, so that a path
// which GET knows by a parameter is credited to a method whose tree has nothing
// there.
func methodsOf(routes gin.RoutesInfo, path string) []string {
	var methods []string
	for _, r := range routes {
		if matchesPattern(r.Path, path) && !slices.Contains(methods, r.Method) {
			methods = append(methods, r.Method)
		}
	}
	slices.Sort(methods)
	return methods
}

// matchesPattern reports whether a path fits a pattern in the router's notation: a
// segment that begins with a colon stands for one that is not empty, one that
// begins with a star for all that is left.
func matchesPattern(pattern, path string) bool {
	for {
		want, wantRest, wantMore := strings.Cut(pattern, "/")
		if strings.HasPrefix(want, "*") {
			return true
		}
		have, haveRest, haveMore := strings.Cut(path, "/")
		if strings.HasPrefix(want, ":") {
			if have == "" {
				return false
			}
		} else if want != have {
			return false
		}
		if wantMore != haveMore {
			return false
		}
		if !wantMore {
			return true
		}
		pattern, path = wantRest, haveRest
	}
}
