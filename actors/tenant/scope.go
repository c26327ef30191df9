package tenant

import (
	"slices"

	pb "orgmem/proto"
)

// AllScopes are the scopes that a key may hold. Nobody changes it.
var AllScopes = []string{
	pb.ScopeRead, pb.ScopeWrite, pb.ScopeAdmin, pb.ScopeGraph, pb.ScopeForget, pb.ScopeProvision,
	pb.ScopeUsage,
}

// implied lists what a grant brings beside itself. Nothing else implies
// anything: admin alone reads nothing.
var implied = map[string][]string{
	pb.ScopeWrite: {pb.ScopeGraph, pb.ScopeForget},
	pb.ScopeAdmin: {pb.ScopeProvision, pb.ScopeUsage},
}

// KnownScope reports whether there is such a scope.
func KnownScope(scope string) bool { return slices.Contains(AllScopes, scope) }

// Grants reports whether a key that holds the scopes may do what wants one; an
// empty want is satisfied by any key.
func Grants(held []string, want string) bool {
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
