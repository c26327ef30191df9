package contract

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/prototest"
)

// TestWebhooksToTheLetter: endpoints as they are registered, shown and changed.
//
// interface: Resources/Webhook endpoint
// interface: Endpoints/Webhooks
// interface: States/Webhook
// interface: Limits/Webhook endpoints
// interface: Limits/Event types
// interface: Limits/Webhook URL
// interface: Limits/Webhook URL length
func TestWebhooksToTheLetter(t *testing.T) {
	s := startStack(t)
	c := caller{key: s.org(t, "Acme").key}
	const body = `{"url":"https://example.com/hook","eventTypes":["job.completed","graph.updated"]}`
	made := s.letter(t, c, http.MethodPost, "/v1/webhooks", body, http.StatusCreated,
		with(shapeWebhook, map[string]shape{"secret": "string"}), "Idempotency-Key", "once")
	again := s.letter(t, c, http.MethodPost, "/v1/webhooks", body, http.StatusCreated,
		with(shapeWebhook, map[string]shape{"secret": "string"}), "Idempotency-Key", "once")
	if again.text(t, "secret") != "[redacted: returned only once]" || again.text(t, "id") != made.text(t, "id") ||
		again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s, then %v %s", made.body, again.header, again.body)
	}
	fresh := map[string]any{
		"disabled": false, "disabledReason": nil, "consecutiveFailures": 0.0, "lastDeliveryAt": nil, "updatedAt": nil,
	}
	if diff := prototest.DiffObject(fresh, made.object(t)); diff != "" {
		t.Errorf("endpoint (-want +got):\n%s", diff)
	}
	path := "/v1/webhooks/" + made.text(t, "id")
	attempt := map[string]shape{
		"id": "uuid", "eventId": "uuid", "eventType": "string", "attempt": "int", "at": "time", "durationMs": "int",
		"responseStatus": "int|null", "responseSnippet": "string",
		"error": "string|null", "ok": "bool",
	}
	tested := s.letter(t, c, http.MethodPost, path+"/test", "", http.StatusOK,
		map[string]shape{"ok": "bool", "status": "int|null", "durationMs": "int", "error": "string|null"}).object(t)
	if tested["ok"] != false || tested["status"] != nil { // nobody is there, and it is a 200 all the same
		t.Errorf("%v", tested)
	}
	detail := s.letter(t, c, http.MethodGet, path, "", http.StatusOK,
		with(shapeWebhook, map[string]shape{"attempts": []shape{attempt}}))
	if got := detail.entries(t, "attempts"); len(got) != 1 || got[0]["eventType"] != "webhook.test" ||
		detail.object(t)["consecutiveFailures"] != 0.0 {
		t.Errorf("%s", detail.body)
	}
	sent := s.letter(t, c, http.MethodGet, path+"/deliveries/"+detail.entries(t, "attempts")[0]["id"].(string), "",
		http.StatusOK, map[string]shape{
			"delivery": attempt, "body": "string|null", "signature": "string|null", "unavailable": "string|null",
		})
	if body, _ := sent.object(t)["body"].(string); !strings.Contains(body, `"type":"webhook.test"`) {
		t.Errorf("%s", sent.body)
	}
	s.letter(t, c, http.MethodGet, "/v1/webhooks", "", http.StatusOK, paged(shapeWebhook))
	for change, want := range map[string]bool{`{"disabled":true}`: true, `{"disabled":false}`: false} {
		if got := s.letter(t, c, http.MethodPatch, path, change, http.StatusOK,
			shapeWebhook).object(t); got["disabled"] != want || (got["disabledReason"] != nil) != want ||
			got["updatedAt"] == nil {
			t.Errorf("%s: %v", change, got)
		}
	}
	longest := "https://example.com/" + strings.Repeat("x", 2048-len("https://example.com/"))
	types := func(n int) string { return strings.TrimSuffix(strings.Repeat(`"job.completed",`, n), ",") }
	for _, bad := range []string{
		`{"url":"http://example.com/","eventTypes":["*"]}`, `{"url":"https://a:b@example.com/","eventTypes":["*"]}`,
		`{"url":"https://example.com:444/","eventTypes":["*"]}`,
		`{"url":"https://10.0.0.1/","eventTypes":["*"]}`, `{"url":"https://127.0.0.1/","eventTypes":["*"]}`,
		`{"url":"https://[::1]/","eventTypes":["*"]}`,
		`{"url":"https://100.64.0.1/","eventTypes":["*"]}`, `{"url":"https://[2002:7f00:1::]/","eventTypes":["*"]}`,
		`{"url":"https://[fe80::1]/","eventTypes":["*"]}`,
		fmt.Sprintf(`{"url":%q,"eventTypes":["*"]}`, longest+"x"),
		`{"url":"https://example.com/","eventTypes":["job.dreamt"]}`, `{"url":"https://example.com/","eventTypes":[]}`,
		`{"url":"https://example.com/"}`,
		`{"url":"https://example.com/","eventTypes":[` + types(21) + `]}`,
	} {
		s.refused(t, c, http.MethodPost, "/v1/webhooks", bad, "validation_failed")
	}
	s.letter(t, c, http.MethodPost, "/v1/webhooks", fmt.Sprintf(`{"url":%q,"eventTypes":["*"]}`, longest),
		http.StatusCreated, with(shapeWebhook, map[string]shape{"secret": "string"}))
	s.ok(t, c, http.MethodPost, "/v1/webhooks", `{"url":"https://example.com/","eventTypes":[`+types(20)+`]}`)
	for range 17 {
		s.ok(t, c, http.MethodPost, "/v1/webhooks", body)
	}
	s.refused(t, c, http.MethodPost, "/v1/webhooks", body, "webhook_limit_reached")
	s.letter(t, c, http.MethodDelete, path, "", http.StatusNoContent, nil)
	s.refused(t, c, http.MethodGet, path, "", "webhook_not_found")
	s.ok(t, c, http.MethodPost, "/v1/webhooks", body) // there is room again
}

