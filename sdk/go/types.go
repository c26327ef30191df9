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

// ActivatedEntity is an entity that the query set off in the brain.
type ActivatedEntity struct {
	Activation float64 `json:"activation"`
	NodeID     string  `json:"nodeId"`
	Title      string  `json:"title"`
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

// BrainInfo is the brain that serves, if any, and the latest training.
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

// ConditioningPack is what a model gets before a session.
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
	// Where explain was asked for.
	Explanation *HitExplanation `json:"explanation,omitzero"`
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
	// Where explain was asked for.
	Explanation *SearchExplanation `json:"explanation,omitzero"`
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

// Superseded is both nodes of a supersession.
type Superseded struct {
	Extra
	Created      bool    `json:"created"`
	EdgeID       string  `json:"edgeId"`
	NewAuthority float64 `json:"newAuthority"`
	NewNodeID    string  `json:"newNodeId"`
	OldNodeID    string  `json:"oldNodeId"`
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
