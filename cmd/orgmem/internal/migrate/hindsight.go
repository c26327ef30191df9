package migrate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// hindsight reads the archive of a bank or of its documents
// (hindsight_api/engine/transfer/schema.py and export.py of its repository): manifest.json,
// documents/NNNNNN.json, observations.json; and pages of its interface as hindsight_client
// 1.1.0 has them: {"items": [...]} of /memories/list and /documents of a bank, and a
// document with its original_text.
func hindsight() product {
	return product{
		name:   "hindsight",
		layout: layout{lists: []string{"items", "facts", "chunks"}},
		knows: func(_ string, f *fields, base string) bool {
			return f.has("text", "fact_type") || f.has("source_bank_id") || f.has("id", "original_text") ||
				f.has("text", "sources", "proof_count") || f.has("chunk_index", "chunk_text") && f.has("^id") ||
				f.has("bank_id", "memory_unit_count")
		},
		passed: func(in Input, _ []Input) string {
			switch in.base {
			case "mental_models.json", "mental_model_history.json", "knowledge_pages.json", "directives.json", "webhooks.json",
				"banks.json", "bank.json", "audit_log.json", "llm_requests.json":
				return "holds settings, operations or answers that were made of the facts, and has no counterpart"
			}
			return ""
		},
		reader: func() reader { return &hindsightReader{banks: map[string]string{}, facts: newNames()} },
	}
}

type hindsightReader struct {
	banks map[string]string // by the folder of the manifest
	facts names             // ids, by their archive's folder, their document and place in it
}

func (h *hindsightReader) learn(e entry) {
	f, ok := fieldsOf(e.raw)
	switch {
	case !ok:
	case e.in.base == manifestFile:
		h.banks[path.Dir(e.in.Name)] = f.text("source_bank_id")
	case e.section == "facts":
		h.facts.learn(archive(e.in)+"\x00"+textOf(e.head["id"])+strings.TrimPrefix(e.where, "facts"), f.text("source_id"))
	}
}

// bank is that of the archive which a file lies in.
func (h *hindsightReader) bank(in Input) string {
	for dir := path.Dir(in.Name); ; dir = path.Dir(dir) {
		if bank := h.banks[dir]; bank != "" || dir == "." || dir == "/" {
			return bank
		}
	}
}

// archive is the folder that a file of an archive lies in, below documents or not.
func archive(in Input) string { return strings.TrimSuffix(path.Dir(in.Name), "/documents") }

// documentID is the id of a document, which only its bank gives once.
func documentID(bank, id string) string {
	if bank == "" || id == "" {
		return externalID("hindsight", id)
	}
	return externalID("hindsight", bank+"/"+id)
}

// factID is the id of a fact: a UUID, or else one that only its bank gives once.
func factID(bank, id string) string {
	if isUUID(id) {
		bank = ""
	}
	return documentID(bank, id)
}

// isUUID reports whether an id has the form of those that are given once in the world.
func isUUID(id string) bool {
	groups := strings.Split(id, "-")
	if len(groups) != 5 {
		return false
	}
	for i, n := range []int{8, 4, 4, 4, 12} {
		if len(groups[i]) != n || strings.Trim(strings.ToLower(groups[i]), "0123456789abcdef") != "" {
			return false
		}
	}
	return true
}

func (h *hindsightReader) take(e entry, s *sink) {
	f, ok := fieldsOf(e.raw)
	switch {
	case !ok:
		s.fault(e, "is no object")
	case e.in.base == manifestFile:
	case e.section == "chunks" || f.has("chunk_text"):
		s.leave(e, "chunks", "are made anew from their documents")
	case f.has("original_text"):
		h.document(e, f, s)
	case f.has("text"):
		h.fact(e, f, s)
	case f.has("bank_id", "memory_unit_count"):
		s.leave(e, "documents", "came without their content; get each by its id, or export the bank")
	case e.section == whole:
	default:
		s.leave(e, "records", "are neither documents nor memories")
	}
}

