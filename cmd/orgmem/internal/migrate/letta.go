package migrate

import (
	"cmp"
	"encoding/json"
	"strings"
)

// letta reads the file of an agent (GET /v1/agents/{agent_id}/export; AgentFileSchema of
// letta/schemas/agent_file.py: agents, blocks, files, sources, tools), the older one of a
// single agent with core_memory, and what letta_client 1.12.1 lists: passages of archival
// memory (types/passage.py), which no agent file holds, blocks, and messages.
func letta() product {
	return product{
		name: "letta",
		layout: layout{lists: []string{
			"agents", "blocks", "files", "core_memory", "messages", "tools", "sources", "groups", "mcp_servers",
			"passages", "data",
		}},
		knows: func(section string, f *fields, _ string) bool {
			switch {
			case f.has("external_system"):
				return false
			case section == "agents":
				return f.has("name", "messages")
			case section == "core_memory":
				return f.has("label", "value")
			}
			return f.has("id", "text") && (f.has("archive_id") || f.has("embedding_config") || f.has("source_id")) ||
				f.has("id", "label", "value")
		},
		reader: func() reader {
			return &lettaReader{
				agents: map[string]*lettaAgent{}, single: map[string]string{}, named: map[string]int{}, selves: map[string]bool{},
			}
		},
	}
}

type lettaReader struct {
	agents map[string]*lettaAgent // by file and id of an agent or of a block; a server's agents by id
	single map[string]string      // by file: the key of its only agent; "" where it has several
	named  map[string]int         // how many agents have a name
	selves map[string]bool        // of agents without a server's id
}

// lettaAgent is an agent, whose name need not be its own.
type lettaAgent struct {
	name string
	// self tells it from every other agent: the server's id, or else its name, its file, and
	// its place there, since an agent's file numbers its agents anew.
	self string
}

func (l *lettaReader) learn(e entry) {
	f, ok := fieldsOf(e.raw)
	if !ok {
		return
	}
	switch {
	case e.section == "agents":
		key := l.know(e.in, f.text("id"), f.text("name"))
		for _, block := range f.texts("block_ids") {
			if at := e.in.Name + "\x00" + block; l.agents[at] == nil && len(l.agents) < maxNames {
				l.agents[at] = l.agents[key]
			}
		}
	case e.section == whole && f.has("agent_type"): // the older file, of one agent
		l.know(e.in, f.text("id"), f.text("name"))
	}
}

// know takes in an agent of a file and returns its key.
func (l *lettaReader) know(in Input, id, name string) string {
	key := in.Name + "\x00" + id
	self := id
	if serverID("agent", id) {
		key = id
	} else {
		self = cmp.Or(name, "agent") + "/" + in.base + "/" + cmp.Or(id, "agent")
		if l.agents[key] == nil && l.selves[self] { // files of one name in two folders
			self += "#" + mark(in.Name)
		}
		l.selves[self] = true
	}
	if _, second := l.single[in.Name]; second {
		l.single[in.Name] = ""
	} else {
		l.single[in.Name] = key
	}
	if l.agents[key] == nil && len(l.agents) < maxNames {
		name = clip(cmp.Or(name, id), maxTitle)
		l.agents[key] = &lettaAgent{name, self}
		l.named[name]++
	}
	return key
}

// serverID tells an id that the server made from one of an agent's file, which numbers.
func serverID(kind, id string) bool {
	const uuid = 36
	return strings.HasPrefix(id, kind+"-") && len(id) >= len(kind)+1+uuid
}

// agent is that of an id, or that of a file; nil where neither is known.
func (l *lettaReader) agent(in Input, id string) *lettaAgent {
	if a := l.agents[id]; a != nil {
		return a
	}
	if a := l.agents[in.Name+"\x00"+id]; a != nil {
		return a
	}
	return l.agents[l.single[in.Name]]
}

