package pb

// The words of the interface that more than one package says. They are on the wire and in stores, so none may change.

// Problem codes. api/problems/catalogue.go gives each its status, its title and its page.
const (
	CodeAlreadySuperseded     = "already_superseded"
	CodeAuthentication        = "authentication_error"
	CodeBrainNotReady         = "brain_not_ready"
	CodeBrainNotTrained       = "brain_not_trained"
	CodeConfirmTokenInvalid   = "confirm_token_invalid"
	CodeConflict              = "conflict"
	CodeConnectorLimit        = "connector_limit_reached"
	CodeConnectorNotFound     = "connector_not_found"
	CodeDeliveryNotFound      = "delivery_not_found"
	CodeDomainNotFound        = "domain_not_found"
	CodeEdgeNotFound          = "edge_not_found"
	CodeExportNotFound        = "export_not_found"
	CodeExportNotReady        = "export_not_ready"
	CodeHeadersTooLarge       = "headers_too_large"
	CodeIdempotencyInProgress = "idempotency_in_progress"
	CodeIdempotencyKeyReused  = "idempotency_key_reused"
	CodeInternal              = "internal_error"
	CodeInvalidCursor         = "invalid_cursor"
	CodeJobNotCancellable     = "job_not_cancellable"
	CodeJobNotFound           = "job_not_found"
	CodeKeyLimitReached       = "key_limit_reached"
	CodeKeyNotFound           = "key_not_found"
	CodeLastOwner             = "last_owner"
	CodeMalformed             = "malformed_request"
	CodeMethodNotAllowed      = "method_not_allowed"
	CodeNodeNotForgotten      = "node_not_forgotten"
	CodeNodeNotFound          = "node_not_found"
	CodeNotFound              = "not_found"
	CodeOrganizationNotFound  = "organization_not_found"
	CodePaginationUnsupported = "pagination_unsupported"
	CodePayloadTooLarge       = "payload_too_large"
	CodePermissionDenied      = "permission_denied"
	CodePreconditionFailed    = "precondition_failed"
	CodeProposalDecided       = "proposal_already_decided"
	CodeProposalNotFound      = "proposal_not_found"
	CodePurgeImpactChanged    = "purge_impact_changed"
	CodeRange                 = "range_not_satisfiable"
	CodeRateLimit             = "rate_limit_exceeded"
	CodeRecallTypeNotFound    = "recall_type_not_found"
	CodeRequestTimeout        = "request_timeout"
	CodeServiceDegraded       = "service_degraded"
	CodeServiceDraining       = "service_draining"
	CodeSessionNotFound       = "session_not_found"
	CodeSubjectNotFound       = "subject_not_found"
	CodeSubjectNotProvisioned = "subject_not_provisioned"
	CodeSubjectNotSupported   = "subject_not_supported"
	CodeTooManyStreams        = "too_many_streams"
	CodeTrainInProgress       = "train_in_progress"
	CodeUndeleteWindowPassed  = "undelete_window_passed"
	CodeUnsupportedMediaType  = "unsupported_media_type"
	CodeUserNotFound          = "user_not_found"
	CodeValidation            = "validation_failed"
	CodeWebhookLimit          = "webhook_limit_reached"
	CodeWebhookNotFound       = "webhook_not_found"
)

// Scopes of keys.
const (
	ScopeAny       = "" // any key may
	ScopeRead      = "read"
	ScopeWrite     = "write"
	ScopeAdmin     = "admin"
	ScopeGraph     = "graph:write"
	ScopeForget    = "memory:forget"
	ScopeProvision = "subjects:provision"
	ScopeUsage     = "usage:read"
)

// Families of routes, each with a rate limit of its own.
const (
	FamilyReads    = "reads"
	FamilyWrites   = "writes"
	FamilyIngest   = "ingest"
	FamilySessions = "sessions"
	FamilySearch   = "search"
	FamilyExports  = "exports"
	FamilyDefault  = "default"
)

// Capabilities are what usage tells apart (docs/usage.md).
const (
	CapabilitySearch    = "search"
	CapabilityRetrieve  = "retrieve"
	CapabilityGraph     = "graph"
	CapabilityRecall    = "recall"
	CapabilityCondition = "condition"
	CapabilityBrain     = "brain"
	CapabilityIngest    = "ingest"
)

// Roles of members.
const (
	RoleOwner  = "owner"
	RoleAdmin  = "admin"
	RoleMember = "member"
)

// States of a key.
const (
	KeyActive  = "active"  // it works until it expires
	KeyRevoked = "revoked" // it never becomes active again
)

// Kinds of partition.
const (
	PartitionMember  = "member"
	PartitionSubject = "subject"
	PartitionSandbox = "sandbox"
)

// Kinds of job.
const (
	JobIngest          = "ingest"
	JobIngestBatch     = "ingest_batch"
	JobImport          = "import"
	JobTranscript      = "transcript"
	JobSessionFinalize = "session_finalize"
	JobSubjectErase    = "subject_erase"
	JobExport          = "export"
	JobCognition       = "cognition"
	JobBrainTrain      = "brain_train"
	JobConnectorSync   = "connector_sync"
	JobQuality         = "quality"
)

// States of a job.
const (
	JobPending   = "pending" // what a queued job is called in the answer that accepts it
	JobQueued    = "queued"
	JobRunning   = "running"
	JobSucceeded = "succeeded"
	JobDone      = "done" // what the route of an ingest's status calls succeeded
	JobFailed    = "failed"
	JobCancelled = "cancelled"
)

