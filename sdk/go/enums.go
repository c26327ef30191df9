package orgmem

// AcceptedStatus is always pending: the work has not begun.
type AcceptedStatus string

// Values of AcceptedStatus; a newer service may know more.
const (
	AcceptedStatusPending AcceptedStatus = "pending"
)

// ActorType is a kind of actor in the audit trail.
type ActorType string

// Values of ActorType; a newer service may know more.
const (
	ActorTypeKey      ActorType = "key"
	ActorTypeOperator ActorType = "operator"
	ActorTypeService  ActorType = "service"
)

// Bound says on which side of a time something is.
type Bound string

// Values of Bound; a newer service may know more.
const (
	BoundLatest   Bound = "latest"
	BoundEarliest Bound = "earliest"
)

// ChangedField is a field that a history tells of.
type ChangedField string

// Values of ChangedField; a newer service may know more.
const (
	ChangedFieldTitle        ChangedField = "title"
	ChangedFieldContent      ChangedField = "content"
	ChangedFieldKind         ChangedField = "kind"
	ChangedFieldMetadata     ChangedField = "metadata"
	ChangedFieldDomainID     ChangedField = "domainId"
	ChangedFieldStatus       ChangedField = "status"
	ChangedFieldSupersededBy ChangedField = "supersededBy"
	ChangedFieldSource       ChangedField = "source"
	ChangedFieldType         ChangedField = "type"
	ChangedFieldTarget       ChangedField = "target"
	ChangedFieldWeight       ChangedField = "weight"
	ChangedFieldConfidence   ChangedField = "confidence"
)

// ConnectorType is what a connector reads.
type ConnectorType string

// Values of ConnectorType; a newer service may know more.
const (
	ConnectorTypeFeed ConnectorType = "feed"
	ConnectorTypeWeb  ConnectorType = "web"
	ConnectorTypeGit  ConnectorType = "git"
)

// ContradictionKind is how two passages contradict.
type ContradictionKind string

// Values of ContradictionKind; a newer service may know more.
const (
	ContradictionKindNegation ContradictionKind = "negation"
	ContradictionKindValue    ContradictionKind = "value"
	ContradictionKindTemporal ContradictionKind = "temporal"
	ContradictionKindAntonym  ContradictionKind = "antonym"
	ContradictionKindSemantic ContradictionKind = "semantic"
)

// ContradictionStatus is open: what is resolved is not listed.
type ContradictionStatus string

// Values of ContradictionStatus; a newer service may know more.
const (
	ContradictionStatusOpen     ContradictionStatus = "open"
	ContradictionStatusResolved ContradictionStatus = "resolved" // to ask for; the answer is empty
)

// Direction is where a trend goes.
type Direction string

// Values of Direction; a newer service may know more.
const (
	DirectionRising  Direction = "rising"
	DirectionFalling Direction = "falling"
	DirectionSteady  Direction = "steady"
)

// EdgeOrigin is what made an edge.
type EdgeOrigin string

// Values of EdgeOrigin; a newer service may know more.
const (
	EdgeOriginIngest    EdgeOrigin = "ingest"
	EdgeOriginAsserted  EdgeOrigin = "asserted"
	EdgeOriginProposal  EdgeOrigin = "proposal"
	EdgeOriginSupersede EdgeOrigin = "supersede"
	EdgeOriginCognition EdgeOrigin = "cognition"
)

// EventType is what happened.
type EventType string

// Values of EventType; a newer service may know more.
const (
	EventTypeAny                   EventType = "*"
	EventTypeGraphUpdated          EventType = "graph.updated"
	EventTypeJobCompleted          EventType = "job.completed"
	EventTypeInsightProposed       EventType = "insight.proposed"
	EventTypeContradictionDetected EventType = "contradiction.detected"
	EventTypeBeliefSuperseded      EventType = "belief.superseded"
	EventTypeBasinShifted          EventType = "basin.shifted"
	EventTypeBrainTrained          EventType = "brain.trained"
	EventTypeWebhookTest           EventType = "webhook.test"
	// These three come by the stream alone.
	EventTypeImportStarted   EventType = "import.started"
	EventTypeImportFinished  EventType = "import.finished"
	EventTypeIdentityUpdated EventType = "identity.updated"
)

