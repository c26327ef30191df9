package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orgmem/cmd/orgmem/internal/config"
)

// The assistants that have hooks and MCP servers. The names are those of package
// transcripts.
const (
	ClaudeCode = "claude-code"
	Codex      = "codex"
)

// Assistants lists them, in the order in which they are shown.
func Assistants() []string { return []string{ClaudeCode, Codex} }

// Server is the name of the MCP server in the settings of an assistant.
const Server = "orgmem"

// The events of a session that have a hook. Both assistants name them alike.
const (
	SessionStart = "SessionStart"
	PromptSubmit = "UserPromptSubmit"
	SessionEnd   = "SessionEnd"
)

// Hook is a command that an assistant calls at an event.
type Hook struct {
	Event string
	Call  []string // the words behind the program
	// Seconds is how long the assistant waits for it, if the command does not end by
	// itself before: see ContextWithin.
	Seconds int
}

const (
	// contextSeconds is more than ContextWithin, so that it is the command that ends,
	// in silence, and not the assistant that ends it and says so.
	contextSeconds = 10
	// pushSeconds is for redacting and sending one long session.
	pushSeconds = 60
	// codexPushSeconds is the most that Codex grants at the end of a session. What
	// is not sent by then is sent by the next push.
	codexPushSeconds = 3
)

var (
	contextCall = []string{"plugin", "context"}
	pushCall    = []string{"sessions", "push", "--hook"}
	mcpCall     = []string{"mcp"}
)

// Hooks are those that an assistant gets.
func Hooks(assistant string) []Hook {
	push, seconds := pushCall, pushSeconds
	if assistant == Codex {
		push, seconds = append(slices.Clone(pushCall), "--assistant", Codex), codexPushSeconds
	}
	return []Hook{
		{SessionStart, contextCall, contextSeconds},
		{PromptSubmit, contextCall, contextSeconds},
		{SessionEnd, push, seconds},
	}
}

// SessionEndHooks are those that send a session when it ends, and nothing else.
func SessionEndHooks(assistant string) []Hook {
	return slices.DeleteFunc(Hooks(assistant), func(h Hook) bool { return h.Event != SessionEnd })
}

// Options say how the commands that are put into settings are called. Base and KeyFile
// may be empty: then the environment of the assistant says them.
type Options struct {
	Program string
	Base    string
	KeyFile string
}

// flags are the words behind a call.
func (o Options) flags() []string {
	var flags []string
	if o.Base != "" {
		flags = append(flags, "--base", o.Base)
	}
	if o.KeyFile != "" {
		flags = append(flags, "--key-file", o.KeyFile)
	}
	return flags
}

// command is the line that a shell runs.
func (o Options) command(call []string) string {
	words := []string{Quoted(o.Program)}
	for _, word := range slices.Concat(call, o.flags()) {
		words = append(words, Quoted(word))
	}
	return strings.Join(words, " ")
}

