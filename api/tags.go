package api

// The tags that rows name.
const (
	tagIdentity = "Identity"
	tagKeys     = "Keys"
	tagSubjects = "Subjects"
	tagIngest   = "Ingestion"
	tagJobs     = "Jobs"
	tagSearch   = "Search"
	tagGraph    = "Graph"

	tagAccount      = "Account"
	tagAudit        = "Audit"
	tagSandbox      = "Sandbox"
	tagSettings     = "Settings"
	tagUsage        = "Usage"
	tagExports      = "Exports"
	tagPurge        = "Purge"
	tagRecall       = "Recall"
	tagConditioning = "Conditioning"
	tagReview       = "Contradictions and proposals"
	tagBrain        = "Brain"
	tagImports      = "Imports"
	tagSessions     = "Coding sessions"
	tagEvents       = "Events"
	tagWebhooks     = "Webhooks"
	tagConnectors   = "Connectors"
)

// tagTexts describes the tags, in the document's order.
var tagTexts = []tagText{
	{tagIdentity, "Who the key stands for."},
	{tagAccount, "The organization's people, and leaving it."},
	{tagAudit, "What was done, by whom, to what."},
	{tagKeys, "API keys of the caller."},
	{tagSandbox, "A memory to try things in, apart from all others, for keys that expire."},
	{tagSubjects, "The end users of the client's product, each with a memory of its own."},
	{tagIngest, "Pushing content in. All ingestion is asynchronous: 202 means queued, on disk."},
	{tagJobs, "The asynchronous work, of all kinds."},
	{tagSearch, "Finding passages."},
	{tagGraph, "The knowledge graph, record by record."},
	{tagConditioning, "Introducing the memory to other models."},
	{tagRecall, "What was derived from the memory: structured views, empty until the background cycle has run."},
	{tagReview, "What the background cycle asks the client to look at."},
	{tagBrain, "The organization's trained model. These routes act for the key's owner and take no X-Svc-Subject."},
	{tagUsage, "What was used, by whom."},
	{tagExports, "A memory as one JSON document."},
	{tagPurge, "Deleting all of a memory, in two steps."},
	{tagSettings, "What is spent on answers, and what is learned from."},
	{tagImports, "Files: documents and transcripts."},
	{tagSessions, "The transcripts of coding agents, line by line. They belong to the key's owner."},
	{tagEvents, "What happens, as it happens."},
	{tagWebhooks, "What happens, posted to the client's own server and signed."},
	{tagConnectors, "Places that content is fetched from."},
}

const documentText = "A private memory for each organization: content pushed in can be searched, recalled, edited with an audit trail, reasoned over and forgotten completely.\n\n" +
	"Memory is partitioned by subject. A request acts for the key's owner, or for the provisioned subject that `X-Svc-Subject` names. " +
	"Every failure is an RFC 9457 problem with a stable `code`; every answer carries `X-Request-Id`. " +
	"Unknown request fields are refused. Timestamps are RFC 3339 in UTC. " +
	"A method that an address does not have, HEAD and OPTIONS included, is answered 405 `method_not_allowed` with `Allow`. " +
	"Text holds no U+0000, JSON is nested 64 levels deep at most, and numbers are those of a double. " +
	"Measured figures are rounded, scores to six significant digits and all others to six decimals; what a client sent is answered as it came."