// user is whose an agent's notes are: the subject of its name, unless others have that, too.
func (l *lettaReader) user(a *lettaAgent) string {
	switch {
	case a == nil:
		return ""
	case l.named[a.name] > 1:
		return nameAndID(a.name, strings.TrimPrefix(a.self, a.name+"/"))
	}
	return a.name
}

func nameAndID(name, id string) string { return name + " (" + id + ")" }

// shared says what becomes of agents that have the same name.
func shared(name, user string) string {
	return "has a name that other agents have, too: what is of " + name + " goes to " + user
}

// self is what tells the agent of a record from all others, or at least the file.
func (l *lettaReader) self(in Input, a *lettaAgent) string {
	if a != nil {
		return a.self
	}
	return cmp.Or(in.user, in.base)
}

func (l *lettaReader) take(e entry, s *sink) {
	f, ok := fieldsOf(e.raw)
	switch {
	case !ok:
		s.fault(e, "is no object")
	case e.section == "agents":
		l.whole(e, f, s)
	case e.section == whole:
		if a := l.agent(e.in, f.text("id")); f.has("agent_type") {
			l.told(e, a, s)
		}
	case f.has("value"):
		l.block(e, f, s)
	case e.section == "messages" || f.has("message_type"):
		l.message(e, f, s, l.agent(e.in, ""))
	case e.section == "files":
		l.file(e, f, s)
	case f.has("text"):
		l.passage(e, f, s)
	case f.has("messages", "name"):
		l.whole(e, f, s)
	default:
		s.leave(e, cmp.Or(e.section, "records"), "are settings of the agent, and have no counterpart")
	}
}

// told tells of an agent whose name is not its own.
func (l *lettaReader) told(e entry, a *lettaAgent, s *sink) {
	if user := l.user(a); a != nil && user != a.name {
		s.fault(e, shared(a.name, user))
	}
}

// whole takes what was said in an agent's context: its file has the last fifty messages.
func (l *lettaReader) whole(e entry, f *fields, s *sink) {
	a := l.agent(e.in, f.peek("id"))
	if a == nil { // alone in its file, outside of a list of agents
		name := cmp.Or(f.text("name"), f.peek("id"))
		a = &lettaAgent{name: name, self: name}
	}
	l.told(e, a, s)
	var messages []json.RawMessage
	if json.Unmarshal(f.raw("messages"), &messages) != nil {
		return
	}
	for _, raw := range messages {
		if m, ok := fieldsOf(raw); ok {
			l.message(e, m, s, a)
		}
	}
	if system := f.text("system"); system != "" {
		s.leave(e, "prompts", "are settings of the agent, and have no counterpart")
	}
}

// message is one of a person or of the agent. In an agent's file messages are numbered
// anew each time, so that what they say has to tell them apart.
func (l *lettaReader) message(e entry, f *fields, s *sink, a *lettaAgent) {
	role := cmp.Or(f.text("role"), strings.TrimSuffix(f.text("message_type"), "_message"))
	if role != "user" && role != "assistant" {
		s.leave(e, "messages", "are of the system or of tools")
		return
	}
	words := contentOf(f.raw("content"))
	if words == "" {
		words = contentOf(f.raw("text"))
	}
	agent := l.user(a)
	d := draft{
		what: "messages", user: agent, level: levelSource, meta: meta{metaSource: "letta", "role": role}, fields: f,
	}
	sent := cmp.Or(f.peek("created_at"), f.peek("date"))
	d.at, d.badTime = f.when("created_at", "date")
	if words != "" {
		d.content = strings.ToUpper(role[:1]) + role[1:] + ": " + words
	}
	own := f.text("id")
	if !serverID("message", own) {
		own = mark(agent, role, sent, words)
	}
	d.id = externalID("letta", own)
	f.drop("model", "tool_calls", "tool_call_id", "tool_returns", "otid", "sender_id", "batch_item_id", "group_id",
		"agent_id", "approve", "approval_request_id", "denial_reason", "approvals", "step_id", "run_id", "seq_id", "is_err")
	d.meta.rest(f)
	s.note(e, d)
}