// ExportStatus is how far an export is.
type ExportStatus string

// Values of ExportStatus; a newer service may know more.
const (
	ExportStatusQueued    ExportStatus = "queued"
	ExportStatusRunning   ExportStatus = "running"
	ExportStatusSucceeded ExportStatus = "succeeded"
	ExportStatusFailed    ExportStatus = "failed"
	ExportStatusExpired   ExportStatus = "expired"
)

// HistoryAction is what was done to a node.
type HistoryAction string

// Values of HistoryAction; a newer service may know more.
const (
	HistoryActionCreated       HistoryAction = "created"
	HistoryActionUpdated       HistoryAction = "updated"
	HistoryActionSuperseded    HistoryAction = "superseded"
	HistoryActionRevived       HistoryAction = "revived"
	HistoryActionForgotten     HistoryAction = "forgotten"
	HistoryActionRestored      HistoryAction = "restored"
	HistoryActionEdgeAsserted  HistoryAction = "edge_asserted"
	HistoryActionEdgeForgotten HistoryAction = "edge_forgotten"
)

// ImportFormat is what a file was found to be.
type ImportFormat string

// Values of ImportFormat; a newer service may know more.
const (
	ImportFormatText         ImportFormat = "text"
	ImportFormatMarkdown     ImportFormat = "markdown"
	ImportFormatJson         ImportFormat = "json"
	ImportFormatJsonl        ImportFormat = "jsonl"
	ImportFormatVtt          ImportFormat = "vtt"
	ImportFormatSrt          ImportFormat = "srt"
	ImportFormatLines        ImportFormat = "lines"
	ImportFormatHtml         ImportFormat = "html"
	ImportFormatCsv          ImportFormat = "csv"
	ImportFormatEml          ImportFormat = "eml"
	ImportFormatMbox         ImportFormat = "mbox"
	ImportFormatZip          ImportFormat = "zip"
	ImportFormatTar          ImportFormat = "tar"
	ImportFormatDocx         ImportFormat = "docx"
	ImportFormatPptx         ImportFormat = "pptx"
	ImportFormatXlsx         ImportFormat = "xlsx"
	ImportFormatOdt          ImportFormat = "odt"
	ImportFormatOds          ImportFormat = "ods"
	ImportFormatOdp          ImportFormat = "odp"
	ImportFormatEpub         ImportFormat = "epub"
	ImportFormatRtf          ImportFormat = "rtf"
	ImportFormatIcs          ImportFormat = "ics"
	ImportFormatPdf          ImportFormat = "pdf"
	ImportFormatSlack        ImportFormat = "slack"
	ImportFormatChatgpt      ImportFormat = "chatgpt"
	ImportFormatClaude       ImportFormat = "claude"
	ImportFormatMem0         ImportFormat = "mem0"
	ImportFormatZep          ImportFormat = "zep"
	ImportFormatOrgmemExport ImportFormat = "orgmem-export"
)

// ItemStatus is what became of an item.
type ItemStatus string

// Values of ItemStatus; a newer service may know more.
const (
	ItemStatusCreated    ItemStatus = "created"
	ItemStatusUnchanged  ItemStatus = "unchanged"
	ItemStatusSuperseded ItemStatus = "superseded"
	ItemStatusRevived    ItemStatus = "revived"
	ItemStatusFailed     ItemStatus = "failed"
)

// JobStatus is how far a job is.
type JobStatus string

// Values of JobStatus; a newer service may know more.
const (
	JobStatusQueued    JobStatus = "queued"
	JobStatusRunning   JobStatus = "running"
	JobStatusSucceeded JobStatus = "succeeded"
	JobStatusFailed    JobStatus = "failed"
	JobStatusCancelled JobStatus = "cancelled"
)

