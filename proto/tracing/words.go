package tracing

import "go.opentelemetry.io/otel/trace"

// Step is the name of a span.
type Step string

// The steps of a request, in the order in which one meets them (docs/operations.md, "Traces").
const (
	StepReceive   Step = "receive"      // until the body is there and checked
	StepAskNode   Step = "node call"    // another node is asked, and has answered
	StepServeNode Step = "node answer"  // what another node has asked
	StepMailbox   Step = "mailbox"      // the wait in the organization's mailbox
	StepAdmission Step = "admission"    // key, limits, subject and scope
	StepReadWait  Step = "read queue"   // the wait for a worker that reads
	StepRead      Step = "read"         // what a worker reads
	StepQuery     Step = "embed query"  // the words of a search become a vector
	StepSearch    Step = "index search" // candidates are found and ranked
	StepCommit    Step = "commit"       // until a change is durable and applied
	StepRaft      Step = "raft"         // of that in the log of the shard
	StepQueue     Step = "queue"        // an ingest waits for its memory's writer
	StepIngest    Step = "ingest"       // the writer takes items in
	StepEmbedWait Step = "embed queue"  // the wait for a worker that computes
	StepEmbed     Step = "embed"        // texts are read, cut and embedded
	StepIndex     Step = "index"        // the graph and the index take them in
	StepDelivery  Step = "webhook"      // an event is posted to an endpoint
	StepModel     Step = "chat"         // a language model outside is asked
)

// kind is what backends draw a span as.
func (s Step) kind() trace.SpanKind {
	switch {
	case s == StepAskNode, s == StepDelivery, s == StepModel:
		return trace.SpanKindClient
	case s == StepServeNode:
		return trace.SpanKindServer
	}
	return trace.SpanKindInternal
}

// Attribute is the name of what a span says.
type Attribute string

// The attributes that there are. Names without orgmem are those of the OpenTelemetry semantic conventions.
const (
	AttributeMethod    Attribute = "http.request.method"
	AttributeRoute     Attribute = "http.route"
	AttributeStatus    Attribute = "http.response.status_code"
	AttributeBytesIn   Attribute = "http.request.body.size"
	AttributeBytesOut  Attribute = "http.response.body.size"
	AttributeResend    Attribute = "http.request.resend_count"
	AttributeError     Attribute = "error.type"
	AttributeOperation Attribute = "gen_ai.operation.name"
	AttributeStore     Attribute = "gen_ai.memory.store.id" // the organization
	AttributeModel     Attribute = "gen_ai.request.model"
	AttributeProvider  Attribute = "gen_ai.provider.name"
	AttributeTokensIn  Attribute = "gen_ai.usage.input_tokens"
	AttributeTokensOut Attribute = "gen_ai.usage.output_tokens"
	AttributeServer    Attribute = "server.address"
	AttributePort      Attribute = "server.port"
	AttributeNode      Attribute = "orgmem.node"     // the other node
	AttributeItems     Attribute = "orgmem.items"    // how many are taken in
	AttributeChunks    Attribute = "orgmem.chunks"   // how many are embedded
	AttributeMemories  Attribute = "orgmem.memories" // how many are searched
	AttributeHits      Attribute = "orgmem.hits"     // how many were found
	AttributeChanges   Attribute = "orgmem.changes"  // how many share an entry of the log
	AttributeBytes     Attribute = "orgmem.bytes"
	AttributeEvent     Attribute = "orgmem.event" // the type of an event
	AttributeRate      Attribute = "orgmem.rate.remaining"
)

// The operations of a memory that the conventions have names for.
const (
	OperationSearch = "search_memory"
	OperationUpsert = "upsert_memory"
	OperationUpdate = "update_memory"
	OperationDelete = "delete_memory"
	OperationChat   = "chat"
)

// ProviderOpenAI names the form of the interface by which a language model outside is asked. Another firm may run it.
const ProviderOpenAI = "openai"

// FailureOther is a failure that no word of the vocabulary tells more of.
const FailureOther = "_OTHER"
