package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/process"
)

// readmeBlock is the block of the README that a stranger types first.
func readmeBlock(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(raw), "<!-- A test executes exactly this block. -->\n```bash\n")
	block, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed {
		t.Fatal("README.md has no such block")
	}
	return strings.Split(block, "\n")
}

var jobID = regexp.MustCompile(`"jobId":"([^"]+)"`)

// TestREADME types the lines of the README into bash, as they stand. The only
// help is that it waits for the jobs where a person would wait a second.
func TestREADME(t *testing.T) {
	lines := readmeBlock(t)
	curls := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.HasPrefix(l, "curl ") })
	if len(curls) != 5 {
		t.Fatalf("%d lines of curl, want five", len(curls))
	}
	dir := t.TempDir()
	p := start(t, filepath.Join(dir, "data"), process.Options{})
	c := caller{base: p.BaseURL, key: p.APIKey}
	shell := newShell(t, dir, p.BaseURL)
	var outputs []string
	for _, line := range lines {
		out := shell.run(t, line)
		for _, job := range jobID.FindAllStringSubmatch(out, -1) {
			subject := "ann"
			if a := c.as("bob").send(t.Context(), "GET", "/v1/ingest/"+job[1]+"/status", "", nil); a.Status == 200 {
				subject = "bob"
			}
			if j := c.as(subject).finished(t, job[1]); j.Status != "done" {
				t.Errorf("job %+v", j)
			}
		}
		if strings.HasPrefix(line, "curl ") {
			outputs = append(outputs, out)
		}
	}
	if strings.Count(outputs[0], `"createdAt"`) != 2 {
		t.Errorf("subjects: %s", outputs[0])
	}
	if n := len(jobID.FindAllString(outputs[1], -1)); n != 2 {
		t.Errorf("%d jobs: %s", n, outputs[1])
	}
	for i, want := range []string{"boiler", "cat", "rent"} {
		foreign := []string{"rent"}
		if want == "rent" {
			foreign = []string{"boiler", "cat"}
		}
		var found struct{ Results []struct{ ExternalID string } }
		if err := json.Unmarshal([]byte(outputs[2+i]), &found); err != nil || len(found.Results) == 0 {
			t.Fatalf("search %d: %s: %v", i+1, outputs[2+i], err)
		}
		if found.Results[0].ExternalID != want {
			t.Errorf("search %d finds %s first, want %s", i+1, found.Results[0].ExternalID, want)
		}
		for _, hit := range found.Results {
			if slices.Contains(foreign, hit.ExternalID) {
				t.Errorf("search %d finds %s, which is another subject's", i+1, hit.ExternalID)
			}
		}
	}
}

// shell is one bash that is fed line by line, like a terminal.
type shell struct {
	in  *bufio.Writer
	out *bufio.Reader
}

func newShell(t *testing.T, dir, base string) *shell {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ORGMEM_BASE_URL="+base)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &shell{bufio.NewWriter(in), bufio.NewReader(out)}
}

// run types a line and returns what it prints; it must succeed.
func (s *shell) run(t *testing.T, line string) string {
	t.Helper()
	out, status := s.try(t, line)
	if status != "0" {
		t.Fatalf("%s: status %s: %s", line, status, out)
	}
	return out
}

// try types a line and returns what it prints and its status.
func (s *shell) try(t *testing.T, line string) (out, status string) {
	t.Helper()
	const end = "--end-of-line--"
	fmt.Fprintf(s.in, "%s\necho \"\n%s $?\"\n", line, end)
	if err := s.in.Flush(); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	for {
		text, err := s.out.ReadString('\n')
		if err != nil {
			t.Fatalf("%s: bash ended: %v", line, err)
		}
		if status, ok := strings.CutPrefix(strings.TrimSpace(text), end+" "); ok {
			return printed.String(), status
		}
		printed.WriteString(text)
	}
}
