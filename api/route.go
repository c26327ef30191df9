package api

// The scopes and rate-limit families that rows name.
const (
	scopeAny       = ""
	scopeRead      = "read"
	scopeWrite     = "write"
	scopeAdmin     = "admin"
	scopeProvision = "subjects:provision"
	scopeGraph     = "graph:write"
	scopeForget    = "memory:forget"
	scopeUsage     = "usage:read"

	familyReads    = "reads"
	familyWrites   = "writes"
	familyIngest   = "ingest"
	familySessions = "sessions"
	familySearch   = "search"
	familyExports  = "exports"
	familyDefault  = "default"

	// What usage tells apart (docs/usage.md).
	capabilitySearch    = "search"
	capabilityRetrieve  = "retrieve"
	capabilityGraph     = "graph"
	capabilityRecall    = "recall"
	capabilityCondition = "condition"
	capabilityBrain     = "brain"
	capabilityIngest    = "ingest"
)

// scopes are all that a key may have.
var scopes = []string{scopeRead, scopeWrite, scopeAdmin, scopeGraph, scopeForget, scopeProvision, scopeUsage}
