package transcripts

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"orgmem/cmd/orgmem/internal/client"
)

// gemini reads ~/.gemini/tmp/<project>/chats/session-….json: one object per session
// with its messages, each with an id, written anew whenever there are more.
var gemini = adapter{
	name: "gemini-cli", folder: []string{".gemini", "tmp"},
	match:  func(name string) bool { return strings.HasPrefix(name, "session-") && filepath.Ext(name) == ".json" },
	whole:  true,
	record: geminiRecord,
}

type geminiSession struct {
	Session  string `json:"sessionId"`
	Messages []struct {
		ID        string          `json:"id"`
		Timestamp string          `json:"timestamp"`
		Type      string          `json:"type"`
		Content   json.RawMessage `json:"content"`
		Model     string          `json:"model"`
		Calls     []struct {
			ID     string          `json:"id"`
			Name   string          `json:"name"`
			Args   json.RawMessage `json:"args"`
			Status string          `json:"status"`
			Shown  json.RawMessage `json:"resultDisplay"`
		} `json:"toolCalls"`
	} `json:"messages"`
}

func geminiRecord(c *scene, raw []byte) (out found) {
	var s geminiSession
	if json.Unmarshal(raw, &s) != nil || s.Session == "" {
		return found{}
	}
	c.Session = s.Session
	for _, m := range s.Messages {
		if m.ID == "" || m.Type != "user" && m.Type != "gemini" {
			continue
		}
		e := client.SessionEvent{
			SessionID: s.Session, Role: "user", At: m.Timestamp, Text: textOf(m.Content), EventID: m.ID,
			Model: m.Model,
		}
		if m.Type == "gemini" {
			e.Role = "assistant"
		}
		out.events = append(out.events, e)
		for _, call := range m.Calls {
			used := client.SessionEvent{
				SessionID: s.Session, Role: "assistant", At: m.Timestamp, EventID: call.ID + ":call", Tool: call.Name,
				Arguments: call.Args, Model: m.Model,
			}
			result := textOf(call.Shown)
			answered := client.SessionEvent{
				SessionID: s.Session, Role: "tool", At: m.Timestamp, EventID: call.ID + ":result",
				Tool: call.Name, Text: result,
			}
			out.events = append(out.events, used, answered)
			switch call.Status {
			case "error":
				if result != "" {
					out.signals = append(out.signals, failure(s.Session, call.Name, m.Timestamp, result))
				}
			case "cancelled":
				out.signals = append(out.signals, correction(s.Session, m.Timestamp, call.Name+" was cancelled. "+result))
			}
		}
	}
	return out
}