// contentOf is a message's text, or the texts of its parts.
func contentOf(raw json.RawMessage) string {
	if s := textOf(raw); s != "" {
		return s
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var words []string
	for _, p := range parts {
		if f, ok := fieldsOf(p); ok && f.text("type") == "text" {
			words = append(words, f.text("text"))
		}
	}
	return strings.Join(words, "\n")
}

// block is a part of the core memory. In an agent's file blocks are numbered anew each time,
// but an agent has only one of a label.
func (l *lettaReader) block(e entry, f *fields, s *sink) {
	label, own := f.text("label"), f.text("id")
	a := l.agent(e.in, own)
	d := draft{
		what: "blocks", content: f.text("value"), title: label, level: levelFact,
		user: l.user(a), meta: meta{metaSource: "letta", "block": label}, fields: f,
	}
	if !serverID("block", own) {
		own = "block:" + l.self(e.in, a) + "/" + cmp.Or(label, own)
	}
	d.id = externalID("letta", own)
	d.at, d.badTime = f.when("updated_at", "created_at")
	d.meta.set("description", f.text("description"))
	f.drop("limit", "is_template", "template_name", "template_id", "base_template_id", "preserve_on_migration",
		"read_only", "project_id", "deployment_id", "entity_id", "hidden", "created_by_id", "last_updated_by_id",
		"organization_id", "version")
	d.meta.add("metadata", f.raw("metadata"))
	d.meta.add("metadata_", f.raw("metadata_"))
	d.meta.rest(f)
	s.note(e, d)
}

func (l *lettaReader) file(e entry, f *fields, s *sink) {
	a := l.agent(e.in, "")
	d := draft{
		what: "files", user: l.user(a), content: f.text("content"), title: f.text("original_file_name"),
		meta: meta{metaSource: "letta"}, fields: f,
	}
	d.title = cmp.Or(d.title, f.peek("file_name"))
	d.id = externalID("letta", "file:"+l.self(e.in, a)+"/"+cmp.Or(f.text("file_name"), f.peek("id")))
	d.at, d.badTime = f.when("file_last_modified_date", "file_creation_date")
	f.drop("id", "source_id", "file_path", "file_type", "file_size", "processing_status", "error_message", "total_chunks",
		"chunks_embedded", "organization_id")
	if d.content == "" {
		s.leave(e, d.what, "came without their content")
		return
	}
	d.meta.rest(f)
	s.note(e, d)
}

// passage is a text of archival memory.
func (l *lettaReader) passage(e entry, f *fields, s *sink) {
	id := f.text("agent_id")
	a := l.agents[id]
	if a == nil {
		a = l.agents[e.in.Name+"\x00"+id]
	}
	d := draft{
		what: "passages", user: l.user(a), content: f.text("text", "content"),
		id: externalID("letta", f.text("id")), meta: meta{metaSource: "letta"}, fields: f,
	}
	if f.text("is_deleted") == "true" {
		s.leave(e, d.what, "were deleted")
		return
	}
	if name := f.text("file_name"); name != "" {
		s.leave(e, d.what, "are parts of files, which are taken whole")
		return
	}
	d.at, d.badTime = f.when("created_at", "timestamp")
	updated, _ := f.when("updated_at")
	d.meta.set("updatedAt", updated)
	d.meta.set("tags", f.texts("tags"))
	f.drop("embedding", "embedding_config", "created_by_id", "last_updated_by_id", "organization_id", "source_id",
		"file_id")
	d.meta.set("archive", f.text("archive_id"))
	d.meta.add("metadata", f.raw("metadata"))
	d.meta.add("metadata_", f.raw("metadata_"))
	d.meta.rest(f)
	s.note(e, d)
}
