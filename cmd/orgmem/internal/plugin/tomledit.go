package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
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
	name, _ := dotted(bytes.TrimLeft(statement, "["), ']')
	return name
}

// dotted is a name of parts that ends before a character, and where that is.
func dotted(inner []byte, end byte) (name []string, at int) {
	var part strings.Builder
	for at < len(inner) && inner[at] != end {
		switch c := inner[at]; c {
		case '"', '\'':
			close := stringEnd(inner, at)
			// A parser reads it, escapes and all.
			if v, err := toml.Parser().Unmarshal(append([]byte("v = "), inner[at:close]...)); err == nil {
				if s, ok := v["v"].(string); ok {
					part.WriteString(s)
				}
			}
			at = close
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
	return append(name, part.String()), at
}

// valueOf is where the value of a statement such as a.b = [1] # two stands.
func valueOf(statement []byte) (key []string, start, end int) {
	key, start = dotted(statement, '=')
	if start = min(start+1, len(statement)); start < len(statement) {
		start += len(statement[start:]) - len(bytes.TrimLeft(statement[start:], " \t"))
	}
	for at := start; at < len(statement); {
		switch c := statement[at]; c {
		case '"', '\'':
			at = stringEnd(statement, at)
			end = at
			continue
		case '#': // inside a list, too, one may go before the end
			if i := bytes.IndexByte(statement[at:], '\n'); i >= 0 {
				at += i
				continue
			}
			return key, start, end
		case ' ', '\t', '\r', '\n':
		default:
			end = at + 1
		}
		at++
	}
	return key, start, end
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

// newlineOf is how lines end in a text.
func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// putTable adds a table with these keys at the end.
func putTable(text []byte, name []string, settings []setting) ([]byte, error) {
	newline := newlineOf(text)
	lines := []string{tomlComment, "[" + strings.Join(name, ".") + "]"}
	for _, one := range settings {
		if one.value != "" {
			lines = append(lines, one.key+" = "+one.value)
		}
	}
	out := append([]byte{}, text...)
	if len(out) > 0 {
		if !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, newline...)
		}
		out = append(out, newline...)
	}
	for _, line := range lines {
		out = append(append(out, line...), newline...)
	}
	// An inline table that is there already cannot be added to.
	if _, err := parseTOML(out); err != nil {
		return nil, fmt.Errorf("%w: %s is there in a form that cannot be added to", ErrSettings,
			strings.Join(name[:len(name)-1], "."))
	}
	return out, nil
}

// merged is what a list of variables is to become: those that we want, and behind them
// those that a person has added. A list that holds more than names is left as it is.
func merged(have any, wanted string) (value string, change bool) {
	list, _ := have.([]any)
	var others, ours []string
	for _, one := range list {
		name, ok := one.(string)
		switch {
		case !ok:
			return "", false
		case slices.Contains(ourVariables(), name):
			ours = append(ours, name)
		default:
			others = append(others, name)
		}
	}
	if slices.Sort(ours); tomlList(ours) == wanted { // they are wanted in this order
		return "", false
	}
	var names []string
	for _, name := range ourVariables() {
		if strings.Contains(wanted, tomlText(name)) {
			names = append(names, name)
		}
	}
	return tomlList(slices.Concat(names, others)), true
}

// change is what a key's value is to become, and whether it is not that already.
func (s setting) change(fields map[string]any) (value string, change bool) {
	have, there := fields[s.key]
	if s.key == envVars {
		return merged(have, s.value)
	}
	wanted, err := parseTOML([]byte("v = " + s.value))
	return s.value, !there || err != nil || !reflect.DeepEqual(have, wanted["v"])
}

// holdsTOML reports whether a table has these keys with just these values.
func holdsTOML(fields map[string]any, settings []setting) bool {
	return !slices.ContainsFunc(settings, func(s setting) bool {
		_, change := s.change(fields)
		return change
	})
}

// setTable gives keys of a table that is there these values, and lets all else of it, and
// the tables inside it, stand.
func setTable(text []byte, name []string, settings []setting) ([]byte, error) {
	values, err := parseTOML(text)
	if err != nil {
		return nil, err
	}
	v, _ := lookTOML(values, name)
	fields, _ := v.(map[string]any)
	for _, one := range settings {
		if value, change := one.change(fields); change {
			text = setKey(text, name, setting{one.key, value})
		}
	}
	if values, err = parseTOML(text); err == nil {
		v, _ = lookTOML(values, name)
		if fields, _ = v.(map[string]any); holdsTOML(fields, settings) {
			return text, nil
		}
	}
	return nil, fmt.Errorf("%w: %s is there in a form that cannot be changed: take it out", ErrSettings,
		strings.Join(name, "."))
}

// setKey gives a key of a table a value, behind its header where it is not there yet; no
// value takes the line out.
func setKey(text []byte, name []string, one setting) []byte {
	tables := tomlTables(text)
	i := slices.IndexFunc(tables, func(t table) bool { return slices.Equal(t.name, name) })
	if i < 0 {
		return text
	}
	t := tables[i]
	splice := func(from, to int, with string) []byte {
		return slices.Concat(text[:from], []byte(with), text[to:])
	}
	behind := statementEnd(text, t.start)
	for at := behind; at < t.end; {
		end := statementEnd(text, at)
		key, from, to := valueOf(text[at:end])
		switch {
		case !slices.Equal(key, []string{one.key}):
		case one.value == "":
			return splice(at, end, "")
		default:
			return splice(at+from, at+to, one.value)
		}
		at = end
	}
	if one.value == "" {
		return text
	}
	newline := newlineOf(text)
	line := one.key + " = " + one.value + newline
	if text[behind-1] != '\n' { // the file ends with the header
		line = newline + line
	}
	return splice(behind, behind, line)
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