// TestListedRoutesReplay sends each route that the interface lists under
// Idempotency-Key twice: the second answer is the first one's, but for a secret.
// The routes that it excepts do their work again.
//
// interface: Endpoints/Conventions Idempotency-Key
func TestListedRoutesReplay(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	f := fixture{s, o, o.owner, caller{key: o.key}, &atomic.Int64{}}
	listed := []string{
		"POST /v1/keys", "POST /v1/sandbox/reset", "POST /v1/graph/edges", "POST /v1/graph/nodes/{node_id}/supersede",
		"POST /v1/graph/nodes/{node_id}/undelete",
		"POST /v1/ingest", "POST /v1/ingest/batch", "POST /v1/exports", "POST /v1/proposals/{proposal_id}/accept",
		"POST /v1/proposals/{proposal_id}/reject",
		"POST /v1/settings/reset", "POST /v1/webhooks",
	}
	excepted := []string{
		"POST /v1/sandbox/keys", "POST /v1/import", "POST /v1/import/transcript", "POST /v1/ingest/session-event",
		"POST /v1/ingest/session-batch",
		"POST /v1/ingest/agent-signals", "POST /v1/ingest/session-finalize",
	}
	secret := regexp.MustCompile(`"(apiKey|secret)":"[^"]*"`)
	tried := 0
	for _, r := range s.routes(t) {
		name := r.method + " " + r.path
		if !slices.Contains(listed, name) && !slices.Contains(excepted, name) {
			continue
		}
		tried++
		t.Run(r.id, func(t *testing.T) {
			req := request{}
			if sample := samples[r.id]; sample != nil {
				req = sample(t, f)
			}
			again := func(body string) answer {
				return s.send(t, f.maker, r.method, r.target(req.id, req.query), body, "Idempotency-Key", "mine-"+r.id)
			}
			first, second := again(req.body), again(req.body)
			replayed := second.header.Get("Idempotent-Replayed")
			if first.header.Get("Idempotent-Replayed") != "" || (replayed == "true") != slices.Contains(listed, name) {
				t.Errorf("replayed: %q, then %q", first.header.Get("Idempotent-Replayed"), replayed)
			}
			if !slices.Contains(listed, name) {
				return
			}
			was, is := string(first.body), string(second.body)
			if first.status >= 400 { // it names the request
				was, is = first.code(t), second.code(t)
			}
			marked := secret.ReplaceAllString(was, `"$1":"[redacted: returned only once]"`)
			if first.status != second.status || marked != is || secret.MatchString(was) == (was == is) {
				t.Errorf("%d %s, then %d %s", first.status, first.body, second.status, second.body)
			}
			if req.body != "" {
				if a := again(strings.Replace(req.body, "{", "{ ", 1)); a.code(t) != "idempotency_key_reused" {
					t.Errorf("with another body: %d %s", a.status, a.body)
				}
			}
		})
	}
	if tried != len(listed)+len(excepted) {
		t.Errorf("%d of %d routes are in the document", tried, len(listed)+len(excepted))
	}
}

