package migrate

import (
	"cmp"
	"encoding/json"
	"strings"
)

// supermemory reads pages of what Supermemory lists: of a namespace as the package
// supermemory 5.0.1 has it (types/list_response.py: {"documents", "chunks", "memories",
// "pagination"}), and as the versions before answered (packages/validation of its
// repository): {"memories": [document, ...]} of /v3/documents/list, whose documents have
// containerTags, {"memoryEntries": [...]} of /v4/memories/list, and documents with their
// memoryEntries in them.
func supermemory() product {
	return product{
		name: "supermemory",
		layout: layout{lists: []string{
			"documents", "chunks", "memories", "memoryEntries", "results",
		}},
		knows: func(_ string, f *fields, _ string) bool {
			return f.has("id", "isLatest") || f.has("id", "containerTags") || f.has("id", "documentId", "position") ||
				f.has("id", "system", "type") || f.has("id", "memory", "isForgotten") || f.has("id", "memoryEntries")
		},
		reader: func() reader { return supermemoryReader{} },
	}
}

type supermemoryReader struct{}

func (supermemoryReader) learn(entry) {}

func (r supermemoryReader) take(e entry, s *sink) {
	f, ok := fieldsOf(e.raw)
	switch {
	case e.section == whole:
	case !ok:
		s.fault(e, "is no object")
	case f.has("memory"):
		r.memory(e, f, s, "", "")
	case e.section == "chunks" || f.has("documentId", "position"):
		s.leave(e, "chunks", "are made anew from their documents")
	case f.has("id") && (f.has("system") || f.has("createdAt") || f.has("containerTags")):
		r.document(e, f, s)
	default:
		s.leave(e, "records", "are neither documents nor memories")
	}
}

// userOf is whose a record is: its container. What lies in several belongs to the first;
// the others are in the metadata.
func userOf(f *fields, m meta) string {
	tags := f.texts("containerTags")
	tag := f.text("containerTag", "namespace")
	if len(tags) > 0 {
		tag = cmp.Or(tag, tags[0])
	}
	if len(tags) > 1 {
		m.set("containerTags", tags)
	}
	return tag
}

func (r supermemoryReader) memory(e entry, f *fields, s *sink, user, document string) {
	d := draft{
		what: "memories", content: f.text("memory"), id: externalID("supermemory", f.text("id")), level: levelFact,
		meta: meta{metaSource: "supermemory"}, fields: f,
	}
	d.user = cmp.Or(userOf(f, d.meta), user)
	if f.text("isLatest") == "false" {
		s.leave(e, d.what, "were replaced by a newer version (isLatest)")
		return
	}
	if f.text("isForgotten") == "true" {
		s.leave(e, d.what, "were forgotten (isForgotten)")
		return
	}
	if until, _ := f.when("forgetAfter"); !until.IsZero() {
		if !until.After(s.plan.options.Now) {
			s.leave(e, d.what, "have expired (forgetAfter)")
			return
		}
		d.meta.set("validUntil", until)
	}
	r.times(f, &d)
	included := f.object("included")
	from := included.object("document")
	d.grounds = []string{
		externalID("supermemory", cmp.Or(document, from.text("id"))),
		externalID("supermemory", f.text("documentId", "sourceDocumentId")),
	}
	for _, id := range f.texts("documentIds") {
		d.grounds = append(d.grounds, externalID("supermemory", id))
	}
	if f.text("isInference") == "true" {
		d.meta["inferred"] = true
	}
	if f.text("isStatic") == "true" {
		d.meta["static"] = true
	}
	f.drop("version", "parentMemoryId", "rootMemoryId", "memoryRelations", "spaceId", "spaceContainerTag", "orgId",
		"userId", "sourceCount", "memoryEmbedding", "memoryEmbeddingModel", "memoryEmbeddingNew", "memoryEmbeddingNewModel",
		"forgetReason", "similarity", "history", "parents", "children", "sourceRelevanceScore", "sourceMetadata",
		"sourceAddedAt")
	d.meta.add("metadata", f.raw("metadata"))
	d.meta.rest(f)
	s.note(e, d)
}

// times are in system since 5, and in the record itself before.
func (supermemoryReader) times(f *fields, d *draft) {
	system := f.object("system")
	d.at, d.badTime = system.when("createdAt")
	if at, bad := f.when("createdAt"); d.at.IsZero() {
		d.at, d.badTime = at, cmp.Or(bad, d.badTime)
	}
	updated, _ := system.when("updatedAt")
	if at, _ := f.when("updatedAt"); updated.IsZero() {
		updated = at
	}
	d.meta.set("updatedAt", updated)
	d.meta.set("path", system.text("path", "filepath"))
}

func (r supermemoryReader) document(e entry, f *fields, s *sink) {
	own := f.text("id")
	var memories []json.RawMessage
	for _, name := range []string{"memoryEntries", "memories"} {
		var some []json.RawMessage
		if json.Unmarshal(f.raw(name), &some) == nil {
			memories = append(memories, some...)
		}
	}
	d := draft{
		what: "documents", title: f.text("title"), id: externalID("supermemory", own),
		meta: meta{metaSource: "supermemory"}, fields: f,
	}
	d.user = userOf(f, d.meta)
	r.times(f, &d)
	d.content = cmp.Or(f.text("content"), f.text("raw"))
	d.meta.set("customId", f.text("customId"))
	d.meta.set("url", f.text("url"))
	d.meta.set("type", f.text("type"))
	d.meta.set("summary", f.text("summary"))
	f.drop("status", "connectionId", "ogImage", "tokenCount", "wordCount", "chunkCount", "averageChunkSize", "chunks",
		"summaryEmbedding", "summaryEmbeddingModel", "processingMetadata", "contentHash", "orgId", "userId", "source",
		"taskType", "dreamingStatus")
	d.meta.add("metadata", f.raw("metadata"))
	d.meta.rest(f)
	user := d.user
	if strings.TrimSpace(d.content) == "" {
		s.leave(e, d.what, "came without their content; list them with it")
	} else {
		s.note(e, d)
	}
	for _, raw := range memories {
		if inner, ok := fieldsOf(raw); ok && inner.has("memory") {
			r.memory(e, inner, s, user, own)
		}
	}
}