// JobType is what a job does.
type JobType string

// Values of JobType; a newer service may know more.
const (
	JobTypeIngest          JobType = "ingest"
	JobTypeIngestBatch     JobType = "ingest_batch"
	JobTypeImport          JobType = "import"
	JobTypeTranscript      JobType = "transcript"
	JobTypeSessionFinalize JobType = "session_finalize"
	JobTypeCognition       JobType = "cognition"
	JobTypeBrainTrain      JobType = "brain_train"
	JobTypeExport          JobType = "export"
	JobTypeSubjectErase    JobType = "subject_erase"
	JobTypeConnectorSync   JobType = "connector_sync"
	JobTypeQuality         JobType = "quality"
)

// KeyStatus says whether a key works.
type KeyStatus string

// Values of KeyStatus; a newer service may know more.
const (
	KeyStatusActive  KeyStatus = "active"
	KeyStatusRevoked KeyStatus = "revoked"
)

// MemberRole is what a member may do.
type MemberRole string

// Values of MemberRole; a newer service may know more.
const (
	MemberRoleOwner  MemberRole = "owner"
	MemberRoleAdmin  MemberRole = "admin"
	MemberRoleMember MemberRole = "member"
)

// MemoryScope is one memory, or all of the organization but the sandbox.
type MemoryScope string

// Values of MemoryScope; a newer service may know more.
const (
	MemoryScopeUser MemoryScope = "user"
	MemoryScopeOrg  MemoryScope = "org"
)

// NodeKind is what a node is.
type NodeKind string

// Values of NodeKind; a newer service may know more.
const (
	NodeKindDocument   NodeKind = "document"
	NodeKindBelief     NodeKind = "belief"
	NodeKindPreference NodeKind = "preference"
	NodeKindEvent      NodeKind = "event"
	NodeKindEntity     NodeKind = "entity"
	NodeKindSession    NodeKind = "session"
)

// NodeStatus says whether something stands.
type NodeStatus string

// Values of NodeStatus; a newer service may know more.
const (
	NodeStatusLive       NodeStatus = "live"
	NodeStatusSuperseded NodeStatus = "superseded"
	NodeStatusTombstoned NodeStatus = "tombstoned"
)

// BrainQuestion is how a question of a training was made.
type BrainQuestion string

// Values of BrainQuestion; a newer service may know more.
const (
	BrainQuestionSentence   BrainQuestion = "sentence"
	BrainQuestionTitle      BrainQuestion = "title"
	BrainQuestionTwoHops    BrainQuestion = "two_hops"
	BrainQuestionThreeHops  BrainQuestion = "three_hops"
	BrainQuestionComparison BrainQuestion = "comparison"
	BrainQuestionFormer     BrainQuestion = "former"
	BrainQuestionAccepted   BrainQuestion = "accepted"
)

// BrainStage is what a training learns from at a look.
type BrainStage string

// Values of BrainStage; a newer service may know more.
const (
	BrainStagePart    BrainStage = "part"
	BrainStageAll     BrainStage = "all"
	BrainStageFurther BrainStage = "further"
)

// GateSignKind is what a brain's gate looks at.
type GateSignKind string

// Values of GateSignKind; a newer service may know more.
const (
	GateSignKindAlways    GateSignKind = "always"
	GateSignKindBest      GateSignKind = "best"
	GateSignKindMargin    GateSignKind = "margin"
	GateSignKindAgreement GateSignKind = "agreement"
	GateSignKindNames     GateSignKind = "names"
	GateSignKindDensity   GateSignKind = "density"
	GateSignKindSubjects  GateSignKind = "subjects"
	GateSignKindCover     GateSignKind = "cover"
)

// PropagationTier is how far the brain had to look.
type PropagationTier string