// TestLimitsToTheLetter spends each family's burst: the figures in the headers are
// those of the table, the policy has one name, and a refusal says what it is of and
// when to come back.
//
// interface: Limits/Families
// interface: Limits/Family figures
// interface: Limits/Headers
func TestLimitsToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	must(t, s.sys.SetPlan(t.Context(), o.id, "standard"))
	limits := regexp.MustCompile(`^default;r=([0-9]+);t=([0-9]+)$`)
	policy := regexp.MustCompile(`^default;q=([0-9]+);w=60;pk=([!-~]+)$`)
	keys := map[string]string{}
	for _, f := range []struct {
		family, method, path, body string
		burst, perMinute           int
	}{
		{"reads", http.MethodGet, "/v1/settings", "", 100, 300},
		{"reads", http.MethodGet, "/v1/exports", "", 100, 300},
		{"writes", http.MethodPatch, "/v1/settings", `{}`, 30, 120},
		{"writes", http.MethodPost, "/v1/jobs/nothing/cancel", "", 30, 120},
		{"ingest", http.MethodPost, "/v1/ingest", `{"content":" "}`, 30, 60},
		{"ingest", http.MethodPost, "/v1/import", `{}`, 30, 60}, // refused for its shape, and paid for
		{"sessions", http.MethodPost, "/v1/ingest/agent-signals", `{}`, 300, 600},
		{"search", http.MethodPost, "/v1/search", `{"query":" "}`, 30, 120},
		{"exports", http.MethodGet, "/v1/exports/nothing/download", "", 10, 30},
		{"default", http.MethodPost, "/v1/purge", `{}`, 60, 120},
	} {
		key := o.mint(t, o.owner, fullScope...) // per credential: a full bucket
		for i := range f.burst + 1 {
			a := s.send(t, caller{key: key}, f.method, f.path, f.body)
			left, named := limits.FindStringSubmatch(strings.Join(a.header["Ratelimit"], "|")),
				policy.FindStringSubmatch(strings.Join(a.header["Ratelimit-Policy"], "|"))
			if left == nil || named == nil {
				t.Fatalf("%s: %v", f.path, a.header)
			}
			spent := min(i+1, f.burst)
			until := (60*spent + f.perMinute - 1) / f.perMinute
			if left[1] != fmt.Sprint(f.burst-spent) || left[2] != fmt.Sprint(until) || named[1] != fmt.Sprint(f.perMinute) {
				t.Fatalf("%s, request %d: %q %q", f.path, i+1, left[0], named[0])
			}
			keys[key] = named[2]
			if (a.status == http.StatusTooManyRequests) != (i == f.burst) {
				t.Fatalf("%s, request %d: %d %s", f.path, i+1, a.status, a.body)
			}
			if i < f.burst {
				continue
			}
			wait := (60 + f.perMinute - 1) / f.perMinute // for one token, in whole seconds
			if a.code(t) != "rate_limit_exceeded" || !strings.Contains(a.text(t, "detail"), f.family) ||
				a.header.Get("Retry-After") != fmt.Sprint(wait) {
				t.Errorf("%s: %v %s", f.path, a.header, a.body)
			}
			s.clock.Advance(time.Duration(wait) * time.Second)
			if a := s.send(t, caller{key: key}, f.method, f.path, f.body); a.status == http.StatusTooManyRequests {
				t.Errorf("%s: %d s later %s", f.path, wait, a.body)
			}
		}
	}
	if seen := slices.Compact(slices.Sorted(maps.Values(keys))); len(seen) != len(keys) {
		t.Errorf("%d partitions of %d keys", len(seen), len(keys))
	}
	for key, digest := range keys {
		if strings.Contains(key, digest) || strings.Contains(pb.HashKey(key).String(), digest) {
			t.Errorf("the partition's name tells the key's: %s", digest)
		}
	}
}

