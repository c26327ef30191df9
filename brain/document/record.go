package document

import "encoding/json"

const (
	// Format names the document.
	Format = "orgmem-export"
	// Version is the edition of its records.
	Version = 1
)

type (
	// Head stands at the beginning of a document: whose it is, and of what moment.
	Head struct {
		Format       string `json:"format"`
		Version      int    `json:"version"`
		ExportID     string `json:"exportId"`
		Scope        string `json:"scope"`
		CreatedAt    Time   `json:"createdAt"`
		Organization Org    `json:"organization"`
	}
	// Org is the organization that the document is of.
	Org struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Slug string `json:"slug"`
	}
	// Partition begins one memory, whose records follow in it. It goes by the kind of its
	// owner: a member or a subject.
	Partition struct {
		ID        string    `json:"id"`
		Kind      string    `json:"kind"` // member, subject
		Subject   string    `json:"subject,omitempty"`
		Email     string    `json:"email,omitempty"` // a member's
		CreatedAt Time      `json:"createdAt"`
		Settings  *Settings `json:"settings,omitempty"`
	}
	// Settings are those of a memory that somebody has set.
	Settings struct {
		QualityMode      *string `json:"qualityMode,omitempty"`
		LearnModeDefault *bool   `json:"learnModeDefault,omitempty"`
	}
	// Node is a node of the graph, with what belongs to it alone. Large because each field
	// is one of the document's JSON, which is flat.
	Node struct {
		ID              string          `json:"id"`
		OfContent       bool            `json:"ofContent"` // the id is what this content has in this memory
		Kind            string          `json:"kind"`
		Title           string          `json:"title"`
		Content         *string         `json:"content,omitempty"`
		DomainID        string          `json:"domainId,omitempty"`
		Authority       float64         `json:"authority"`
		Confidence      float64         `json:"confidence"`
		Status          string          `json:"status"`
		SupersededBy    string          `json:"supersededBy,omitempty"`
		Source          Source          `json:"source"`
		ValidFrom       Time            `json:"validFrom,omitzero"`
		ValidTo         Time            `json:"validTo,omitzero"`
		CreatedAt       Time            `json:"createdAt"`
		UpdatedAt       Time            `json:"updatedAt"`
		OccurredAt      Time            `json:"occurredAt,omitzero"`
		TombstonedAt    Time            `json:"tombstonedAt,omitzero"`
		RestorableUntil Time            `json:"restorableUntil,omitzero"`
		Was             string          `json:"was,omitempty"` // of a tombstone: its status before
		Metadata        json.RawMessage `json:"metadata,omitempty"`
		Turn            bool            `json:"turn,omitempty"`
		Unlearned       bool            `json:"unlearned,omitempty"`
		Edited          bool            `json:"edited,omitempty"`
		Erased          bool            `json:"erased,omitempty"`
		Curated         bool            `json:"curated,omitempty"`
		Placed          bool            `json:"placed,omitempty"` // a person chose the domain
		// Grounds are what it was derived from and is gone; the others its edges of type derived_from tell.
		Grounds []Ground `json:"grounds,omitempty"`
		Derived *Derived `json:"derived,omitempty"`
		Trace   *Trace   `json:"trace,omitempty"`
		History []Change `json:"history,omitempty"` // newest first
	}
	// Ground is a node that something was derived from.
	Ground struct {
		NodeID string `json:"nodeId"`
		Gone   string `json:"gone,omitempty"` // why it is not there any more: forgotten, ended
		Since  Time   `json:"since,omitzero"`
	}
	// Derived is of a node that was read out of texts: what it rests on.
	Derived struct {
		Type     string `json:"type"`
		Mentions uint32 `json:"mentions"`
		Forms    []Form `json:"forms,omitempty"`
	}
	// Form is a way in which texts write an entity.
	Form struct {
		Name       string  `json:"name"`
		Count      uint32  `json:"count"`
		Reason     string  `json:"reason,omitempty"`
		Confidence float64 `json:"confidence,omitempty"`
	}
	// Trace is what was read out of a node's text.
	Trace struct {
		Entities  []Named  `json:"entities,omitempty"`
		Relations []string `json:"relations,omitempty"`
		Dates     []Date   `json:"dates,omitempty"`
		Follows   string   `json:"follows,omitempty"`
	}
	// Named is an entity that a text names, and how it writes it.
	Named struct {
		NodeID string   `json:"nodeId"`
		Names  []string `json:"names,omitempty"`
	}
	// Date spans bytes of the text and milliseconds since 1970, which may lie
	// beyond what RFC 3339 can say.
	Date struct {
		Start uint32 `json:"start"`
		End   uint32 `json:"end"`
		From  int64  `json:"from,string"`
		Until int64  `json:"until,string"`
	}
	// Source says where a node came from.
	Source struct {
		Type        string   `json:"type"`
		JobID       string   `json:"jobId,omitempty"`
		ExternalIDs []string `json:"externalIds,omitempty"`
		Anonymous   bool     `json:"anonymous,omitempty"`
	}
	// Change is an entry of a node's history.
	Change struct {
		At      Time    `json:"at"`
		Action  string  `json:"action"`
		KeyID   string  `json:"keyId,omitempty"`
		UserID  string  `json:"userId,omitempty"`
		Reason  string  `json:"reason,omitempty"`
		Changes []Field `json:"changes,omitempty"`
	}
	// Field is what a change did to one field.
	Field struct {
		Field  string  `json:"field"`
		Before *string `json:"before,omitempty"`
		After  *string `json:"after,omitempty"`
		Cut    bool    `json:"cut,omitempty"`
	}
	// Edge is an edge of the graph. Large because each field is one of the document's JSON,
	// which is flat.
	Edge struct {
		ID           string   `json:"id"`
		Source       string   `json:"source"`
		Target       string   `json:"target"`
		Type         string   `json:"type"`
		Weight       float64  `json:"weight"`
		Confidence   float64  `json:"confidence"`
		Origin       string   `json:"origin"`
		Status       string   `json:"status"`
		Note         string   `json:"note,omitempty"`
		Evidence     []string `json:"evidence,omitempty"`
		ValidFrom    Time     `json:"validFrom,omitzero"`
		ValidTo      Time     `json:"validTo,omitzero"`
		CreatedAt    Time     `json:"createdAt"`
		UpdatedAt    Time     `json:"updatedAt,omitzero"`
		TombstonedAt Time     `json:"tombstonedAt,omitzero"`
		// TombstonedWith is the node with which it was forgotten, and comes back.
		TombstonedWith string   `json:"tombstonedWith,omitempty"`
		Grounds        []Ground `json:"grounds,omitempty"` // of an asserted one: all that it was derived from
	}
	// Domain is a topic that a cognition cycle has found.
	Domain struct {
		ID        string   `json:"id"`
		Label     string   `json:"label"`
		Keywords  []string `json:"keywords"`
		Refined   bool     `json:"refined,omitempty"` // a language model has made the label
		NodeCount uint32   `json:"nodeCount"`
		EdgeCount uint32   `json:"edgeCount"`
		Cohesion  float64  `json:"cohesion"`
		TopNodes  []string `json:"topNodes"`
		NamedBy   []string `json:"namedBy"` // the nodes that label and keywords were made of
		CreatedAt Time     `json:"createdAt"`
		UpdatedAt Time     `json:"updatedAt"`
	}
	// External is a client's own name for a document, and the node that it names.
	External struct {
		ExternalID string `json:"externalId"`
		NodeID     string `json:"nodeId"`
	}
	// Session is a coding session; its events follow in it.
	Session struct {
		ID        string `json:"id"`
		Cwd       string `json:"cwd,omitempty"`
		Model     string `json:"model,omitempty"`
		CreatedAt Time   `json:"createdAt"`
		UpdatedAt Time   `json:"updatedAt"`
	}
	// SessionEvent is an event of a coding session, or a signal that an agent has sent.
	SessionEvent struct {
		At       Time            `json:"at,omitzero"`
		Role     string          `json:"role,omitempty"`
		Text     string          `json:"text,omitempty"`
		Tool     string          `json:"tool,omitempty"`
		EventID  string          `json:"eventId,omitempty"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
		NodeID   string          `json:"nodeId,omitempty"`
		Signal   string          `json:"signal,omitempty"` // an agent's signal: its type
		Severity string          `json:"severity,omitempty"`
		Detail   string          `json:"detail,omitempty"`
	}
)
