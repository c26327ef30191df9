package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
)

// TestPrincipalToTheLetter: who a key is, and that the default subject is the key's
// user whatever is selected, and can itself not be selected.
//
// interface: Resources/Principal
// interface: Endpoints/GET /v1/me
// interface: Authentication/1 header or bearer
// interface: Authentication/3 principal
func TestPrincipalToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme & Sons")
	c := caller{key: o.key}
	s.ok(t, c, http.MethodPut, "/v1/subjects/anna", "")
	principal := map[string]shape{
		"org": map[string]shape{
			"id": "uuid", "displayName": "string", "slug": "string",
			"settings": map[string]shape{ // beside the contract
				"embedding": map[string]shape{"model": "string", "chunks": "number", "embedded": "number"},
			},
		},
		"user": map[string]shape{"id": "uuid"}, "scopes": []shape{"string"}, "subjectDefault": "uuid", "plan": "string",
	}
	var bodies []string
	for _, who := range []caller{c, c.as("anna")} {
		a := s.letter(t, who, http.MethodGet, "/v1/me", "", http.StatusOK, principal)
		bodies = append(bodies, string(a.body))
		want := map[string]any{
			"org":  map[string]any{"id": o.id.String(), "displayName": "Acme & Sons", "slug": "acme-sons"},
			"user": map[string]any{"id": o.owner.String()}, "subjectDefault": o.owner.String(), "plan": "unlimited",
			"scopes": []any{"read", "write", "admin"},
		}
		got := a.object(t)
		if org, ok := got["org"].(map[string]any); ok {
			delete(org, "settings")
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	bearer := s.letter(t, caller{}, http.MethodGet, "/v1/me", "", http.StatusOK, principal, "Authorization",
		"Bearer "+o.key)
	if bodies = append(bodies, string(bearer.body)); bodies[0] != bodies[1] || bodies[0] != bodies[2] {
		t.Errorf("answers differ: %q", bodies)
	}
	// it would be a selector then
	s.refused(t, c, http.MethodPut, "/v1/subjects/"+o.owner.String(), "", "validation_failed")
	for _, path := range []string{"/v1/me", "/v1/settings", "/v1/graph/nodes"} {
		s.refused(t, c.as(o.owner.String()), http.MethodGet, path, "", "subject_not_provisioned")
	}
	for _, scope := range allScopes { // any key
		s.letter(t, caller{key: o.mint(t, o.owner, scope)}, http.MethodGet, "/v1/me", "", http.StatusOK, principal)
	}
	member := o.recruit(t, "member@example.com", pb.RoleMember)
	if a := s.ok(t, caller{key: o.mint(t, member, "read")}, http.MethodGet, "/v1/me", ""); a.text(t,
		"subjectDefault") != member.String() {
		t.Errorf("the member reads %s", a.body)
	}
}

// TestKeysToTheLetter: what is shown of keys, to whom, and once.
//
// interface: Resources/API key
// interface: Endpoints/Keys
// interface: Endpoints/Sandbox
// interface: Authentication/2 form of a key
// interface: Authentication/5 shown once
// interface: Authentication/7 sandbox keys
// interface: Authentication/10 a key that is not the caller's
func TestKeysToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	peer := caller{key: o.mint(t, o.recruit(t, "peer@example.com", pb.RoleAdmin), fullScope...)}
	made := map[string]shape{"apiKey": "string", "id": "hash", "label": "string"}
	key := map[string]shape{
		"id": "hash", "label": "string", "status": "string", "createdAt": "time",
		"lastUsedAt": "time|null", "scopes": []shape{"string"}, "revokedAt": "time|null",
	}
	looks := func(env string) *regexp.Regexp { return regexp.MustCompile(`^svc_` + env + `_[A-Za-z0-9_-]{43}$`) }
	var plain []string
	for _, label := range []string{"older", "newer"} {
		s.clock.Advance(time.Second)
		a := s.letter(t, c, http.MethodPost, "/v1/keys", fmt.Sprintf(`{"label":%q,"scopes":["read"]}`, label),
			http.StatusCreated, made)
		plain = append(plain, a.text(t, "apiKey"))
		if !looks("prod").MatchString(plain[len(plain)-1]) || a.text(t, "id") != pb.HashKey(plain[len(plain)-1]).String() ||
			a.text(t, "label") != label {
			t.Errorf("%s", a.body)
		}
	}
	older := pb.HashKey(plain[0]).String()
	for _, try := range []string{older, "svc_prod_" + older[:43]} { // the id cannot authenticate
		s.refused(t, caller{key: try}, http.MethodGet, "/v1/me", "", "authentication_error")
	}
	if a := s.send(t, caller{key: plain[0]}, http.MethodGet, "/v1/me", ""); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	s.letter(t, peer, http.MethodDelete, "/v1/keys/"+older, "", http.StatusNotFound, "object")
	for range 2 { // a second time, too
		s.letter(t, c, http.MethodDelete, "/v1/keys/"+older, "", http.StatusNoContent, nil)
	}
	s.refused(t, caller{key: plain[0]}, http.MethodGet, "/v1/me", "", "authentication_error")
	list := s.letter(t, c, http.MethodGet, "/v1/keys", "", http.StatusOK, map[string]shape{"keys": []shape{key}})
	var shown []string
	for _, k := range list.entries(t, "keys") {
		shown = append(shown, fmt.Sprint(k["label"], " ", k["status"], " ", k["lastUsedAt"] == nil, " ",
			k["revokedAt"] == nil, " ", k["scopes"]))
	}
	if want := []string{
		"newer active true true [read]", "older revoked false false [read]", "first key active false true [read write admin]",
	}; !slices.Equal(shown, want) {
		t.Errorf("keys %q, want %q", shown, want)
	}
	for _, secret := range append(plain, o.key, peer.key) {
		if strings.Contains(string(list.body), secret) {
			t.Error("a list shows a key")
		}
	}
	if got := s.ok(t, peer, http.MethodGet, "/v1/keys", "").entries(t, "keys"); len(got) != 1 {
		t.Errorf("the peer reads %v", got)
	}

	// The sandbox's.
	boxed := with(made, map[string]shape{"scopes": []shape{"string"}, "subject": "string", "expiresAt": "time"})
	var boxes []string
	for range 2 { // a retry mints a fresh key
		a := s.letter(t, c, http.MethodPost, "/v1/sandbox/keys", "", http.StatusCreated, boxed, "Idempotency-Key", "once")
		boxes = append(boxes, a.text(t, "apiKey"))
		want := map[string]any{
			"scopes": []any{"read", "write"}, "subject": "sandbox", "expiresAt": stamp(s.clock.Now().Add(7 * 24 * time.Hour)),
		}
		if diff := prototest.DiffObject(want, a.object(t)); diff != "" {
			t.Errorf("a key of the sandbox (-want +got):\n%s", diff)
		}
		if !looks("sandbox").MatchString(boxes[len(boxes)-1]) || a.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%v %s", a.header, a.body)
		}
	}
	if boxes[0] == boxes[1] {
		t.Error("a key of the sandbox is shown twice")
	}
	box := caller{key: boxes[0]}
	s.ok(t, c, http.MethodPut, "/v1/subjects/anna", "")
	s.refused(t, box.as("anna"), http.MethodGet, "/v1/graph/nodes", "", "permission_denied")
	s.refused(t, box, http.MethodDelete, "/v1/me", "", "permission_denied")
	s.refused(t, box, http.MethodGet, "/v1/sandbox/keys", "", "permission_denied")
	s.refused(t, box, http.MethodGet, "/v1/usage", "", "permission_denied")
	kept, tried := s.note(t, c, "The boiler is old."), s.note(t, box, "The boiler is new.")
	s.refused(t, box, http.MethodGet, "/v1/graph/nodes/"+kept, "", "node_not_found")
	s.letter(t, c, http.MethodPost, "/v1/sandbox/reset", "", http.StatusOK,
		map[string]shape{"subject": "string", "resetAt": "time"})
	s.refused(t, box, http.MethodGet, "/v1/graph/nodes/"+tried, "", "node_not_found")
	s.ok(t, c, http.MethodGet, "/v1/graph/nodes/"+kept, "")
	keys := s.letter(t, c, http.MethodGet, "/v1/sandbox/keys", "", http.StatusOK,
		paged(with(key, map[string]shape{"expiresAt": "time"})))
	if got := keys.entries(t, "data"); len(got) != 2 {
		t.Errorf("after a reset %v", got)
	}
	s.letter(t, c, http.MethodDelete, "/v1/sandbox/keys/"+pb.HashKey(boxes[1]).String(), "", http.StatusNoContent, nil)
	s.refused(t, caller{key: boxes[1]}, http.MethodGet, "/v1/me", "", "authentication_error")
	s.clock.Advance(7 * 24 * time.Hour)
	s.refused(t, box, http.MethodGet, "/v1/me", "", "authentication_error")
}

