package migrate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// cognee reads what cognee.export of cognee 1.6.5 writes: the COGX archive, a folder of
// manifest.json and a JSONL file for each kind of record (modules/migration/cogx.py); the
// JSON of nodes and edges (modules/migration/formats.py, write_json); and the snapshot
// (modules/migration/snapshot.py, GraphSnapshot.save); and the graph that its server answers
// (GET /api/v1/datasets/{id}/graph), which has no times. GraphML and Cypher say less than each
// of these, and are not read.
func cognee() product {
	return product{
		name:   "cognee",
		layout: layout{lists: []string{"nodes", "edges"}},
		knows: func(section string, f *fields, _ string) bool {
			return f.has("external_system", "kind") || f.has("cogx_version") || f.has("relationship_name") ||
				f.has("source_id", "target_id", "relationship") ||
				(section == "nodes" || section == "") && f.has("id", "type") && isNode(f)
		},
		passed: func(in Input, all []Input) string {
			switch {
			case in.base == "permissions.json":
				return "holds accounts and hashes of passwords, and is not opened"
			case in.base == "nodes.jsonl" && slices.ContainsFunc(all, func(o Input) bool { return o.base == manifestFile }):
				return "holds nodes of the graph, which are made anew"
			}
			return ""
		},
		reader: func() reader { return &cogneeReader{names: newNames()} },
	}
}

// cogneeTypes are the types of nodes that cognee makes of any text.
var cogneeTypes = []string{"DocumentChunk", "Entity", "EntityType", "TextSummary", "TextDocument"}

// isNode tells a node of cognee's graph from what else has an id and a type.
func isNode(f *fields) bool {
	if f.has("label", "properties") { // as the server answers it
		return true
	}
	if f.has("memory") || f.has("isLatest") {
		return false
	}
	return f.has("topological_rank") || f.has("ontology_valid") || f.has("belongs_to_set") ||
		slices.Contains(cogneeTypes, f.peek("type"))
}

// cogneeStructure are the edges by which cognee holds its graph together. They say nothing
// that was written.
var cogneeStructure = []string{
	"contains", "is_part_of", "made_from", "is_a", "belongs_to_set", "has_summary", "exists_in", "mentions", "part_of",
}

type cogneeReader struct{ names names }

func (c *cogneeReader) learn(e entry) {
	f, ok := fieldsOf(e.raw)
	if !ok {
		return
	}
	id, label := f.peek("id"), f.peek("label")
	if label == f.peek("type")+"_"+id { // of one without a name
		label = ""
	}
	c.names.learn(cmp.Or(f.peek("external_id"), id), cmp.Or(f.peek("name"), label))
}

func (c *cogneeReader) take(e entry, s *sink) {
	f, ok := fieldsOf(e.raw)
	switch {
	case !ok:
		s.fault(e, "is no object")
	case e.in.base == manifestFile || e.section == whole:
	case e.section == "edges" || f.has("source", "target", "relationship_name"):
		c.edge(e, f, s)
	case e.section == "nodes" || f.has("type") && !f.has("kind"):
		c.node(e, f, s)
	default:
		c.record(e, f, s)
	}
}

// record is one of a COGX archive.
func (c *cogneeReader) record(e entry, f *fields, s *sink) {
	scope := f.object("scope")
	system, own := f.text("external_system"), f.text("external_id")
	d := draft{
		user: scope.text("user_id"), id: externalID("cognee", own), meta: meta{metaSource: "cognee"}, fields: f,
	}
	if system != "cognee" && system != "unknown" {
		d.meta.set("origin", system)
	}
	d.meta.set("agent", scope.text("agent_id"))
	d.meta.set("session", scope.text("session_id"))
	d.meta.set("run", scope.text("run_id"))
	kind := f.text("kind")
	d.what = strings.ReplaceAll(kind, "_", " ") + "s"
	if kind == "fact" {
		c.fact(e, f, s, d)
		return
	}
	switch kind {
	case "document", "memory":
		d.content, d.title = f.text("content"), f.text("title")
		d.meta.set("categories", f.texts("categories"))
	case "episode":
		d.title = f.text("title")
		d.content, d.at = turns(f.raw("turns"))
	case "memory_block":
		d.title, d.content = f.text("label"), f.text("value")
	case "entity":
		if !c.entity(e, f, s, &d) {
			return
		}
		d.meta.set("entityType", f.text("entity_type"))
		d.meta.set("aliases", f.texts("aliases"))
		d.meta.add("attributes", f.raw("attributes"))
	default:
		s.leave(e, "records", "are of a kind that is not known")
		return
	}
	c.finish(e, f, s, d)
}

// entity takes what is said of a thing or a person; false where nothing is.
func (c *cogneeReader) entity(e entry, f *fields, s *sink, d *draft) bool {
	d.what, d.level, d.title = "entities", levelFact, f.text("name", "label")
	about := strings.TrimSpace(f.text("description"))
	if about == "" || about == d.title {
		s.leave(e, d.what, "have no description; they are made anew from what names them")
		return false
	}
	d.content = d.title + ": " + about
	return true
}

