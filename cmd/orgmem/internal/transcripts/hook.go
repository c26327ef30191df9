package transcripts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/durable"
)

// hookEvent is when Claude Code calls the hook: a session has ended, by any way but a
// killed process.
const hookEvent = "SessionEnd"

// hookCall is what tells our hook from others.
const hookCall = " sessions push --hook"

// hookSeconds is how long Claude Code waits for the hook: redacting and sending one
// long session.
const hookSeconds = 60

// ErrSettings means that a settings file cannot be changed safely.
var ErrSettings = errors.New("the settings file is not as expected")

// SettingsPath is where Claude Code keeps a user's settings.
func SettingsPath(home string) string { return filepath.Join(home, ".claude", "settings.json") }

// InstallHook adds a hook that pushes a session when it ends to the settings, and
// leaves all else in them as it stands. It reports whether there was none before;
// command is a program with its arguments before and behind the fixed words.
func InstallHook(path, program, arguments string) (bool, error) {
	return edit(path, func(groups []jsontext.Value) ([]jsontext.Value, bool, error) {
		for _, g := range groups {
			if ours, _, err := without(g); err != nil || ours {
				return groups, false, err
			}
		}
		command, err := jsontext.AppendQuote(nil, program+hookCall+arguments)
		if err != nil {
			return nil, false, err
		}
		group := fmt.Sprintf(`{"hooks":[{"type":"command","command":%s,"timeout":%d}]}`, command, hookSeconds)
		return append(groups, jsontext.Value(group)), true, nil
	})
}

// RemoveHook takes the hook out of the settings, and reports whether it was there.
func RemoveHook(path string) (bool, error) {
	return edit(path, func(groups []jsontext.Value) ([]jsontext.Value, bool, error) {
		var kept []jsontext.Value
		changed := false
		for _, g := range groups {
			ours, rest, err := without(g)
			if err != nil {
				return nil, false, err
			}
			changed = changed || ours
			if !ours || rest != nil {
				kept = append(kept, rest)
			}
		}
		return kept, changed, nil
	})
}

// without takes our hook out of a group of hooks: whether it was there, and what is
// left of the group, nil when that is nothing.
func without(group jsontext.Value) (ours bool, rest jsontext.Value, err error) {
	members, err := objectOf(group)
	if err != nil {
		return false, nil, err
	}
	at := indexOf(members, "hooks")
	if at < 0 {
		return false, group, nil
	}
	hooks, err := arrayOf(members[at].value)
	if err != nil {
		return false, nil, err
	}
	var kept []jsontext.Value
	for _, hook := range hooks {
		one, err := objectOf(hook)
		if err != nil {
			return false, nil, err
		}
		if i := indexOf(one, "command"); i >= 0 {
			command, err := jsontext.AppendUnquote(nil, one[i].value)
			if err == nil && strings.Contains(string(command), hookCall) {
				ours = true
				continue
			}
		}
		kept = append(kept, hook)
	}
	if !ours {
		return false, group, nil
	}
	if len(kept) == 0 {
		return true, nil, nil
	}
	members[at].value = arrayFrom(kept)
	return true, objectFrom(members), nil
}

// edit changes the groups of hookEvent in a settings file. The file is replaced in one
// step, and only when there is something to change.
func edit(path string, change func([]jsontext.Value) ([]jsontext.Value, bool, error)) (bool, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one
	}
	raw, err := os.ReadFile(path)
	mode := fs.FileMode(config.FileMode0600)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		raw = []byte("{}")
		if err := os.MkdirAll(filepath.Dir(path), config.DirMode0700); err != nil {
			return false, err
		}
	case err != nil:
		return false, err
	default:
		info, err := os.Stat(path)
		if err != nil {
			return false, err
		}
		mode = info.Mode().Perm()
	}
	settings, err := objectOf(raw)
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	hooks, groups := []member(nil), []jsontext.Value(nil)
	at := indexOf(settings, "hooks")
	if at >= 0 {
		if hooks, err = objectOf(settings[at].value); err != nil {
			return false, fmt.Errorf("%s: hooks: %w", path, err)
		}
	}
	in := indexOf(hooks, hookEvent)
	if in >= 0 {
		if groups, err = arrayOf(hooks[in].value); err != nil {
			return false, fmt.Errorf("%s: hooks.%s: %w", path, hookEvent, err)
		}
	}
	groups, changed, err := change(groups)
	if err != nil {
		return false, fmt.Errorf("%s: hooks.%s: %w", path, hookEvent, err)
	}
	if !changed {
		return false, nil
	}
	hooks = put(hooks, in, hookEvent, arrayFrom(groups), len(groups) == 0)
	settings = put(settings, at, "hooks", objectFrom(hooks), len(hooks) == 0)
	out := objectFrom(settings)
	if err := out.Indent(jsontext.WithIndent("  ")); err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	if err := durable.WriteFile(path, bytes.NewReader(append(out, '\n'))); err != nil {
		return false, err
	}
	return true, os.Chmod(path, mode)
}

// member is one member of an object, in its place: settings keep their order.
type member struct {
	name  string
	value jsontext.Value
}

func indexOf(members []member, name string) int {
	for i, m := range members {
		if m.name == name {
			return i
		}
	}
	return -1
}

// put sets or, when it is empty now, removes a member; at is its index, -1 for a new
// one.
func put(members []member, at int, name string, value jsontext.Value, empty bool) []member {
	switch {
	case empty && at >= 0:
		return append(members[:at], members[at+1:]...)
	case at >= 0:
		members[at].value = value
		return members
	case empty:
		return members
	}
	return append(members, member{name, value})
}

func objectOf(raw []byte) ([]member, error) {
	if jsontext.Value(bytes.TrimSpace(raw)).Kind() != '{' {
		return nil, fmt.Errorf("%w: no JSON object", ErrSettings)
	}
	if !jsontext.Value(raw).IsValid() {
		return nil, fmt.Errorf("%w: it is not well-formed, or has a name twice", ErrSettings)
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := d.ReadToken(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	var members []member
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSettings, err)
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSettings, err)
		}
		members = append(members, member{key, value.Clone()})
	}
	return members, nil
}

func objectFrom(members []member) jsontext.Value {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, m.name) // it was read as text
		out = append(append(out, ':'), m.value...)
	}
	return append(out, '}')
}

func arrayOf(raw jsontext.Value) ([]jsontext.Value, error) {
	if raw.Kind() != '[' {
		return nil, fmt.Errorf("%w: no list", ErrSettings)
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := d.ReadToken(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	var list []jsontext.Value
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSettings, err)
		}
		list = append(list, value.Clone())
	}
	return list, nil
}

func arrayFrom(list []jsontext.Value) jsontext.Value {
	out := []byte{'['}
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}