// stamp is a time as the service writes it.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// TestSubjectsAndPeopleToTheLetter: who is in an organization, and who only seems
// to be.
//
// interface: Resources/Subject
// interface: Resources/Organization
// interface: Endpoints/Subjects
// interface: Endpoints/Team
func TestSubjectsAndPeopleToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	o.recruit(t, "ann@example.com", pb.RoleAdmin)
	subject := map[string]shape{"id": "string", "createdAt": "time"}
	const name = "Jörg/1 %" // of the client's choosing
	path := "/v1/subjects/J%C3%B6rg%2F1%20%25"
	first := s.letter(t, c, http.MethodPut, path, "", http.StatusCreated, subject)
	s.clock.Advance(time.Second)
	for _, method := range []string{http.MethodPut, http.MethodGet} {
		if a := s.letter(t, c, method, path, "", http.StatusOK, subject); string(a.body) != string(first.body) ||
			a.text(t, "id") != name {
			t.Errorf("%s: %s, then %s", method, first.body, a.body)
		}
	}
	if got := s.letter(t, c, http.MethodGet, "/v1/subjects", "", http.StatusOK, paged(subject)).entries(t,
		"data"); len(got) != 1 || got[0]["id"] != name {
		t.Errorf("subjects %v", got)
	}
	s.ok(t, c, http.MethodPost, "/v1/sandbox/keys", "")
	node := s.note(t, c.as(name), "The boiler is old.")
	team := s.letter(t, c, http.MethodGet, "/v1/team", "", http.StatusOK, map[string]shape{
		"id": "uuid", "name": "string", "slug": "string", "memberCount": "int", "createdAt": "time",
	}).object(t)
	want := map[string]any{"memberCount": 2.0, "id": o.id.String(), "name": "Acme", "slug": "acme"}
	if diff := prototest.DiffObject(want, team); diff != "" {
		t.Errorf("team (-want +got):\n%s", diff)
	}
	var people []string
	for _, m := range s.letter(t, c, http.MethodGet, "/v1/team/members", "", http.StatusOK, paged(map[string]shape{
		"id": "uuid", "email": "string", "role": "string", "createdAt": "time",
	})).entries(t, "data") {
		people = append(people, fmt.Sprint(m["email"], " ", m["role"]))
	}
	if slices.Sort(people); !slices.Equal(people, []string{"ann@example.com admin", "owner@example.com owner"}) {
		t.Errorf("members %q", people)
	}
	key := map[string]shape{
		"id": "string", "label": "string", "status": "string", "createdAt": "time", "lastUsedAt": "time|null",
		"userId": "uuid", "scopes": []shape{"string"}, "revokedAt": "time|null",
	}
	keys := s.letter(t, c, http.MethodGet, "/v1/team/keys", "", http.StatusOK, paged(key)).entries(t, "data")
	own := pb.HashKey(o.key).String()
	if one := s.ok(t, c, http.MethodGet, "/v1/team/keys?ids="+strings.Repeat("0", 64)+","+own, "").entries(t,
		"data"); len(keys) == 0 || len(one) != 1 || one[0]["id"] != own {
		t.Errorf("keys %v, by id %v", keys, one)
	}
	for _, query := range []string{"ids=", "ids=a,,b", "ids=" + strings.Repeat("a,", 50) + "a", "ids=a&cursor=AAAA"} {
		s.refused(t, c, http.MethodGet, "/v1/team/keys?"+query, "", "validation_failed")
	}
	// Erased: refused at once, empty afterwards.
	job := s.letter(t, c, http.MethodDelete, path, "", http.StatusAccepted,
		map[string]shape{"jobId": "uuid", "status": "string"})
	s.refused(t, c.as(name), http.MethodGet, "/v1/graph/nodes", "", "subject_not_provisioned")
	s.refused(t, c, http.MethodGet, path, "", "subject_not_found")
	if j := s.job(t, c, job.text(t, "jobId")); j["status"] != "succeeded" || j["type"] != "subject_erase" {
		t.Errorf("job %v", j)
	}
	s.letter(t, c, http.MethodPut, path, "", http.StatusCreated, subject)
	s.refused(t, c.as(name), http.MethodGet, "/v1/graph/nodes/"+node, "", "node_not_found")
	if got := s.ok(t, c.as(name), http.MethodGet, "/v1/graph/nodes", "").entries(t, "data"); len(got) > 0 {
		t.Errorf("begins with %v", got)
	}
}

