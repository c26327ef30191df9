package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp" //nolint:depguard // the test is a client

	"orgmem/api/mcp/mcptest"
	"orgmem/cmd/orgmem/process"
	"orgmem/proto/clock"
)

// mcpTools is the folder of those who speak the protocol from outside.
const mcpTools = mcptest.Tools("../../sdk/mcp")

// A failed installation is no reason to leave tests out in silence.
func TestMCPTestersMayNotVanish(t *testing.T) {
	for _, c := range []struct {
		ci    string
		noNPM error
		may   bool
	}{
		{"", nil, false},
		{"", exec.ErrNotFound, true},
		{"false", exec.ErrNotFound, true},
		{"true", nil, false},
		{"true", exec.ErrNotFound, false},
		{"1", exec.ErrNotFound, false},
	} {
		if may := mcptest.MayBeMissing(c.ci, c.noNPM); may != c.may {
			t.Errorf("CI=%q, npm: %v: %v, want %v", c.ci, c.noNPM, may, c.may)
		}
	}
}

// mcpOrg is an organization with an owner's key.
func mcpOrg(t *testing.T, p *process.Process, data, name, plan string) caller {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary(t), "org", "create", "--json", "--name", name, "--plan", plan,
		"--owner-email", name+"@example.org", "--operator", p.OperatorURL, "--data", data).Output()
	var made struct{ APIKey string }
	if err == nil {
		err = json.Unmarshal(out, &made)
	}
	if err != nil || made.APIKey == "" {
		t.Fatalf("org create: %s: %v", out, err)
	}
	return caller{base: p.BaseURL, key: made.APIKey}
}

func keyWith(t *testing.T, c caller, scope string) string {
	t.Helper()
	body := map[string]any{"label": scope, "scopes": []string{scope}}
	key, _ := c.must(t, http.StatusCreated, http.MethodPost, "/v1/keys", body)["apiKey"].(string)
	return key
}

// The protocol's TypeScript SDK uses the built binary over HTTP and over standard input.
func TestMCPClient(t *testing.T) {
	mcpTools.Installed(t, "@modelcontextprotocol/sdk")
	mcpTools.Reads(t, "package-lock.json")
	data := t.TempDir()
	p := start(t, data, process.Options{})
	owner := mcpOrg(t, p, data, "one", "unlimited")
	for _, subject := range []string{"ann", "bob", "mallory"} {
		owner.must(t, http.StatusCreated, http.MethodPut, "/v1/subjects/"+subject, nil)
	}
	node := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "client.test.mjs")
	node.Dir = string(mcpTools)
	node.Env = append(os.Environ(),
		"MCP_BASE="+p.BaseURL, "MCP_BINARY="+binary(t), "MCP_KEY="+owner.key,
		"MCP_KEY_READ="+keyWith(t, owner, "read"), "MCP_KEY_FORGET="+keyWith(t, owner, "memory:forget"),
		"MCP_KEY_WRITE="+keyWith(t, owner, "write"),
		"MCP_KEY_OTHER="+mcpOrg(t, p, data, "two", "unlimited").key, "MCP_KEY_FREE="+mcpOrg(t, p, data, "three", "free").key)
	out, err := node.CombinedOutput()
	// Each test is counted where it is written; three are one in a loop.
	tests := strings.Count("\n"+mcpTools.Reads(t, "client.test.mjs"), "\ntest(") + 3
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("pass %d\n", tests)) {
		t.Errorf("%v, want %d tests\n%s", err, tests, out)
	}
}

// The protocol's own suite, as far as it asks for nothing that it has made up: what it asks of
// tools, resources and prompts is tested where those are served (TestMCPConformance in api).
func TestMCPConformance(t *testing.T) {
	data := t.TempDir()
	p := start(t, data, process.Options{})
	owner := mcpOrg(t, p, data, "one", "unlimited")
	to, err := url.Parse(p.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	// The suite has no way to send a key.
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // SetURL has taken it; the suite looks what is made of it
		r.Out.Header.Set("X-Svc-Api-Key", owner.key)
	}})
	t.Cleanup(proxy.Close)
	both := []string{
		"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection",
	}
	for _, c := range []struct {
		suite     mcptest.Suite
		scenarios []string
	}{
		{mcptest.Suites[0], both},
		{mcptest.Suites[1], append([]string{
			"caching", "http-header-validation", "sep-2164-resource-not-found", "input-required-result-unsupported-methods",
		}, both...)},
	} {
		for _, scenario := range c.scenarios {
			t.Run(c.suite.Name+" "+scenario, func(t *testing.T) {
				said, err := c.suite.Run(t, mcpTools, proxy.URL+"/mcp", "--scenario", scenario)
				if err != nil {
					t.Errorf("%v\n%s", err, said)
				}
			})
		}
	}
}