// Errors of jobs, beside problem codes.
const (
	ErrorForgotten = "content_forgotten"  // none of its items was stored, because their contents were forgotten meanwhile
	ErrorCognition = "cognition_failed"   // its cycle was given up
	ErrorTraining  = "training_failed"    // it failed as often as it may
	ErrorTooLittle = "too_little_content" // there is too little to learn from
	ErrorConnector = "fetch_failed"       // its source could not be read
	ErrorQuality   = "evaluation_failed"  // it failed as often as it may
)

// What became of an item of a job.
const (
	ItemCreated    = "created"
	ItemFailed     = "failed"
	ItemRevived    = "revived"
	ItemSuperseded = "superseded"
	ItemUnchanged  = "unchanged"
)

// States of a node.
const (
	StatusLive       = "live"
	StatusSuperseded = "superseded"
	StatusTombstoned = "tombstoned"
)

// Sources of nodes, beside those that items name.
const (
	SourceIngest    = "ingest"
	SourceImport    = "import"
	SourceConnector = "connector"
	SourceSession   = "session"
	SourceSignal    = "agent_signal"
	SourceSupersede = "supersede" // a person put it in another node's place
)

// InsightSignal is the kind of an insight that tells of a signal. The other kinds are those of brain/insight.
const InsightSignal = "agent_signal"

// States of what waits for a person's decision. A contradiction has the first only: it is resolved by superseding a
// side, and then it is gone.
const (
	ReviewOpen       = "open"
	ProposalAccepted = "accepted"
	ProposalRejected = "rejected"
)

// Types of events.
const (
	EventGraphUpdated       = "graph.updated"
	EventJobCompleted       = "job.completed"
	EventInsightProposed    = "insight.proposed"
	EventContradictionFound = "contradiction.detected"
	EventBeliefSuperseded   = "belief.superseded"
	EventBasinShifted       = "basin.shifted"
	EventBrainTrained       = "brain.trained"
	EventIdentityUpdated    = "identity.updated"
	EventImportStarted      = "import.started"
	EventImportFinished     = "import.finished"
	EventWebhookTest        = "webhook.test"
)

// SearchScopeOrg is the scope of a search in every memory of the organization that the caller may read.
const SearchScopeOrg = "org"

// Views of recall.
const (
	RecallIdentity = "identity"
	RecallGraph    = "graph"
	RecallInsights = "insights"
	RecallTemporal = "temporal"
)

// States of a training.
const (
	TrainingNone     = "none"
	TrainingFailed   = "failed"
	TrainingRejected = "rejected" // what it learned is not better than no training
)

// How the questions of a training are made.
const (
	QuestionSentence   = "sentence"
	QuestionTitle      = "title"
	QuestionTwoHops    = "two_hops"
	QuestionThreeHops  = "three_hops"
	QuestionComparison = "comparison"
	QuestionFormer     = "former"
	QuestionAccepted   = "accepted"
)

// What a brain's gate looks at.
const (
	GateAlways    = "always"
	GateBest      = "best"
	GateMargin    = "margin"
	GateAgreement = "agreement"
	GateNames     = "names"
	GateDensity   = "density"
	GateSubjects  = "subjects"
	GateCover     = "cover"
)

// States and scopes of an export.
const (
	ExportQueued    = "queued"
	ExportRunning   = "running"
	ExportSucceeded = "succeeded"
	ExportFailed    = "failed"
	ExportExpired   = "expired"

	ExportScopeUser = "user"
	ExportScopeOrg  = "org"
)

// Scopes of an evaluation of quality.
const (
	QualityScopeUser = "user"
	QualityScopeOrg  = "org"
)

// Scopes of a purge.
const (
	PurgeScopeSubject = "subject" // one memory
	PurgeScopeOrg     = "org"     // all memories
)

// Plans of organizations.
const (
	PlanFree      = "free"
	PlanStandard  = "standard"
	PlanScale     = "scale"
	PlanUnlimited = "unlimited"
)

// Origins of edges.
const (
	OriginIngest    = "ingest"
	OriginAsserted  = "asserted"
	OriginProposal  = "proposal"
	OriginSupersede = "supersede"
	OriginCognition = "cognition"
)

// EdgeDerivedFrom is the type of the edges that lead from what was derived to what it rests on.
const EdgeDerivedFrom = "derived_from"

// Why something that was derived is stale: what became of a node that it rests on.
const (
	StaleSuperseded   = "superseded"
	StaleForgotten    = "forgotten"
	StaleEnded        = "ended"
	StaleContradicted = "contradicted"
)

// Why what an attempt to deliver has sent is not told.
const (
	SentGone     = "gone"
	SentWithheld = "withheld"
)

// Acts of the organization's audit trail that more than one place writes.
const (
	ActionOrgCreate        = "organization.create"
	ActionOrgPlan          = "organization.plan"
	ActionMemberAdd        = "member.add"
	ActionMemberRemove     = "member.remove"
	ActionKeyCreate        = "key.create"
	ActionKeyRevoke        = "key.revoke"
	ActionSandboxKeyRevoke = "sandbox_key.revoke"
	ActionWebhookDisable   = "webhook.disable"
	ActionSubjectProvision = "subject.provision"
	ActionSubjectErase     = "subject.erase"
	ActionPurge            = "purge"
	ActionPurgeDryRun      = "purge.dry_run"
	ActionExportDownload   = "export.download"
	ActionExportImport     = "export.import"
)
