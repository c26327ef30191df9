package orgmem

import (
	"encoding/json"
	"time"
)

// What the service takes. A field that is its zero value is not sent, and the
// service's default holds; where a zero value means something, the field is a
// pointer, and Ptr makes one.

// Ptr returns a pointer to a value.
func Ptr[T any](value T) *T { return &value }

// Item is a content to remember. Content alone is required.
type Item struct {
	Content string `json:"content"`
	// The client's own name for it. New content under a known name takes the old
	// content's place.
	ExternalID string         `json:"externalId,omitzero"`
	Title      string         `json:"title,omitzero"`
	Kind       NodeKind       `json:"kind,omitzero"`
	OccurredAt time.Time      `json:"occurredAt,omitzero"`
	Metadata   map[string]any `json:"metadata,omitzero"`
	// What it rests on: at most 64 ids of nodes, or external ids, of the same memory.
	DerivedFrom []string `json:"derivedFrom,omitzero"`
}

// SearchRequest asks for passages. Query alone is required.
type SearchRequest struct {
	Query             string        `json:"query"`
	TopK              int           `json:"topK,omitzero"` // 10; at most 100
	Mode              SearchMode    `json:"mode,omitzero"` // hybrid
	Scope             MemoryScope   `json:"scope,omitzero"`
	Filters           SearchFilters `json:"filters,omitzero"` // all of them must hold
	IncludeSuperseded bool          `json:"includeSuperseded,omitzero"`
	// Each hit tells how it came to its place.
	Explain bool `json:"explain,omitzero"`
}

// SearchFilters narrow a search.
type SearchFilters struct {
	// What held at this time, whatever has superseded it since.
	AsOf          time.Time `json:"asOf,omitzero"`
	CreatedAfter  time.Time `json:"createdAfter,omitzero"`
	CreatedBefore time.Time `json:"createdBefore,omitzero"`
	DomainID      string    `json:"domainId,omitzero"`
	Kind          NodeKind  `json:"kind,omitzero"`
	// Up to 16 fields, each with the text, number or boolean that it must equal.
	Metadata map[string]any `json:"metadata,omitzero"`
}

// RetrieveRequest asks for passages and for what the graph leads to from them.
type RetrieveRequest struct {
	Query   string      `json:"query"`
	TopK    int         `json:"topK,omitzero"`
	MaxHops int         `json:"maxHops,omitzero"`
	Scope   MemoryScope `json:"scope,omitzero"`
}

// AnswerRequest asks for an answer in words.
type AnswerRequest struct {
	Query    string `json:"query"`
	MaxWords int    `json:"maxWords,omitzero"`
}

// BrainQuery asks the organization's brain.
type BrainQuery struct {
	Query string `json:"query"`
	TopK  int    `json:"topK,omitzero"`
}

// NodeFilter narrows a list of nodes.
type NodeFilter struct {
	ExternalID    string     `query:"externalId"` // the node that it means now
	IDs           string     `query:"ids"`        // these, at most 50 with commas between them, on one page in this order
	Query         string     `query:"q"`          // words that the title or content must hold, all of them
	AsOf          time.Time  `query:"asOf"`       // what held at this time
	Kind          NodeKind   `query:"kind"`       //
	Status        NodeStatus `query:"status"`     // live and superseded, unless one is named
	DomainID      string     `query:"domainId"`
	CreatedAfter  time.Time  `query:"createdAfter"`
	CreatedBefore time.Time  `query:"createdBefore"`
	PageSize      int        `query:"pageSize"` // 100, which is the most
}

// NodePatch changes a node. What is nil or empty stays as it is.
type NodePatch struct {
	Title    string   `json:"title,omitzero"`
	Content  string   `json:"content,omitzero"`
	Kind     NodeKind `json:"kind,omitzero"`
	DomainID *string  `json:"domainId,omitzero"` // Ptr("") takes it out of its domain
	// Replaces all of it; an empty map that is not nil takes it away.
	Metadata map[string]any `json:"metadata,omitzero"`
	Reason   string         `json:"reason,omitzero"` // for the history
	// The ETag of the node that was read: 412 if it has changed since.
	IfMatch string `json:"-"`
}

// MarshalJSON writes a domain that is to be taken away as null.
func (p NodePatch) MarshalJSON() ([]byte, error) {
	type plain NodePatch
	if p.DomainID == nil || *p.DomainID != "" {
		return json.Marshal(plain(p))
	}
	return json.Marshal(struct {
		plain
		DomainID *string `json:"domainId"`
	}{plain: plain(p)})
}

// EdgeFilter narrows a list of edges.
type EdgeFilter struct {
	Node     string     `query:"node"` // at either end
	Source   string     `query:"source"`
	Target   string     `query:"target"`
	Type     string     `query:"type"`
	Origin   EdgeOrigin `query:"origin"`
	PageSize int        `query:"pageSize"`
}

// NewEdge asserts a relation. Source, target and type are required.
type NewEdge struct {
	Source string `json:"source"`
	Target string `json:"target"`
	// 1 to 64 letters, digits and _ - . : that begin with a letter.
	Type string `json:"type"`
	// From 0 to 1. What is above 0.4 is stored, and answered, as 0.4.
	Weight     *float64 `json:"weight,omitzero"`
	Confidence *float64 `json:"confidence,omitzero"`
	Note       *string  `json:"note,omitzero"` // Ptr("") takes it away
	// As of an Item; an empty list that is not nil takes it away.
	DerivedFrom []string `json:"derivedFrom,omitzero"`
}

