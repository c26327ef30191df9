package contract

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"net"
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

// A code is a line of the table: what to send, after what.
var provoked = map[string]func(t *testing.T, f fixture) answer{
	"malformed_request": post("/v1/search", `{"query":`),
	"subject_not_supported": func(t *testing.T, f fixture) answer {
		return f.get(t, f.maker.as("anna"), "/v1/brain/info")
	},
	"pagination_unsupported": get("/v1/recall/identity?pageSize=1"),
	"invalid_cursor":         get("/v1/jobs?cursor=AAAA"),
	"authentication_error": func(t *testing.T, f fixture) answer {
		return f.get(t, caller{key: "svc_prod_no"}, "/v1/me")
	},
	"permission_denied": func(t *testing.T, f fixture) answer {
		return f.get(t, caller{key: f.org.mint(t, f.user, "write")}, "/v1/jobs")
	},
	"subject_not_provisioned": func(t *testing.T, f fixture) answer { return f.get(t, f.maker.as("nobody"), "/v1/jobs") },
	"not_found":               get("/v1/nothing"),
	"key_not_found": func(t *testing.T, f fixture) answer {
		return f.send(t, f.maker, http.MethodDelete, "/v1/keys/"+strings.Repeat("0", 64), "")
	},
	"subject_not_found":     get("/v1/subjects/nobody"),
	"job_not_found":         get("/v1/jobs/nothing"),
	"node_not_found":        get("/v1/graph/nodes/nothing"),
	"edge_not_found":        get("/v1/graph/edges/nothing"),
	"domain_not_found":      get("/v1/graph/domains/nothing"),
	"proposal_not_found":    post("/v1/proposals/nothing/accept", ""),
	"recall_type_not_found": get("/v1/recall/dreams"),
	"brain_not_trained":     post("/v1/brain/query", `{"query":"x"}`),
	"webhook_not_found":     get("/v1/webhooks/nothing"),
	"delivery_not_found": func(t *testing.T, f fixture) answer {
		return f.send(t, f.maker, http.MethodGet, "/v1/webhooks/"+f.webhook(t)+"/deliveries/nothing", "")
	},
	"export_not_found":    get("/v1/exports/nothing"),
	"connector_not_found": get("/v1/connectors/nothing"),
	"user_not_found":      get("/v1/identity/user/" + pb.UserID{9}.String()),
	"session_not_found": func(t *testing.T, f fixture) answer {
		return f.send(t, f.maker, http.MethodDelete, "/v1/recall/sessions/nothing", "")
	},
	"organization_not_found": func(t *testing.T, f fixture) answer {
		return f.operate(t, http.MethodGet, "/operator/orgs/"+pb.OrgID{9}.String(), "")
	},
	"conflict": func(t *testing.T, f fixture) answer {
		return f.operate(t, http.MethodPost, "/operator/orgs/"+f.org.id.String()+"/members",
			`{"email":"owner@example.com","role":"member"}`)
	},
	"method_not_allowed": func(t *testing.T, f fixture) answer { return f.send(t, f.maker, http.MethodPut, "/v1/me", "") },
	"purge_impact_changed": func(t *testing.T, f fixture) answer {
		token := f.ok(t, f.maker, http.MethodPost, "/v1/purge", `{"scope":"org"}`).text(t, "confirmToken")
		f.node(t)
		return post("/v1/purge", fmt.Sprintf(`{"scope":"org","dryRun":false,"confirmToken":%q}`, token))(t, f)
	},
	"confirm_token_invalid": post("/v1/purge", `{"scope":"org","dryRun":false,"confirmToken":"nothing"}`),
	"export_not_ready": func(t *testing.T, f fixture) answer {
		node, id := f.node(t), f.export(t)
		f.written(t, id)
		f.ok(t, f.maker, http.MethodDelete, "/v1/graph/nodes/"+node, "") // the export that holds it goes with it
		return f.get(t, f.maker, "/v1/exports/"+id+"/download")
	},
	"range_not_satisfiable": func(t *testing.T, f fixture) answer {
		id := f.export(t)
		f.written(t, id)
		return f.send(t, f.maker, http.MethodGet, "/v1/exports/"+id+"/download", "", "Range", "bytes=99999999-")
	},
	"webhook_limit_reached": func(t *testing.T, f fixture) (a answer) {
		for range 21 {
			a = post("/v1/webhooks", `{"url":"https://example.com/hook","eventTypes":["*"]}`)(t, f)
		}
		return a
	},
	"connector_limit_reached": func(t *testing.T, f fixture) (a answer) {
		for range 1000 {
			if a = post("/v1/connectors", newConnector)(t, f); a.status >= 400 {
				break
			}
		}
		return a
	},
	"key_limit_reached": func(t *testing.T, f fixture) answer {
		for range 999 { // beside the first
			f.org.mint(t, f.user, "read")
		}
		return post("/v1/keys", `{"label":"one too many"}`)(t, f)
	},
	"train_in_progress": func(t *testing.T, f fixture) (a answer) {
		f.node(t)
		for range 1000 { // until one is asked for while another is under way
			if a = post("/v1/brain/train", "")(t, f); a.status != http.StatusAccepted {
				break
			}
		}
		if a.header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", a.header)
		}
		return a
	},
	"brain_not_ready": func(t *testing.T, f fixture) (early answer) {
		f.trained(t)
		turns := time.NewTicker(turn)
		defer turns.Stop()
		// Who asks first reads the brain; who asks meanwhile is told to come back.
		for range 1000 {
			answers := make(chan answer, 16)
			for range cap(answers) {
				go func() { answers <- post("/v1/brain/query", `{"query":"Who keeps the bees?"}`)(t, f) }()
			}
			for range cap(answers) {
				if a := <-answers; a.code(t) == "brain_not_ready" {
					early = a
				} else if a.status != http.StatusOK {
					t.Fatalf("%d %s", a.status, a.body)
				}
			}
			if early.status != 0 {
				break
			}
			// It falls asleep, and lets go of the brain: at one tick the memory was read since the one before, at the
			// next it was not and leaves, and at the third there is nothing left to stay for.
			for range 3 {
				f.clock.Advance(time.Hour)
				<-turns.C
			}
		}
		if early.header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", early.header)
		}
		if a := post("/v1/brain/query", `{"query":"Who keeps the bees?"}`)(t, f); a.status != http.StatusOK {
			t.Errorf("once it is read: %d %s", a.status, a.body)
		}
		return early
	},
	"node_not_forgotten": func(t *testing.T, f fixture) answer {
		return post("/v1/graph/nodes/"+f.node(t)+"/undelete", "")(t, f)
	},
	"already_superseded": func(t *testing.T, f fixture) (a answer) {
		id := f.node(t)
		for range 2 {
			a = post("/v1/graph/nodes/"+id+"/supersede", fmt.Sprintf(`{"content":%q,"reason":"newer"}`, f.next("Newer ")))(t, f)
		}
		return a
	},
	"job_not_cancellable": func(t *testing.T, f fixture) answer {
		id := f.newJob(t)
		f.job(t, f.maker, id)
		return post("/v1/jobs/"+id+"/cancel", "")(t, f)
	},
	"last_owner": func(t *testing.T, f fixture) answer {
		f.org.recruit(t, "second@example.com", pb.RoleMember)
		return f.send(t, f.maker, http.MethodDelete, "/v1/me", "")
	},
	"precondition_failed": func(t *testing.T, f fixture) answer {
		return f.send(t, f.maker, http.MethodPatch, "/v1/graph/nodes/"+f.node(t), `{"title":"Edited"}`, "If-Match", `"stale"`)
	},
	"payload_too_large": func(t *testing.T, f fixture) answer {
		return post("/v1/search", `{"query":"`+strings.Repeat("x", 2<<20)+`"}`)(t, f)
	},
	"unsupported_media_type": func(t *testing.T, f fixture) answer {
		return f.send(t, f.maker, http.MethodPost, "/v1/search", `{}`, "Content-Type", "text/plain")
	},
	"validation_failed": post("/v1/search", `{"qeury":"x"}`),
	"idempotency_key_reused": func(t *testing.T, f fixture) (a answer) {
		for i := range 2 {
			a = f.send(t, f.maker, http.MethodPost, "/v1/ingest", fmt.Sprintf(`{"content":"Text %d"}`, i),
				"Idempotency-Key", "once")
		}
		return a
	},
	"idempotency_in_progress": func(t *testing.T, f fixture) answer {
		release := make(chan struct{})
		f.disk.FailSync(func(string) bool { <-release; return false })
		answers := make(chan answer, 2)
		for range cap(answers) {
			go func() {
				answers <- f.send(t, f.maker, http.MethodPost, "/v1/ingest", `{"content":"Told twice."}`, "Idempotency-Key", "once")
			}()
		}
		early := <-answers // nothing can be committed: it is not the one that does it
		close(release)
		f.disk.FailSync(nil)
		if a := <-answers; a.status != http.StatusAccepted || early.header.Get("Retry-After") != "1" {
			t.Errorf("%d %v, then %d %s", early.status, early.header, a.status, a.body)
		}
		return early
	},
	"rate_limit_exceeded": func(t *testing.T, f fixture) (a answer) {
		must(t, f.sys.SetPlan(t.Context(), f.org.id, "free"))
		for range 1000 { // the clock stands still: nothing flows back
			if a = post("/v1/search", `{"query":"x"}`)(t, f); a.status == http.StatusTooManyRequests {
				break
			}
		}
		return a
	},
	"request_timeout": func(t *testing.T, f fixture) answer {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(f.base, "http://"))
		must(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "POST /v1/search HTTP/1.1\r\nHost: localhost\r\nX-Svc-API-Key: %s\r\nContent-Type: "+
			"application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n", f.maker.key)
		must(t, err)
		// The service asks for the body when it waits for it: before, the time that
		// passes would be that of the actor who is asked for the key.
		from := bufio.NewReader(conn)
		asked, err := http.ReadResponse(from, nil)
		must(t, err)
		asked.Body.Close()
		if asked.StatusCode != http.StatusContinue {
			t.Fatalf("before the body: %s", asked.Status)
		}
		_, err = io.WriteString(conn, "{")
		must(t, err)
		come := make(chan answer, 1)
		go func() {
			var a answer
			if res, err := http.ReadResponse(from, nil); err == nil {
				a.status, a.header = res.StatusCode, res.Header
				a.body, _ = io.ReadAll(res.Body) // cut short, it says no code
			}
			come <- a
		}()
		for {
			select {
			case a := <-come:
				return a
			default: // the rest of the body does not come, however long the service waits
				f.clock.Advance(30 * time.Second)
				f.ok(t, f.maker, http.MethodGet, "/v1/me", "")
			}
		}
	},
	"proposal_already_decided": func(t *testing.T, f fixture) answer {
		path := "/v1/proposals/" + f.proposals(t, 1)[0]
		f.ok(t, f.maker, http.MethodPost, path+"/accept", "")
		return post(path+"/reject", "")(t, f)
	},
	"undelete_window_passed": func(t *testing.T, f fixture) answer {
		id := f.node(t)
		f.ok(t, f.maker, http.MethodDelete, "/v1/graph/nodes/"+id, "")
		f.clock.Advance(30*24*time.Hour - 5*time.Minute)
		f.ok(t, f.maker, http.MethodGet, "/v1/me", "") // behind the sweep, which comes every ten minutes
		f.clock.Advance(5*time.Minute + time.Second)
		return post("/v1/graph/nodes/"+id+"/undelete", "")(t, f)
	},
	"internal_error": func(t *testing.T, f fixture) answer {
		f.node(t) // so that the query is embedded
		return post("/v1/search", fmt.Sprintf(`{"query":%q}`, faultyQuery))(t, f)
	},
	"service_degraded": func(t *testing.T, f fixture) answer {
		f.node(t)
		answers := make(chan answer, 300) // more than may wait
		for range cap(answers) {
			go func() { answers <- post("/v1/search", fmt.Sprintf(`{"query":%q}`, endlessQuery))(t, f) }()
		}
		refused := <-answers // no other ends
		close(f.endless)
		for range cap(answers) - 1 {
			if a := <-answers; a.status != http.StatusOK && a.code(t) != "service_degraded" {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		if refused.header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", refused.header)
		}
		return refused
	},
	"service_draining": func(t *testing.T, _ fixture) answer {
		s := startStack(t) // a node of its own
		c := caller{key: s.org(t, "Acme").key}
		s.ok(t, c, http.MethodGet, "/v1/me", "")
		s.edge.Drain()
		a := s.send(t, c, http.MethodGet, "/v1/me", "")
		if a.header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", a.header)
		}
		return a
	},
	"headers_too_large": func(t *testing.T, f fixture) answer {
		return f.send(t, f.maker, http.MethodGet, "/v1/me", "", "X-Large", strings.Repeat("x", 64<<10))
	},
}