// TestTrailToTheLetter: who did what to what is an admin's to read, by request id, and
// what the filters do not know is said.
func TestTrailToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	who := s.ok(t, c, http.MethodGet, "/v1/me", "").object(t)["user"].(map[string]any)["id"].(string)
	s.ok(t, c, http.MethodPut, "/v1/subjects/ann", "")
	node := s.note(t, c.as("ann"), "The boiler is old.")
	s.clock.Advance(time.Second)
	since := stamp(s.clock.Now())
	if a := s.send(t, c.as("ann"), http.MethodDelete, "/v1/graph/nodes/"+node, "", "X-Request-Id",
		"mine-1"); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	entry := map[string]shape{
		"id": "string", "at": "time", "actor": map[string]shape{
			"type": "string", "keyId": "string|null",
			"userId": "uuid|null",
		},
		"action": "string", "target": "string|null", "subject": "string|null", "partitionId": "uuid|null",
		"requestId": "string|null",
	}
	all := s.letter(t, c, http.MethodGet, "/v1/audit", "", http.StatusOK, paged(entry)).entries(t, "data")
	key := pb.HashKey(o.key).String()
	first, actor := all[0], all[0]["actor"].(map[string]any)
	want := map[string]any{"action": "node.forget", "target": node, "subject": "ann", "requestId": "mine-1", "at": since}
	if diff := prototest.DiffObject(want, first); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	if diff := prototest.DiffObject(map[string]any{"type": "key", "keyId": key, "userId": who}, actor); diff != "" {
		t.Errorf("its actor (-want +got):\n%s", diff)
	}
	for query, want := range map[string]int{
		"actor=" + key: 2, "actor=" + who: 2, "actor=operator": len(all) - 2, "actor=service": 0, "action=node.forget": 1,
		"target=" + url.QueryEscape(node): 1, "target=ann": 1, "createdAfter=" + since: 1,
		"createdBefore=" + since:        len(all) - 1,
		"action=node.forget&target=ann": 0,
	} {
		if got := s.ok(t, c, http.MethodGet, "/v1/audit?"+query, "").entries(t, "data"); len(got) != want {
			t.Errorf("%s: %v, want %d", query, got, want)
		}
	}
	for _, query := range []string{
		"actor=ann", "actor=", "action=", "target=", "createdAfter=now", "createdBefore=", "kind=x", "action=a&action=b",
	} {
		s.refused(t, c, http.MethodGet, "/v1/audit?"+query, "", "validation_failed")
	}
	s.refused(t, c.as("nobody"), http.MethodGet, "/v1/audit", "", "subject_not_provisioned")
	s.ok(t, c.as("ann"), http.MethodGet, "/v1/audit", "")
	reader := s.ok(t, c, http.MethodPost, "/v1/keys", `{"label":"reader","scopes":["read","write"]}`).text(t, "apiKey")
	s.refused(t, caller{key: reader}, http.MethodGet, "/v1/audit", "", "permission_denied")
}