// finish is what all records of an archive have.
func (c *cogneeReader) finish(e entry, f *fields, s *sink, d draft) {
	d.recorded(f)
	f.drop("limit", "mime_type")
	d.meta.add("metadata", f.raw("metadata"))
	d.meta.rest(f)
	s.note(e, d)
}

// fact is a relation, at times with a sentence that says it. Its subject and object are ids
// of entities, or their names.
func (c *cogneeReader) fact(e entry, f *fields, s *sink, d draft) {
	d.what, d.level = "facts", levelFact
	from, to := f.text("subject_ref"), f.text("object_ref")
	if !c.relation(e, s, &d, from, f.text("predicate"), to, f.text("fact_text")) || ended(e, f, s, &d) {
		return
	}
	d.at, d.badTime = f.when("valid_at")
	for _, id := range append(f.texts("provenance"), from) {
		d.grounds = append(d.grounds, externalID("cognee", id))
	}
	if n := f.text("confidence"); n != "" {
		d.meta["confidence"] = json.Number(n)
	}
	c.finish(e, f, s, d)
}

// relation puts a relation into words; false where it says nothing.
func (c *cogneeReader) relation(e entry, s *sink, d *draft, from, name, to, said string) bool {
	subject, object := cmp.Or(c.names.of[from], from), cmp.Or(c.names.of[to], to)
	d.meta.set("relation", name)
	switch {
	case slices.Contains(cogneeStructure, name):
		s.leave(e, "edges", "hold the graph together; they are made anew")
		return false
	case said != "" && said != name:
		d.content = said
	case c.names.of[from] == "" && isUUID(from) || c.names.of[to] == "" && isUUID(to):
		s.leave(e, "edges", "lead to something without a name")
		return false
	default:
		d.content = sentence(subject, name, object)
	}
	d.meta.set("from", subject)
	d.meta.set("to", object)
	return true
}

// edge is one of the JSON of a graph, or of a snapshot.
func (c *cogneeReader) edge(e entry, f *fields, s *sink) {
	from, to := f.text("source", "source_id"), f.text("target", "target_id")
	name := f.text("relationship_name", "relationship", "label")
	more := f.object("properties")
	d := draft{
		what: "facts", level: levelFact, id: externalID("cognee", fmt.Sprintf("%s:%s:%s", from, name, to)),
		meta: meta{metaSource: "cognee"}, fields: f,
	}
	said := cmp.Or(f.text("edge_text"), more.text("edge_text"))
	if !c.relation(e, s, &d, from, name, to, said) || ended(e, f, s, &d) || ended(e, more, s, &d) {
		return
	}
	d.grounds = []string{externalID("cognee", from)}
	d.at, d.badTime = f.when("valid_at", "created_at", "updated_at")
	if at, bad := more.when("valid_at", "created_at", "updated_at"); d.at.IsZero() {
		d.at, d.badTime = at, cmp.Or(d.badTime, bad)
	}
	f.drop("weight", "source_node_id", "target_node_id", "ontology_valid")
	more.drop("weight", "source_node_id", "target_node_id", "ontology_valid")
	d.meta.rest(f)
	d.meta.rest(more)
	s.note(e, d)
}

// node is one of the JSON of a graph, or of a snapshot.
func (c *cogneeReader) node(e entry, f *fields, s *sink) {
	kind := f.text("type")
	if more := f.object("properties"); len(more.all) > 0 { // as the server answers it
		maps.Copy(f.all, more.all)
	}
	if kind != "Entity" {
		f.drop("label") // made of the type and the id
	}
	d := draft{id: externalID("cognee", f.text("id")), meta: meta{metaSource: "cognee"}, fields: f}
	switch kind {
	case "DocumentChunk":
		d.what, d.content = "documents", f.text("text")
	case "Entity":
		if !c.entity(e, f, s, &d) {
			return
		}
	default:
		s.leave(e, "nodes of type "+clip(cmp.Or(kind, "unknown"), maxShown), "are made anew")
		return
	}
	d.recorded(f)
	f.drop("ontology_valid", "version", "topological_rank", "metadata", "belongs_to_set", "chunk_size", "chunk_index",
		"cut_type", "contains", "is_part_of", "is_a", "made_from", "feedback_weight", "source_pipeline", "source_task",
		"source_user", "source_node_set", "importance_weight", "source_content_hash")
	d.meta.rest(f)
	s.note(e, d)
}

// turns are a conversation, and when it began.
func turns(raw json.RawMessage) (string, time.Time) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return "", time.Time{}
	}
	var b strings.Builder
	var began time.Time
	for _, one := range all {
		f, ok := fieldsOf(one)
		if !ok {
			continue
		}
		role, words := f.text("role"), f.text("content")
		at, _ := f.when("occurred_at")
		if began.IsZero() {
			began = at
		}
		if words == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		if role != "" && role != "episode" { // what a whole episode is called
			b.WriteString(role + ": ")
		}
		b.WriteString(words)
	}
	return b.String(), began
}