// proposals has a cycle propose so many connections at least.
func (f fixture) proposals(t *testing.T, least int) (ids []string) {
	t.Helper()
	var items []string
	for range 20 { // others than any before
		items = append(items, fmt.Sprintf(`{"content":%q}`, f.next("rose hedge spade compost tulip ")),
			fmt.Sprintf(`{"content":%q}`, f.next("router kernel cluster socket packet ")))
	}
	f.job(t, f.maker, f.ok(t, f.maker, http.MethodPost, "/v1/ingest/batch",
		`{"items":[`+strings.Join(items, ",")+`]}`).text(t, "jobId"))
	for _, p := range f.afterACycle(t, func() []map[string]any {
		return f.ok(t, f.maker, http.MethodGet, "/v1/proposals?status=open", "").entries(t, "data")
	}) {
		ids = append(ids, p["id"].(string))
	}
	if len(ids) < least {
		t.Fatalf("only %d proposals", len(ids))
	}
	return ids
}

// afterACycle lets cognition's time come until something is there that a cycle
// derives.
func (s *stack) afterACycle(t *testing.T, there func() []map[string]any) []map[string]any {
	t.Helper()
	turns := time.NewTicker(turn)
	defer turns.Stop()
	for range 1000 {
		s.clock.Advance(5 * time.Second)
		if found := there(); len(found) > 0 {
			return found
		}
		<-turns.C
	}
	t.Fatal("no cycle brings it")
	return nil
}