// DomainFilter narrows a list of domains.
type DomainFilter struct {
	Query    string `query:"q"`
	PageSize int    `query:"pageSize"`
}

// RecallQuery searches a memory's graph.
type RecallQuery struct {
	Query    string    `query:"q"`
	AsOf     time.Time `query:"asOf"`
	PageSize int       `query:"pageSize"`
}

// ConditionRequest asks for what a model gets before a session.
type ConditionRequest struct {
	CWD    string `json:"cwd"`
	OrgID  string `json:"orgId"`
	UserID string `json:"userId"`
}

// ScaffoldRequest asks for a prompt with what the memory has to say to it.
type ScaffoldRequest struct {
	Prompt    string `json:"prompt"`
	MaxTokens int    `json:"maxTokens,omitzero"`
}

// JobFilter narrows a list of jobs.
type JobFilter struct {
	Status   JobStatus `query:"status"`
	Type     JobType   `query:"type"`
	PageSize int       `query:"pageSize"`
}

// SessionEvent is something that was said in a coding session. SessionID, Role and
// Text are required.
type SessionEvent struct {
	SessionID string `json:"sessionId"`
	Role      Role   `json:"role"`
	Text      string `json:"text"`
	// The client's own id of the event, by which it is stored once.
	EventID  string         `json:"eventId,omitzero"`
	At       time.Time      `json:"at,omitzero"`
	CWD      string         `json:"cwd,omitzero"`
	Model    string         `json:"model,omitzero"`
	Tool     string         `json:"tool,omitzero"`
	Metadata map[string]any `json:"metadata,omitzero"`
}

// AgentSignal is something that went wrong in a coding session, or was corrected.
// With a time it is stored once, however often it is sent.
type AgentSignal struct {
	// Such as tool_failure, loop, user_correction, test_failure or abandoned.
	Type     string    `json:"type"`
	At       time.Time `json:"at,omitzero"`
	Detail   string    `json:"detail,omitzero"`
	Severity string    `json:"severity,omitzero"`
}

// AgentSignals are signals of one session.
type AgentSignals struct {
	SessionID string        `json:"sessionId"`
	Signals   []AgentSignal `json:"signals"`
}

// NewWebhook registers an address.
type NewWebhook struct {
	URL        string      `json:"url"`
	EventTypes []EventType `json:"eventTypes"` // EventTypeAny alone stands for everything
}

// PatchWebhook changes an endpoint.
type PatchWebhook struct {
	URL        string      `json:"url,omitzero"`
	EventTypes []EventType `json:"eventTypes,omitzero"`
	Disabled   *bool       `json:"disabled,omitzero"`
}

// NewConnector makes a connector.
type NewConnector struct {
	Type            ConnectorType   `json:"type"`
	Name            string          `json:"name"`
	Config          ConnectorConfig `json:"config"` // a FeedConfig, GitConfig or WebConfig, by its type
	Enabled         *bool           `json:"enabled,omitzero"`
	IntervalSeconds int             `json:"intervalSeconds,omitzero"`
}

// PatchConnector changes a connector.
type PatchConnector struct {
	Name            string          `json:"name,omitzero"`
	Config          ConnectorConfig `json:"config,omitzero"`
	Enabled         *bool           `json:"enabled,omitzero"`
	IntervalSeconds int             `json:"intervalSeconds,omitzero"`
}

// ConnectorConfig says what a connector reads: FeedConfig, GitConfig or WebConfig.
type ConnectorConfig interface{ connectorConfig() }

func (FeedConfig) connectorConfig() {}
func (GitConfig) connectorConfig()  {}
func (WebConfig) connectorConfig()  {}

// FeedConfig reads a feed.
type FeedConfig struct {
	URL           string `json:"url"`
	Authorization string `json:"authorization,omitzero"`
}

// GitConfig reads a repository.
type GitConfig struct {
	URL    string `json:"url"`
	Branch string `json:"branch,omitzero"`
	Path   string `json:"path,omitzero"`
	Token  string `json:"token,omitzero"`
}

// WebConfig reads pages: those of a site map, or those that are named.
type WebConfig struct {
	Sitemap       string   `json:"sitemap,omitzero"`
	Pages         []string `json:"pages,omitzero"`
	Authorization string   `json:"authorization,omitzero"`
}

// SettingsPatch changes settings.
type SettingsPatch struct {
	LearnModeDefault *bool       `json:"learnModeDefault,omitzero"`
	QualityMode      QualityMode `json:"qualityMode,omitzero"`
}

// UsageQuery says what usage is asked for.
type UsageQuery struct {
	StartTime time.Time     `query:"startTime"` // seven days before the end
	EndTime   time.Time     `query:"endTime"`   // now
	GroupBy   UsageGrouping `query:"groupBy"`
}

// AuditFilter narrows the audit trail.
type AuditFilter struct {
	Action        string    `query:"action"`
	Actor         string    `query:"actor"`
	Target        string    `query:"target"`
	CreatedAfter  time.Time `query:"createdAfter"`
	CreatedBefore time.Time `query:"createdBefore"`
	PageSize      int       `query:"pageSize"`
}

// MemberKeyFilter narrows the list of all members' keys.
type MemberKeyFilter struct {
	IDs      string `query:"ids"` // these, at most 50 with commas between them, on one page in this order
	PageSize int    `query:"pageSize"`
}

// UsageGrouping is what usage is grouped by.
type UsageGrouping string

// Values of UsageGrouping.
const (
	UsageBySubject    UsageGrouping = "subject"
	UsageByCapability UsageGrouping = "capability"
	UsageByKey        UsageGrouping = "key"
)
