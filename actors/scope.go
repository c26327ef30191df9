package actors

import "slices"

// The scopes of decisions.md, section 3.
const (
	scopeRead      = "read"
	scopeWrite     = "write"
	scopeAdmin     = "admin"
	scopeGraph     = "graph:write"
	scopeForget    = "memory:forget"
	scopeProvision = "subjects:provision"
	scopeUsage     = "usage:read"
)

var allScopes = []string{scopeRead, scopeWrite, scopeAdmin, scopeGraph, scopeForget, scopeProvision, scopeUsage}

// implied lists what a grant brings beside itself. Nothing else implies
// anything: admin alone reads nothing.
var implied = map[string][]string{
	scopeWrite: {scopeGraph, scopeForget},
	scopeAdmin: {scopeProvision, scopeUsage},
}

func knownScope(scope string) bool { return slices.Contains(allScopes, scope) }

// grants reports whether a key that holds the scopes may do what wants one; an
// empty want is satisfied by any key.
func grants(held []string, want string) bool {
	if want == "" || slices.Contains(held, want) {
		return true
	}
	for _, h := range held {
		if slices.Contains(implied[h], want) {
			return true
		}
	}
	return false
}
