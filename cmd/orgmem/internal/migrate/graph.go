package migrate

import (
	"cmp"
	"strings"
)

// graphiti reads what Graphiti keeps, as graphiti_core 0.31.2 dumps it (model_dump_json of
// EpisodicNode, EntityNode, EntityEdge: graphiti_core/nodes.py and edges.py), in lists, in
// lines, or in an object of lists such as AddEpisodeResults; and what its server answers
// (server/graph_service: GET /episodes/{group_id}, POST /search).
func graphiti() product {
	return graphProduct("graphiti", func(section string, f *fields, _ string) bool {
		return f.has("uuid", "group_id") || section == "facts" && f.has("uuid", "fact", "expired_at") && !f.has("rating")
	})
}

// zep reads what Zep's interface answers, as the types of zep_cloud 4.0.1 have it (pages of
// Edge, Node, Episode, Message, Observation, Hyperedge: {"items": [...], "next_cursor"}; User and
// Thread say whose they are), and as the versions before answered: lists, and objects of
// "edges", "nodes", "episodes", "messages", "facts".
func zep() product {
	return graphProduct("zep", func(section string, f *fields, _ string) bool {
		switch {
		case f.has("group_id") || f.has("external_system") || f.has("fact_type"):
			return false
		case f.has("uuid", "fact"):
			return section != "facts" || !f.has("expired_at") || f.has("rating")
		}
		return f.has("uuid", "content") || f.has("uuid", "user_id") || f.has("uuid", "thread_id") ||
			f.has("uuid", "summary", "labels") || f.has("content", "role_type")
	})
}

func graphProduct(name string, knows func(string, *fields, string) bool) product {
	return product{
		name: name,
		layout: layout{
			lists: []string{
				"items", "edges", "facts", "entity_edges", "nodes", "entities", "entity_nodes", "episodes", "episodic_nodes",
				"messages", "users", "threads", "sessions", "communities", "episodic_edges", "community_edges", "observations",
				"hyperedges",
			},
			around: []string{"data", "graph", "results"},
		},
		knows: knows,
		reader: func() reader {
			return &graphReader{system: name, names: newNames(), users: map[string]string{}, threads: map[string]string{}}
		},
	}
}

// maxNames bounds the memory that the names of entities take.
const maxNames = 1_000_000

// names are what records are called, to say a relation in words.
type names struct{ of map[string]string }

func newNames() names { return names{map[string]string{}} }

func (n names) learn(id, name string) {
	if id != "" && name != "" && len(n.of) < maxNames {
		n.of[id] = clip(name, maxTitle)
	}
}

type graphReader struct {
	system  string
	names   names
	users   map[string]string // by Zep's uuids of users and of their graphs
	threads map[string]string // by uuid, the user's
}

// isEntity tells an entity from what else has a name: it has labels or a summary, and no
// content.
func isEntity(f *fields) bool {
	return f.has("name") && (f.has("labels") || f.has("summary")) && !f.has("content") && !f.has("fact")
}

func (g *graphReader) learn(e entry) {
	f, ok := fieldsOf(e.raw)
	if !ok {
		return
	}
	switch {
	case isEntity(f):
		g.names.learn(f.peek("uuid"), f.peek("name"))
	case f.has("uuid", "thread_id"):
		g.threads[f.peek("uuid")] = cmp.Or(f.peek("user_id"), f.peek("user_uuid"))
	case f.has("user_id") && !f.has("fact") && !f.has("content"): // Zep's User
		for _, id := range []string{f.peek("uuid"), f.peek("graph_uuid")} {
			if id != "" && len(g.users) < maxNames {
				g.users[id] = f.peek("user_id")
			}
		}
	}
}

// user is whose a record is: Graphiti's partition; Zep's user, named by the record, by the
// user's or the thread's own record, by whoever asked for that user's, or by the uuid alone.
func (g *graphReader) user(in Input, f *fields) string {
	group, id, uuid := f.text("group_id"), f.text("user_id"), f.text("user_uuid")
	thread, graph := f.peek("thread_uuid"), f.text("graph_uuid")
	name := f.text("graph_id")
	if uuid == "" {
		uuid = g.threads[thread]
	}
	return cmp.Or(group, id, g.users[uuid], g.users[graph], in.user, uuid, name, graph)
}

func (g *graphReader) take(e entry, s *sink) {
	f, ok := fieldsOf(e.raw)
	switch {
	case !ok:
		s.fault(e, "is no object")
	case f.has("fact"):
		g.fact(e, f, s)
	case f.has("content") && (f.has("uuid") || f.has("uuid_") || f.has("role") || f.has("role_type")):
		g.episode(e, f, s)
	case isEntity(f) && e.section != "communities":
		g.entity(e, f, s)
	case e.section == whole:
	case e.section == "communities":
		s.leave(e, "communities", "are made anew from what is taken")
	case f.has("source_node_uuid") || f.has("source_node"):
		s.leave(e, "mentions", "say which episode names what; they are made anew")
	case f.has("user_id") || f.has("thread_id") || f.has("session_id"):
		s.leave(e, "users and threads", "say whose the rest is, and are no memories")
	default:
		s.leave(e, "records", "are neither episodes nor entities nor facts")
	}
}

