package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a module of four packages in a git repository of its own; the test's
// folder is its root.
func repository(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		t.Setenv(name, "") // a hook of git's may have set it
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	put(t, "go.mod", "module example\n\ngo 1.26\n")
	put(t, "root.go", "package root\n")
	put(t, "low/low.go", "package low\n")
	put(t, "low/testdata/seed.txt", "1\n")
	put(t, "mid/mid.go", "package mid\n\nimport _ \"example/low\"\n")
	put(t, "tested/tested.go", "package tested\n")
	put(t, "tested/tested_test.go", "package tested_test\n\nimport _ \"example/mid\"\n")
	git(t, "init", "-q", "-b", "main")
	commit(t)
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{
		"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false",
	}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func commit(t *testing.T) {
	t.Helper()
	git(t, "add", "-A")
	git(t, "commit", "-q", "-m", "a change")
}

func want(t *testing.T, args, packages string) {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), &out, strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(out.String()); got != packages {
		t.Errorf("changed %s: %q, not %q", args, got, packages)
	}
}

func TestChanged(t *testing.T) {
	repository(t)
	put(t, "low/low.go", "package low\n\nvar A int\n")
	commit(t)

	// On main: the last commit, or what is not committed yet.
	want(t, "", "./low")
	want(t, "-importers", "./low ./mid")
	put(t, "docs/page.md", "new\n")
	put(t, "mid/new.go", "package mid\n")
	want(t, "", ". ./mid")
	want(t, "-importers", ". ./mid ./tested")

	// On a branch: everything since it left main, data of tests too.
	git(t, "checkout", "-q", "-b", "branch")
	commit(t)
	put(t, "low/testdata/seed.txt", "2\n")
	want(t, "", ". ./low ./mid")
	want(t, "-base HEAD", "./low")

	put(t, "go.sum", "\n")
	want(t, "", "./...")
	want(t, "-importers", "./...")
}