// TestListsToTheLetter: every list that paginates has the envelope, clamps the size
// of a page and refuses what is none, and opens no cursor but its own.
//
// interface: Resources/Pagination envelope
// interface: Endpoints/Conventions lists
// interface: Limits/Page size
func TestListsToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	f := fixture{s, o, o.owner, caller{key: o.key}, &atomic.Int64{}}
	c := f.maker
	for range 3 {
		f.edge(t)
		f.export(t)
		f.webhook(t)
		f.connector(t)
		s.ok(t, c, http.MethodPut, "/v1/subjects/"+f.next("s"), "")
		s.ok(t, c, http.MethodPost, "/v1/sandbox/keys", "")
		s.ok(t, c, http.MethodPost, "/v1/ingest/session-event", fmt.Sprintf(`{"sessionId":%q,"role":"user","text":"Hello."}`,
			f.next("session ")))
		o.recruit(t, f.next("m")+"@example.com", pb.RoleMember)
	}
	s.ok(t, c, http.MethodPost, "/v1/webhooks", `{"url":"https://example.com/hook","eventTypes":["*"]}`)
	node := f.node(t)
	s.ok(t, c, http.MethodPatch, "/v1/graph/nodes/"+node, `{"title":"Another"}`)
	s.clock.Advance(time.Second)
	cursors := map[string]string{}
	lists := []string{
		"/v1/audit", "/v1/team/members", "/v1/team/keys", "/v1/sandbox/keys", "/v1/subjects", "/v1/graph/domains",
		"/v1/graph/edges", "/v1/graph/nodes", "/v1/graph/nodes/" + node + "/history",
		"/v1/jobs", "/v1/recall/insights", "/v1/recall/temporal", "/v1/recall/graph/search?q=boiler", "/v1/recall/sessions",
		"/v1/contradictions", "/v1/proposals",
		"/v1/exports", "/v1/webhooks", "/v1/connectors",
	}
	for _, path := range lists {
		and := path + "?"
		if strings.Contains(path, "?") {
			and = path + "&"
		}
		whole := s.letter(t, c, http.MethodGet, and+"pageSize=1000", "", http.StatusOK, paged("object"))
		all := whole.entries(t, "data")
		if got := whole.object(t); got["hasMore"] != false || got["nextCursor"] != nil {
			t.Errorf("%s: %s", path, whole.body)
		}
		for _, bad := range []string{"0", "-1", "1.5", "ten", ""} {
			s.refused(t, c, http.MethodGet, and+"pageSize="+bad, "", "validation_failed")
		}
		for _, bad := range []string{"%21%21", "AAAA", "e30", ""} { // bad base64, too short, JSON
			s.refused(t, c, http.MethodGet, and+"cursor="+bad, "", "invalid_cursor")
		}
		var walked []map[string]any
		cursor := ""
		for page := 0; page <= len(all); page++ {
			a := s.letter(t, c, http.MethodGet, and+"pageSize=1"+cursor, "", http.StatusOK, paged("object"))
			walked = append(walked, a.entries(t, "data")...)
			got := a.object(t)
			next, more := got["nextCursor"].(string)
			if got["hasMore"] != more {
				t.Errorf("%s: %s", path, a.body)
			}
			if !more {
				break
			}
			cursor, cursors[path] = "&cursor="+next, next
		}
		if fmt.Sprint(walked) != fmt.Sprint(all) {
			t.Errorf("%s: page by page\n%v\nat once\n%v", path, walked, all)
		}
	}
	if len(cursors) < 11 {
		t.Errorf("only %d lists have a second page", len(cursors))
	}
	for from, cursor := range cursors {
		for _, path := range lists {
			if path == from {
				continue
			}
			and := path + "?"
			if strings.Contains(path, "?") {
				and = path + "&"
			}
			s.refused(t, c, http.MethodGet, and+"cursor="+cursor, "", "invalid_cursor")
		}
	}
}

