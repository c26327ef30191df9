package contract

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
)

// TestIngestionToTheLetter: an accepted text is queued, not stored; what became of
// it is told under two names.
//
// interface: Resources/Ingest job
// interface: Endpoints/Ingest
// interface: Endpoints/Import
// interface: Endpoints/Jobs
// interface: Limits/Import history
// interface: States/Ingest job
// interface: What the service does/3 asynchronous ingestion
func TestIngestionToTheLetter(t *testing.T) {
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	s := startStack(t, func(c *tenant.Config) { c.Embedder = held{gate: gate} })
	t.Cleanup(open) // before the service stops
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	accepted := map[string]shape{"jobId": "uuid", "status": "string"}
	entry := map[string]shape{
		"id": "string", "jobId": "uuid", "filename": "string", "format": "string", "bytes": "int", "status": "string",
		"nodesCreated":    "int|null",
		"domainsDetected": "int|null", "createdAt": "time", "finishedAt": "time|null", "error": "string|null",
	}
	var jobs []string
	for _, sent := range []struct{ path, body, kind string }{
		{"/v1/ingest", `{"content":"The boiler is old."}`, "ingest"},
		{
			"/v1/ingest/batch", `{"items":[{"content":"The pump is new.","externalId":"p"},{"content":"The valve is stuck."}]}`,
			"ingest_batch",
		},
		{"/v1/import", form("The roof leaks."), "import"},
		{"/v1/import/transcript", form("Ann: Hello there.\nBob: Hello, Ann."), "transcript"},
	} {
		a := s.letter(t, c, http.MethodPost, sent.path, sent.body, http.StatusAccepted, accepted)
		if a.text(t, "status") != "pending" {
			t.Errorf("%s: %s", sent.path, a.body)
		}
		id := a.text(t, "jobId")
		jobs = append(jobs, id)
		job := s.letter(t, c, http.MethodGet, "/v1/jobs/"+id, "", http.StatusOK, shapeJob).object(t)
		status := s.letter(t, c, http.MethodGet, "/v1/ingest/"+id+"/status", "", http.StatusOK, shapeJob).object(t)
		want := map[string]any{"type": sent.kind, "result": nil, "finishedAt": nil}
		if diff := prototest.DiffObject(want, job); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sent.path, diff)
		}
		if !slices.Contains([]any{"queued", "running"}, job["status"]) ||
			!slices.Contains([]any{"pending", "running"}, status["status"]) {
			t.Errorf("%s: %v, %v", sent.path, job, status)
		}
	}
	// 202 means queued: nothing of it is found yet.
	if got := s.ok(t, c, http.MethodGet, "/v1/graph/nodes", "").entries(t, "data"); len(got) > 0 {
		t.Errorf("before the work: %v", got)
	}
	for _, e := range s.letter(t, c, http.MethodGet, "/v1/import", "", http.StatusOK, paged(entry)).entries(t, "data") {
		if e["nodesCreated"] != nil || e["domainsDetected"] != nil || e["finishedAt"] != nil {
			t.Errorf("before the work: %v", e)
		}
	}
	open()
	for _, id := range jobs {
		if job := s.job(t, c, id); job["status"] != "succeeded" || job["finishedAt"] == nil || job["error"] != nil {
			t.Errorf("job %v", job)
		}
		a := s.letter(t, c, http.MethodGet, "/v1/ingest/"+id+"/status", "", http.StatusOK, shapeJob)
		if a.text(t, "status") != "done" {
			t.Errorf("status %s", a.body)
		}
	}
	result := s.job(t, c, jobs[1])["result"].(map[string]any)["items"].([]any)
	if len(result) != 2 {
		t.Fatalf("items %v", result)
	}
	for i, want := range []map[string]any{
		{"externalId": "p", "status": "created"}, {"externalId": nil, "status": "created"},
	} {
		if diff := prototest.DiffObject(want, result[i].(map[string]any)); diff != "" {
			t.Errorf("the item at %d (-want +got):\n%s", i, diff)
		}
	}
	imports := s.letter(t, c, http.MethodGet, "/v1/import?pageSize=1", "", http.StatusOK, paged(entry)) // not paginated
	if got := imports.entries(t, "data"); len(got) != 2 || got[0]["nodesCreated"] == nil ||
		got[1]["domainsDetected"] == nil || imports.object(t)["hasMore"] != false {
		t.Errorf("imports %s", imports.body)
	}
	s.refused(t, c, http.MethodPost, "/v1/jobs/"+jobs[0]+"/cancel", "", "job_not_cancellable")
	writer := caller{key: o.mint(t, o.owner, "write")} // a ladder it is not
	s.refused(t, writer, http.MethodGet, "/v1/ingest/"+jobs[0]+"/status", "", "permission_denied")
	peer := caller{key: o.mint(t, o.recruit(t, "peer@example.com", pb.RoleAdmin), fullScope...)}
	s.refused(t, peer, http.MethodGet, "/v1/jobs/"+jobs[0], "", "job_not_found")
	if got := s.letter(t, c, http.MethodGet, "/v1/jobs", "", http.StatusOK, paged(shapeJob)).entries(t,
		"data"); len(got) < len(jobs) {
		t.Errorf("%d jobs", len(got))
	}
	if got := s.ok(t, peer, http.MethodGet, "/v1/jobs", "").entries(t, "data"); len(got) > 0 {
		t.Errorf("the peer's jobs: %v", got)
	}
}

