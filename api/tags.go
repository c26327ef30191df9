package api

import "orgmem/api/web"

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
	tagQuality      = "Quality"
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
var tagTexts = []web.Tag{
	{Name: tagIdentity, Text: "Who the key stands for."},
	{Name: tagAccount, Text: "The organization's people, and leaving it."},
	{Name: tagAudit, Text: "What was done, by whom, to what."},
	{Name: tagKeys, Text: "API keys of the caller."},
	{Name: tagSandbox, Text: "A memory to try things in, apart from all others, for keys that expire."},
	{Name: tagSubjects, Text: "The end users of the client's product, each with a memory of its own."},
	{Name: tagIngest, Text: "Pushing content in. All ingestion is asynchronous: 202 means queued, on disk."},
	{Name: tagJobs, Text: "The asynchronous work, of all kinds."},
	{Name: tagSearch, Text: "Finding passages."},
	{Name: tagGraph, Text: "The knowledge graph, record by record."},
	{Name: tagConditioning, Text: "Introducing the memory to other models."},
	{
		Name: tagRecall,
		Text: "What was derived from the memory: structured views, empty until the background cycle has run.",
	},
	{Name: tagReview, Text: "What the background cycle asks the client to look at."},
	{
		Name: tagBrain,
		Text: "The organization's trained model. These routes act for the key's owner and take no X-Svc-Subject.",
	},
	{Name: tagUsage, Text: "What was used, by whom."},
	{Name: tagQuality, Text: "Whether a memory finds what it holds, and what is wrong with it."},
	{Name: tagExports, Text: "A memory as one JSON document."},
	{Name: tagPurge, Text: "Deleting all of a memory, in two steps."},
	{Name: tagSettings, Text: "What is spent on answers, and what is learned from."},
	{Name: tagImports, Text: "Files: documents and transcripts."},
	{Name: tagSessions, Text: "The transcripts of coding agents, line by line. They belong to the key's owner."},
	{Name: tagEvents, Text: "What happens, as it happens."},
	{Name: tagWebhooks, Text: "What happens, posted to the client's own server and signed."},
	{Name: tagConnectors, Text: "Places that content is fetched from."},
}

const documentText = "A private memory for each organization: content pushed in can be searched, recalled, edited " +
	"with an audit trail, reasoned over and forgotten completely.\n\n" +
	"Memory is partitioned by subject. A request acts for the key's owner, or for the provisioned subject that " +
	"`X-Svc-Subject` names. " +
	"Every failure is an RFC 9457 problem with a stable `code`; every answer carries `X-Request-Id`. " +
	"Unknown request fields are refused. Timestamps are RFC 3339 in UTC. " +
	"A method that an address does not have, HEAD and OPTIONS included, is answered 405 `method_not_allowed` with " +
	"`Allow`. " +
	"Text holds no U+0000, JSON is nested 64 levels deep at most, and numbers are those of a double. " +
	"Measured figures are rounded, scores to six significant digits and all others to six decimals; what a client sent " +
	"is answered as it came."
