package transcripts

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orgmem/cmd/orgmem/internal/client"
)

// ClaudeCode is the name of the assistant whose hooks we know.
const ClaudeCode = "claude-code"

// claudeCode reads ~/.claude/projects/<project>/<session>.jsonl: one record per line,
// each with an id, whose message is that of the vendor's interface. Thoughts are left
// out, and so are records that hold no turn (summaries, snapshots, progress).
var claudeCode = adapter{
	name: ClaudeCode, folder: []string{".claude", "projects"},
	match:  func(name string) bool { return filepath.Ext(name) == ".jsonl" },
	record: claudeRecord,
}

type claudeLine struct {
	Type      string          `json:"type"`
	UUID      string          `json:"uuid"`
	Session   string          `json:"sessionId"`
	Timestamp string          `json:"timestamp"`
	Cwd       string          `json:"cwd"`
	Meta      bool            `json:"isMeta"`
	Content   json.RawMessage `json:"content"`
	Message   struct {
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

type claudeBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"` // of a call
	Call    string          `json:"tool_use_id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
	Error   bool            `json:"is_error"`
}

// What the assistant itself writes where a person stepped in.
const (
	claudeInterrupted = "[Request interrupted by user"
	claudeRefused     = "The user doesn't want to proceed with this tool use"
)

func claudeRecord(c *scene, raw []byte) (out found) {
	var line claudeLine
	if json.Unmarshal(raw, &line) != nil || line.Meta || line.UUID == "" {
		return found{}
	}
	if line.Type != "user" && line.Type != "assistant" && line.Type != "system" {
		return found{}
	}
	if line.Session != "" {
		c.Session = line.Session
	}
	content := line.Message.Content
	if len(content) == 0 {
		content = line.Content
	}
	var blocks []claudeBlock
	if json.Unmarshal(content, &blocks) != nil {
		blocks = []claudeBlock{{Type: "text", Text: textOf(content)}}
	}
	for n, b := range blocks {
		e := client.SessionEvent{
			SessionID: c.Session, Role: line.Type, At: line.Timestamp, EventID: line.UUID + ":" + strconv.Itoa(n),
			Cwd: line.Cwd, Model: line.Message.Model,
		}
		switch b.Type {
		case "text":
			e.Text = b.Text
			if strings.HasPrefix(strings.TrimSpace(b.Text), claudeInterrupted) {
				out.signals = append(out.signals, correction(c.Session, line.Timestamp, b.Text))
			}
		case "tool_use":
			if c.asks(b.Name, b.ID) {
				continue
			}
			e.Tool, e.Arguments = b.Name, b.Input
		case "tool_result":
			if slices.Contains(c.Asked, b.Call) {
				continue
			}
			e.Role, e.Text = "tool", textOf(b.Content)
			switch {
			case strings.HasPrefix(e.Text, claudeRefused):
				out.signals = append(out.signals, correction(c.Session, line.Timestamp, e.Text))
			case b.Error && strings.TrimSpace(e.Text) != "":
				out.signals = append(out.signals, failure(c.Session, "", line.Timestamp, e.Text))
			}
		default:
			continue
		}
		out.events = append(out.events, e)
	}
	return out
}

// correction is the signal of a person who stepped in.
func correction(session, at, text string) signal {
	return signal{session, client.AgentSignal{Type: signalCorrection, Detail: text, At: at}}
}
