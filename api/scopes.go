package api

import pb "orgmem/proto"

// scopes are all that a key may have.
var scopes = []string{
	pb.ScopeRead, pb.ScopeWrite, pb.ScopeAdmin, pb.ScopeGraph, pb.ScopeForget, pb.ScopeProvision, pb.ScopeUsage,
}