// trained trains a brain on people and whom they live with.
func (f fixture) trained(t *testing.T) {
	t.Helper()
	var items []string
	first, last := []string{"Almar", "Bertor", "Carwen", "Dorzul", "Elnix", "Fawen", "Gilmar"},
		[]string{"Osberga", "Pradale", "Quinfort", "Rosgrim", "Staberg", "Tornau"}
	keeps := []string{"bees", "sheep", "an inn", "goats", "a mill"}
	person := func(i int) string { return first[i%len(first)] + " " + last[i%len(last)] }
	people := len(first) * len(last)
	for i := range people {
		items = append(items,
			fmt.Sprintf(`{"title":%q,"content":"%s was born in %d by the river. The mother of this child was %s, who kept %s."}`,
				person(i), first[i%len(first)], 1700+i, person((i*5+3)%people), keeps[i%len(keeps)]))
	}
	f.job(t, f.maker, f.ok(t, f.maker, http.MethodPost, "/v1/ingest/batch",
		`{"items":[`+strings.Join(items, ",")+`]}`).text(t, "jobId"))
	var info answer
	for range 5 { // the gate judges by chance: of forty trainings on such texts it rejects one
		f.job(t, f.maker, f.ok(t, f.maker, http.MethodPost, "/v1/brain/train", "").text(t, "jobId"))
		if info = f.get(t, f.maker, "/v1/brain/info"); info.object(t)["artifact"] != nil {
			return
		}
		f.note(t, f.maker, f.next("The river is long. "))
	}
	t.Fatalf("no brain is published: %s", info.body)
}