// Values of PropagationTier; a newer service may know more.
const (
	PropagationTierNone     PropagationTier = "none"
	PropagationTierLocal    PropagationTier = "local"
	PropagationTierRegional PropagationTier = "regional"
	PropagationTierGlobal   PropagationTier = "global"
)

// ProposalStatus says whether a proposal was decided.
type ProposalStatus string

// Values of ProposalStatus; a newer service may know more.
const (
	ProposalStatusOpen     ProposalStatus = "open"
	ProposalStatusAccepted ProposalStatus = "accepted"
	ProposalStatusRejected ProposalStatus = "rejected"
)

// PurgeScope is what a purge empties.
type PurgeScope string

// Values of PurgeScope; a newer service may know more.
const (
	PurgeScopeSubject PurgeScope = "subject"
	PurgeScopeOrg     PurgeScope = "org"
)

// QualityMode weighs speed against care.
type QualityMode string

// Values of QualityMode; a newer service may know more.
const (
	QualityModeFast     QualityMode = "fast"
	QualityModeBalanced QualityMode = "balanced"
	QualityModeThorough QualityMode = "thorough"
)

// Role is who spoke in a session.
type Role string

// Values of Role; a newer service may know more.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
	RoleSystem    Role = "system"
)

// SearchMode is how a search looks.
type SearchMode string

// Values of SearchMode; a newer service may know more.
const (
	SearchModeHybrid  SearchMode = "hybrid"
	SearchModeVector  SearchMode = "vector"
	SearchModeKeyword SearchMode = "keyword"
)

// SessionStatus is what became of an event of a session.
type SessionStatus string

// Values of SessionStatus; a newer service may know more.
const (
	SessionStatusStored   SessionStatus = "stored"
	SessionStatusDeduped  SessionStatus = "deduped"
	SessionStatusRejected SessionStatus = "rejected"
)

// StaleReason is why a ground does not stand.
type StaleReason string

// Values of StaleReason; a newer service may know more.
const (
	StaleReasonSuperseded   StaleReason = "superseded"
	StaleReasonForgotten    StaleReason = "forgotten"
	StaleReasonEnded        StaleReason = "ended"
	StaleReasonContradicted StaleReason = "contradicted"
)

// TrainingStatus is how far a training is.
type TrainingStatus string

// Values of TrainingStatus; a newer service may know more.
const (
	TrainingStatusNone      TrainingStatus = "none"
	TrainingStatusQueued    TrainingStatus = "queued"
	TrainingStatusRunning   TrainingStatus = "running"
	TrainingStatusSucceeded TrainingStatus = "succeeded"
	TrainingStatusRejected  TrainingStatus = "rejected"
	TrainingStatusFailed    TrainingStatus = "failed"
)

// Unit is that in which a rule counts.
type Unit string

// Values of Unit; a newer service may know more.
const (
	UnitHour  Unit = "hour"
	UnitDay   Unit = "day"
	UnitWeek  Unit = "week"
	UnitMonth Unit = "month"
	UnitYear  Unit = "year"
)

// Weekday is a day of the week.
type Weekday string

// Values of Weekday; a newer service may know more.
const (
	WeekdayMonday    Weekday = "monday"
	WeekdayTuesday   Weekday = "tuesday"
	WeekdayWednesday Weekday = "wednesday"
	WeekdayThursday  Weekday = "thursday"
	WeekdayFriday    Weekday = "friday"
	WeekdaySaturday  Weekday = "saturday"
	WeekdaySunday    Weekday = "sunday"
)

// Scope is a grant of a key.
type Scope string

// Values of Scope; a newer service may know more.
const (
	ScopeRead              Scope = "read"
	ScopeWrite             Scope = "write"
	ScopeAdmin             Scope = "admin"
	ScopeGraphWrite        Scope = "graph:write"
	ScopeMemoryForget      Scope = "memory:forget"
	ScopeSubjectsProvision Scope = "subjects:provision"
	ScopeUsageRead         Scope = "usage:read"
)
