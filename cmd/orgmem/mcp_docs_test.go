package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/knadh/koanf/parsers/toml/v2"

	"orgmem/cmd/orgmem/process"
)

// mcpEntry is a server in an assistant's settings.
type mcpEntry struct {
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	BearerVar string            `json:"bearer_token_env_var"`
}

const beginMCP = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// keyOfEnvironment is the key as each assistant writes that it comes from the environment.
var keyOfEnvironment = regexp.MustCompile(`\$\{(env:)?ORGMEM_API_KEY\}`)

// Each way of docs/mcp.md to set an assistant up leads to a server that answers: the files
// are read as the assistants read them, and of their commands what they are given is used.
func TestMCPPageSetsUp(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "mcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, t.TempDir(), process.Options{})
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "orgmem.key"), []byte(p.APIKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	entries := mcpEntries(t, string(raw), home, p.APIKey)
	if len(entries) != 6 {
		t.Fatalf("%d ways are shown, want six", len(entries))
	}
	for i, e := range entries {
		said := ""
		if e.Command != "" {
			said = runEntry(t, p, e)
		} else {
			said = postEntry(t, p, e)
		}
		if !strings.Contains(said, `"serverInfo":{"name":"orgmem"`) {
			t.Errorf("way %d, %+v: %s", i+1, e, said)
		}
	}
}

// mcpEntries reads the blocks of the page.
func mcpEntries(t *testing.T, page, home, key string) (all []mcpEntry) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		switch block[1] {
		case "json":
			var file struct {
				MCPServers map[string]mcpEntry `json:"mcpServers"`
			}
			if err := json.Unmarshal([]byte(block[2]), &file); err != nil {
				t.Fatalf("%s: %v", block[2], err)
			}
			all = append(all, file.MCPServers["orgmem"])
		case "toml":
			file, err := toml.Parser().Unmarshal([]byte(block[2]))
			if err != nil {
				t.Fatalf("%s: %v", block[2], err)
			}
			var e mcpEntry
			table, _ := file["mcp_servers"].(map[string]any)
			encoded, err := json.Marshal(table["orgmem"])
			if err == nil {
				err = json.Unmarshal(encoded, &e)
			}
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e)
		case "bash":
			for line := range strings.Lines(block[2]) {
				all = append(all, mcpCommand(t, strings.TrimSpace(line), home, key))
			}
		}
	}
	return all
}

// mcpCommand reads `claude mcp add` and `codex mcp add`, by what a shell makes of their
// words: that is what they write into the assistant's settings, where no key may stand.
func mcpCommand(t *testing.T, line, home, key string) mcpEntry {
	t.Helper()
	said := `claude() { printf '%s\n' "$@"; }; codex() { claude "$@"; }; ` + line
	shell := exec.CommandContext(t.Context(), "sh", "-c", said)
	shell.Env = []string{"HOME=" + home, "ORGMEM_API_KEY=" + key}
	out, err := shell.Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if strings.Contains(string(out), key) {
		t.Errorf("%s stores the key in the assistant's settings", line)
	}
	words := strings.Split(strings.TrimSpace(string(out)), "\n")
	if i := slices.Index(words, "--"); i >= 0 {
		return mcpEntry{Command: words[i+1], Args: words[i+2:]}
	}
	m := regexp.MustCompile(`--transport\nhttp\norgmem\n(\S+)\n--header\n([\w-]+): (.+)$`).
		FindStringSubmatch(strings.Join(words, "\n"))
	if m == nil {
		t.Fatalf("%s names neither a command nor an address", line)
	}
	return mcpEntry{URL: m[1], Headers: map[string]string{m[2]: m[3]}}
}

func runEntry(t *testing.T, p *process.Process, e mcpEntry) string {
	t.Helper()
	if e.Command != "orgmem" {
		t.Errorf("%s is not the program", e.Command)
	}
	command := exec.CommandContext(t.Context(), binary(t), e.Args...)
	command.Env = []string{"ORGMEM_BASE_URL=" + p.BaseURL}
	for name, value := range e.Env {
		command.Env = append(command.Env, name+"="+keyOfEnvironment.ReplaceAllString(value, p.APIKey))
	}
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, beginMCP+"\n"); err != nil {
		t.Error(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	if err = errors.Join(err, in.Close(), command.Wait()); err != nil {
		return fmt.Sprintf("%v: %s", err, said)
	}
	return said
}

func postEntry(t *testing.T, p *process.Process, e mcpEntry) string {
	t.Helper()
	path, standard := strings.CutPrefix(e.URL, "http://127.0.0.1:8080")
	if !standard {
		t.Errorf("%s is not where the service listens by default", e.URL)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.BaseURL+path, strings.NewReader(beginMCP))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range e.Headers {
		r.Header.Set(name, keyOfEnvironment.ReplaceAllString(value, p.APIKey))
	}
	if e.BearerVar == "ORGMEM_API_KEY" {
		r.Header.Set("Authorization", "Bearer "+p.APIKey)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var said json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		return err.Error()
	}
	return string(said)
}