// written waits until an export can be downloaded.
func (f fixture) written(t *testing.T, export string) {
	t.Helper()
	f.job(t, f.maker, export)
	if a := f.get(t, f.maker, "/v1/exports/"+export+"/download"); a.status != http.StatusOK {
		t.Fatalf("the export: %d %s", a.status, a.body)
	}
}

func get(path string) func(*testing.T, fixture) answer {
	return func(t *testing.T, f fixture) answer { t.Helper(); return f.get(t, f.maker, path) }
}

func post(path, body string) func(*testing.T, fixture) answer {
	return func(t *testing.T, f fixture) answer {
		t.Helper()
		return f.send(t, f.maker, http.MethodPost, path, body)
	}
}

func (s *stack) get(t *testing.T, c caller, path string) answer {
	t.Helper()
	return s.send(t, c, http.MethodGet, path, "")
}

func (s *stack) operate(t *testing.T, method, path, body string) answer {
	t.Helper()
	return s.send(t, caller{}, method, path, body, "Authorization", "Bearer "+operatorToken)
}

// TestEveryCodeIsRequested provokes each problem of the catalogue in the whole
// service, in an organization of its own, and reads its page.
//
// interface: Errors/Problem body
// interface: Errors/Codes
func TestEveryCodeIsRequested(t *testing.T) {
	s := startStack(t)
	index := string(s.get(t, caller{}, "/docs/errors").body)
	var codes []string
	for _, m := range regexp.MustCompile(`/docs/errors/([a-z_]+)`).FindAllStringSubmatch(index, -1) {
		if !slices.Contains(codes, m[1]) {
			codes = append(codes, m[1])
		}
	}
	if len(codes) < 45 {
		t.Fatalf("only %d codes in the index of errors", len(codes))
	}
	creds := 0
	var actions, places atomic.Int64
	for _, code := range codes {
		if page := s.get(t, caller{}, "/docs/errors/"+code); page.status != http.StatusOK ||
			!strings.Contains(string(page.body), code) {
			t.Errorf("the page of %s: %d", code, page.status)
		}
		if code == "too_many_streams" {
			continue // TestStreamsAreBounded
		}
		provoke := provoked[code]
		if provoke == nil {
			t.Errorf("%s: say how it is provoked", code)
			continue
		}
		t.Run(code, func(t *testing.T) {
			creds++
			o := s.org(t, fmt.Sprint("Org ", creds))
			a := provoke(t, fixture{s, o, o.owner, caller{key: o.key}, &atomic.Int64{}})
			if a.code(t) != code {
				t.Fatalf("%d %s", a.status, a.body)
			}
			body := a.object(t)
			diff := prototest.DiffObject(map[string]any{
				"type": "/docs/errors/" + code, "status": float64(a.status), "requestId": a.header.Get("X-Request-Id"),
			}, body)
			if diff != "" || body["title"] == "" || body["detail"] == "" ||
				a.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%v %s (-want +got):\n%s", a.header, a.body, diff)
			}
			// What to do, and where more is said, as the code's page has it.
			page := html.UnescapeString(string(s.get(t, caller{}, "/docs/errors/"+code).body))
			action, advised := body["suggestedAction"].(string)
			if advised != strings.Contains(page, "What to do") || !strings.Contains(page, action) {
				t.Errorf("suggestedAction %q is not what the page says", action)
			}
			where, pointed := body["documentationUrl"].(string)
			if pointed != strings.Contains(page, "See <a href=") {
				t.Errorf("documentationUrl %q is not what the page says", where)
			}
			if path, section, ok := strings.Cut(where, "#"); pointed &&
				(!ok || !strings.Contains(string(s.get(t, caller{}, path).body), `id="`+section+`"`)) {
				t.Errorf("documentationUrl %q leads nowhere", where)
			}
			if advised {
				actions.Add(1)
			}
			if pointed {
				places.Add(1)
			}
		})
	}
	if actions.Load() == 0 || places.Load() == 0 {
		t.Errorf("%d problems say what to do, %d where more is said", actions.Load(), places.Load())
	}
	for code := range provoked {
		if !slices.Contains(codes, code) {
			t.Errorf("%s is in no catalogue", code)
		}
	}
}

// interface: Limits/Concurrent event streams
func TestStreamsAreBounded(t *testing.T) {
	s := startStack(t)
	c := caller{key: s.org(t, "Acme").key}
	for range 5 {
		s.listen(t, c)
	}
	a := s.get(t, c, "/v1/events")
	if a.code(t) != "too_many_streams" || a.header.Get("Retry-After") != "15" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
}

// listen opens an event stream that lasts as long as the test.
func (s *stack) listen(t *testing.T, c caller) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/v1/events", nil)
	must(t, err)
	r.Header.Set("X-Svc-API-Key", c.key)
	res, err := s.http.Do(r)
	must(t, err)
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
}