// held is a model that waits for a gate before it reads a text.
type held struct {
	words
	gate <-chan struct{}
}

func (h held) NewEncoder() partition.Encoder { return h }

func (h held) Passages(texts []string) [][]float32 {
	<-h.gate
	return h.words.Passages(texts)
}

// TestGraphToTheLetter: records of the graph, and what each change answers.
//
// interface: Resources/Graph records
// interface: Endpoints/Graph nodes
// interface: Endpoints/Graph edges
// interface: Endpoints/Graph history
// interface: Endpoints/Recall node and search
// interface: States/Node forgotten
// interface: States/Node restored
// interface: States/Edge forgotten
// interface: Limits/Asserted weight and confidence
func TestGraphToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	s.ok(t, c, http.MethodPut, "/v1/subjects/anna", "")
	id, other, hers := s.note(t, c, "The boiler is old."), s.note(t, c, "The pump is new."),
		s.note(t, c.as("anna"), "The boiler is old.")
	named := regexp.MustCompile(`^ingest:([0-9a-f-]{36}):[^:]+$`)
	if m := named.FindStringSubmatch(id); m == nil || m[1] != o.owner.String() {
		t.Errorf("node %s of %s", id, o.owner)
	}
	if m := named.FindStringSubmatch(hers); m == nil || m[1] == o.owner.String() ||
		m[0][strings.LastIndex(m[0], ":"):] == id[strings.LastIndex(id, ":"):] {
		t.Errorf("anna's node %s, beside %s", hers, id)
	}
	node := s.letter(t, c, http.MethodGet, "/v1/graph/nodes/"+id, "", http.StatusOK, shapeNode)
	want := map[string]any{
		"content": "The boiler is old.", "status": "live", "kind": "document", "subject": nil, "tombstonedAt": nil,
		"restorableUntil": nil,
	}
	if diff := prototest.DiffObject(want, node.object(t)); diff != "" || node.header.Get("Etag") == "" {
		t.Errorf("%v (-want +got):\n%s", node.header, diff)
	}
	if got := s.ok(t, c.as("anna"), http.MethodGet, "/v1/graph/nodes/"+hers, "").text(t, "subject"); got != "anna" {
		t.Errorf("subject %q", got)
	}
	s.letter(t, c, http.MethodGet, "/v1/graph/nodes", "", http.StatusOK, paged(shapeNode))
	edited := s.letter(t, c, http.MethodPatch, "/v1/graph/nodes/"+id,
		`{"title":"Heating","metadata":{"a":1},"reason":"It has a name."}`, http.StatusOK, shapeNode, "If-Match",
		node.header.Get("Etag"))
	if edited.text(t, "title") != "Heating" || edited.header.Get("Etag") == node.header.Get("Etag") {
		t.Errorf("%v %s", edited.header, edited.body)
	}
	history := s.letter(t, c, http.MethodGet, "/v1/graph/nodes/"+id+"/history", "", http.StatusOK, paged(map[string]shape{
		"at": "time", "actor": map[string]shape{"keyId": "hash|null", "userId": "uuid|null", "subject": "string|null"},
		"action": "string", "reason": "string|null",
		"changes": []shape{map[string]shape{
			"field": "string", "before": "string|null", "after": "string|null",
			"truncated": "bool",
		}},
	})).entries(t, "data")
	if len(history) != 2 || history[0]["reason"] != "It has a name." ||
		history[0]["actor"].(map[string]any)["keyId"] != pb.HashKey(o.key).String() {
		t.Errorf("history %v", history)
	}
	if changes := fmt.Sprint(history[0]["changes"]); !strings.Contains(changes, "after:Heating") ||
		!strings.Contains(changes, "field:title") {
		t.Errorf("changes %s", changes)
	}

	// Edges: what is above the cap is the cap, and so is what is left out.
	assert := func(more string) string {
		return fmt.Sprintf(`{"source":%q,"target":%q,"type":"near"%s}`, id, other, more)
	}
	edge := s.letter(t, c, http.MethodPost, "/v1/graph/edges", assert(`,"weight":1,"confidence":0.41`),
		http.StatusCreated, shapeEdge)
	capped := map[string]any{"weight": 0.4, "confidence": 0.4, "origin": "asserted", "status": "live"}
	if diff := prototest.DiffObject(capped, edge.object(t)); diff != "" {
		t.Errorf("the edge (-want +got):\n%s", diff)
	}
	if got := s.letter(t, c, http.MethodPost, "/v1/graph/edges", assert(`,"weight":0.1,"confidence":0.25`), http.StatusOK,
		shapeEdge).object(t); got["weight"] != 0.1 || got["confidence"] != 0.25 {
		t.Errorf("%v", got)
	}
	for _, bad := range []string{`,"weight":1.01`, `,"confidence":-0.1`, `,"weight":"1"`, `,"wieght":1`} {
		s.refused(t, c, http.MethodPost, "/v1/graph/edges", assert(bad), "validation_failed")
	}
	path := "/v1/graph/edges/" + edge.text(t, "id")
	s.letter(t, c, http.MethodGet, path, "", http.StatusOK, shapeEdge)
	s.letter(t, c, http.MethodGet, "/v1/graph/edges", "", http.StatusOK, paged(shapeEdge))
	around := s.letter(t, c, http.MethodGet, "/v1/recall/graph/node/"+id, "", http.StatusOK,
		with(shapeNode, map[string]shape{
			"chunks":     []shape{map[string]shape{"chunkId": "string", "text": "string", "titlePath": []shape{"string"}}},
			"neighbours": []shape{map[string]shape{"node": shapeNode, "edge": shapeEdge}},
		})).object(t)
	if len(around["chunks"].([]any)) != 1 || len(around["neighbours"].([]any)) != 1 {
		t.Errorf("around it: %v", around)
	}
	if found := s.ok(t, c, http.MethodGet, "/v1/recall/graph/search?q=boiler", "").entries(t, "data"); len(found) != 1 ||
		found[0]["id"] != id {
		t.Errorf("by a word: %v", found)
	}
	editor := caller{key: o.mint(t, o.owner, "graph:write")} // edits, and cannot forget
	s.refused(t, editor, http.MethodDelete, path, "", "permission_denied")
	s.refused(t, editor, http.MethodDelete, "/v1/graph/nodes/"+id, "", "permission_denied")
	s.refused(t, c.as("anna"), http.MethodDelete, path, "", "edge_not_found")
	if got := s.letter(t, c, http.MethodDelete, path, "", http.StatusOK,
		shapeEdge).object(t); got["status"] != "tombstoned" || got["tombstonedAt"] == nil {
		t.Errorf("%v", got)
	}
	s.refused(t, c, http.MethodGet, path, "", "edge_not_found")
	for _, end := range []string{id, other} { // both ends tell it, and what the edge was
		told := s.ok(t, c, http.MethodGet, "/v1/graph/nodes/"+end+"/history", "").entries(t, "data")
		for i, want := range []string{
			"edge_forgotten source:" + id + ">nil type:near>nil target:" + other + ">nil weight:0.1>nil confidence:0.25>nil",
			"edge_asserted source:" + id + ">" + id + " type:near>near target:" + other + ">" + other +
				" weight:0.4>0.1 confidence:0.4>0.25",
			"edge_asserted source:nil>" + id + " type:nil>near target:nil>" + other + " weight:nil>0.4 confidence:nil>0.4",
		} {
			got := fmt.Sprint(told[i]["action"])
			for _, change := range told[i]["changes"].([]any) {
				x := change.(map[string]any)
				got += strings.ReplaceAll(fmt.Sprintf(" %v:%v>%v", x["field"], x["before"], x["after"]), "<nil>", "nil")
			}
			if got != want {
				t.Errorf("%s tells %q, want %q", end, got, want)
			}
		}
	}

	// Superseded: exactly these fields.
	by := s.letter(t, c, http.MethodPost, "/v1/graph/nodes/"+other+"/supersede",
		`{"content":"The pump is broken.","reason":"It broke."}`, http.StatusOK, map[string]shape{
			"oldNodeId": "string", "newNodeId": "string", "edgeId": "string", "created": "bool", "newAuthority": "number",
		}).object(t)
	if by["oldNodeId"] != other || by["edgeId"] != fmt.Sprintf("%s_%s_superseded_by", other, by["newNodeId"]) ||
		by["created"] != true {
		t.Errorf("%v", by)
	}
	s.letter(t, c, http.MethodGet, "/v1/graph/edges/"+by["edgeId"].(string), "", http.StatusOK, shapeEdge)
	if got := s.ok(t, c, http.MethodGet, "/v1/graph/nodes/"+other, "").object(t); got["status"] != "superseded" ||
		got["supersededBy"] != by["newNodeId"] {
		t.Errorf("the old one: %v", got)
	}

	// Forgotten: the content is gone for good, the place comes back.
	gone := s.letter(t, c, http.MethodDelete, "/v1/graph/nodes/"+id, "", http.StatusOK, shapeNode).object(t)
	forgotten := map[string]any{
		"status": "tombstoned", "title": "", "restorableUntil": stamp(s.clock.Now().Add(30 * 24 * time.Hour)),
	}
	diff := prototest.DiffObject(forgotten, gone)
	if _, there := gone["content"]; there || diff != "" {
		t.Errorf("forgotten: %v (-want +got):\n%s", gone, diff)
	}
	for _, place := range []string{"/v1/graph/nodes/" + id, "/v1/recall/graph/node/" + id} {
		s.refused(t, c, http.MethodGet, place, "", "node_not_found")
	}
	gate := `{"query":"The boiler is old.","includeSuperseded":true}`
	if a := s.ok(t, c, http.MethodPost, "/v1/search", gate); strings.Contains(string(a.body), "boiler") {
		t.Errorf("found: %s", a.body)
	}
	s.clock.Advance(29 * 24 * time.Hour)
	back := s.letter(t, c, http.MethodPost, "/v1/graph/nodes/"+id+"/undelete", "", http.StatusOK, shapeNode).object(t)
	diff = prototest.DiffObject(map[string]any{"status": "live", "id": id, "restorableUntil": nil}, back)
	if content, there := back["content"]; there && content != "" || diff != "" {
		t.Errorf("restored: %v (-want +got):\n%s", back, diff)
	}
	// What it was called is gone too, and a live node is called something.
	again := s.ok(t, c, http.MethodGet, "/v1/graph/nodes/"+id, "").object(t)
	listed := s.ok(t, c, http.MethodGet, "/v1/graph/nodes", "")
	if want := "Forgotten " + back["kind"].(string); back["title"] != want || again["title"] != want ||
		!strings.Contains(string(listed.body), want) {
		t.Errorf("restored it is called %q, then %q; listed: %s", back["title"], again["title"], listed.body)
	}
	titled := s.ok(t, c, http.MethodPatch, "/v1/graph/nodes/"+id, `{"title":"Something to be written again"}`).object(t)
	if titled["title"] != "Something to be written again" {
		t.Errorf("given a title: %v", titled)
	}
	if a := s.ok(t, c, http.MethodPost, "/v1/search", gate); strings.Contains(string(a.body), "boiler") {
		t.Errorf("found: %s", a.body)
	}
}