// TestDeleteMeToTheLetter: a personal organization goes as a whole, keys and sandbox
// included; of a team only who asks, with what is theirs; and never its only owner.
//
// interface: Endpoints/DELETE /v1/me
// interface: Authentication/7 sandbox keys
// interface: What the service does/7 export, purge, usage, settings
func TestDeleteMeToTheLetter(t *testing.T) {
	s := startStack(t)
	gone := func(who ...caller) {
		t.Helper()
		for _, c := range who {
			s.refused(t, c, http.MethodGet, "/v1/me", "", "authentication_error")
		}
	}
	box := func(c caller) caller {
		t.Helper()
		return caller{key: s.ok(t, c, http.MethodPost, "/v1/sandbox/keys", "").text(t, "apiKey")}
	}

	made, err := s.sys.CreateOrg(t.Context(), account.NewOrg{
		Name: "Solo", OwnerEmail: "solo@example.com", Personal: true,
		Plan: "unlimited",
	})
	must(t, err)
	o := org{s, made.Org, made.Owner, made.APIKey}
	c := caller{key: o.key}
	s.ok(t, c, http.MethodPut, "/v1/subjects/anna", "")
	s.note(t, c, "The diary is mine.")
	second, sandbox := caller{key: o.mint(t, o.owner, "read")}, box(c)
	s.note(t, sandbox, "The sandbox is mine, too.")
	s.refused(t, sandbox, http.MethodDelete, "/v1/me", "", "permission_denied")
	for _, scopes := range [][]string{{"read", "admin"}, {
		"graph:write", "memory:forget", "subjects:provision",
		"usage:read",
	}} {
		s.refused(t, caller{key: o.mint(t, o.owner, scopes...)}, http.MethodDelete, "/v1/me", "", "permission_denied")
	}
	s.refused(t, c.as("nobody"), http.MethodDelete, "/v1/me", "", "subject_not_provisioned")
	s.ok(t, c, http.MethodGet, "/v1/me", "") // a refusal deletes nothing
	bystander := caller{key: s.org(t, "Bystander").key}
	kept := s.note(t, bystander, "This is another's.")
	// The selector is ignored: who goes is whose key it is.
	if a := s.letter(t, c.as("anna"), http.MethodDelete, "/v1/me", "", http.StatusNoContent, nil); len(a.body) > 0 {
		t.Errorf("%s", a.body)
	}
	gone(c, second, sandbox)
	s.refused(t, c, http.MethodDelete, "/v1/me", "", "authentication_error")
	if list := s.operate(t, http.MethodGet, "/operator/orgs", ""); list.status != http.StatusOK ||
		strings.Contains(string(list.body), o.id.String()) {
		t.Errorf("the operator reads %d %s", list.status, list.body)
	}
	s.ok(t, bystander, http.MethodGet, "/v1/graph/nodes/"+kept, "")

	team := s.org(t, "Team")
	owner := caller{key: team.key}
	s.ok(t, owner, http.MethodPut, "/v1/subjects/anna", "")
	user := team.recruit(t, "leaver@example.com", pb.RoleAdmin)
	leaver, also := caller{key: team.mint(t, user, fullScope...)}, caller{key: team.mint(t, user, "read")}
	theirs, ours := box(leaver), box(owner)
	s.note(t, leaver, "The leaver minded the boiler.")
	stays := s.note(t, leaver.as("anna"), "Anna minds the boiler.")
	s.refused(t, owner, http.MethodDelete, "/v1/me", "", "last_owner")
	s.ok(t, owner, http.MethodGet, "/v1/me", "")
	s.letter(t, leaver, http.MethodDelete, "/v1/me", "", http.StatusNoContent, nil)
	gone(leaver, also, theirs)
	s.ok(t, ours, http.MethodGet, "/v1/me", "")
	s.ok(t, owner.as("anna"), http.MethodGet, "/v1/graph/nodes/"+stays, "")
	if n := s.ok(t, owner, http.MethodGet, "/v1/team", "").object(t)["memberCount"]; n != 1.0 {
		t.Errorf("%v members are left", n)
	}
	if found := s.ok(t, owner, http.MethodPost, "/v1/search",
		`{"query":"boiler","scope":"org"}`); strings.Contains(string(found.body), "leaver minded") ||
		!strings.Contains(string(found.body), "Anna minds") {
		t.Errorf("the team finds %s", found.body)
	}
	// One of two owners may go.
	heir := team.recruit(t, "heir@example.com", pb.RoleOwner)
	s.letter(t, owner, http.MethodDelete, "/v1/me", "", http.StatusNoContent, nil)
	gone(owner)
	s.ok(t, caller{key: team.mint(t, heir, fullScope...)}, http.MethodGet, "/v1/me", "")
}

