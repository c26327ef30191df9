package transcripts

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orgmem/cmd/orgmem/internal/client"
)

// codex reads ~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl: lines of
// {timestamp, type, payload}. What was said is in response_item; event_msg repeats it
// for the screen and is left out, but for the word that a person broke off. Records
// have no id: where they begin is theirs, since these files only grow.
var codex = adapter{
	name: "codex", folder: []string{".codex", "sessions"},
	match:  func(name string) bool { return strings.HasPrefix(name, "rollout-") && filepath.Ext(name) == ".jsonl" },
	record: codexRecord,
}

type codexLine struct {
	Timestamp string       `json:"timestamp"`
	Type      string       `json:"type"`
	Payload   codexPayload `json:"payload"`
}

type codexPayload struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Cwd       string          `json:"cwd"`
	Model     string          `json:"model"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"` // of a tool's name, in newer versions
	Call      string          `json:"call_id"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
	Reason    string          `json:"reason"`
}

func codexRecord(c *scene, raw []byte) (out found) {
	var line codexLine
	if json.Unmarshal(raw, &line) != nil {
		return found{}
	}
	p := &line.Payload
	switch line.Type {
	case "session_meta":
		if c.Session == "" { // a session that goes on from another repeats the other's
			c.Session = p.ID
		}
		c.Cwd = p.Cwd
		return found{}
	case "turn_context":
		c.Model = p.Model
		if p.Cwd != "" {
			c.Cwd = p.Cwd
		}
		return found{}
	case "event_msg":
		if p.Type == "turn_aborted" && c.Session != "" {
			return found{signals: []signal{correction(c.Session, line.Timestamp, "The turn was broken off: "+p.Reason)}}
		}
		return found{}
	case "response_item":
	default:
		return found{}
	}
	e := client.SessionEvent{
		SessionID: c.Session, At: line.Timestamp, EventID: c.Session + "@" + strconv.FormatInt(c.at, 10), Cwd: c.Cwd,
		Model: c.Model,
	}
	switch p.Type {
	case "message":
		e.Role, e.Text = p.Role, textOf(p.Content)
		if e.Role == "developer" || e.Role == "user" && injected(e.Text) {
			e.Role = "system"
		}
	case "function_call":
		if c.asks(p.Namespace+p.Name, p.Call) {
			return found{}
		}
		e.Role, e.Tool, e.Arguments = "assistant", p.Name, json.RawMessage(p.Arguments)
	case "custom_tool_call":
		e.Role, e.Tool, e.Text = "assistant", p.Name, p.Input
	case "function_call_output", "custom_tool_call_output":
		if slices.Contains(c.Asked, p.Call) {
			return found{}
		}
		text, failed := codexOutput(p.Output)
		e.Role, e.Text = "tool", text
		if failed && strings.TrimSpace(text) != "" {
			out.signals = append(out.signals, failure(c.Session, "", line.Timestamp, text))
		}
	default:
		return found{}
	}
	if e.SessionID == "" {
		return found{}
	}
	out.events = append(out.events, e)
	return out
}

// injected reports whether a message of the user's is not theirs, but the program's.
func injected(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "<environment_context>") || strings.HasPrefix(text, "<user_instructions>")
}

// codexOutput is what a tool answered, and whether it says that it failed.
func codexOutput(raw json.RawMessage) (text string, failed bool) {
	text = textOf(raw)
	var shell struct {
		Output   *string `json:"output"`
		Metadata struct {
			ExitCode int `json:"exit_code"`
		} `json:"metadata"`
	}
	if json.Unmarshal([]byte(text), &shell) == nil && shell.Output != nil {
		return *shell.Output, shell.Metadata.ExitCode != 0
	}
	for _, mark := range []string{"Process exited with code ", "Exit code: "} {
		if _, rest, ok := strings.Cut(text, mark); ok {
			return text, !strings.HasPrefix(rest, "0")
		}
	}
	return text, false
}
