package describe

import "orgmem/api/web"

// staleIncomplete describes the field of that name.
const staleIncomplete = "True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for " +
	"all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise."

// stillStands ends the description of a field stale, which begins with what rests.
const stillStands = ", as far as it no longer stands: nearest first. Absent where all of it stands."

// Fields are the descriptions of fields that a tag has no room for, by type and field.
var Fields = web.Texts{
	"stale.reason": "superseded: another node took its place. forgotten: it was. ended: nothing states it any more. " +
		"contradicted: an open contradiction is about it.",
	"stale.since": "Null where that is no longer known.",
	"ingestItemBody.derivedFrom": "What it rests on: ids of nodes, or externalIds of documents, of the same memory. " +
		"They must be there when the item's turn in the queue comes, and must not rest on it themselves; otherwise the " +
		"item fails and its job says which. Sent again, it rests on what the last request names; an empty list is as none.",
	"assertEdgeBody.derivedFrom": "What the relation rests on: ids of nodes, or externalIds of documents, of the same " +
		"memory. On an update it takes the place of what was there; an empty list takes it away.",
	"edge.derivedFrom": "The nodes that the client said it rests on; absent where it named none.",
	"node.derivedFrom": "The nodes that it was derived from, as its edges of type derived_from say; absent where " +
		"there are none.",
	"hit.stale":                 "What the node was derived from" + stillStands,
	"hit.staleIncomplete":       staleIncomplete,
	"edge.stale":                "What the edge was derived from" + stillStands,
	"edge.staleIncomplete":      staleIncomplete,
	"node.stale":                "What the node was derived from" + stillStands,
	"node.staleIncomplete":      staleIncomplete,
	"focalHit.stale":            "What the node was derived from" + stillStands,
	"focalHit.staleIncomplete":  staleIncomplete,
	"cosineHit.stale":           "What the node was derived from" + stillStands,
	"cosineHit.staleIncomplete": staleIncomplete,
	"hopPath.stale":             "What the edges of the path were derived from" + stillStands,
	"hopPath.staleIncomplete":   staleIncomplete,
	"citation.stale":            "The cited node and what it was derived from" + stillStands,
	"citation.staleIncomplete":  staleIncomplete,
	"citation.subject":          "The provisioned subject whose memory it is in; null for a person's own.",
	"citation.span": "What of the chunk the answer rests on, in characters (Unicode code points), end exclusive. " +
		"Absent: all of it.",
	"qualityReport.recall": "Of questions made of the memory's own content, without the former ones: the share " +
		"that what " +
		"they are made of, or a near duplicate, answers among the first 1, 5 and 10 hits.",
	"qualityReport.byKind": "The same by how the questions were made; kinds of which there are none are left out.",
	"qualityReport.unfound": "Of the memories that gave a question, those that none of their own questions found among " +
		"the first 10 hits.",
	"qualityReport.nearDuplicates": "Of the sampled, those of which another live memory says nearly the same in nearly " +
		"the same words.",
	"qualityReport.stale":        "Of memories, those that state what has ended, or rest on what no longer stands.",
	"qualityReport.formerFirst":  "Of the rankings of questions, those that put what no longer holds before what does.",
	"qualityReport.contradicted": "Of memories, those that are in an open contradiction.",
	"qualityReport.languages":    "Of the sampled, the most frequent first.",
	"qualityShare.low":           "The 95 % score interval of the share (Wilson), as if those counted were drawn at random.",
	"kindRecall.kind": "words: a sentence without its most telling words. paraphrase: some of its words in " +
		"another order. title: " +
		"the title and two words. former: words of what a superseded memory said; what took its place answers.",
	"writtenAnswer.stale":           "The cited nodes and what they were derived from" + stillStands,
	"writtenAnswer.staleIncomplete": staleIncomplete,
	"insight.stale":                 "The evidence and what it was derived from" + stillStands,
	"insight.staleIncomplete":       staleIncomplete,
	"listAuditInput.actor": "The id of an API key, the id of a user, operator (what was done through the " +
		"operator interface), or service (what the service did by itself).",
	"listAuditInput.target": "The id of what it was done to. A provisioned subject's id finds what was done to " +
		"the subject as a whole.",
	"auditEntry.target": "The id of what it was done to; null where that is the organization or the memory " +
		"itself, or has an id of the client's making. A subject that was erased is named by its partitionId.",
	"auditEntry.subject": "The provisioned subject it was done for, while it is provisioned; null for a " +
		"person's own memory, and once the subject was erased.",
	"auditEntry.partitionId": "The memory that it was done for, as in the ids of its nodes; it stays when a " +
		"subject is erased. Null where it was done for none.",
	"auditEntryActor.type": "operator: through the operator interface. service: by itself.",
	"brainTraining.report": "Of the brain that serves; null where none does, or where a version of this service " +
		"trained it " +
		"that kept none.",
	"brainTraining.latest": "Of the latest training, where that does not serve: its curve while it runs, all of " +
		"it where it " +
		"was rejected. Null otherwise.",
	"brainPoint.stage": "part: on a quarter of the questions that are learned from. all: on all of them. " +
		"further: what the " +
		"hits of the projected question count.",
	"brainPoint.learned": "Mean loss of the questions that are learned from, in nats, with what holds the " +
		"parameters near the " +
		"untrained ones. Absent where it was not evaluated.",
	"brainGateBins.bins": "The questions in order of their gate, in up to ten bins of ten at least, of about as " +
		"many each. " +
		"Empty: none were judged.",
	"brainGateBand.open": "The brain, were its gate wide open: where the gate is rightly low, it is worse than search.",
	"brainKind.kind": "sentence: some of a sentence's words. title: a title and some words. two_hops, " +
		"three_hops: words that " +
		"lead over a name to another document. comparison: two titles. former: words of what was superseded. accepted: two " +
		"documents that an accepted proposal joined.",
	"hit.explanation":          "Where explain was asked for.",
	"searchResult.explanation": "Where explain was asked for.",
	"searchBody.explain": "Each hit tells its places by meaning, by words and by both, the parts of its score, " +
		"and what the " +
		"brain changed.",
	"hitExplanation.rank": "Its place by total, among the nodes that were compared; absent: it was not among " +
		"them, and the " +
		"brain brought it.",
	"hitExplanation.meaningRank": "Absent: it is not among those compared, or meaning was not asked.",
	"hitExplanation.wordsRank":   "Absent: none of the words is in it, or words were not asked.",
	"hitExplanation.total": "The parts together, which search ranks by; score where no brain ranked, and no other " +
		"hit says the same.",
	"hitExplanation.brain": "What the brain added; absent where none ranked.",
	"hitExplanation.duplicateOf": "The node of the hit that says the same in the same words, for which it stands " +
		"behind all hits that do not; absent: none does.",
	"scoreParts.words":      "The weight of the words in common, as the score counts it.",
	"scoreParts.neighbours": "What the messages around it add.",
	"scoreParts.time":       "That it is of the time that the question asks about.",
	"scoreParts.brevity":    "What it loses for being short; not above 0.",
	"scoreParts.reading":    "What a reader made of it beside the question; 0 where none read it, and never less.",
	"brainChange.known": "Whether the brain knows the passage. One that is younger gains by likeness " +
		"and words only.",
	"brainChange.walk": "What the walk over the graph brought, as the gate lets it through; so are the " +
		"next three.",
	"brainChange.near":     "By nearness to the projected question.",
	"brainChange.change":   "walk, meaning, words and near together.",
	"brainChange.total":    "total and change together, which the brain ranks by.",
	"gateExplanation.shut": "Where gate is below, the walk goes no further than one step.",
	"gateSign.sign": "always: nothing, where training left the gate. best: the best hit's score. margin: by how " +
		"much the fifth is " +
		"behind. agreement: how many of the five best by meaning and by words are the same. names: what of the graph the " +
		"question names, up to four as 1. density: how many steps lead away. subjects: whether a document is about " +
		"something that it names. cover: how much of its words such names are.",
	"gateSign.pull": "By how many nats that opens the gate; below 0: shuts it.",
	"brainInfo.artifact": "The brain that serves; null where none does: none was trained, or it cannot be read " +
		"and is to be trained again.",
	"training.status": "rejected: by the parity gate. failed: nothing was trained, because there was too " +
		"little to learn from, or the work failed, or it was cancelled. Either way the brain before it goes " +
		"on serving.",
	"brainFound.driftRate": "How far the graph has moved since the training.",
	"brainFound.propagationTier": "How far the walk went for what it found: none, nothing is owed to it; " +
		"local, one hop; regional, two; global, further.",
	"writtenAnswer.citations": "The passages that the answer was taken from, in its order; empty when memory " +
		"holds nothing about the question.",
	"conditioningPack.orgRecentContext": "What the latest texts are about, newest first, from the effective subject's " +
		"own memory: titles, once for each thread, and of texts without one a sentence that tells something, with who " +
		"wrote it. Latest is by when the text's content happened (occurredAt), else by when it came in.",
	"conditioningPack.userVoiceHint": "Absent until there is enough writing, and where several people write the memory.",
	"scaffoldBody.maxTokens":         "Of the whole answer's prompt.",
	"listDomainsInput.q":             "Text that the label or a keyword must hold; case does not matter.",
	"domain.id":                      "The same from cycle to cycle, as long as most of its nodes are.",
	"domain.cohesion":                "The share of its nodes' edges that stay inside.",
	"assertEdgeBody.target":          "The id of the node that it leads to, another one.",
	"assertEdgeBody.type": "What the relation is called: 1 to 64 letters, digits and _ - . : beginning with a " +
		"letter. superseded_by is the service's own.",
	"assertEdgeBody.weight": "A value above 0.4 is stored, and answered, as 0.4, which is also what a new edge " +
		"has by default.",
	"assertEdgeBody.note": "Why it is so, in the client's words. Empty text takes the note away.",
	"edge.subject":        "The provisioned subject it belongs to; null for the key owner's own.",
	"editNodeInput.If-Match": "The ETag of the version that is edited, or several, or *: another version is " +
		"412. Without it whatever the node is now is edited.",
	"nodePatchBody.content":   "The text. A title that was made from the old one is made anew.",
	"historyChange.before":    "Metadata as the text of its JSON. Null where there was none, or it was forgotten.",
	"export.status":           "An export expires after some days, and as soon as something in it is forgotten.",
	"apiKey.id":               "The SHA-256 of the key, in hexadecimal; it cannot authenticate.",
	"apiKey.lastUsedAt":       "To the minute; null if the key was never used.",
	"embeddingState.embedded": "Those embedded with the model; the others are served by a former one until they are.",
	"apiKey.revokedAt":        "Null while the key is active.",
	"apiKey.scopes":           "What the key may do; of the sandbox always read and write.",
	"listTeamKeysInput.ids": "These keys, at most 50, with a comma between their ids: on one page whatever pageSize " +
		"says, in this order, without those that are not there. Not with cursor.",
	"listNodesInput.ids": "These nodes, at most 50, with a comma between their ids: on one page whatever pageSize says, " +
		"in this order, without those that are not there or that another filter leaves out. Not with q, externalId " +
		"or cursor.",
	"listNodesInput.q":       "Words that title or content must hold, all of them.",
	"recallSearchInput.q":    "Words that title or content must hold, all of them.",
	"node.title":             "Of a forgotten node empty; of one that was restored what it is, until it is given a title.",
	"node.subject":           "The provisioned subject it belongs to; null for the key owner's own.",
	"node.restorableUntil":   "Until when a forgotten node can be restored.",
	"nodeSource.externalIds": "Every id under which the client sent this content, earliest first.",
	"principal.subjectDefault": "The user's id: whose memory is meant when no subject is selected. It is not a " +
		"selector.",
	"createKeyBody.scopes": "What the key may do, at most what the caller may. Omitted: all of the caller's scopes.",
	"importEntry.domainsDetected": "Null until the job has ended, and 0 until the first cognition cycle behind " +
		"it has run: how many domains its documents are in then.",
	"ingestItemBody.externalId": "The client's own id of the document: new content under a known id supersedes " +
		"the old.",
	"ingestItemBody.occurredAt": "When what the text tells happened; by default, when it was ingested.",
	"ingestItemBody.metadata":   "Anything the client wants to find or filter by; at most 64 KiB.",
	"jobRecord.attempts": "How often the work that is left of it was begun, not counting what a stop, a crash " +
		"or a move of the service has interrupted. After 5 that failed the item at its head, or the job, is " +
		"given up; an erasure never is.",
	"jobRecord.result": "Null until it has finished, in lists, and for jobs that answer nothing.",
	"purgeReport.counts": "Records per store: vault_nodes, memory_chunks, graph_edges and others. What cycles " +
		"derive (domains, contradictions, edges of origin cognition …) goes too and is not counted, since it " +
		"changes by itself.",
	"every.nth": "Which of the weekdays in the month, or in the unit where it is a longer one: 1 is the first, " +
		"-1 the last.",
	"recallInput.asOf": "On graph: what held at this time; on insights and temporal: what was found, or had " +
		"happened, by then, as far as nothing had taken its text's place, and no trends. identity takes none.",
	"recallInput.pageSize": "On insights and temporal: how many entries to answer at most. Values above 100 " +
		"are read as 100.",
	"voiceProfile.style": "All other measures, by group and name. How often something comes is the binary logarithm " +
		"of its ratio to what is common in chats, commit messages and minutes in English: 0 as everybody, 1 twice " +
		"as often, -1 half as often, with one occurrence at the common rate taken as seen before. Means are " +
		"rhythm.typicalWords (of a message), rhythm.sentenceWords and spelling.wordLetters; rhythm.lengthSpread is the " +
		"standard deviation of the logarithm of a message's length. userVoiceHint of POST /v1/condition/session says " +
		"in words what stands out.",
	"identityView.voiceProfile": "Of what the memory's person wrote; of all that is written where several people " +
		"write the memory, and there are no traits then. Null until there is enough writing.",
	"identityView.portrait": "Who the person is, in plain words: at most 12 sentences, in the order in which " +
		"one would say them. " +
		"Each rests on more than one text, and goes at once with any of its nodes that is forgotten or superseded; empty " +
		"while too little is known. Of a memory that several people write only a line of themes is told.",
	"portrayal.kind": "manner (how they write), themes (what about, mostly and lately), preference and belief (what " +
		"they say, quoted), people (whom and what they mention), rhythm (when they write); there may be others later.",
	"identityPlot.version": "That of the manifold; null where no plot was derived: before the first cycle that found a " +
		"manifold, and of a memory that a version of this service which made none looked through last.",
	"identityPlot.axes": "The strongest dimensions of the manifold: two, and x is along the first. There is one where " +
		"the passages lie on a line; y is 0 then.",
	"identityPlot.points": "Some of the passages, at most 500, in the order in which they were written. Which of them " +
		"is chosen once: as others come, those that are shown stay, or make room.",
	"plotBasin.spread": "The ellipse around its middle that is two standard deviations of its passages long and wide: " +
		"of a round cloud 86 of 100 lie in it.",
	"plotEllipse.angle": "How far the longer half axis is turned from the first axis towards the second, in radians.",
	"basin.since":       "The time of the text by which the person came there; null in a basin where they are not.",
	"insight.kind": "responsibility, change, due, recurrence, commitment, open_question, rising_topic, " +
		"fading_topic, outlier or agent_signal; there may be others later.",
	"dated.at": "When it begins. Of what is named by its end alone, that end; and what a week or month is still to " +
		"bring, while it runs, is shown on the day of writing.",
	"dated.until": "When it is over, excluded: of a day the next one, of a week the Monday behind it. Absent where the " +
		"text does not say.",
	"dated.precision": "How exactly the text names the time: minute, day (also of several), week, month, quarter, year, " +
		"decade or century. What is of a week happens between at and until, on no day that is known. Absent where an " +
		"end is open.",
	"dated.bound":              "Where the text names one end only: latest, it is then or before; earliest, from then on.",
	"temporalView.recurrences": "What comes again and again, the latest told first, at most 200. Such a time is no event.",
	"temporalView.cadence":     "How regularly something is written; absent while that is too little.",
	"createSandboxKeyBody.ttlSeconds": "How long the key works: an hour to 90 days. Omitted: 7 days, where the " +
		"operator has not set another time.",
	"searchFilters.asOf": "What held at this time, whatever has superseded it since: by when a text's matter " +
		"happened, else when it was ingested.",
	"searchFilters.metadata": "Up to 16 names of metadata fields, each with the text, number or boolean that " +
		"it must equal.",
	"hit.subject":                   "The provisioned subject whose memory it is from; null for a person's.",
	"sessionEventBody.eventId":      "The client's own id of the event, by which it is deduped.",
	"sessionEventBody.metadata":     "Anything the client wants to find or filter by; at most 64 KiB.",
	"agentSignalBody.type":          "Such as tool_failure, loop, user_correction, test_failure or abandoned.",
	"sessionState.sessionEdgeCount": "The edges of those nodes, as the last cognition cycle counted them.",
	"sessionState.warmLayers":       "The recall views that hold something. Depends on the data: do not wait for it.",
	"sessionState.alreadyInFlight":  "Of session-finalize: an earlier one was still under way.",
	"subjectInput.subject_id": "The client's own id of the subject, percent-encoded: 1 to 256 bytes of UTF-8 " +
		"without control characters.",
	"usageInput.groupBy": "What a group is: a subject (the default), a subject and a capability, or a subject " +
		"and a key.",
	"usageGroup.subject": "The provisioned subject's id; the user id for a person's own memory; the id that " +
		"nodes carry for a subject that was erased.",
	"usageGroup.capability": "What was used, when grouped by capability: search, retrieve, graph, recall, " +
		"condition, brain or ingest.",
	"newWebhookBody.eventTypes":  "What to deliver; * alone stands for everything.",
	"webhook.inactiveEventTypes": "Those of its types that nothing publishes on this deployment.",
	"sentDelivery.body":          "The body as it was sent, byte for byte; null where it cannot be told.",
	"sentDelivery.unavailable":   "Why there is no body: gone or withheld; null where there is one.",
	"webhook.attempts":           "The last 50 delivery attempts, newest first; where one endpoint is asked for.",
	"webhook.secret": "The signing secret, in the answer that made the endpoint; " +
		"a replay has a marker in its place.",
	"UploadForm.metadata": "A JSON object, for every document of the file that has none of its own; a part that " +
		"holds its text.",
}