// TestSettingsUsageAndDataToTheLetter: what belongs to a memory as a whole.
//
// interface: Resources/Settings
// interface: Resources/Usage bucket
// interface: Resources/Purge report
// interface: Resources/Export
// interface: Endpoints/Settings
// interface: Endpoints/Usage
// interface: Endpoints/Exports
// interface: Endpoints/Purge
// interface: States/Purge
// interface: States/Export succeeded
// interface: Versioning/export format
// interface: What the service does/7 export, purge, usage, settings
func TestSettingsUsageAndDataToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	s.ok(t, c, http.MethodPut, "/v1/subjects/anna", "")
	anna := c.as("anna")

	// Settings: the defaults for whoever wrote none; no unknown field; not metered.
	settings := func(c caller, method, path, body, quality string, learn bool) {
		t.Helper()
		if got := s.letter(t, c, method, path, body, http.StatusOK, shapeSettings).object(t); got["qualityMode"] != quality ||
			got["learnModeDefault"] != learn {
			t.Errorf("%s %s %s: %v", method, path, body, got)
		}
	}
	settings(anna, http.MethodGet, "/v1/settings", "", "balanced", true)
	settings(anna, http.MethodPatch, "/v1/settings", `{"qualityMode":"fast"}`, "fast", true)
	settings(anna, http.MethodPatch, "/v1/settings", `{"learnModeDefault":false}`, "fast", false)
	settings(c, http.MethodGet, "/v1/settings", "", "balanced", true)
	for _, bad := range []string{
		`{"qualitymode":"fast"}`, `{"qualityMode":"best"}`, `{"learnModeDefault":"no"}`,
		`{"theme":"dark"}`,
	} {
		s.refused(t, anna, http.MethodPatch, "/v1/settings", bad, "validation_failed")
	}
	settings(anna, http.MethodPost, "/v1/settings/reset", "", "balanced", true)
	usage := map[string]shape{"buckets": []shape{map[string]shape{
		"startTime": "time", "endTime": "time",
		"groups": []shape{map[string]shape{
			"subject": "string", "capability": "string|null", "key?": "hash",
			"units": shapeUnits,
		}},
	}}}
	const day = "/v1/usage?startTime=2026-03-01T00:00:00Z&endTime=2026-03-02T00:00:00Z"
	if got := s.letter(t, c, http.MethodGet, day, "", http.StatusOK, usage).entries(t, "buckets"); len(got) > 0 {
		t.Errorf("settings are metered: %v", got)
	}

	// Usage: of the hours in which there was any.
	s.note(t, anna, "The boiler is old.")
	s.clock.Advance(time.Hour)
	s.ok(t, c, http.MethodPost, "/v1/search", `{"query":"boiler"}`)
	for by, named := range map[string]bool{
		"": false, "&groupBy=subject": false, "&groupBy=capability": true,
		"&groupBy=key": false,
	} {
		got := s.letter(t, c, http.MethodGet, day+by, "", http.StatusOK, usage).entries(t, "buckets")
		if len(got) != 2 || got[0]["startTime"] != "2026-03-01T12:00:00.000Z" ||
			got[0]["endTime"] != "2026-03-01T13:00:00.000Z" || got[1]["startTime"] != got[0]["endTime"] {
			t.Errorf("%s: %v", by, got)
			continue
		}
		group := got[1]["groups"].([]any)[0].(map[string]any)
		if _, key := group["key"]; group["subject"] != o.owner.String() || (group["capability"] != nil) != named ||
			key != (by == "&groupBy=key") {
			t.Errorf("%s: %v", by, group)
		}
	}
	reporter := caller{key: o.mint(t, o.owner, "usage:read")}
	s.letter(t, reporter, http.MethodGet, day, "", http.StatusOK, usage)
	for _, bad := range []string{"&groupBy=colour", "&groupBy="} {
		s.refused(t, c, http.MethodGet, day+bad, "", "validation_failed")
	}

	// Exports.
	export := map[string]shape{
		"exportId": "uuid", "status": "string", "scope": "string", "format": "string", "bytes": "int|null",
		"sha256": "hash|null", "createdAt": "time",
		"finishedAt": "time|null", "expiresAt": "time|null", "error": "string|null",
	}
	for _, bad := range []string{`{"format":"csv"}`, `{"format":"JSON"}`, `{"format":"json","scope":"subject"}`} {
		s.refused(t, c, http.MethodPost, "/v1/exports", bad, "validation_failed")
	}
	s.refused(t, caller{key: o.mint(t, o.owner, "write")}, http.MethodPost, "/v1/exports",
		`{"scope":"org","format":"json"}`, "permission_denied")
	made := s.letter(t, anna, http.MethodPost, "/v1/exports", `{"format":"json"}`, http.StatusAccepted, export)
	if made.text(t, "scope") != "user" {
		t.Errorf("%s", made.body)
	}
	id := made.text(t, "exportId")
	s.job(t, c, id)
	if got := s.letter(t, anna, http.MethodGet, "/v1/exports/"+id, "", http.StatusOK, export); got.text(t,
		"status") != "succeeded" {
		t.Errorf("%s", got.body)
	}
	s.letter(t, anna, http.MethodGet, "/v1/exports", "", http.StatusOK, paged(export))
	document := s.ok(t, anna, http.MethodGet, "/v1/exports/"+id+"/download", "")
	if !json.Valid(document.body) || !strings.Contains(string(document.body), "The boiler is old.") ||
		document.header.Get("Content-Type") != "application/json" {
		t.Errorf("%v %s", document.header, document.body)
	}

	// A purge: shown first, and done as it was shown.
	dry := s.letter(t, c, http.MethodPost, "/v1/purge", `{"scope":"subject","subjectId":"anna"}`, http.StatusOK,
		with(shapePurge, map[string]shape{"subjectId": "string", "confirmToken": "string", "expiresAt": "time"}))
	report := dry.object(t)
	sum := 0.0
	counts := report["counts"].(map[string]any)
	for _, n := range counts {
		sum += n.(float64)
	}
	want := map[string]any{
		"totalRows": sum, "dryRun": true, "purgedAt": nil, "scope": "subject", "subjectId": "anna",
		"expiresAt": stamp(s.clock.Now().Add(10 * time.Minute)),
	}
	if diff := prototest.DiffObject(want, report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if counts["vault_nodes"] != 1.0 || counts["memory_chunks"] != 1.0 || counts["graph_edges"] == nil {
		t.Errorf("%s", dry.body)
	}
	s.refused(t, c, http.MethodPost, "/v1/purge", `{"scope":"subject","subjectId":"anna","dryRun":false}`,
		"validation_failed")
	s.refused(t, c, http.MethodPost, "/v1/purge", `{"scope":"subject"}`, "validation_failed")
	s.refused(t, c, http.MethodPost, "/v1/purge", `{"scope":"user"}`, "validation_failed")
	s.ok(t, anna, http.MethodGet, "/v1/graph/nodes", "")
	done := s.letter(t, c, http.MethodPost, "/v1/purge",
		fmt.Sprintf(`{"scope":"subject","subjectId":"anna","dryRun":false,"confirmToken":%q}`, dry.text(t, "confirmToken")),
		http.StatusOK,
		with(shapePurge, map[string]shape{"subjectId": "string"}))
	if got := done.object(t); got["dryRun"] != false || got["purgedAt"] != stamp(s.clock.Now()) ||
		fmt.Sprint(got["counts"]) != fmt.Sprint(counts) {
		t.Errorf("%s, shown %s", done.body, dry.body)
	}
	if got := s.ok(t, anna, http.MethodGet, "/v1/graph/nodes", "").entries(t, "data"); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
	s.letter(t, c, http.MethodPost, "/v1/purge", `{"scope":"org"}`, http.StatusOK,
		with(shapePurge, map[string]shape{"confirmToken": "string", "expiresAt": "time"}))
}