func (g *graphReader) draft(in Input, f *fields, what string, level int) draft {
	return draft{
		what: what, user: g.user(in, f), id: externalID(g.system, f.text("uuid", "uuid_", "id")), level: level, fields: f,
		meta: meta{metaSource: g.system},
	}
}

// ended reports whether a fact is over, and counts it then. Neither product says which fact
// took its place, so nothing can be superseded by it.
func ended(e entry, f *fields, s *sink, d *draft) bool {
	gone, _ := f.when("expired_at")
	until, _ := f.when("invalid_at")
	switch {
	case !gone.IsZero():
		s.leave(e, d.what, "were replaced or taken back (expired_at)")
		return true
	case !until.IsZero() && !until.After(s.plan.options.Now):
		s.leave(e, d.what, "are no longer true (invalid_at)")
		return true
	}
	d.meta.set("validUntil", until)
	return false
}

func (g *graphReader) fact(e entry, f *fields, s *sink) {
	d := g.draft(e.in, f, "facts", levelFact)
	if ended(e, f, s, &d) {
		return
	}
	d.content = f.text("fact")
	recorded, bad := f.when("created_at")
	if d.at, d.badTime = f.when("valid_at", "reference_time"); d.at.IsZero() {
		d.at, d.badTime = recorded, cmp.Or(d.badTime, bad)
	}
	d.meta.set("recordedAt", recorded)
	d.meta.set("relation", f.text("name", "fact_name"))
	d.meta.set("from", cmp.Or(f.text("source_node_name"), g.names.of[f.peek("source_node_uuid")]))
	d.meta.set("to", cmp.Or(f.text("target_node_name"), g.names.of[f.peek("target_node_uuid")]))
	g.grounds(f, &d)
	f.drop("fact_embedding", "score", "relevance", "rating", "scope", "source_node_uuid", "target_node_uuid",
		"source_node", "target_node", "source_node_labels", "target_node_labels", "hyperedge_uuid", "edges", "selection_rank")
	d.meta.add("attributes", f.raw("attributes"))
	d.meta.add("metadata", f.raw("metadata"))
	d.meta.rest(f)
	s.note(e, d)
}

// grounds are the episodes that something was read out of.
func (g *graphReader) grounds(f *fields, d *draft) {
	for _, name := range []string{"episodes", "episode_uuids"} {
		for _, uuid := range f.texts(name) {
			d.grounds = append(d.grounds, externalID(g.system, uuid))
		}
	}
	f.drop("episode_uuids_truncated")
}

func (g *graphReader) episode(e entry, f *fields, s *sink) {
	thread := f.peek("thread_uuid")
	d := g.draft(e.in, f, "episodes", levelSource)
	d.content = f.text("content")
	role := f.text("role_type")
	who := cmp.Or(f.text("role_name"), f.peek("role"), role)
	d.meta.set("role", cmp.Or(role, f.text("role")))
	if name := f.text("name"); who != "" { // of a message: the sender's
		d.what = "messages"
		d.content = cmp.Or(name, who) + ": " + d.content
	} else {
		d.title = name
	}
	d.at, d.badTime = f.when("valid_at", "reference_time", "created_at")
	d.meta.set("thread", cmp.Or(f.text("thread_id", "session_id"), thread))
	delete(f.all, "thread_uuid")
	f.drop("score", "relevance", "processed", "entity_edges", "labels", "content_policy", "token_count")
	d.meta.add("metadata", f.raw("metadata"))
	d.meta.add("episode_metadata", f.raw("episode_metadata"))
	d.meta.rest(f)
	s.note(e, d)
}

// entity is what the product says of a thing or a person. One of which it says nothing is
// made anew from the texts that name it.
func (g *graphReader) entity(e entry, f *fields, s *sink) {
	d := g.draft(e.in, f, "entities", levelFact)
	d.title = f.text("name")
	summary := strings.TrimSpace(f.text("summary"))
	if summary == "" {
		s.leave(e, d.what, "have no summary; they are made anew from what names them")
		return
	}
	d.content = d.title + ": " + summary
	d.at, d.badTime = f.when("created_at")
	d.meta.set("labels", f.texts("labels"))
	g.grounds(f, &d)
	f.drop("name_embedding", "summary_embedding", "score", "relevance", "degree")
	d.meta.add("attributes", f.raw("attributes"))
	d.meta.rest(f)
	s.note(e, d)
}
