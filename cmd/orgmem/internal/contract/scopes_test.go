package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"orgmem/storage/storagetest"
)

// TestAnySetOfScopes draws sets of scopes of any size, where the matrix has one or
// all: a key that holds one may do what the union of them may, and no more. The key
// is minted over HTTP, by one that holds another set, and so exists only where its
// maker may mint and has each of its scopes.
//
// interface: Authentication/4 minting
// interface: Authentication/6 scopes
func TestAnySetOfScopes(t *testing.T) {
	storagetest.FewerUnderRace(t, 20)
	s := startStack(t)
	o := s.org(t, "Acme")
	own := fixture{s, o, o.owner, caller{key: o.key}, &atomic.Int64{}}
	anna := own
	anna.maker = anna.maker.as("anna")
	s.ok(t, own.maker, http.MethodPut, "/v1/subjects/anna", "")
	// it would remove the one owner
	routes := slices.DeleteFunc(s.routes(t), func(r route) bool { return r.id == "deleteMe" })
	keys := map[string]string{}
	keyOf := func(scopes []string) string {
		name := strings.Join(scopes, " ")
		if keys[name] == "" {
			keys[name] = o.mint(t, o.owner, scopes...)
		}
		return keys[name]
	}
	sets := rapid.Custom(func(rt *rapid.T) []string {
		var set []string
		for _, scope := range allScopes {
			if rapid.Bool().Draw(rt, scope) {
				set = append(set, scope)
			}
		}
		if set == nil { // a key that holds nothing cannot be made
			set = []string{rapid.SampledFrom(allScopes).Draw(rt, "the one scope")}
		}
		return set
	})
	rapid.Check(t, func(rt *rapid.T) {
		held, wanted := sets.Draw(rt, "held"), sets.Draw(rt, "wanted")
		body, err := json.Marshal(map[string]any{"label": "drawn", "scopes": wanted})
		must(t, err)
		a := s.send(t, caller{key: keyOf(held)}, http.MethodPost, "/v1/keys", string(body))
		may := slices.Contains(held, "admin") &&
			!slices.ContainsFunc(wanted, func(scope string) bool { return !holds(held, scope) })
		if (a.status == http.StatusCreated) != may || !may && a.code(t) != "permission_denied" {
			rt.Fatalf("%q mints %q: %d %s", held, wanted, a.status, a.body)
		}
		key := keyOf(wanted)
		if may {
			key = a.text(t, "apiKey")
			var me struct{ Scopes []string }
			must(t, json.Unmarshal(s.ok(t, caller{key: key}, http.MethodGet, "/v1/me", "").body, &me))
			if slices.Sort(wanted); !slices.Equal(me.Scopes, wanted) {
				rt.Fatalf("minted %q, holds %q", wanted, me.Scopes)
			}
		}
		for range 4 {
			r := routes[rapid.IntRange(0, len(routes)-1).Draw(rt, "route")]
			c := credential{name: strings.Join(wanted, " "), caller: caller{key: key}, fix: own, scopes: wanted}
			if rapid.Bool().Draw(rt, "as a subject") {
				c.caller, c.fix = c.caller.as("anna"), anna
			}
			if wrong := s.judge(t, r, c); wrong != "" {
				rt.Fatalf("%s with %q as %q: %s", r.id, wanted, c.caller.subject, wrong)
			}
		}
	})
}