// TestEventsToTheLetter reads the stream while each kind of event is caused: its
// frame, its id, the keys of its data and no other, and nothing of the content.
//
// interface: Endpoints/Events
// interface: Events/Stream frames
// interface: Events/graph.updated
// interface: Events/job.completed
// interface: Events/belief.superseded
// interface: Events/webhook.test
// interface: Events/import.* on the stream
func TestEventsToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	f := fixture{s, o, o.owner, c, &atomic.Int64{}}
	s.ok(t, c, http.MethodPut, "/v1/subjects/anna", "")
	next := s.frames(t, c.as("anna")) // accepts the selector, and ignores it
	of := func(kind string, data map[string]shape) map[string]any {
		t.Helper()
		for {
			name, id, raw := next()
			if wrong := unlike("the frame", raw, map[string]shape{
				"type": "string", "data": "object",
				"timestamp": "time",
			}); wrong != "" || strings.Contains(string(raw), "oiler") {
				t.Fatalf("%s: %s %s", name, wrong, raw)
			}
			var e struct {
				Type string
				Data json.RawMessage
			}
			must(t, json.Unmarshal(raw, &e))
			if e.Type != name || !scalars["uuid"].MatchString(`"`+id+`"`) {
				t.Fatalf("event %s, id %q, %s", name, id, raw)
			}
			if name != kind {
				continue
			}
			if wrong := unlike(name, e.Data, data); wrong != "" {
				t.Fatalf("%s: %s", wrong, raw)
			}
			var fields map[string]any
			must(t, json.Unmarshal(e.Data, &fields))
			return fields
		}
	}
	graph := map[string]shape{"changeType": "string", "affectedNodes": "int", "subject": "string", "targetId?": "string"}
	job := map[string]shape{"jobId": "uuid", "jobType": "string", "status": "string", "subject": "string"}
	id := f.node(t)
	if got := of("job.completed", job); got["jobType"] != "ingest" || got["status"] != "succeeded" ||
		got["subject"] != o.owner.String() {
		t.Errorf("%v", got)
	}
	if got := of("graph.updated", graph); got["changeType"] != "created" || got["targetId"] != id {
		t.Errorf("%v", got)
	}
	by := s.ok(t, c, http.MethodPost, "/v1/graph/nodes/"+id+"/supersede",
		`{"content":"The boiler is gone.","reason":"The boiler was sold."}`).text(t, "newNodeId")
	if got := of("graph.updated", graph); got["changeType"] != "superseded" || got["targetId"] != id {
		t.Errorf("%v", got)
	}
	if got := of("belief.superseded", map[string]shape{
		"subject": "string", "nodeId": "string",
		"supersededBy": "string",
	}); got["nodeId"] != id || got["supersededBy"] != by {
		t.Errorf("%v", got)
	}
	edge := f.edge(t)
	for _, step := range []struct{ method, path, body, change, target string }{
		{http.MethodGet, "/v1/graph/edges/" + edge, "", "edge_asserted", edge},
		{http.MethodDelete, "/v1/graph/edges/" + edge, "", "edge_forgotten", edge},
		{http.MethodPatch, "/v1/graph/nodes/" + by, `{"title":"The boiler"}`, "updated", by},
		{http.MethodDelete, "/v1/graph/nodes/" + by, "", "forgotten", by},
		{http.MethodPost, "/v1/graph/nodes/" + by + "/undelete", "", "restored", by},
	} {
		s.ok(t, c, step.method, step.path, step.body)
		got := of("graph.updated", graph)
		for got["changeType"] == "created" { // the edge's nodes
			got = of("graph.updated", graph)
		}
		if got["changeType"] != step.change || got["targetId"] != step.target {
			t.Errorf("%s %s: %v", step.method, step.path, got)
		}
	}
	token := s.ok(t, c, http.MethodPost, "/v1/purge", `{"scope":"subject","subjectId":"anna"}`).text(t, "confirmToken")
	s.ok(t, c, http.MethodPost, "/v1/purge",
		fmt.Sprintf(`{"scope":"subject","subjectId":"anna","dryRun":false,"confirmToken":%q}`, token))
	if got := of("graph.updated", graph); got["changeType"] != "purged" || got["subject"] != "anna" {
		t.Errorf("%v", got)
	}
	imported := s.job(t, c, s.ok(t, c, http.MethodPost, "/v1/import", form("The boiler has papers.")).text(t,
		"jobId"))["id"]
	started := of("import.started", map[string]shape{
		"importId": "uuid", "jobId": "uuid", "status": "string",
		"nodesCreated": "int|null",
	})
	finished := of("import.finished", map[string]shape{
		"importId": "uuid", "jobId": "uuid", "status": "string",
		"nodesCreated": "int|null",
	})
	if started["jobId"] != imported {
		t.Errorf("started %v, not %v", started, imported)
	}
	want := map[string]any{"jobId": imported, "status": "succeeded", "nodesCreated": 1.0}
	if diff := prototest.DiffObject(want, finished); diff != "" {
		t.Errorf("finished (-want +got):\n%s", diff)
	}
	hook := f.webhook(t)
	s.ok(t, c, http.MethodPost, "/v1/webhooks/"+hook+"/test", "")
	of("webhook.test", map[string]shape{"message": "string"})
}

// frames opens a stream and returns what reads its next frame.
func (s *stack) frames(t *testing.T, c caller) func() (event, id string, data json.RawMessage) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/v1/events", nil)
	must(t, err)
	r.Header.Set("X-Svc-API-Key", c.key)
	r.Header.Set("X-Svc-Subject", c.subject)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Last-Event-ID", pb.JobID{1}.String()) // accepted, and ignored
	res, err := s.http.Do(r)
	must(t, err)
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	lines := bufio.NewScanner(res.Body)
	return func() (event, id string, data json.RawMessage) {
		t.Helper()
		for lines.Scan() {
			line := lines.Text()
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "event":
				event = value
			case "id":
				id = value
			case "data":
				data = json.RawMessage(value)
			case "":
				if event != "" {
					return event, id, data
				}
			default:
				t.Fatalf("line %q", line)
			}
		}
		t.Fatalf("the stream has ended: %v", lines.Err())
		return "", "", nil
	}
}
