package orgmem

import "time"

// What keys, jobs, people and everything else around a memory are answered with; what the
// memory itself holds is in types.go.

// Accepted says that what was sent is on disk and that a job works on it: it is found when the job has
// ended.
type Accepted struct {
	Extra
	JobID  string         `json:"jobId"`
	Status AcceptedStatus `json:"status"`
}

// APIKey is a key without its secret.
type APIKey struct {
	Extra
	CreatedAt time.Time `json:"createdAt"`
	// The SHA-256 of the key, in hexadecimal; it cannot authenticate.
	ID    string `json:"id"`
	Label string `json:"label"`
	// To the minute; null if the key was never used.
	LastUsedAt time.Time `json:"lastUsedAt"`
	// Null while the key is active.
	RevokedAt time.Time `json:"revokedAt"`
	// What the key may do; of the sandbox always read and write.
	Scopes []string  `json:"scopes"`
	Status KeyStatus `json:"status"`
}

// AuditEntry is one line of the audit trail.
type AuditEntry struct {
	Extra
	// What was done, such as node.forget; more may come.
	Action string          `json:"action"`
	Actor  AuditEntryActor `json:"actor"`
	At     time.Time       `json:"at"`
	// Larger of a later act; unique in the organization.
	ID string `json:"id"`
	// The memory that it was done for, as in the ids of its nodes; it stays when a subject is erased.
	// Null where it was done for none.
	PartitionID string `json:"partitionId"`
	// Null where no request did it.
	RequestID string `json:"requestId"`
	// The provisioned subject it was done for, while it is provisioned; null for a person's own
	// memory, and once the subject was erased.
	Subject string `json:"subject"`
	// The id of what it was done to; null where that is the organization or the memory itself, or has
	// an id of the client's making. A subject that was erased is named by its partitionId.
	Target string `json:"target"`
}

// AuditEntryActor is who did it.
type AuditEntryActor struct {
	KeyID string `json:"keyId"`
	// operator: through the operator interface. service: by itself.
	Type   ActorType `json:"type"`
	UserID string    `json:"userId"`
}

// Connector fetches from somewhere else, again and again.
type Connector struct {
	Extra
	// Without its secrets.
	Config          map[string]any `json:"config"`
	CreatedAt       time.Time      `json:"createdAt"`
	Documents       int64          `json:"documents"`
	Enabled         bool           `json:"enabled"`
	ID              string         `json:"id"`
	IntervalSeconds int            `json:"intervalSeconds"`
	LastError       string         `json:"lastError"`
	LastStatus      string         `json:"lastStatus"`
	LastSyncAt      time.Time      `json:"lastSyncAt"`
	Name            string         `json:"name"`
	Type            ConnectorType  `json:"type"`
}

// DeliveryAttempt is one attempt to deliver an event.
type DeliveryAttempt struct {
	At time.Time `json:"at"`
	// 1 for the first, 2 and 3 for retries.
	Attempt    int    `json:"attempt"`
	DurationMs int    `json:"durationMs"`
	Error      string `json:"error"`
	EventID    string `json:"eventId"`
	EventType  string `json:"eventType"`
	// X-Svc-Delivery of the attempt.
	ID              string `json:"id"`
	OK              bool   `json:"ok"`
	ResponseSnippet string `json:"responseSnippet"`
	ResponseStatus  int    `json:"responseStatus"`
}

// Export is a document of everything in a memory, or the job that writes it.
type Export struct {
	Extra
	// Length of the document; null until it is written.
	Bytes     int64     `json:"bytes"`
	CreatedAt time.Time `json:"createdAt"`
	// Why it failed; null otherwise.
	Error     string    `json:"error"`
	ExpiresAt time.Time `json:"expiresAt"`
	// Also the id of its job.
	ExportID   string      `json:"exportId"`
	FinishedAt time.Time   `json:"finishedAt"`
	Format     string      `json:"format"`
	Scope      MemoryScope `json:"scope"`
	// Of the document, in hexadecimal; null until it is written.
	SHA256 string `json:"sha256"`
	// An export expires after some days, and as soon as something in it is forgotten.
	Status ExportStatus `json:"status"`
}