// TestReadsToTheLetter: what the kinds of reads answer, of a memory that has
// something and of one that has nothing yet.
//
// interface: Resources/Search hit
// interface: Resources/Conditioning pack
// interface: Resources/Recall identity view
// interface: Resources/Brain info
// interface: Endpoints/Search
// interface: Endpoints/Retrieve
// interface: Endpoints/Condition session
// interface: Endpoints/Condition scaffold
// interface: Endpoints/Recall views
// interface: Endpoints/Identity
// interface: Endpoints/Contradictions
// interface: Endpoints/Proposals
// interface: Endpoints/Brain
// interface: What the service does/derived views are empty at first
// interface: What the service does/4 kinds of reads
// interface: What the service does/1 graph and chunks
// interface: Endpoints/Conventions JSON
func TestReadsToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	s.ok(t, c, http.MethodPut, "/v1/subjects/anna", "")
	identity := map[string]shape{
		"manifold": "object|null", "voiceProfile": "object|null", "traits": []shape{"object"},
		"basins": []shape{"object"}, "portrait": []shape{"object"},
	}
	result := map[string]shape{"results": []shape{shapeHit}, "usage": shapeUnits}
	retrieved := with(result, map[string]shape{"paths": []shape{"object"}, "contradictions": []shape{"object"}})
	pack := map[string]shape{
		"systemPrompt": "string", "userVoiceHint?": "string", "orgRecentContext": []shape{"string"},
		"expiresAt": "time",
	}
	scaffold := map[string]shape{
		"prompt":     "string",
		"focalNodes": []shape{map[string]shape{"nodeId": "string", "title": "string", "weight": "number"}},
		"usage":      shapeUnits,
	}
	ids := fmt.Sprintf(`{"orgId":%q,"userId":%q,"cwd":"/src"}`, o.id, o.owner)
	for _, full := range []bool{false, true} {
		if full {
			s.note(t, c, "The boiler is old.")
			s.note(t, c.as("anna"), "Anna's boiler is new.")
		}
		hits := func(c caller, body string) int {
			a := s.letter(t, c, http.MethodPost, "/v1/search", body, http.StatusOK, result)
			if units := a.object(t)["usage"].(map[string]any); units["readUnits"] == 0.0 {
				t.Errorf("it costs nothing: %s", a.body)
			}
			return len(a.entries(t, "results"))
		}
		want := map[bool][]int{false: {0, 0, 0}, true: {1, 2, 1}}[full]
		got := []int{
			hits(c, `{"query":"boiler"}`), hits(c, `{"query":"boiler","scope":"org","topK":10}`),
			hits(c.as("anna"), `{"query":"boiler","scope":"user"}`),
		}
		if !slices.Equal(got, want) {
			t.Errorf("hits %v, want %v", got, want)
		}
		s.letter(t, c, http.MethodPost, "/v1/retrieve", `{"query":"boiler"}`, http.StatusOK, retrieved)
		a := s.letter(t, c, http.MethodPost, "/v1/condition/session", ids, http.StatusOK, pack)
		if at := a.text(t, "expiresAt"); at <= stamp(s.clock.Now()) {
			t.Errorf("it is fresh until %s", at)
		}
		wrapped := s.letter(t, c, http.MethodPost, "/v1/condition/scaffold", `{"prompt":"Write about the boiler."}`,
			http.StatusOK, scaffold)
		if !strings.Contains(wrapped.text(t, "prompt"), "Write about the boiler.") {
			t.Errorf("scaffold %s", wrapped.body)
		}
		if view := s.letter(t, c, http.MethodGet, "/v1/recall/identity", "", http.StatusOK,
			identity).object(t); view["manifold"] != nil || view["voiceProfile"] != nil {
			t.Errorf("before a cycle: %v", view)
		}
		s.letter(t, c, http.MethodGet, "/v1/identity/user/"+o.owner.String(), "", http.StatusOK,
			with(identity, map[string]shape{"userId": "uuid"}))
		for path, want := range map[string]shape{
			"/v1/recall/insights":            map[string]shape{"insights": []shape{"object"}},
			"/v1/recall/insights?pageSize=1": paged("object"),
			"/v1/recall/temporal?pageSize=1": paged("object"),
			"/v1/recall/temporal": map[string]shape{
				"events": []shape{"object"}, "recurrences": []shape{"object"}, "trends": []shape{"object"},
				"cadence?": "object",
			},
			"/v1/recall/graph": map[string]shape{
				"nodes": []shape{shapeNode}, "edges": []shape{shapeEdge},
				"domains": []shape{"object"}, "counts": map[string]shape{"nodes": "int", "edges": "int", "domains": "int"},
			},
			"/v1/recall/sessions":            paged("object"),
			"/v1/contradictions":             paged("object"),
			"/v1/contradictions?status=open": paged("object"),
			"/v1/proposals":                  paged("object"),
			"/v1/proposals?status=rejected":  paged("object"),
			"/v1/graph/domains":              paged("object"),
			"/v1/contradictions?status=resolved": map[string]shape{
				"data": []shape{"bool"}, "hasMore": "bool", // an empty page: nothing is a bool
			},
		} {
			s.letter(t, c, http.MethodGet, path, "", http.StatusOK, want)
		}
	}
	s.refused(t, c, http.MethodPost, "/v1/search", `{"query":"x","scope":"all"}`, "validation_failed")
	s.refused(t, c, http.MethodPost, "/v1/search", `{"query":" "}`, "validation_failed")
	s.refused(t, c.as("anna"), http.MethodPost, "/v1/search", `{"query":"x","scope":"org"}`, "permission_denied")
	for _, missing := range []string{"orgId", "userId", "cwd"} { // all three are required
		s.refused(t, c, http.MethodPost, "/v1/condition/session", strings.Replace(ids, `"`+missing+`"`, `"`+missing+`x"`, 1),
			"validation_failed")
	}
	other := s.org(t, "Other") // the credential decides, not what is written
	s.refused(t, c, http.MethodPost, "/v1/condition/session", strings.Replace(ids, o.id.String(), other.id.String(), 1),
		"permission_denied")
	for _, view := range []string{"identity", "graph"} {
		s.refused(t, c, http.MethodGet, "/v1/recall/"+view+"?pageSize=5", "", "pagination_unsupported")
		s.refused(t, c, http.MethodGet, "/v1/recall/"+view+"?cursor=x", "", "pagination_unsupported")
	}
	s.refused(t, c, http.MethodGet, "/v1/recall/moods", "", "recall_type_not_found")

	info := s.letter(t, c, http.MethodGet, "/v1/brain/info", "", http.StatusOK, map[string]shape{
		"artifact": "object|null", "training": map[string]shape{
			"status": "string", "jobId": "uuid|null", "startedAt": "time|null", "finishedAt": "time|null", "progress": "number",
			"metrics": "object", "reason": "string|null",
		},
	}).object(t)
	if info["artifact"] != nil || info["training"].(map[string]any)["status"] != "none" {
		t.Errorf("brain %v", info)
	}
	s.refused(t, c, http.MethodPost, "/v1/brain/query", `{"query":"boiler"}`, "brain_not_trained")
	const question = `{"query":"What is the boiler?"}`
	answer := s.letter(t, c, http.MethodPost, "/v1/brain/answer", question, http.StatusOK, map[string]shape{
		"answer": "string", "citations": []shape{map[string]shape{
			"nodeId": "string", "chunk": "string", "score": "number", "subject": "string|null", "span": "object",
		}},
		"voice": "string|null", "gateConfidence": "number", "usage": shapeUnits,
	}).object(t)
	if cited, _ := answer["citations"].([]any); len(cited) == 0 {
		t.Errorf("the answer cites nothing: %v", answer)
	}
	s.letter(t, c, http.MethodPost, "/v1/brain/train", "", http.StatusAccepted,
		map[string]shape{"jobId": "uuid", "status": "string"})
}

