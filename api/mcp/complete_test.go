package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"orgmem/proto/clock"
)

// What is suggested are the values that an argument can have here, by what was typed of one.
func TestComplete(t *testing.T) {
	t.Parallel()
	s := newService(t)
	caller := &fakeCaller{answers: map[string][]Reply{
		"GET /v1/recall/sessions": {ok(`{"data":[{"cwd":"/home/ann/boat"},{"cwd":"/home/ann/oars"},` +
			`{"cwd":"/home/ann/boat"},{"cwd":""},{"cwd":"/srv/quay\u202e"}]}`)},
	}}
	today := s.Clock.(*clock.Fake).Now().UTC().Format("2006-01-02") + "T00:00:00Z"
	prompt := func(name string) string { return `{"type":"ref/prompt","name":"` + name + `"}` }
	resource := func(uri string) string { return `{"type":"ref/resource","uri":"` + uri + `"}` }
	for _, c := range []struct {
		ref, name, typed, more string
		want                   []string
	}{
		{prompt("start_session"), "cwd", "", "", []string{"/home/ann/boat", "/home/ann/oars", "/srv/quay"}},
		{prompt("start_session"), "cwd", "/Home/ann/o", "", []string{"/home/ann/oars"}},
		{prompt("with_memory"), "maxTokens", "1", "", []string{"1000", "1500", "12000"}},
		{prompt("with_memory"), "prompt", "a", "", []string{}},
		{resource(viewTemplate), "view", "i", "", []string{"identity", "insights"}},
		{resource(viewTemplate), "asOf", today[:10], `,"context":{"arguments":{"view":"graph"}}`, []string{today}},
		{resource(viewTemplate), "asOf", "", `,"context":{"arguments":{"view":"identity"}}`, []string{}},
		{resource(nodeTemplate), "id", "", "", []string{}},
	} {
		raw := rpc(t, s, caller, nil, `"completion/complete"`,
			`{"ref":`+c.ref+`,"argument":{"name":"`+c.name+`","value":"`+c.typed+`"}`+c.more+`}`)
		var answer struct{ Completion struct{ Values []string } }
		if err := json.Unmarshal(raw, &answer); err != nil {
			t.Fatal(err)
		}
		if got := answer.Completion.Values; !slices.Equal(got, c.want) {
			t.Errorf("%s %s %q: %q, want %q: %s", c.ref, c.name, c.typed, got, c.want, raw)
		}
	}
	reply := message(t, s, caller, nil, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":`+
		prompt("no")+`,"argument":{"name":"cwd","value":""}}}`)
	if !strings.Contains(string(reply.Body), "-32602") {
		t.Errorf("a prompt that is not there: %s", reply.Body)
	}
}

// A view as it was, by the address that a client makes of the template.
func TestViewThen(t *testing.T) {
	t.Parallel()
	s := newService(t)
	caller := &fakeCaller{answers: map[string][]Reply{
		"GET /v1/recall/graph": {ok(`{"domains":[{"label":"boats","keywords":["oar"],"nodeCount":2}]}`)},
	}}
	for _, at := range []string{"2026-01-01T00%3A00%3A00Z", "2026-01-01T00:00:00Z"} {
		raw := rpc(t, s, caller, nil, `"resources/read"`, `{"uri":"memory://recall/graph?asOf=`+at+`"}`)
		asked := caller.asked[len(caller.asked)-1]
		if !strings.Contains(string(raw), "boats") || asked.Path != "/v1/recall/graph?asOf=2026-01-01T00%3A00%3A00Z" {
			t.Errorf("asked %s for %s", asked.Path, raw)
		}
	}
	reply := message(t, s, caller, nil, `{"jsonrpc":"2.0","id":1,"method":"resources/read",`+
		`"params":{"uri":"memory://recall/nothing?asOf=2026-01-01T00%3A00%3A00Z"}}`)
	if !strings.Contains(string(reply.Body), "not found") || len(caller.asked) != 2 {
		t.Errorf("a view that is not there: %s", reply.Body)
	}
}