// ImportEntry is one file that was imported.
type ImportEntry struct {
	Extra
	Bytes     int64     `json:"bytes"`
	CreatedAt time.Time `json:"createdAt"`
	// Null until the job has ended, and 0 until the first cognition cycle behind it has run: how many
	// domains its documents are in then.
	DomainsDetected *int64 `json:"domainsDetected"`
	Error           string `json:"error"`
	// Empty once what came with the file was forgotten.
	Filename   string       `json:"filename"`
	FinishedAt time.Time    `json:"finishedAt"`
	Format     ImportFormat `json:"format"`
	ID         string       `json:"id"`
	JobID      string       `json:"jobId"`
	// Null until the job has ended.
	NodesCreated *int64    `json:"nodesCreated"`
	Status       JobStatus `json:"status"`
}

// Job is work that goes on behind an answer.
type Job struct {
	Extra
	// How often the work that is left of it was begun, not counting what a stop, a crash or a move of
	// the service has interrupted. After 5 that failed the item at its head, or the job, is given up;
	// an erasure never is.
	Attempts  int       `json:"attempts"`
	CreatedAt time.Time `json:"createdAt"`
	// Why it failed; null otherwise.
	Error      *JobError   `json:"error"`
	FinishedAt time.Time   `json:"finishedAt"`
	ID         string      `json:"id"`
	Progress   JobProgress `json:"progress"`
	// Null until it has finished, in lists, and for jobs that answer nothing.
	Result    *JobResult `json:"result"`
	StartedAt time.Time  `json:"startedAt"`
	Status    JobStatus  `json:"status"`
	// The provisioned subject it works for; null for a person's own.
	Subject string  `json:"subject"`
	Type    JobType `json:"type"`
}

// JobError says why a job has failed.
type JobError struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// JobItem is what became of one item.
type JobItem struct {
	// Why the item failed.
	Error      string     `json:"error,omitzero"`
	ExternalID string     `json:"externalId"`
	Index      int        `json:"index"`
	NodeID     string     `json:"nodeId"`
	Status     ItemStatus `json:"status"`
}

// JobProgress counts items.
type JobProgress struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// JobResult is what came of a job.
type JobResult struct {
	// Of an ingestion: what became of each item.
	Items []JobItem `json:"items"`
}

// NewKey is a key with its secret, which is never shown again.
type NewKey struct {
	Extra
	// The key. It is shown this once; a replay carries a marker in its place.
	APIKey string `json:"apiKey"`
	ID     string `json:"id"`
	Label  string `json:"label"`
}

// NewSandboxKey is a key to the sandbox with its secret, which is never shown again.
type NewSandboxKey struct {
	Extra
	// The key. It is shown this once.
	APIKey    string    `json:"apiKey"`
	ExpiresAt time.Time `json:"expiresAt"`
	ID        string    `json:"id"`
	Label     string    `json:"label"`
	// Always read and write.
	Scopes []string `json:"scopes"`
	// The name of the sandbox's one partition.
	Subject string `json:"subject"`
}

// OrganizationRef names an organization.
type OrganizationRef struct {
	DisplayName string `json:"displayName"`
	ID          string `json:"id"`
	// What holds for the whole organization.
	Settings OrganizationSettings `json:"settings"`
	Slug     string               `json:"slug"`
}

// OrganizationSettings is what holds for a whole organization.
type OrganizationSettings struct {
	// How far the organization is embedded with the model of today.
	Embedding EmbeddingState `json:"embedding"`
}

// EmbeddingState says how far an organization is embedded with the model of today.
type EmbeddingState struct {
	// Chunks of all memories.
	Chunks int64 `json:"chunks"`
	// Those embedded with the model; the others are served by a former one until they are.
	Embedded int64 `json:"embedded"`
	// The model that content is embedded with.
	Model string `json:"model"`
}

// Principal is whom a key stands for.
type Principal struct {
	Extra
	Org OrganizationRef `json:"org"`
	// The organization's rate-limit plan.
	Plan string `json:"plan"`
	// The scopes the key holds.
	Scopes []string `json:"scopes"`
	// The user's id: whose memory is meant when no subject is selected. It is not a selector.
	SubjectDefault string `json:"subjectDefault"`
	// The user who minted the key.
	User UserRef `json:"user"`
}

