package contract

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// unknown makes, of an id, one of the same shape that never existed.
func unknown(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case '2' <= r && r <= '7':
			return '2' + ('7' - r) // stays in base32 as well
		case r == '0' || r == '1' || r == '8' || r == '9':
			return '9' - (r - '0')
		case 'a' <= r && r <= 'f':
			return 'a' + ('f' - r)
		}
		return r
	}, id)
}

// shown is what a caller sees of an answer, but for what differs from request to
// request.
func shown(a answer) string {
	var b strings.Builder
	fmt.Fprintln(&b, a.status)
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		switch name {
		case "Date", "Ratelimit":
		default:
			fmt.Fprintln(&b, name, a.header[name])
		}
	}
	b.Write(a.body)
	return b.String()
}

// TestForeignIDsNeverExisted sends every route that names something the ids of
// another organization's and of another partition's things. The answer is byte
// for byte that to an id that never existed, and what was named is unharmed.
//
// interface: Authentication/9 isolation between organizations
// interface: Authentication/10 a key that is not the caller's
func TestForeignIDsNeverExisted(t *testing.T) {
	s := startStack(t)
	theirs, ours := s.org(t, "Theirs"), s.org(t, "Ours")
	n := &atomic.Int64{}
	owner := fixture{s, theirs, theirs.owner, caller{key: theirs.key}, n}
	s.ok(t, owner.maker, http.MethodPut, "/v1/subjects/anna", "")
	s.ok(t, caller{key: ours.key}, http.MethodPut, "/v1/subjects/bert", "")
	anna := owner
	anna.maker = anna.maker.as("anna")
	member := theirs.recruit(t, "member@example.com", "member")
	stranger, peer := caller{key: ours.key}, caller{key: theirs.mint(t, member, fullScope...)}
	box := caller{key: s.ok(t, owner.maker, http.MethodPost, "/v1/sandbox/keys", `{}`).text(t, "apiKey")}

	// Of one organization, these belong to all its members.
	shared := []string{
		"getSubject", "eraseSubject", "getWebhook", "patchWebhook", "deleteWebhook", "testWebhook", "getDelivery",
		"revokeSandboxKey", "getIdentity",
		"getConnector", "patchConnector", "deleteConnector", "syncConnector",
	}
	tried := 0
	for _, r := range s.routes(t) {
		// The types of recall are nobody's, and putting a subject makes it.
		if !strings.Contains(r.path, "{") || r.id == "recall" || r.id == "putSubject" {
			continue
		}
		if samples[r.id] == nil {
			t.Errorf("%s %s names something: say in samples what, or nobody knows that another's is not found", r.method, r.path)
			continue
		}
		t.Run(r.id, func(t *testing.T) {
			req := samples[r.id](t, owner)
			never := request{unknown(req.id), req.query, req.body}
			if never.id == req.id {
				t.Fatalf("no unknown id beside %s", req.id)
			}
			who := map[string]caller{"a stranger": stranger}
			if r.id != "getIdentity" { // where it is its own user's, and empty
				who["the sandbox"] = box
			}
			if r.subject != "refused" {
				who["a stranger's subject"] = stranger.as("bert")
			}
			if !slices.Contains(shared, r.id) {
				who["a peer"] = peer
				if r.subject == "aware" {
					who["the owner's own subject"] = owner.maker.as("anna")
				}
			}
			for name, c := range who {
				foreign := s.send(t, c, r.method, r.target(req.id, req.query), req.body, "X-Request-Id", "same")
				absent := s.send(t, c, r.method, r.target(never.id, never.query), never.body, "X-Request-Id", "same")
				if shown(foreign) != shown(absent) {
					t.Errorf("%s reads\n%s\nof another's, and\n%s\nof what never was", name, shown(foreign), shown(absent))
				}
				if foreign.status < 400 {
					t.Errorf("%s succeeds: %d %s", name, foreign.status, foreign.body)
				}
				tried++
			}
			// Unharmed: its owner does with it what the stranger could not.
			if a := s.send(t, owner.maker, r.method, r.target(req.id, req.query), req.body); a.status >= 400 &&
				!slices.Contains(besides[r.id], a.code(t)) {
				t.Errorf("afterwards the owner reads %d %s", a.status, a.body)
			}
		})
	}
	if tried < 60 {
		t.Errorf("only %d comparisons", tried)
	}
	for name, pair := range map[string]struct {
		path      string
		body      func(id string) string
		id, never string
		method    string
	}{
		"an edge from their node": {"/v1/graph/edges", func(id string) string {
			return fmt.Sprintf(`{"source":%q,"target":%q,"type":"near"}`, id, id)
		}, owner.node(t), unknown(owner.node(t)), http.MethodPost},
		"their user": {"/v1/condition/session", func(id string) string {
			return fmt.Sprintf(`{"orgId":%q,"userId":%q,"cwd":"/"}`, ours.id, id)
		}, theirs.owner.String(), unknown(theirs.owner.String()), http.MethodPost},
		"their organization": {"/v1/condition/session", func(id string) string {
			return fmt.Sprintf(`{"orgId":%q,"userId":%q,"cwd":"/"}`, id, ours.owner)
		}, theirs.id.String(), unknown(theirs.id.String()), http.MethodPost},
		"their subject": {"/v1/purge", func(id string) string {
			return fmt.Sprintf(`{"scope":"subject","subjectId":%q}`, id)
		}, "anna", unknown("anna"), http.MethodPost},
	} {
		foreign := s.send(t, stranger, pair.method, pair.path, pair.body(pair.id), "X-Request-Id", "same")
		absent := s.send(t, stranger, pair.method, pair.path, pair.body(pair.never), "X-Request-Id", "same")
		if shown(foreign) != shown(absent) || foreign.status < 400 {
			t.Errorf("%s reads\n%s\nand what never was\n%s", name, shown(foreign), shown(absent))
		}
	}
	// Where an id filters, another's finds as little as one that never was, and says as
	// little; so does another's subject.
	ourNode, domain := fixture{s, ours, ours.owner, stranger, n}.node(t), owner.domain(t)
	for _, pair := range []struct {
		method, path, body string // %s: the id, or the one that never was
		id                 string
		refused            bool
	}{
		{http.MethodGet, "/v1/graph/edges?node=%s", "", owner.node(t), false},
		{http.MethodGet, "/v1/graph/edges?source=%s", "", owner.node(t), false},
		{http.MethodGet, "/v1/graph/nodes?domainId=%s", "", domain, false},
		{http.MethodPost, "/v1/search", `{"query":"boiler","filters":{"domainId":%q}}`, domain, false},
		{http.MethodPatch, "/v1/graph/nodes/" + ourNode, `{"domainId":%q}`, domain, true},
	} {
		ask := func(id string) answer {
			fill := func(text string) string {
				if strings.Contains(text, "%") {
					return fmt.Sprintf(text, id)
				}
				return text
			}
			return s.send(t, stranger, pair.method, fill(pair.path), fill(pair.body), "X-Request-Id", "same")
		}
		if foreign, absent := ask(pair.id), ask(unknown(pair.id)); shown(foreign) != shown(absent) ||
			(foreign.status >= 400) != pair.refused {
			t.Errorf("%s %s %s reads\n%s\nof another's, and\n%s\nof what never was", pair.method, pair.path, pair.body,
				shown(foreign), shown(absent))
		}
	}
	theirSubject := s.send(t, stranger.as("anna"), http.MethodGet, "/v1/settings", "", "X-Request-Id", "same")
	if nobody := s.send(t, stranger.as("anno"), http.MethodGet, "/v1/settings", "", "X-Request-Id",
		"same"); shown(theirSubject) != shown(nobody) || nobody.code(t) != "subject_not_provisioned" {
		t.Errorf("another's subject reads\n%s\nand nobody\n%s", shown(theirSubject), shown(nobody))
	}
	// Nothing of theirs is in any list of ours.
	mark := s.note(t, owner.maker, "The secret word is zanzibar.")
	for _, r := range s.routes(t) {
		if strings.Contains(r.path, "{") || r.method != http.MethodGet || r.id == "streamEvents" {
			continue
		}
		for name, c := range map[string]caller{"a stranger": stranger, "the sandbox": box} {
			query := ""
			if sample := samples[r.id]; sample != nil {
				query = sample(t, owner).query
			}
			a := s.send(t, c, r.method, r.target("", query), "")
			for _, secret := range []string{mark, theirs.owner.String() + `"`, "zanzibar", `"anna"`} {
				if name == "the sandbox" && strings.HasPrefix(secret, theirs.owner.String()) {
					continue // it knows whose it is
				}
				if strings.Contains(string(a.body), secret) {
					t.Errorf("%s: %s reads %s: %s", r.id, name, secret, a.body)
				}
			}
		}
	}
}