// TestIdentityAfterACycle: the two records that a cycle derives of who somebody is,
// field by field.
//
// interface: Resources/Recall identity view
func TestIdentityAfterACycle(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	for i := range 12 {
		s.note(t, c,
			fmt.Sprintf("We looked at the boiler again on day %d. I think the pump is what fails; it does so when the "+
				"water is cold.", i))
	}
	view := s.afterACycle(t, func() []map[string]any {
		v := s.ok(t, c, http.MethodGet, "/v1/recall/identity", "").object(t)
		if v["manifold"] == nil || v["voiceProfile"] == nil {
			return nil
		}
		return []map[string]any{v}
	})[0]
	s.letter(t, c, http.MethodGet, "/v1/recall/identity", "", http.StatusOK, map[string]shape{
		"manifold": map[string]shape{
			"version": "int", "n_dimensions": "int", "n_basins": "int", "n_signals": "int", "silhouette_score": "number",
			"variance_ratios":     []shape{"number"},
			"cumulative_variance": "number", "discovered_at": "time", "refresh_count": "int",
		},
		"voiceProfile": map[string]shape{
			"avgMessageLengthWords": "number", "formalityLevel": "number", "technicalDepth": "number", "evidenceCount": "int",
			"style": "object",
		},
		"traits": []shape{"object"},
		"basins": []shape{map[string]shape{
			"id": "string", "label": "string", "keywords": []shape{"string"},
			"share": "number", "nodeIds": []shape{"string"}, "current": "bool", "since": "time|null",
		}},
		"portrait": []shape{map[string]shape{"kind": "string", "text": "string", "nodes": []shape{"string"}}},
	})
	if m, ok := view["manifold"].(map[string]any); ok && float64(len(view["basins"].([]any))) != m["n_basins"] {
		t.Errorf("%v basins of %v", view["basins"], m)
	}
	plot := s.letter(t, c, http.MethodGet, "/v1/identity/plot", "", http.StatusOK, map[string]shape{
		"version": "int", "signalCount": "int", "axes": []shape{map[string]shape{"share": "number"}},
		"basins": []shape{map[string]shape{
			"id": "string", "label": "string", "share": "number", "current": "bool", "x": "number", "y": "number",
			"spread": map[string]shape{"major": "number", "minor": "number", "angle": "number"},
		}},
		"points": []shape{map[string]shape{
			"nodeId": "string", "title": "string", "basin": "string", "x": "number", "y": "number", "at": "time",
		}},
	}).object(t)
	if len(plot["basins"].([]any)) != len(view["basins"].([]any)) || len(plot["points"].([]any)) < 12 {
		t.Errorf("%v is drawn of %v", plot, view)
	}
}

