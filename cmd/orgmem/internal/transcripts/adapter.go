package transcripts

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/plugin"
)

// maxFiles bounds the transcripts of one push: years of daily work.
const maxFiles = 200_000

// adapter knows the transcripts of one assistant.
type adapter struct {
	name   string
	folder []string // below the home directory
	match  func(name string) bool
	// whole: a file is one record, which is written anew as it grows. Else it is
	// one line per record, and only grows.
	whole  bool
	record func(c *scene, raw []byte) found
}

// adapters are what there is, in the order in which they are listed.
var adapters = []adapter{claudeCode, codex, gemini}

// Assistants lists the names of the assistants whose transcripts can be read.
func Assistants() []string {
	names := make([]string, 0, len(adapters))
	for _, a := range adapters {
		names = append(names, a.name)
	}
	return names
}

// scene is what the records so far say of those to come. It is kept with the place
// that a file was read to.
type scene struct {
	Session string `json:"session,omitempty"`
	Cwd     string `json:"cwd,omitempty"`
	Model   string `json:"model,omitempty"`
	// Asked are the last calls of the memory's own tools, by their ids: what they answer
	// is in the memory already.
	Asked []string `json:"asked,omitempty"`
	// at tells the records of a file from each other: where this one begins.
	at int64
}

// maxAsked bounds the calls that wait for their answers; a model makes a few at once.
const maxAsked = 64

// asks notes a call, and reports whether it is one of the memory's own tools. The server is
// called as plugin install, or the plugin's folder, has named it.
func (c *scene) asks(tool, id string) bool {
	const own = plugin.Server + "__"
	for _, prefix := range []string{"mcp__" + own, "mcp__plugin_" + plugin.Server + "_" + own} {
		if strings.HasPrefix(tool, prefix) {
			c.Asked = append(c.Asked[max(0, len(c.Asked)+1-maxAsked):], id)
			return true
		}
	}
	return false
}

// found is what one record holds.
type found struct {
	events  []client.SessionEvent
	signals []signal
}

// signal is one of a session.
type signal struct {
	session string
	client.AgentSignal
}

// The types of signals, as the interface names them.
const (
	signalTool       = "tool_failure"
	signalTest       = "test_failure"
	signalCorrection = "user_correction"
)

// File is a transcript on disk.
type File struct {
	Path      string
	assistant *adapter
}

// Find lists the transcripts of the named assistants (nil: of all) below a home
// directory, sorted by path. An assistant that was never used has none.
func Find(home string, names []string) ([]File, error) {
	var files []File
	for i := range adapters {
		a := &adapters[i]
		if names != nil && !slices.Contains(names, a.name) {
			continue
		}
		root := filepath.Join(append([]string{home}, a.folder...)...)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil && path == root && os.IsNotExist(err):
				return nil
			case err != nil:
				return err
			case d.Type().IsRegular() && a.match(d.Name()) && len(files) < maxFiles:
				files = append(files, File{path, a})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// FileOf is one transcript, of the assistant whose folder or name it has.
func FileOf(home, path string) (File, bool) {
	for i := range adapters {
		a := &adapters[i]
		root := filepath.Join(append([]string{home}, a.folder...)...)
		if strings.HasPrefix(path, root+string(filepath.Separator)) && a.match(filepath.Base(path)) {
			return File{path, a}, true
		}
	}
	return File{}, false
}

// Named is a transcript that a caller says the assistant of.
func Named(path, assistant string) (File, bool) {
	for i := range adapters {
		if adapters[i].name == assistant {
			return File{path, &adapters[i]}, true
		}
	}
	return File{}, false
}

// textOf is the text of a content that is a string, or a list of blocks with texts.
func textOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	var parts []string
	for _, b := range blocks {
		if strings.TrimSpace(b.Text) != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// failure is the signal of a tool that failed, or of tests that did.
func failure(session, tool, at, output string) signal {
	kind := signalTool
	for _, mark := range []string{
		"--- FAIL", "FAIL\t", "FAILED (", "Tests failed", "test result: FAILED", "failing tests",
		" failed, ",
	} {
		if strings.Contains(output, mark) {
			kind = signalTest
		}
	}
	detail := output
	if tool != "" {
		detail = tool + ": " + output
	}
	return signal{session, client.AgentSignal{Type: kind, Severity: "error", Detail: detail, At: at}}
}