// PurgeReport counts what a purge would delete, or has deleted.
type PurgeReport struct {
	Extra
	// Only from a dry run.
	ConfirmToken string `json:"confirmToken,omitzero"`
	// Records per store: vault_nodes, memory_chunks, graph_edges and others. What cycles derive
	// (domains, contradictions, edges of origin cognition …) goes too and is not counted, since it
	// changes by itself.
	Counts map[string]int64 `json:"counts"`
	DryRun bool             `json:"dryRun"`
	// When the token expires.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// Null on a dry run.
	PurgedAt  time.Time  `json:"purgedAt"`
	RequestID string     `json:"requestId"`
	Scope     PurgeScope `json:"scope"`
	SubjectID string     `json:"subjectId,omitzero"`
	TotalRows int64      `json:"totalRows"`
}

// SandboxKey is a key to the sandbox without its secret.
type SandboxKey struct {
	Extra
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
	// The SHA-256 of the key, in hexadecimal; it cannot authenticate.
	ID    string `json:"id"`
	Label string `json:"label"`
	// To the minute; null if the key was never used.
	LastUsedAt time.Time `json:"lastUsedAt"`
	// Null while the key is active.
	RevokedAt time.Time `json:"revokedAt"`
	// What the key may do; of the sandbox always read and write.
	Scopes []string  `json:"scopes"`
	Status KeyStatus `json:"status"`
}

// SandboxReset says when the sandbox was emptied.
type SandboxReset struct {
	Extra
	ResetAt time.Time `json:"resetAt"`
	Subject string    `json:"subject"`
}

