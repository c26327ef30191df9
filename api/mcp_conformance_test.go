package api

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orgmem/api/mcp/mcptest"
)

// mcpTools is the folder of what npm has installed.
const mcpTools = mcptest.Tools("../sdk/mcp")

// scenario is a line of the summary of a scenario in which nothing was wrong.
var scenario = regexp.MustCompile(`(?m)^✓ (\S+): ([1-9]\d*) passed, 0 failed`)

// total counts checks, of which a scenario has one or several.
var total = regexp.MustCompile(`Total: .*`)

// The protocol's own suite, with the tools, resources and prompts that it makes up, served by
// this interface as it is: the edge, its checks and package mcp. What is not to pass is listed
// with the reason in the files of expected failures; any other failure, and any of these that
// passes, fails the test.
func TestMCPConformance(t *testing.T) {
	h := newHarness(t, func(c *Config) {
		c.MCP.Source, c.MCP.Complete, c.MCP.Version = mcptest.Source, mcptest.Complete, "test"
	})
	// The suite has no way to send a key.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Svc-Api-Key", goodKey)
		h.s.public.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		suite  mcptest.Suite
		passed int // scenarios of which something was checked, and all of it was right
	}{
		{mcptest.Suites[0], 22},
		{mcptest.Suites[1], 44},
	} {
		t.Run(c.suite.Name, func(t *testing.T) {
			mcpTools.Reads(t, c.suite.Expected)
			said, err := c.suite.Run(t, mcpTools, server.URL+"/mcp", "--suite", "all", "--expected-failures", c.suite.Expected)
			_, summary, found := strings.Cut(said, "=== SUMMARY ===")
			if err != nil || !found {
				t.Errorf("%v\n%s", err, said)
			}
			t.Log(total.FindString(summary))
			var passed []string
			for _, found := range scenario.FindAllStringSubmatch(summary, -1) {
				passed = append(passed, found[1])
			}
			if slices.Sort(passed); len(passed) != c.passed {
				t.Errorf("%d scenarios pass, want %d: %s", len(passed), c.passed, strings.Join(passed, ", "))
			}
		})
	}
}
