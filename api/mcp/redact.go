package mcp

import (
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// argCursor is the one argument that is sent back as the service has given it: a word that
// is random by design, of which a part may look like a key by chance.
const argCursor = "cursor"

// clean is a text as it may leave the machine, and how many secrets were taken out of it.
func (s *session) clean(text string) (string, int) {
	if s.Redact == nil {
		return text, 0
	}
	return s.Redact(text)
}

// cleanArguments is clean for all strings of a tool's arguments, which were checked: they are
// an object of JSON.
func (s *session) cleanArguments(arguments json.RawMessage) (json.RawMessage, int, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &members); err != nil {
		return nil, 0, fmt.Errorf("read arguments that were checked: %w", err)
	}
	taken := 0
	for name, member := range members {
		var given string
		if name == argCursor || len(member) == 0 || member[0] != '"' || json.Unmarshal(member, &given) != nil {
			continue
		}
		kept, n := s.clean(given)
		if n == 0 {
			continue
		}
		taken += n
		var err error
		if members[name], err = encode(kept); err != nil {
			return nil, 0, err
		}
	}
	if taken == 0 {
		return arguments, 0, nil
	}
	cleaned, err := encode(members)
	return cleaned, taken, err
}

// takenOut says that something was taken out: a model that looks for what it has stored
// must not think that the memory has lost it.
func takenOut(n int) string {
	what := "1 secret was"
	if n > 1 {
		what = fmt.Sprintf("%d secrets were", n)
	}
	return what + " taken out of the arguments before they left this machine. Tell the user, and send none again."
}

// sayTakenOut adds to an answer what was taken out of its arguments: to the object a
// number, and to the text a block of its own, which is our word and no quotation.
func sayTakenOut(answer *sdk.CallToolResult, n int) {
	if n > 0 {
		answer.Content = append(answer.Content, &sdk.TextContent{Text: takenOut(n)})
	}
}

// withCount puts a number behind the fields of an object of JSON that has some.
func withCount(object []byte, n int) []byte {
	if n == 0 {
		return object
	}
	return fmt.Appendf(object[:len(object)-1], `,"redacted":%d}`, n)
}