func (h *hindsightReader) document(e entry, f *fields, s *sink) {
	bank := cmp.Or(f.text("bank_id"), h.bank(e.in))
	d := draft{
		what: "documents", user: bank, content: f.text("original_text"),
		id: documentID(cmp.Or(bank, e.in.user), f.text("id")), meta: meta{metaSource: "hindsight"}, fields: f,
	}
	params := f.object("retain_params")
	d.at, d.badTime = params.when("event_date", "timestamp")
	d.recorded(f)
	d.meta.set("context", params.text("context"))
	d.meta.set("tags", f.texts("tags"))
	f.drop("content_hash", "memory_unit_count", "nodes_by_fact_type", "observation_scopes", "attachments", "text_length")
	d.meta.add("metadata", params.raw("metadata"))
	d.meta.add("document_metadata", f.raw("document_metadata"))
	d.meta.rest(f)
	s.note(e, d)
}

// fact is a memory unit: one that was said or done, or an observation, which was made of
// others.
func (h *hindsightReader) fact(e entry, f *fields, s *sink) {
	document := f.text("document_id")
	if own := e.head["id"]; document == "" && len(own) > 0 {
		document = textOf(own)
	}
	own := f.text("id", "source_id")
	if own == "" && document != "" && e.section == "facts" {
		own = document + strings.TrimPrefix(e.where, "facts")
	}
	user := cmp.Or(f.text("bank_id"), h.bank(e.in))
	bank := cmp.Or(user, e.in.user)
	d := draft{
		what: "facts", user: user, content: f.text("text"), level: levelFact,
		id: factID(bank, own), grounds: []string{documentID(bank, document)},
		meta: meta{metaSource: "hindsight"}, fields: f,
	}
	if own == "" {
		d.id = factID(bank, "text:"+mark(d.content))
	}
	kind := f.text("fact_type")
	if kind == "observation" || f.has("sources") {
		d.what, d.level = "observations", levelSummary
		h.sources(e.in, bank, f, &d)
	}
	if f.text("state") == "invalidated" || f.text("invalidated_at") != "" {
		s.leave(e, d.what, "were invalidated")
		return
	}
	mentioned, _ := f.when("mentioned_at", "created_at")
	if d.at, d.badTime = f.when("occurred_start", "event_date", "date"); d.at.IsZero() {
		d.at = mentioned
	}
	d.meta.set("mentionedAt", mentioned)
	end, _ := f.when("occurred_end")
	d.meta.set("occurredEnd", end)
	d.meta.set("factType", kind)
	d.meta.set("context", f.text("context"))
	d.meta.set("entities", entities(f))
	d.meta.set("tags", f.texts("tags"))
	f.drop("chunk_id", "chunk_index", "proof_count", "causal_relations", "observation_scopes", "consolidated_at",
		"consolidation_failed_at", "invalidation_reason", "embedding", "color", "edited_at", "updated_at")
	d.meta.add("metadata", f.raw("metadata"))
	d.meta.rest(f)
	s.note(e, d)
}

// entities are a list in the archive, and text with commas in the interface.
func entities(f *fields) []string {
	var all []string
	for _, one := range f.texts("entities") {
		for name := range strings.SplitSeq(one, ",") {
			if name = strings.TrimSpace(name); name != "" && name != "None" {
				all = append(all, name)
			}
		}
	}
	return all
}

// sources are the facts that an observation was made of: by id, or in the archive by their
// document and their place in it.
func (h *hindsightReader) sources(in Input, bank string, f *fields, d *draft) {
	for _, id := range f.texts("source_memory_ids") {
		d.grounds = append(d.grounds, factID(bank, id))
	}
	var places []struct {
		Document string `json:"document_id"`
		Fact     int    `json:"fact_index"`
	}
	if json.Unmarshal(f.raw("sources"), &places) != nil {
		return
	}
	for _, p := range places {
		place := fmt.Sprintf("%s[%d]", p.Document, p.Fact)
		d.grounds = append(d.grounds, factID(bank, cmp.Or(h.facts.of[archive(in)+"\x00"+place], place)))
	}
}
