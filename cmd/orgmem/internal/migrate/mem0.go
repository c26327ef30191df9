package migrate

import (
	"encoding/json"
	"slices"
	"strings"
)

// mem0 reads, each as the code of mem0ai 2.2.1 and of its repository writes it:
//
//   - Memory.get_all of mem0/memory/main.py, which the REST server's GET /memories
//     answers (server/main.py): {"results": [{id, memory, hash, created_at, user_id, ...}]},
//     with "relations" beside it where a version before 2 kept a graph;
//   - MemoryClient.get_all of mem0/client/main.py (POST /v3/memories/), which adds count,
//     next and previous, and calls the run session_id; and that of the package for npm
//     (mem0-ts), which makes userId of user_id; and get_memory_export (POST /v1/exports/get/), whose list is
//     called as the schema asked, "memories" as a rule;
//   - the backup of OpenMemory (openmemory/api/app/routers/backup.py): a ZIP archive of
//     memories.json and memories.jsonl.gz, which say the same.
func mem0() product {
	return product{
		name:   "mem0",
		layout: layout{lists: []string{"results", "memories", "relations"}},
		knows: func(section string, f *fields, _ string) bool {
			if f.has("isLatest") || f.has("containerTags") || f.has("external_system") {
				return false // Supermemory, cognee
			}
			return f.has("id", "memory") || f.has("id", "content", "state") ||
				section == "relations" && f.has("source", "relationship")
		},
		passed: func(in Input, all []Input) string {
			dir, packed := strings.CutSuffix(in.Name, "memories.jsonl.gz")
			if packed && slices.ContainsFunc(all, func(o Input) bool { return o.Name == dir+"memories.json" }) {
				return "says what memories.json beside it says"
			}
			return ""
		},
		reader: func() reader { return &mem0Reader{users: map[string]string{}, categories: map[string]string{}} },
	}
}

type mem0Reader struct {
	users      map[string]string // OpenMemory's own ids of users, and theirs
	categories map[string]string // names, by id
}

// learn notes how OpenMemory's backup names its user and its categories, which stand before
// the memories, and behind them in other versions.
func (m *mem0Reader) learn(e entry) {
	if e.section != whole {
		return
	}
	f, ok := fieldsOf(e.raw)
	if !ok {
		return
	}
	if u := f.object("user"); u.has("id", "user_id") {
		m.users[u.text("id")] = u.text("user_id")
	}
	var categories []struct{ ID, Name string }
	if json.Unmarshal(f.raw("categories"), &categories) == nil {
		for _, c := range categories {
			m.categories[c.ID] = c.Name
		}
	}
}

func (m *mem0Reader) take(e entry, s *sink) {
	f, ok := fieldsOf(e.raw)
	switch {
	case e.section == whole:
		return
	case !ok:
		s.fault(e, "is no object")
	case e.section == "relations":
		m.relation(e, f, s)
	case !isMemory(f):
		s.leave(e, "records", "hold no memory")
	default:
		m.memory(e, f, s)
	}
}

// isMemory reports whether a record is a memory: it is called so, or as the schema of an
// export has called it, beside what each memory has.
func isMemory(f *fields) bool {
	if f.has("memory") {
		return true
	}
	said := f.has("content") || f.has("text") || f.has("data")
	whose := slices.ContainsFunc([]string{"user_id", "userId", "agent_id", "agentId", "run_id", "runId", "state"},
		func(name string) bool { return f.has(name) })
	return said && whose && !f.has("bank_id")
}

func (m *mem0Reader) memory(e entry, f *fields, s *sink) {
	d := draft{
		what: "memories", content: f.text("memory", "content", "text", "data"), user: f.text("user_id", "userId"),
		id: externalID("mem0", f.text("id")), meta: meta{metaSource: "mem0"}, fields: f,
	}
	if theirs := m.users[d.user]; theirs != "" {
		d.user = theirs
	}
	if state := f.text("state"); state != "" && state != "active" {
		s.leave(e, d.what, "are "+state)
		return
	}
	if f.text("event") == "DELETE" {
		s.leave(e, d.what, "were deleted")
		return
	}
	if f.text("replaced_by", "replacedBy") != "" {
		s.leave(e, d.what, "were replaced by a newer one (replaced_by)")
		return
	}
	if until, _ := f.when("expiration_date", "expirationDate"); !until.IsZero() {
		if !until.After(s.plan.options.Now) {
			s.leave(e, d.what, "have expired (expiration_date)")
			return
		}
		d.meta.set("validUntil", until)
	}
	d.at, d.badTime = f.when("created_at", "createdAt")
	updated, _ := f.when("updated_at", "updatedAt")
	d.meta.set("updatedAt", updated)
	d.meta.set("agent", f.text("agent_id", "agentId"))
	d.meta.set("app", f.text("app", "app_id", "appId"))
	d.meta.set("run", f.text("run_id", "runId", "session_id", "sessionId"))
	d.meta.set("actor", f.text("actor_id"))
	d.meta.set("attributedTo", f.text("attributed_to", "attributedTo"))
	if f.text("synthesized") == "true" {
		d.meta["synthesized"] = true
	}
	categories := f.texts("categories")
	for _, c := range f.texts("category_ids") {
		if name := m.categories[c]; name != "" {
			categories = append(categories, name)
		}
	}
	d.meta.set("categories", categories)
	f.drop("hash", "score", "embedding", "vector", "immutable", "text_lemmatized", "structured_attributes",
		"structuredAttributes")
	d.meta.add("metadata", f.raw("metadata"))
	d.meta.rest(f)
	s.note(e, d)
}

// relation is a fact of the graph that mem0 kept before version 2: Memory.get_all gave
// source, relationship and target, Memory.search destination.
func (m *mem0Reader) relation(e entry, f *fields, s *sink) {
	from, name, to := f.text("source"), f.text("relationship", "relation"), f.text("target", "destination")
	if from == "" || name == "" || to == "" {
		s.leave(e, "relations", "name no two ends")
		return
	}
	d := draft{
		what: "relations", user: f.text("user_id"), content: sentence(from, name, to),
		meta: meta{metaSource: "mem0", "relation": name, "from": from, "to": to}, fields: f,
	}
	d.id = externalID("mem0", "relation:"+mark(d.user, from, name, to))
	d.at, d.badTime = f.when("created_at")
	f.drop("score")
	d.meta.rest(f)
	s.note(e, d)
}

// sentence says a relation in words.
func sentence(from, name, to string) string {
	spaced := strings.NewReplacer("_", " ", "-", " ")
	words := func(s string) string { return strings.Join(strings.Fields(spaced.Replace(s)), " ") }
	name = words(name)
	if name == strings.ToUpper(name) {
		name = strings.ToLower(name)
	}
	return words(from) + " " + name + " " + words(to) + "."
}