// Session is a coding session.
type Session struct {
	Extra
	CreatedAt    time.Time `json:"createdAt"`
	CWD          string    `json:"cwd"`
	EventCount   int64     `json:"eventCount"`
	FirstEventAt time.Time `json:"firstEventAt"`
	ID           string    `json:"id"`
	LastEventAt  time.Time `json:"lastEventAt"`
	Model        string    `json:"model"`
	SignalCount  int64     `json:"signalCount"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// SessionResult is what became of one event of a session.
type SessionResult struct {
	// Why it was rejected.
	Error string `json:"error,omitzero"`
	Index int64  `json:"index"`
	// The node that the event becomes; it can be found once it is ingested.
	NodeID string        `json:"nodeId"`
	Status SessionStatus `json:"status"`
}

// SessionState is how far sessions have been worked through.
type SessionState struct {
	Extra
	// Of session-finalize: an earlier one was still under way.
	AlreadyInFlight bool `json:"alreadyInFlight,omitzero"`
	// What is derived from sessions is being built.
	Building        bool `json:"building"`
	FinalizePending bool `json:"finalizePending"`
	// Events that are stored and not yet ingested.
	IngestPending  int64     `json:"ingestPending"`
	LastIngestedAt time.Time `json:"lastIngestedAt"`
	// The edges of those nodes, as the last cognition cycle counted them.
	SessionEdgeCount int64 `json:"sessionEdgeCount"`
	SessionNodeCount int64 `json:"sessionNodeCount"`
	// All nodes of the subject.
	TotalNodeCount int64 `json:"totalNodeCount"`
	// The recall views that hold something. Depends on the data: do not wait for it.
	WarmLayers []string `json:"warmLayers"`
}

// Settings are those of a memory.
type Settings struct {
	Extra
	LearnModeDefault bool        `json:"learnModeDefault"`
	QualityMode      QualityMode `json:"qualityMode"`
}

// SignalsAccepted counts signals.
type SignalsAccepted struct {
	Extra
	// How many signals were stored.
	Accepted int `json:"accepted"`
}

// Subject is a provisioned subject.
type Subject struct {
	Extra
	CreatedAt time.Time `json:"createdAt"`
	// The client's own id.
	ID string `json:"id"`
}

// Team is an organization as its members see it.
type Team struct {
	Extra
	CreatedAt time.Time `json:"createdAt"`
	ID        string    `json:"id"`
	// The organization's people.
	MemberCount int64  `json:"memberCount"`
	Name        string `json:"name"`
	Slug        string `json:"slug"`
}

// TeamKey is a key of a member.
type TeamKey struct {
	Extra
	CreatedAt time.Time `json:"createdAt"`
	// The SHA-256 of the key, in hexadecimal; it cannot authenticate.
	ID    string `json:"id"`
	Label string `json:"label"`
	// To the minute; null if the key was never used.
	LastUsedAt time.Time `json:"lastUsedAt"`
	// Null while the key is active.
	RevokedAt time.Time `json:"revokedAt"`
	// What the key may do; of the sandbox always read and write.
	Scopes []string  `json:"scopes"`
	Status KeyStatus `json:"status"`
	// Whose it is.
	UserID string `json:"userId"`
}

// TeamMember is a member of it.
type TeamMember struct {
	Extra
	CreatedAt time.Time `json:"createdAt"`
	Email     string    `json:"email"`
	// The user id.
	ID   string     `json:"id"`
	Role MemberRole `json:"role"`
}

// Usage is what a request has cost.
type Usage struct {
	// The brain that ranked the results; absent where none did.
	BrainVersion int64 `json:"brainVersion,omitzero"`
	EmbedTokens  int64 `json:"embedTokens"`
	ReadUnits    int64 `json:"readUnits"`
}

// UsageBucket is an hour or a day.
type UsageBucket struct {
	EndTime   time.Time    `json:"endTime"`
	Groups    []UsageGroup `json:"groups"`
	StartTime time.Time    `json:"startTime"`
}

// UsageGroup is what one subject, capability or key has used.
type UsageGroup struct {
	// What was used, when grouped by capability: search, retrieve, graph, recall, condition, brain or
	// ingest.
	Capability string `json:"capability"`
	// The id of the API key, when grouped by key.
	Key string `json:"key,omitzero"`
	// The provisioned subject's id; the user id for a person's own memory; the id that nodes carry for
	// a subject that was erased.
	Subject string     `json:"subject"`
	Units   UsageUnits `json:"units"`
}

// SentDelivery is a delivery attempt with what it has sent.
type SentDelivery struct {
	Extra
	// The body as it was sent, byte for byte; empty where it cannot be told.
	Body     string          `json:"body"`
	Delivery DeliveryAttempt `json:"delivery"`
	// X-Svc-Signature as it was sent.
	Signature string `json:"signature"`
	// Why there is no body: gone or withheld; empty where there is one.
	Unavailable string `json:"unavailable"`
}

// UsageReport is what was used, in buckets.
type UsageReport struct {
	Extra
	// The earliest first.
	Buckets []UsageBucket `json:"buckets"`
}

// UsageUnits are counts.
type UsageUnits struct {
	EmbedTokens int64 `json:"embedTokens"`
	ReadUnits   int64 `json:"readUnits"`
}

// UserRef names a user.
type UserRef struct {
	ID string `json:"id"`
}

// Webhook is an endpoint that events are delivered to.
type Webhook struct {
	Extra
	// The last 50 delivery attempts, newest first; where one endpoint is asked for.
	Attempts            []DeliveryAttempt `json:"attempts,omitzero"`
	ConsecutiveFailures int               `json:"consecutiveFailures"`
	CreatedAt           time.Time         `json:"createdAt"`
	Disabled            bool              `json:"disabled"`
	DisabledReason      string            `json:"disabledReason"`
	EventTypes          []string          `json:"eventTypes"`
	ID                  string            `json:"id"`
	// Those of its types that nothing publishes on this deployment.
	InactiveEventTypes []string  `json:"inactiveEventTypes"`
	LastDeliveryAt     time.Time `json:"lastDeliveryAt"`
	LastSuccessAt      time.Time `json:"lastSuccessAt"`
	// The signing secret, in the answer that made the endpoint; a replay has a marker in its place.
	Secret    string    `json:"secret,omitzero"`
	UpdatedAt time.Time `json:"updatedAt"`
	URL       string    `json:"url"`
}

// WebhookTest is how a test delivery went.
type WebhookTest struct {
	Extra
	DurationMs int    `json:"durationMs"`
	Error      string `json:"error"`
	OK         bool   `json:"ok"`
	// What the receiver answered with; null when it did not.
	Status int `json:"status"`
}
