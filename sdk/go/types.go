package orgmem

import (
	"encoding/json"
	"time"
)

// The answers of the service, in the alphabet's order; what it takes is in
// requests.go. What the service answers null is the zero value here ("", 0, the
// zero time), and a pointer where that would be mistaken for a value.

// Extra keeps an answer as it came, so that a program can read fields that are
// newer than this client. Of an object inside another, ask the outer one.
type Extra struct{ raw json.RawMessage }

// Raw is the answer as it came. The caller must not change it.
func (e *Extra) Raw() json.RawMessage { return e.raw }

func (e *Extra) setRaw(raw json.RawMessage) { e.raw = raw }

// Staleness tells what does not stand any more of what something rests on, the
// nearest first. Both are empty where all of it stands.
type Staleness struct {
	Stale           []Stale `json:"stale,omitzero"`
	StaleIncomplete bool    `json:"staleIncomplete,omitzero"`
}

// Accepted says that what was sent is on disk and that a job works on it: it is found when the job has
// ended.
type Accepted struct {
	Extra
	JobID  string         `json:"jobId"`
	Status AcceptedStatus `json:"status"`
}

// ActivatedEntity is an entity that the query set off in the brain.
type ActivatedEntity struct {
	Activation float64 `json:"activation"`
	NodeID     string  `json:"nodeId"`
	Title      string  `json:"title"`
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
	Status     KeyStatus `json:"status"`
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

// Basin is a theme that a person comes back to.
type Basin struct {
	// The person is in it: by the latest signals.
	Current  bool     `json:"current"`
	ID       string   `json:"id"`
	Keywords []string `json:"keywords"`
	Label    string   `json:"label"`
	// The evidence.
	NodeIDs []string `json:"nodeIds"`
	// Of the signals.
	Share float64 `json:"share"`
	// The time of the text by which the person came there; null in a basin where they are not.
	Since time.Time `json:"since"`
}

// BrainArtifact is a trained brain.
type BrainArtifact struct {
	Edges      int64              `json:"edges"`
	Metrics    map[string]float64 `json:"metrics"`
	Nodes      int64              `json:"nodes"`
	Parameters int64              `json:"parameters"`
	SHA256     string             `json:"sha256"`
	TrainedAt  time.Time          `json:"trainedAt"`
	Version    int64              `json:"version"`
}

// BrainFound is what the brain finds to a query.
type BrainFound struct {
	Extra
	ActivatedEntities []ActivatedEntity `json:"activatedEntities"`
	ArtifactVersion   int64             `json:"artifactVersion"`
	// What likeness of meaning alone finds.
	CosineTopK []CosineHit `json:"cosineTopK"`
	// How far the graph has moved since the training.
	DriftRate float64 `json:"driftRate"`
	// The nodes that hold text, best first.
	FocalNodes     []FocalHit `json:"focalNodes"`
	GateConfidence float64    `json:"gateConfidence"`
	// How far the walk went for what it found: none, nothing is owed to it; local, one hop; regional,
	// two; global, further.
	PropagationTier PropagationTier `json:"propagationTier"`
	Usage           Usage           `json:"usage"`
}

// BrainInfo is the brain that serves, nil where there is none, and its latest training.
type BrainInfo struct {
	Extra
	// The brain that serves; null where none does: none was trained, or it cannot be read and is to be
	// trained again.
	Artifact *BrainArtifact `json:"artifact"`
	// The latest training.
	Training Training `json:"training"`
}

// Cadence is the rhythm of what a memory dates.
type Cadence struct {
	// The median time between two days of writing.
	EveryDays float64 `json:"everyDays"`
	// 0 is any gap, 1 always the same.
	Regularity float64 `json:"regularity"`
	// How many were counted.
	Times int `json:"times"`
}

// Citation is a passage that an answer rests on.
type Citation struct {
	Staleness
	Chunk  string  `json:"chunk"`
	NodeID string  `json:"nodeId"`
	Score  float64 `json:"score"`
	// What of the chunk the answer rests on, in characters (Unicode code points), end exclusive.
	// Absent: all of it.
	Span CitedSpan `json:"span,omitzero"`
	// The provisioned subject whose memory it is in; null for a person's own.
	Subject string `json:"subject"`
}

// CitedSpan is the part of the answer that the citation is to.
type CitedSpan struct {
	End   int64 `json:"end"`
	Start int64 `json:"start"`
}

// ConditioningPack is what a model is told before a session.
type ConditioningPack struct {
	Extra
	// How long the pack may be kept.
	ExpiresAt time.Time `json:"expiresAt"`
	// What the latest texts are about, newest first, from the effective subject's own memory: titles,
	// once for each thread, and of texts without one a sentence that tells something, with who wrote
	// it. Latest is by when the text's content happened (occurredAt), else by when it came in.
	OrgRecentContext []string `json:"orgRecentContext"`
	SystemPrompt     string   `json:"systemPrompt"`
	// Absent until there is enough writing, and where several people write the memory.
	UserVoiceHint string `json:"userVoiceHint,omitzero"`
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

// Contradiction is two passages that cannot both hold.
type Contradiction struct {
	Extra
	DetectedAt  time.Time         `json:"detectedAt"`
	Explanation string            `json:"explanation"`
	ID          string            `json:"id"`
	Kind        ContradictionKind `json:"kind"`
	NodeA       string            `json:"nodeA"`
	NodeB       string            `json:"nodeB"`
	// The texts that hold the claims: nodeA's, then nodeB's.
	Passages []Passage           `json:"passages"`
	Severity float64             `json:"severity"`
	Status   ContradictionStatus `json:"status"`
}

// CosineHit is what is near the query by its vector alone.
type CosineHit struct {
	Staleness
	ExternalID string  `json:"externalId"`
	NodeID     string  `json:"nodeId"`
	Score      float64 `json:"score"`
	Title      string  `json:"title"`
}

// Dated is something that happened, or is due, at a time.
type Dated struct {
	Extra
	// When it begins. Of what is named by its end alone, that end; and what a week or month is still
	// to bring, while it runs, is shown on the day of writing.
	At time.Time `json:"at"`
	// Where the text names one end only: latest, it is then or before; earliest, from then on.
	Bound  Bound  `json:"bound,omitzero"`
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	NodeID string `json:"nodeId"`
	// How exactly the text names the time: minute, day (also of several), week, month, quarter, year,
	// decade or century. What is of a week happens between at and until, on no day that is known.
	// Absent where an end is open.
	Precision string `json:"precision,omitzero"`
	Title     string `json:"title"`
	// When it is over, excluded: of a day the next one, of a week the Monday behind it. Absent where
	// the text does not say.
	Until time.Time `json:"until,omitzero"`
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

// Domain is a group of nodes about one thing.
type Domain struct {
	Extra
	// The share of its nodes' edges that stay inside.
	Cohesion  float64   `json:"cohesion"`
	CreatedAt time.Time `json:"createdAt"`
	// Edges between its nodes.
	EdgeCount int `json:"edgeCount"`
	// The same from cycle to cycle, as long as most of its nodes are.
	ID        string   `json:"id"`
	Keywords  []string `json:"keywords"`
	Label     string   `json:"label"`
	NodeCount int      `json:"nodeCount"`
	// The ids of its most central nodes.
	TopNodes  []string  `json:"topNodes"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Edge is a relation between two nodes. Large because it is the interface's record.
type Edge struct {
	Extra
	Staleness
	Confidence float64   `json:"confidence"`
	CreatedAt  time.Time `json:"createdAt"`
	// The nodes that the client said it rests on; absent where it named none.
	DerivedFrom []string `json:"derivedFrom,omitzero"`
	// The chunkIds of the passages that it was found in.
	Evidence []string `json:"evidence"`
	ID       string   `json:"id"`
	// What the client said of it.
	Note   string     `json:"note"`
	Origin EdgeOrigin `json:"origin"`
	Source string     `json:"source"`
	Status NodeStatus `json:"status"`
	// The provisioned subject it belongs to; null for the key owner's own.
	Subject      string    `json:"subject"`
	Target       string    `json:"target"`
	TombstonedAt time.Time `json:"tombstonedAt"`
	Type         string    `json:"type"`
	UpdatedAt    time.Time `json:"updatedAt"`
	ValidFrom    time.Time `json:"validFrom"`
	// Null while it holds.
	ValidTo time.Time `json:"validTo"`
	Weight  float64   `json:"weight"`
}

// Elsewhere is where else in the organization an entity is known.
type Elsewhere struct {
	Extra
	Data    []Sighting `json:"data"`
	HasMore bool       `json:"hasMore"`
}

// Every is a rule by which something repeats.
type Every struct {
	// Times of the day, such as 09:30, in the writer's own time.
	At []string `json:"at,omitzero"`
	// When it ends, of the one time in at.
	End    string    `json:"end,omitzero"`
	Except Exception `json:"except,omitzero"`
	// 2 is every other.
	Interval int `json:"interval"`
	// Days of the month; -1 is the last.
	MonthDays []int `json:"monthDays,omitzero"`
	// 1 to 12.
	Months []int `json:"months,omitzero"`
	// Which of the weekdays in the month, or in the unit where it is a longer one: 1 is the first, -1
	// the last.
	Nth []int `json:"nth,omitzero"`
	// How often in each.
	Times    int       `json:"times,omitzero"`
	Unit     Unit      `json:"unit"`
	Weekdays []Weekday `json:"weekdays,omitzero"`
}

// Exception is when it does not repeat.
type Exception struct {
	Months []int `json:"months,omitzero"`
	// In the sentence's words.
	Text     string    `json:"text"`
	Weekdays []Weekday `json:"weekdays,omitzero"`
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

// FocalHit is a node on which the brain settles.
type FocalHit struct {
	Staleness
	Activation float64 `json:"activation"`
	ExternalID string  `json:"externalId"`
	NodeID     string  `json:"nodeId"`
	Score      float64 `json:"score"`
	Title      string  `json:"title"`
}

// FocalNode is a node that a scaffold was made of.
type FocalNode struct {
	NodeID string `json:"nodeId"`
	Title  string `json:"title"`
	// Their weights add up to 1.
	Weight float64 `json:"weight"`
}

// GraphCounts counts a whole memory.
type GraphCounts struct {
	Domains int64 `json:"domains"`
	// Edges of the partition that were not forgotten.
	Edges int64 `json:"edges"`
	// Live nodes of the partition: now, whatever asOf is, as are the other counts.
	Nodes int64 `json:"nodes"`
}

// GraphView is the strongest part of a memory.
type GraphView struct {
	Extra
	Counts GraphCounts `json:"counts"`
	// Those that the nodes are in.
	Domains []Domain `json:"domains"`
	// Those among the nodes, at most 2,000.
	Edges []Edge `json:"edges"`
	// The strongest, best first, without their content.
	Nodes []Node `json:"nodes"`
}

// HistoryActor is who made a change.
type HistoryActor struct {
	// The id of the API key; for ingestion that of the key that sent the content.
	KeyID string `json:"keyId"`
	// The provisioned subject it was done for; null for a person's own memory.
	Subject string `json:"subject"`
	UserID  string `json:"userId"`
}

// HistoryChange is one field before and after.
type HistoryChange struct {
	After *string `json:"after"`
	// Metadata as the text of its JSON. Null where there was none, or it was forgotten.
	Before *string      `json:"before"`
	Field  ChangedField `json:"field"`
	// Before, or after, is the beginning of a text of more than 16 KiB.
	Truncated bool `json:"truncated"`
}

// HistoryEntry is one change of a node.
type HistoryEntry struct {
	Extra
	Action  HistoryAction   `json:"action"`
	Actor   HistoryActor    `json:"actor"`
	At      time.Time       `json:"at"`
	Changes []HistoryChange `json:"changes"`
	Reason  string          `json:"reason"`
}

// Hit is a passage that a search found.
type Hit struct {
	Staleness
	// The passage.
	Chunk     string    `json:"chunk"`
	ChunkID   string    `json:"chunkId"`
	CreatedAt time.Time `json:"createdAt"`
	// The client's own id of the document it is from.
	ExternalID string `json:"externalId"`
	NodeID     string `json:"nodeId"`
	// How well it fits, fused from scores; higher is better.
	Score  float64   `json:"score"`
	Scores HitScores `json:"scores"`
	// The provisioned subject whose memory it is from; null for a person's.
	Subject string `json:"subject"`
	Title   string `json:"title"`
}

// HitScores are the parts of a score.
type HitScores struct {
	// Weight of the words in common.
	Keyword float64 `json:"keyword"`
	// Likeness of meaning.
	Vector float64 `json:"vector"`
}

// HopPath is how a retrieval came to a node.
type HopPath struct {
	Staleness
	Activation float64 `json:"activation"`
	// edges[i] joins nodes[i] and nodes[i+1].
	Edges  []string `json:"edges"`
	NodeID string   `json:"nodeId"`
	// From what the search found to the result itself.
	Nodes []string `json:"nodes"`
}

// IdentityView is what has been derived of a person; nothing until the first cognition cycle.
type IdentityView struct {
	Extra
	// As many as manifold.n_basins.
	Basins []Basin `json:"basins"`
	// Null before the first cycle.
	Manifold *Manifold `json:"manifold"`
	// Who the person is, in plain words: at most 12 sentences, in the order in which one would say
	// them. Each rests on more than one text, and goes at once with any of its nodes that is forgotten
	// or superseded; empty while too little is known. Of a memory that several people write only a
	// line of themes is told.
	Portrait []Portrayal `json:"portrait"`
	Traits   []Trait     `json:"traits"`
	// Of what the memory's person wrote; of all that is written where several people write the memory,
	// and there are no traits then. Null until there is enough writing.
	VoiceProfile *VoiceProfile `json:"voiceProfile"`
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

// Insight is something that a cognition cycle noticed.
type Insight struct {
	Extra
	Staleness
	Confidence float64   `json:"confidence"`
	CreatedAt  time.Time `json:"createdAt"`
	Detail     string    `json:"detail"`
	ID         string    `json:"id"`
	// responsibility, change, due, recurrence, commitment, open_question, rising_topic, fading_topic,
	// outlier or agent_signal; there may be others later.
	Kind string `json:"kind"`
	// The evidence.
	NodeIDs []string `json:"nodeIds"`
	Title   string   `json:"title"`
}

// InsightsView is the newest insights, at most 200.
type InsightsView struct {
	Extra
	Insights []Insight `json:"insights"`
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

// Manifold is the space in which basins are found.
type Manifold struct {
	CumulativeVariance float64   `json:"cumulative_variance"`
	DiscoveredAt       time.Time `json:"discovered_at"`
	NBasins            int       `json:"n_basins"`
	NDimensions        int       `json:"n_dimensions"`
	NSignals           int       `json:"n_signals"`
	RefreshCount       int       `json:"refresh_count"`
	SilhouetteScore    float64   `json:"silhouette_score"`
	VarianceRatios     []float64 `json:"variance_ratios"`
	Version            int       `json:"version"`
}

// Neighbour is a node at the other end of an edge.
type Neighbour struct {
	Edge Edge `json:"edge"`
	Node Node `json:"node"`
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

// Node is a document, entity, belief, preference, event or session of a memory.
// Large because it is the interface's record.
type Node struct {
	Extra
	Staleness
	// The version for NodePatch.IfMatch, where one node was got or updated.
	ETag       string  `json:"-"`
	Authority  float64 `json:"authority"`
	Confidence float64 `json:"confidence"`
	// The text; absent once it was forgotten, and in lists.
	Content   string    `json:"content,omitzero"`
	CreatedAt time.Time `json:"createdAt"`
	// The number of its edges.
	Degree int `json:"degree"`
	// The nodes that it was derived from, as its edges of type derived_from say; absent where there
	// are none.
	DerivedFrom []string       `json:"derivedFrom,omitzero"`
	DomainID    string         `json:"domainId"`
	ID          string         `json:"id"`
	Kind        NodeKind       `json:"kind"`
	Metadata    map[string]any `json:"metadata"`
	// Until when a forgotten node can be restored.
	RestorableUntil time.Time  `json:"restorableUntil"`
	Source          NodeSource `json:"source"`
	Status          NodeStatus `json:"status"`
	// The provisioned subject it belongs to; null for the key owner's own.
	Subject      string `json:"subject"`
	SupersededBy string `json:"supersededBy"`
	// Of a forgotten node empty; of one that was restored what it is, until it is given a title.
	Title        string    `json:"title"`
	TombstonedAt time.Time `json:"tombstonedAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
	ValidFrom    time.Time `json:"validFrom"`
	// Null while it holds.
	ValidTo time.Time `json:"validTo"`
}

// NodeChunk is a passage of a node.
type NodeChunk struct {
	// As in the hits of a search.
	ChunkID string `json:"chunkId"`
	Text    string `json:"text"`
	// The headings above it, outermost first.
	TitlePath []string `json:"titlePath"`
}

// NodeMatch is a node with the passage that was found.
type NodeMatch struct {
	Node
	// A passage that holds the rarest of the words.
	Passage NodeChunk `json:"passage"`
}

// NodeSource is where a node comes from.
type NodeSource struct {
	// The first of externalIds.
	ExternalID string `json:"externalId"`
	// Every id under which the client sent this content, earliest first.
	ExternalIDs []string `json:"externalIds"`
	JobID       string   `json:"jobId"`
	// How it came in: ingest, import, session, supersede or cognition.
	Type string `json:"type"`
}

// OrganizationRef names an organization.
type OrganizationRef struct {
	DisplayName string `json:"displayName"`
	ID          string `json:"id"`
	Slug        string `json:"slug"`
}

// Passage is a text of a node.
type Passage struct {
	NodeID string `json:"nodeId"`
	Text   string `json:"text"`
}

// Portrayal is a sentence about a person and what it rests on.
type Portrayal struct {
	// manner (how they write), themes (what about, mostly and lately), preference and belief (what
	// they say, quoted), people (whom and what they mention), rhythm (when they write); there may be
	// others later.
	Kind string `json:"kind"`
	// The evidence, at most 20: of texts the latest.
	Nodes []string `json:"nodes"`
	Text  string   `json:"text"`
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

// Proposal is an edge that a cycle proposes.
type Proposal struct {
	Extra
	CreatedAt time.Time `json:"createdAt"`
	DecidedAt time.Time `json:"decidedAt"`
	// The edge that accepting it wrote.
	EdgeID    string         `json:"edgeId"`
	ID        string         `json:"id"`
	Rationale string         `json:"rationale"`
	Score     float64        `json:"score"`
	Source    string         `json:"source"`
	Status    ProposalStatus `json:"status"`
	Target    string         `json:"target"`
	Type      string         `json:"type"`
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

// RecalledNode is a node with its passages and neighbours.
type RecalledNode struct {
	Node
	Chunks     []NodeChunk `json:"chunks"`
	Neighbours []Neighbour `json:"neighbours"`
}

// Recurrence is something that repeats.
type Recurrence struct {
	Every  Every  `json:"every"`
	ID     string `json:"id"`
	NodeID string `json:"nodeId"`
	// Null where the sentence does not say.
	Since time.Time `json:"since"`
	// The words that say how often.
	Text string `json:"text"`
	// The sentence that says so.
	Title string `json:"title"`
	// Exclusive; null where the sentence does not say.
	Until time.Time `json:"until"`
}

// Retrieved is what a retrieval found, how, and what contradicts it.
type Retrieved struct {
	Extra
	Contradictions []Contradiction `json:"contradictions"`
	// One for each result, in their order.
	Paths   []HopPath `json:"paths"`
	Results []Hit     `json:"results"`
	Usage   Usage     `json:"usage"`
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
	// Always read and write.
	Scopes []string  `json:"scopes"`
	Status KeyStatus `json:"status"`
}

// SandboxReset says when the sandbox was emptied.
type SandboxReset struct {
	Extra
	ResetAt time.Time `json:"resetAt"`
	Subject string    `json:"subject"`
}

// ScaffoldedPrompt is a prompt with what the memory has to say to it.
type ScaffoldedPrompt struct {
	Extra
	// What shaped it, best first.
	FocalNodes []FocalNode `json:"focalNodes"`
	Prompt     string      `json:"prompt"`
	Usage      Usage       `json:"usage"`
}

// SearchResult is what a search found, best first.
type SearchResult struct {
	Extra
	Results []Hit `json:"results"`
	Usage   Usage `json:"usage"`
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

// Sighting is an entity in another memory.
type Sighting struct {
	// How many texts there name it.
	Mentions int    `json:"mentions"`
	NodeID   string `json:"nodeId"`
	// Whose memory it is, where that is a provisioned subject's.
	Subject string `json:"subject"`
	// Whose memory it is, where that is a member's.
	UserID string `json:"userId"`
}

// SignalsAccepted counts signals.
type SignalsAccepted struct {
	Extra
	// How many signals were stored.
	Accepted int `json:"accepted"`
}

// Stale says that something this rests on does not stand any more.
type Stale struct {
	// The id of the node.
	Because string `json:"because"`
	// superseded: another node took its place. forgotten: it was. ended: nothing states it any more.
	// contradicted: an open contradiction is about it.
	Reason StaleReason `json:"reason"`
	// Null where that is no longer known.
	Since time.Time `json:"since"`
}

// Subject is a provisioned subject.
type Subject struct {
	Extra
	CreatedAt time.Time `json:"createdAt"`
	// The client's own id.
	ID string `json:"id"`
}

// Superseded is both nodes of a supersession.
type Superseded struct {
	Extra
	Created      bool    `json:"created"`
	EdgeID       string  `json:"edgeId"`
	NewAuthority float64 `json:"newAuthority"`
	NewNodeID    string  `json:"newNodeId"`
	OldNodeID    string  `json:"oldNodeId"`
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

// TeamMember is a member of it.
type TeamMember struct {
	Extra
	CreatedAt time.Time `json:"createdAt"`
	Email     string    `json:"email"`
	// The user id.
	ID   string     `json:"id"`
	Role MemberRole `json:"role"`
}

// TemporalView is what a memory says of time.
type TemporalView struct {
	Extra
	// How regularly something is written; absent while that is too little.
	Cadence Cadence `json:"cadence,omitzero"`
	// Latest first.
	Events []Dated `json:"events"`
	// What comes again and again, the latest told first, at most 200. Such a time is no event.
	Recurrences []Recurrence `json:"recurrences"`
	Trends      []Trend      `json:"trends"`
}

// TrainAccepted is the job of a training.
type TrainAccepted struct {
	Extra
	JobID  string    `json:"jobId"`
	Status JobStatus `json:"status"`
}

// Training is the latest training.
type Training struct {
	FinishedAt time.Time          `json:"finishedAt"`
	JobID      string             `json:"jobId"`
	Metrics    map[string]float64 `json:"metrics"`
	Progress   float64            `json:"progress"`
	// Why it was rejected or failed.
	Reason    string    `json:"reason"`
	StartedAt time.Time `json:"startedAt"`
	// rejected: by the parity gate. failed: nothing was trained, because there was too little to learn
	// from, or the work failed, or it was cancelled. Either way the brain before it goes on serving.
	Status TrainingStatus `json:"status"`
}

// Trait is a property of a person and what it rests on.
type Trait struct {
	Confidence float64 `json:"confidence"`
	Name       string  `json:"name"`
	// The latest of the texts that were measured.
	NodeIDs []string `json:"nodeIds"`
	Value   float64  `json:"value"`
}

// Trend is a topic that is spoken of more, or less.
type Trend struct {
	// Relative, of the later half of the time to the earlier.
	Change    float64   `json:"change"`
	Direction Direction `json:"direction"`
	From      time.Time `json:"from"`
	// The evidence.
	NodeIDs []string  `json:"nodeIds"`
	Topic   string    `json:"topic"`
	Until   time.Time `json:"until"`
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

// UserIdentity is the identity view of a member.
type UserIdentity struct {
	Extra
	Basins   []Basin   `json:"basins"`
	Manifold *Manifold `json:"manifold"`
	// Who the person is, in plain words: at most 12 sentences, in the order in which one would say
	// them. Each rests on more than one text, and goes at once with any of its nodes that is forgotten
	// or superseded; empty while too little is known. Of a memory that several people write only a
	// line of themes is told.
	Portrait     []Portrayal   `json:"portrait"`
	Traits       []Trait       `json:"traits"`
	UserID       string        `json:"userId"`
	VoiceProfile *VoiceProfile `json:"voiceProfile"`
}

// UserRef names a user.
type UserRef struct {
	ID string `json:"id"`
}

// VoiceProfile is how a person writes.
type VoiceProfile struct {
	AvgMessageLengthWords float64 `json:"avgMessageLengthWords"`
	// How many messages were measured.
	EvidenceCount  int64   `json:"evidenceCount"`
	FormalityLevel float64 `json:"formalityLevel"`
	// All other measures, by group and name. How often something comes is the binary logarithm of its
	// ratio to what is common in chats, commit messages and minutes in English: 0 as everybody, 1
	// twice as often, -1 half as often, with one occurrence at the common rate taken as seen before.
	// Means are rhythm.typicalWords (of a message), rhythm.sentenceWords and spelling.wordLetters;
	// rhythm.lengthSpread is the standard deviation of the logarithm of a message's length.
	// userVoiceHint of POST /v1/condition/session says in words what stands out.
	Style          map[string]map[string]float64 `json:"style"`
	TechnicalDepth float64                       `json:"technicalDepth"`
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

// WrittenAnswer is an answer with what it rests on.
type WrittenAnswer struct {
	Extra
	Staleness
	Answer string `json:"answer"`
	// The passages that the answer was taken from, in its order; empty when memory holds nothing about
	// the question.
	Citations      []Citation `json:"citations"`
	GateConfidence float64    `json:"gateConfidence"`
	Usage          Usage      `json:"usage"`
	// The voice that the answer is written in; null: the passages' own.
	Voice string `json:"voice"`
}