// What an assistant passes on over standard input leaves this machine without its secrets,
// whichever argument holds them, and the answer says that something was taken out.
func TestMCPTakesSecretsOut(t *testing.T) {
	secret := "AKIA" + strings.Repeat("Q7", 8)
	var mu sync.Mutex
	var received []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		received = append(received, r.Method+" "+r.URL.String()+" "+string(body))
		mu.Unlock()
		answer := map[string]string{
			"/v1/me":                 `{"org":{"id":"o1","displayName":"O"},"user":{"id":"u1"},"scopes":["read","write"]}`,
			"/v1/ingest":             `{"jobId":"j1"}`,
			"/v1/ingest/j1/status":   `{"status":"done","result":{"items":[{"nodeId":"n1","status":"created"}]}}`,
			"/v1/search":             `{"results":[]}`,
			"/v1/retrieve":           `{"results":[]}`,
			"/v1/recall/identity":    `{}`,
			"/v1/condition/session":  `{"systemPrompt":"Ann keeps bees."}`,
			"/v1/condition/scaffold": `{"prompt":"Ann keeps bees.\n\nIs [redacted: AWS access key] ours?"}`,
		}[r.URL.Path]
		w.Header().Set("Content-Type", "application/json")
		if answer == "" {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"code":"node_not_found","title":"There is no such node."}`
		}
		if _, err := io.WriteString(w, answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(service.Close)

	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	env := map[string]string{"ORGMEM_API_KEY": "k", "ORGMEM_BASE_URL": service.URL}
	ended := make(chan int, 1)
	go func() {
		ended <- run(t.Context(), []string{"mcp"}, world{
			in: toServer, out: fromServer, err: io.Discard, clock: clock.Real(), environ: func() []string { return nil },
			lookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		})
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, arguments := range map[string]map[string]any{
		"add_memory":    {"content": "The key is " + secret + ".", "title": secret, "externalId": secret},
		"search_memory": {"query": secret},
		"get_context":   {"query": "whose is " + secret},
		"get_memory":    {"nodeId": secret},
	} {
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		last := result.Content[len(result.Content)-1].(*sdk.TextContent).Text
		if result.IsError != (name == "get_memory") || !strings.Contains(last, "taken out of the arguments") {
			t.Errorf("%s: %q", name, last)
		}
		object, _ := result.StructuredContent.(map[string]any)
		if !result.IsError && object["redacted"] != float64(len(arguments)) {
			t.Errorf("%s: %v", name, object)
		}
	}
	for name, arguments := range map[string]map[string]string{
		"start_session": {"cwd": "/home/ann/" + secret}, "with_memory": {"prompt": "Is " + secret + " ours?"},
	} {
		prompt, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		first, last := prompt.Messages[0].Content.(*sdk.TextContent).Text, prompt.Messages[1].Content.(*sdk.TextContent).Text
		if !strings.Contains(first, "1 secret was taken out") || !strings.Contains(last, "Ann keeps bees.") {
			t.Errorf("%s: %q, %q", name, first, last)
		}
	}
	if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "memory://nodes/" + secret}); err == nil {
		t.Error("a node that does not exist was read")
	}
	clean, err := session.CallTool(t.Context(), &sdk.CallToolParams{
		Name: "search_memory", Arguments: map[string]any{"query": "bees"},
	})
	if err != nil || len(clean.Content) != 1 {
		t.Errorf("%v: %v", clean, err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := fromClient.Close(); err != nil {
		t.Error(err)
	}
	if status := <-ended; status != exitDone {
		t.Errorf("the command ended with %d", status)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(received) < 9 {
		t.Errorf("the service was asked %d times only: the test proves nothing", len(received))
	}
	for _, request := range received {
		if strings.Contains(request, secret) {
			t.Errorf("%s left this machine", request)
		}
	}
}