// TestSessionsToTheLetter: what a coding session's routes answer.
//
// interface: Resources/Coding-session status
// interface: Endpoints/Coding sessions
// interface: Endpoints/Recall sessions
// interface: Endpoints/Conventions key owner's routes
// interface: Limits/Session batch
func TestSessionsToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	s.ok(t, c, http.MethodPut, "/v1/subjects/anna", "")
	one := map[string]shape{"index": "int", "status": "string", "nodeId": "string|null", "error?": "string"}
	event := `{"sessionId":"s","role":"user","text":"Why is the boiler cold?"}`
	var told []string
	for range 2 {
		told = append(told, s.letter(t, c, http.MethodPost, "/v1/ingest/session-event", event, http.StatusOK, one,
			"Idempotency-Key", "once").text(t, "status"))
	}
	batch := s.letter(t, c, http.MethodPost, "/v1/ingest/session-batch",
		`{"events":[`+event+`,{"sessionId":"s","role":"poet","text":"x"},{"sessionId":"s","role":"tool","text":"42"}]}`,
		http.StatusOK, map[string]shape{"results": []shape{one}})
	for i, r := range batch.entries(t, "results") {
		told = append(told, r["status"].(string))
		if r["index"] != float64(i) || (r["error"] != nil) != (r["status"] == "rejected") {
			t.Errorf("result %v", r)
		}
	}
	if want := []string{"stored", "deduped", "deduped", "rejected", "stored"}; !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
	lines := func(n int) string {
		return `{"events":[` + strings.TrimSuffix(strings.Repeat(event+",", n), ",") + `]}`
	}
	if got := s.letter(t, c, http.MethodPost, "/v1/ingest/session-batch", lines(500), http.StatusOK,
		map[string]shape{"results": []shape{one}}).entries(t, "results"); len(got) != 500 {
		t.Errorf("%d results of 500 events", len(got))
	}
	s.refused(t, c, http.MethodPost, "/v1/ingest/session-batch", lines(501), "validation_failed")
	s.letter(t, c, http.MethodPost, "/v1/ingest/agent-signals",
		`{"sessionId":"s","signals":[{"type":"loop"},{"type":"test_failure","detail":"TestBoiler"}]}`, http.StatusAccepted,
		map[string]shape{"accepted": "int"})
	s.letter(t, c, http.MethodGet, "/v1/ingest/session-status", "", http.StatusOK, shapeSessions)
	s.letter(t, c, http.MethodPost, "/v1/ingest/session-finalize", "", http.StatusOK,
		with(shapeSessions, map[string]shape{"alreadyInFlight": "bool"}))
	for _, j := range s.ok(t, c, http.MethodGet, "/v1/jobs?type=session_finalize", "").entries(t, "data") {
		s.job(t, c, j["id"].(string))
	}
	if got := s.letter(t, c, http.MethodGet, "/v1/ingest/session-status", "", http.StatusOK,
		shapeSessions).object(t); got["ingestPending"] != 0.0 || got["lastIngestedAt"] == nil {
		t.Errorf("%v", got)
	}
	sessions := s.letter(t, c, http.MethodGet, "/v1/recall/sessions", "", http.StatusOK, paged(map[string]shape{
		"id": "string", "cwd": "string|null", "model": "string|null", "eventCount": "int", "signalCount": "int",
		"firstEventAt": "time|null", "lastEventAt": "time|null",
		"createdAt": "time", "updatedAt": "time",
	}))
	listed := sessions.entries(t, "data")
	if len(listed) != 1 {
		t.Fatalf("sessions %s", sessions.body)
	}
	want := map[string]any{"id": "s", "eventCount": 2.0, "signalCount": 2.0}
	if diff := prototest.DiffObject(want, listed[0]); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
	for _, r := range []struct{ method, path, body string }{
		{http.MethodPost, "/v1/ingest/session-event", event},
		{http.MethodPost, "/v1/ingest/session-batch", lines(1)},
		{http.MethodPost, "/v1/ingest/agent-signals", `{"sessionId":"s","signals":[{"type":"loop"}]}`},
		{http.MethodPost, "/v1/ingest/session-finalize", ""},
		{http.MethodGet, "/v1/ingest/session-status", ""},
		{http.MethodGet, "/v1/brain/info", ""},
		{http.MethodPost, "/v1/brain/query", `{"query":"x"}`},
		{http.MethodPost, "/v1/brain/answer", `{"query":"x"}`},
		{http.MethodPost, "/v1/brain/train", ""},
	} {
		s.refused(t, c.as("anna"), r.method, r.path, r.body, "subject_not_supported")
	}
	s.letter(t, c, http.MethodDelete, "/v1/recall/sessions/s", "", http.StatusNoContent, nil)
	s.refused(t, c, http.MethodDelete, "/v1/recall/sessions/s", "", "session_not_found")
}