// Quoted is a word of a shell's command line.
func Quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:@", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// wordsOf takes a line apart that command may have written; a line that it would not
// have written is no line of ours, and has none.
func wordsOf(line string) []string {
	var words []string
	var word strings.Builder
	inside, begun := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			inside, begun = !inside, true
		case inside:
			word.WriteByte(c)
		case c == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case c == '\\' && i+1 < len(line) && line[i+1] == '\'':
			word.WriteByte('\'')
			i++
			begun = true
		case Quoted(string(c)) != string(c):
			return nil
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if inside {
		return nil
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// parseCall reads the words of a command of ours: a call with nothing behind it but our
// flags.
func parseCall(words, call []string) (Options, bool) {
	if len(words) < 1+len(call) || !slices.Equal(words[1:1+len(call)], call) {
		return Options{}, false
	}
	o := Options{Program: words[0]}
	rest := words[1+len(call):]
	for len(rest) >= 2 {
		switch rest[0] {
		case "--base":
			o.Base = rest[1]
		case "--key-file":
			o.KeyFile = rest[1]
		default:
			return Options{}, false
		}
		rest = rest[2:]
	}
	return o, len(rest) == 0
}

// group is what stands in a list of hooks for one of ours.
func (h Hook) group(o Options) []byte {
	return fmt.Appendf(nil, `{"hooks":[{"type":"command","command":%s,"timeout":%d}]}`,
		jsonText(o.command(h.Call)), h.Seconds)
}

// own are the members of a hook that are ours; the others are a person's to change.
func (h Hook) own(o Options) []setting {
	return []setting{{"type", `"command"`}, {"command", jsonText(o.command(h.Call))}}
}

// setting is a key of a settings file with its value, as it is written there.
type setting struct{ key, value string }

// mcpOwn are the members of the server in a JSON file that are ours.
func mcpOwn(o Options) []setting {
	args, _ := json.Marshal(slices.Concat(mcpCall, o.flags())) // strings
	return []setting{{"type", `"stdio"`}, {"command", jsonText(o.Program)}, {"args", string(args)}}
}

// mcpJSON is the server in a JSON file.
func mcpJSON(o Options) []byte {
	var members []string
	for _, own := range mcpOwn(o) {
		members = append(members, jsonText(own.key)+":"+own.value)
	}
	return []byte("{" + strings.Join(members, ",") + "}")
}

// envVars is the key of the list of variables that Codex hands on to a server.
const envVars = "env_vars"

// ourVariables are those that the server may need.
func ourVariables() []string { return []string{config.EnvAPIKey, config.EnvBase} }

// mcpTOML are the keys of the server in Codex's file that are ours; one without a value is
// not to be there. Codex starts a server with few of its own variables, so those that are
// needed are named.
func mcpTOML(o Options) []setting {
	var names []string
	if o.KeyFile == "" {
		names = append(names, config.EnvAPIKey)
	}
	if o.Base == "" {
		names = append(names, config.EnvBase)
	}
	return []setting{
		{"command", tomlText(o.Program)},
		{"args", tomlList(slices.Concat(mcpCall, o.flags()))},
		{envVars, tomlList(names)},
	}
}

// tomlList is a list of strings in a TOML file; empty for none.
func tomlList(words []string) string {
	if len(words) == 0 {
		return ""
	}
	var texts []string
	for _, word := range words {
		texts = append(texts, tomlText(word))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// jsonText is a JSON string.
func jsonText(s string) string {
	raw, _ := json.Marshal(s) // a string always has a form
	return string(raw)
}

// Where says where an assistant keeps its settings. Project is the folder of a project;
// empty for the user's own settings.
type Where struct {
	Home    string
	Project string
	Env     func(name, fallback string) string
}

// ErrAssistant means that an assistant is not one of Assistants.
var ErrAssistant = errors.New("no such assistant")

// Target is an assistant's settings, of one scope.
type Target struct {
	Assistant string
	Files     []File
}

// File is one settings file of an assistant.
type File struct {
	Path    string
	Holds   string // in words
	format  format
	whole   format // knows all that is ours, where format knows only a part
	project string // that it must lie in; empty for the user's own
}

// For finds the settings of an assistant.
func For(assistant string, at Where) (Target, error) {
	user := func(variable, folder string) string { return at.Env(variable, filepath.Join(at.Home, folder)) }
	switch {
	case assistant == ClaudeCode && at.Project != "":
		return target(assistant, at.Project, filepath.Join(at.Project, ".claude", "settings.json"),
			File{Path: filepath.Join(at.Project, ".mcp.json"), format: mcpFile{}}), nil
	case assistant == ClaudeCode:
		// With a folder of its own the file of the servers lies in it, else beside it.
		servers := filepath.Join(at.Env("CLAUDE_CONFIG_DIR", at.Home), ".claude.json")
		return target(assistant, "", filepath.Join(user("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"),
			File{Path: servers, format: mcpFile{}}), nil
	case assistant == Codex:
		folder := user("CODEX_HOME", ".codex")
		if at.Project != "" {
			folder = filepath.Join(at.Project, ".codex")
		}
		return target(assistant, at.Project, filepath.Join(folder, "hooks.json"),
			File{Path: filepath.Join(folder, "config.toml"), format: tomlFile{}}), nil
	}
	return Target{}, fmt.Errorf("%w: %q: there are %s", ErrAssistant, assistant, strings.Join(Assistants(), ", "))
}

func target(assistant, project, hooks string, servers File) Target {
	all := hooksFile{Hooks(assistant)}
	servers.Holds, servers.whole, servers.project = "MCP server", servers.format, project
	return Target{assistant, []File{{hooks, "hooks", all, all, project}, servers}}
}

// OnlyHooks is the part of a target that holds hooks, with these alone.
func (t Target) OnlyHooks(hooks []Hook) Target {
	files := slices.Clone(t.Files[:1])
	files[0].format = hooksFile{hooks}
	return Target{t.Assistant, files}
}

// At is a target whose first file lies elsewhere.
func (t Target) At(path string) Target {
	t.Files = slices.Clone(t.Files)
	t.Files[0].Path = path
	return t
}
