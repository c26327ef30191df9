package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
)

// tomlComment stands above what we put into a TOML file.
const tomlComment = "# Put in by orgmem plugin install; orgmem plugin remove takes it out."

// positioned is an error that knows where in a text it is.
type positioned interface {
	error
	Position() (row, column int)
}

// parseTOML reads a TOML text, and says in which line it is wrong.
func parseTOML(text []byte) (map[string]any, error) {
	values, err := toml.Parser().Unmarshal(text)
	if err != nil {
		var line int
		if at, ok := errors.AsType[positioned](err); ok {
			line, _ = at.Position()
		}
		return nil, fmt.Errorf("%w: line %d: %w", ErrSettings, line, err)
	}
	return values, nil
}

// table is a table of a TOML text: its name, where its header's line begins, and where
// its last value's line ends.
type table struct {
	name       []string
	start, end int
}

// tomlTables lists the tables of a well-formed TOML text. What stands before the first
// header belongs to none.
func tomlTables(text []byte) []table {
	var tables []table
	for at := 0; at < len(text); {
		end := statementEnd(text, at)
		statement := bytes.TrimSpace(text[at:end])
		switch {
		case len(statement) == 0 || statement[0] == '#':
		case statement[0] == '[':
			tables = append(tables, table{name: headerName(statement), start: at, end: end})
		case len(tables) > 0:
			tables[len(tables)-1].end = end
		}
		at = end
	}
	return tables
}

// statementEnd is where the statement that begins at a place ends, with its newline: a
// value may go over several lines.
func statementEnd(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch c := text[at]; c {
		case '#':
			if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
				at += i
			} else {
				at = len(text)
			}
			continue
		case '"', '\'':
			at = stringEnd(text, at)
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth <= 0 {
				return at + 1
			}
		}
		at++
	}
	return len(text)
}

// stringEnd is where the string that begins at a place ends.
func stringEnd(text []byte, at int) int {
	quote := text[at : at+1]
	if long := bytes.Repeat(quote, 3); bytes.HasPrefix(text[at:], long) {
		for i := at + len(long); i < len(text); i++ {
			switch {
			case quote[0] == '"' && text[i] == '\\':
				i++
			case bytes.HasPrefix(text[i:], long):
				i += len(long)
				for i < len(text) && text[i] == quote[0] { // up to two of its own stand before the end
					i++
				}
				return i
			}
		}
		return len(text)
	}
	for i := at + 1; i < len(text) && text[i] != '\n'; i++ {
		switch {
		case quote[0] == '"' && text[i] == '\\':
			i++
		case text[i] == quote[0]:
			return i + 1
		}
	}
	return len(text)
}

// headerName is the name of a header such as [a."b c"] or [[a.b]].
func headerName(statement []byte) []string {
	inner := bytes.TrimLeft(statement, "[")
	var name []string
	var part strings.Builder
	for at := 0; at < len(inner) && inner[at] != ']'; {
		switch c := inner[at]; c {
		case '"', '\'':
			end := stringEnd(inner, at)
			// A parser reads it, escapes and all.
			if v, err := toml.Parser().Unmarshal(append([]byte("v = "), inner[at:end]...)); err == nil {
				if s, ok := v["v"].(string); ok {
					part.WriteString(s)
				}
			}
			at = end
			continue
		case '.':
			name = append(name, part.String())
			part.Reset()
		case ' ', '\t':
		default:
			part.WriteByte(c)
		}
		at++
	}
	return append(name, part.String())
}

// below reports whether a table is one with a name, or one inside it.
func (t table) below(name []string) bool {
	return len(t.name) >= len(name) && slices.Equal(t.name[:len(name)], name)
}

// lookTOML is the value under a name.
func lookTOML(values map[string]any, name []string) (any, bool) {
	var v any = values
	for _, part := range name {
		in, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = in[part]; !ok {
			return nil, false
		}
	}
	return v, true
}

// putTable adds a table at the end. The lines are its values.
func putTable(text []byte, name []string, lines []string) ([]byte, error) {
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	out := append([]byte{}, text...)
	if len(out) > 0 {
		if !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, newline...)
		}
		out = append(out, newline...)
	}
	for _, line := range append([]string{tomlComment, "[" + strings.Join(name, ".") + "]"}, lines...) {
		out = append(append(out, line...), newline...)
	}
	// An inline table that is there already cannot be added to.
	if _, err := parseTOML(out); err != nil {
		return nil, fmt.Errorf("%w: %s is there in a form that cannot be added to", ErrSettings,
			strings.Join(name[:len(name)-1], "."))
	}
	return out, nil
}

// dropTable takes out a table and those inside it, with our comment above it and the
// empty line above that.
func dropTable(text []byte, name []string) []byte {
	tables := tomlTables(text)
	for _, t := range slices.Backward(tables) {
		if !t.below(name) {
			continue
		}
		start := t.start
		// Codex keeps no comment above a table when it edits the file.
		if line := lineBefore(text, start); string(bytes.TrimSpace(text[line:start])) == tomlComment {
			start = line
		}
		if line := lineBefore(text, start); line < start && len(bytes.TrimSpace(text[line:start])) == 0 {
			start = line
		}
		text = append(append([]byte{}, text[:start]...), text[t.end:]...)
	}
	return text
}

// lineBefore is where the line that ends at a place begins.
func lineBefore(text []byte, at int) int {
	if at == 0 {
		return 0
	}
	return bytes.LastIndexByte(text[:at-1], '\n') + 1
}

// tomlText is a basic string. JSON writes one as TOML does, but for the one control
// character that JSON lets stand.
func tomlText(s string) string {
	return strings.ReplaceAll(jsonText(s), "\x7f", `\u007F`)
}
