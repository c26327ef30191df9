package plugin

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// options are those of the golden files.
var options = Options{Program: "/opt/orgmem/bin/orgmem", Base: "http://127.0.0.1:8080", KeyFile: "/home/ann/the key"}

// home is a home directory with nothing in it.
func home(t *testing.T) (Where, Store) {
	t.Helper()
	return Where{Home: t.TempDir(), Env: func(_, fallback string) string { return fallback }}, Store(t.TempDir())
}

func find(t *testing.T, assistant string, at Where) Target {
	t.Helper()
	target, err := For(assistant, at)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func install(t *testing.T, target Target, o Options, s Store) []Change {
	t.Helper()
	changes, err := Install(target, o, s)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func remove(t *testing.T, target Target, s Store) []Change {
	t.Helper()
	changes, err := Remove(target, s)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// text is what a file holds; "(none)" if it does not exist.
func text(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "(none)"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func isGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		write(t, path, got)
	}
	if want := text(t, path); got != want {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

// Each of testdata/*.before becomes *.after, and by removing *.before again. Where there is
// no .before, there was no file.
func TestSettingsBeforeAndAfter(t *testing.T) {
	for _, c := range []struct {
		name, assistant string
		file            int
	}{
		{"claude-hooks-none.json", ClaudeCode, 0},
		{"claude-hooks-others.json", ClaudeCode, 0},
		{"claude-hooks-tabs.json", ClaudeCode, 0},
		{"claude-hooks-one-line.json", ClaudeCode, 0},
		{"claude-hooks-empty-lists.json", ClaudeCode, 0},
		{"claude-servers-none.json", ClaudeCode, 1},
		{"claude-servers-others.json", ClaudeCode, 1},
		{"codex-hooks-none.json", Codex, 0},
		{"codex-config-none.toml", Codex, 1},
		{"codex-config-others.toml", Codex, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, store := home(t)
			target := find(t, c.assistant, at)
			path := target.Files[c.file].Path
			before := text(t, filepath.Join("testdata", c.name+".before"))
			if strings.Contains(c.name, "-none") != (before == "(none)") {
				t.Fatal("the file before is missing, or there is one too many")
			}
			if before != "(none)" {
				write(t, path, before)
			}
			install(t, target, options, store)
			after := text(t, path)
			isGolden(t, c.name+".after", after)
			for _, change := range install(t, target, options, store) {
				if change.Changed {
					t.Errorf("installing again changes %s", change.Path)
				}
			}
			for _, change := range remove(t, target, store) {
				if !change.Changed {
					t.Errorf("removing changes nothing in %s", change.Path)
				}
			}
			if got := text(t, path); got != before {
				t.Errorf("removing leaves\n%s\nwant\n%s", got, before)
			}
			for _, change := range remove(t, target, store) {
				if change.Changed {
					t.Errorf("removing again changes %s", change.Path)
				}
			}
			if left, err := os.ReadDir(string(store)); err != nil || len(left) > 0 {
				t.Errorf("the store still holds %v: %v", left, err)
			}
		})
	}
}

// Without the store, too, the files in testdata come back as they were, but for lists and
// objects that were empty before.
func TestRemovingNeedsNoStore(t *testing.T) {
	for _, name := range []string{
		"claude-hooks-others.json", "claude-hooks-tabs.json", "claude-hooks-one-line.json", "claude-servers-others.json",
		"codex-config-others.toml",
	} {
		at, store := home(t)
		assistant := Codex
		if strings.HasPrefix(name, "claude") {
			assistant = ClaudeCode
		}
		target := find(t, assistant, at)
		path := target.Files[0].Path
		if strings.Contains(name, "servers") || strings.Contains(name, "config") {
			path = target.Files[1].Path
		}
		before := text(t, filepath.Join("testdata", name+".before"))
		write(t, path, before)
		install(t, target, options, store)
		remove(t, target, Store(t.TempDir()))
		if got := text(t, path); got != before {
			t.Errorf("%s is\n%s\nwant\n%s", name, got, before)
		}
	}
}

func TestTheOriginalIsKept(t *testing.T) {
	at, store := home(t)
	target := find(t, ClaudeCode, at)
	const mine = "{\n    \"model\": \"opus\"\n}"
	path := target.Files[0].Path
	write(t, path, mine)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	change := install(t, target, options, store)[0]
	if got := text(t, change.Backup); got != mine {
		t.Errorf("the backup holds %q", got)
	}
	if info, err := os.Stat(change.Backup); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup's mode is %v: %v", info.Mode(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v: %v", info.Mode(), err)
	}
	// Other options take the place of the first, and the original stays the original.
	other := options
	other.Base = "https://memory.example"
	change = install(t, target, other, store)[0]
	if !change.Changed || text(t, change.Backup) != mine {
		t.Errorf("installing with another address: %+v, backup %q", change, text(t, change.Backup))
	}
	if got := text(t, path); strings.Contains(got, options.Base) || strings.Count(got, other.Base) != 3 {
		t.Errorf("the settings are\n%s", got)
	}
	remove(t, target, store)
	if got := text(t, path); got != mine {
		t.Errorf("removing leaves %q", got)
	}
}

// What the assistant, or a person, puts into the file after us stays.
func TestWhatCameLaterStays(t *testing.T) {
	at, store := home(t)
	claude, codex := find(t, ClaudeCode, at), find(t, Codex, at)
	write(t, claude.Files[1].Path, `{"a": 1}`)
	write(t, codex.Files[1].Path, "model = \"m\" # mine\n")
	install(t, claude, options, store)
	install(t, codex, options, store)
	servers := strings.Replace(text(t, claude.Files[1].Path), `"mcpServers": {`, `"mcpServers": {"x": {"url": "u"}, `, 1)
	write(t, claude.Files[1].Path, strings.Replace(servers, `"a": 1`, `"a": 2, "b": 3`, 1))
	// Codex writes what it asks a person below the server, and tables of its own behind it.
	write(t, codex.Files[1].Path, text(t, codex.Files[1].Path)+
		"\n[mcp_servers.orgmem.tools.search_memory]\napproval_mode = \"approve\"\n\n"+
		"# mine, too\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n")
	remove(t, claude, store)
	remove(t, codex, store)
	if got := text(t, claude.Files[1].Path); got != `{"a": 2, "b": 3, "mcpServers": {"x": {"url": "u"}}}` {
		t.Errorf("the servers are %s", got)
	}
	if got := text(t, codex.Files[1].Path); got !=
		"model = \"m\" # mine\n\n# mine, too\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n" {
		t.Errorf("the configuration is\n%s", got)
	}
}

// What a person sets of an entry of ours stays when it is installed again, with the same
// options or others; only the keys that are ours change.
func TestWhatAPersonSetsOfOursStays(t *testing.T) {
	other := Options{Program: "/usr/bin/orgmem", Base: "https://memory.example"}
	for _, c := range []struct {
		assistant string
		file      int
		edits     []string // old, new, old, new …
		keep      []string
	}{
		{
			ClaudeCode, 0,
			[]string{`"timeout": 10`, `"timeout": 25`, `"hooks": [`, "\"matcher\": \"startup\",\n        \"hooks\": ["},
			[]string{`"timeout": 25`, `"matcher": "startup",`},
		},
		{
			ClaudeCode, 1,
			[]string{`"type": "stdio",`, `"env": {"HTTPS_PROXY": "http://proxy:3128"}, "type": "stdio", "timeout": 9,`},
			[]string{`"env": {"HTTPS_PROXY": "http://proxy:3128"}, "type": "stdio", "timeout": 9,`},
		},
		{
			Codex, 1,
			[]string{
				"\nargs = ", "\nstartup_timeout_sec = 20\nenabled = false # for now\n\"args\" = ", "key\"]\n",
				"key\"] # why\nenv_vars = [\"HTTPS_PROXY\"]\n\n[mcp_servers.orgmem.tools.search_memory]\napproval_mode = \"approve\"\n" +
					"\n[mcp_servers.orgmem.env]\nA = \"b\"\ncommand = \"c\"\n",
			},
			[]string{
				"startup_timeout_sec = 20\nenabled = false # for now\n", "] # why\n", `"HTTPS_PROXY"`,
				"[mcp_servers.orgmem.tools.search_memory]\napproval_mode = \"approve\"\n",
				"[mcp_servers.orgmem.env]\nA = \"b\"\ncommand = \"c\"\n",
			},
		},
	} {
		at, store := home(t)
		target := find(t, c.assistant, at)
		path := target.Files[c.file].Path
		install(t, target, options, store)
		edited := strings.NewReplacer(c.edits...).Replace(text(t, path))
		write(t, path, edited)
		if entries, err := target.Files[c.file].Status(); err != nil || !entries[0].Current {
			t.Errorf("%s: %+v, %v", path, entries, err)
		}
		install(t, target, options, store)
		if got := text(t, path); got != edited {
			t.Errorf("installed again it is\n%s\nwant\n%s", got, edited)
		}
		install(t, target, other, store)
		got := text(t, path)
		for _, want := range append(c.keep, other.Program, other.Base) {
			if !strings.Contains(got, want) {
				t.Errorf("with another address there is no %s in\n%s", want, got)
			}
		}
		for _, gone := range []string{options.Program, options.Base, options.KeyFile} {
			if strings.Contains(got, gone) {
				t.Errorf("with another address %s is still in\n%s", gone, got)
			}
		}
		if c.assistant == Codex && !strings.Contains(got, `env_vars = ["ORGMEM_API_KEY", "HTTPS_PROXY"]`) {
			t.Errorf("without a key file the variables are\n%s", got)
		}
		install(t, target, options, store)
		if got := text(t, path); got != edited {
			t.Errorf("with the first options again it is\n%s\nwant\n%s", got, edited)
		}
		remove(t, target, store)
		if got := text(t, path); strings.Contains(got, "orgmem") {
			t.Errorf("removing leaves\n%s", got)
		}
	}
}

// What a person has taken away of an entry comes back, and what is there twice goes.
func TestInstallingMendsWhatIsOurs(t *testing.T) {
	at, store := home(t)
	claude, codex := find(t, ClaudeCode, at), find(t, Codex, at)
	const one = `{"type":"command","command":"/old/orgmem plugin context"}`
	write(t, claude.Files[0].Path, `{"hooks":{"SessionStart":[{"matcher":"x","hooks":[`+one+`]},{"hooks":[`+one+`]}]}}`)
	write(t, claude.Files[1].Path, `{"mcpServers":{"orgmem":{"command":"/old/orgmem","args":["mcp"]}}}`)
	write(t, codex.Files[1].Path, "[mcp_servers.orgmem]\ncommand = '/old/orgmem'\nargs = [\n  'mcp', # ]\n]\n"+
		"env_vars = [\"ORGMEM_API_KEY\"]")
	plain := Options{Program: "orgmem"}
	install(t, claude, plain, store)
	install(t, codex, plain, store)
	if got := text(t, claude.Files[0].Path); strings.Count(got, "plugin context") != 2 || strings.Contains(got, "/old") ||
		!strings.HasPrefix(got, `{"hooks":{"SessionStart":[{"matcher":"x","hooks":[{"type":"command","command":"orgmem plugin context"}]}]`) {
		t.Errorf("the hooks are %s", got)
	}
	if got := text(t, claude.Files[1].Path); got != `{"mcpServers":{"orgmem":{"command":"orgmem","args":["mcp"],"type":"stdio"}}}` {
		t.Errorf("the servers are %s", got)
	}
	if got := text(t, codex.Files[1].Path); got != "[mcp_servers.orgmem]\ncommand = \"orgmem\"\nargs = [\n  'mcp', # ]\n]\n"+
		"env_vars = [\"ORGMEM_API_KEY\", \"ORGMEM_BASE_URL\"]" {
		t.Errorf("the configuration is\n%s", got)
	}
}

func TestAHookMovedElsewhereIsFound(t *testing.T) {
	at, store := home(t)
	target := find(t, ClaudeCode, at)
	install(t, target, options, store)
	path := target.Files[0].Path
	group := string(Hooks(ClaudeCode)[0].group(options))
	ours := strings.TrimSuffix(strings.TrimPrefix(group, `{"hooks":[`), `]}`)
	const before = `{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"date"}`
	const behind = `]}]}}`
	write(t, path, before+","+ours+behind)
	remove(t, target, store)
	if got := text(t, path); got != before+behind {
		t.Errorf("left %s", got)
	}
}

// What is not ours is not touched, however like it is.
func TestOthersAreNotOurs(t *testing.T) {
	for _, mine := range []string{
		`{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"orgmem sessions push --hook && say done"}]}]}}`,
		`{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"orgmem sessions push --all"}]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"orgmem sessions push --hook"}]}]}}`,
		`{"hooks":{"SessionStart":[{"hooks":[{"type":"prompt","prompt":"orgmem plugin context"}]}]}}`,
	} {
		at, store := home(t)
		target := find(t, ClaudeCode, at)
		write(t, target.Files[0].Path, mine)
		for _, change := range remove(t, target, store) {
			if change.Changed {
				t.Errorf("%s became %s", mine, text(t, change.Path))
			}
		}
	}
}

func TestAForeignServerStays(t *testing.T) {
	for _, c := range []struct{ assistant, text string }{
		{ClaudeCode, `{"mcpServers":{"orgmem":{"type":"http","url":"https://memory.example/mcp"}}}`},
		{ClaudeCode, `{"mcpServers":{"orgmem":{"command":"orgmem","args":["mcp","--subject","ann"]}}}`},
		{ClaudeCode, `{"mcpServers":{"orgmem":7}}`},
		{Codex, "[mcp_servers.orgmem]\nurl = \"https://memory.example/mcp\"\n"},
		{Codex, "[mcp_servers]\norgmem = { command = \"orgmem\", args = [\"mcp\"] }\n"},
	} {
		at, store := home(t)
		target := find(t, c.assistant, at)
		write(t, target.Files[1].Path, c.text)
		_, err := Install(target, options, store)
		if !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), "is not ours") {
			t.Errorf("%s: %v", c.text, err)
		}
		if got := text(t, target.Files[0].Path); got != "(none)" {
			t.Errorf("the hooks were put in all the same: %s", got)
		}
		remove(t, target, store)
		if got := text(t, target.Files[1].Path); got != c.text {
			t.Errorf("%s became %s", c.text, got)
		}
	}
}

// A file that cannot be read is refused with the line, and none of the files is changed.
func TestSettingsThatCannotBeReadStay(t *testing.T) {
	for _, c := range []struct {
		assistant  string
		file       int
		text, line string
	}{
		{ClaudeCode, 0, "", "empty"},
		{ClaudeCode, 0, " \n", "empty"},
		{ClaudeCode, 0, "[]", "line 1"},
		{ClaudeCode, 0, "{\n\"a\": 1,\n}", "line 2"},
		{ClaudeCode, 0, "// why\n{}", "line 1"},
		{ClaudeCode, 0, "{\n\n\"a\":1,\"a\":2}", "line 3"},
		{ClaudeCode, 0, "{}\n{}", "line 2"},
		{ClaudeCode, 0, "{\n\"hooks\":[]}", "line 2"},
		{ClaudeCode, 0, "{\"hooks\":\n{\"SessionEnd\":{}}}", "line 2"},
		{ClaudeCode, 0, "{\"hooks\":\n{\"SessionEnd\":[1]}}", "line 2"},
		{ClaudeCode, 0, "{\"hooks\":\n{\"SessionEnd\":[{\"hooks\":7}]}}", "line 2"},
		{ClaudeCode, 1, "{\"a\": ", "line 1"},
		{ClaudeCode, 1, "{\"mcpServers\": []}", "line 1"},
		{Codex, 0, "{]", "line 1"},
		{Codex, 1, "a = 1\nb = \n", "line 2"},
		{Codex, 1, "[a]\n[a]\n", "line 2"},
		{Codex, 1, "mcp_servers = { x = { command = \"y\" } }\n", "mcp_servers"},
	} {
		at, store := home(t)
		target := find(t, c.assistant, at)
		write(t, target.Files[c.file].Path, c.text)
		_, err := Install(target, options, store)
		if !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), c.line) ||
			!strings.Contains(err.Error(), target.Files[c.file].Path) {
			t.Errorf("%q: %v", c.text, err)
		}
		if got := text(t, target.Files[c.file].Path); got != c.text {
			t.Errorf("%q became %q", c.text, got)
		}
		if got := text(t, target.Files[1-c.file].Path); got != "(none)" {
			t.Errorf("%q: the other file holds %q", c.text, got)
		}
	}
}

func TestLinksStayLinks(t *testing.T) {
	at, store := home(t)
	target := find(t, ClaudeCode, at)
	path := target.Files[0].Path
	real := filepath.Join(t.TempDir(), "dotfiles", "claude.json")
	write(t, real, "{}")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, path); err != nil {
		t.Fatal(err)
	}
	install(t, target, options, store)
	if to, err := os.Readlink(path); err != nil || to != real || !strings.Contains(text(t, real), "plugin context") {
		t.Errorf("the link leads to %q: %v", to, err)
	}
	remove(t, target, store)
	if got := text(t, real); got != "{}" {
		t.Errorf("behind the link is %q", got)
	}
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(target, options, store); !errors.Is(err, ErrSettings) {
		t.Errorf("a link to nowhere: %v", err)
	}
}

// Links that a project holds lead to nothing outside of it, whether what they lead to is
// there or not.
func TestAProjectsLinksStayInside(t *testing.T) {
	for _, c := range []struct{ assistant, link, to string }{
		{ClaudeCode, ".mcp.json", "servers.json"},
		{ClaudeCode, ".claude/settings.json", "servers.json"},
		{ClaudeCode, ".claude", "there"},
		{ClaudeCode, ".claude", "nowhere"},
		{Codex, ".codex", "there"},
		{Codex, ".codex/config.toml", "servers.toml"},
	} {
		at, store := home(t)
		at.Project = t.TempDir()
		outside := t.TempDir()
		if err := os.Mkdir(filepath.Join(outside, "there"), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(outside, "servers.json"), "{}")
		write(t, filepath.Join(outside, "servers.toml"), "")
		link, to := filepath.Join(at.Project, c.link), filepath.Join(outside, c.to)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		target := find(t, c.assistant, at)
		if _, err := Install(target, options, store); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), link) {
			t.Errorf("%s to %s: %v", c.link, c.to, err)
		}
		if _, err := Remove(target, store); !errors.Is(err, ErrSettings) {
			t.Errorf("removing, %s to %s: %v", c.link, c.to, err)
		}
		if left, err := os.ReadDir(filepath.Join(outside, "there")); err != nil || len(left) > 0 {
			t.Errorf("%s: written there: %v, %v", c.link, left, err)
		}
		if text(t, filepath.Join(outside, "servers.json")) != "{}" || text(t, filepath.Join(outside, "servers.toml")) != "" {
			t.Errorf("%s: a file outside was changed", c.link)
		}
	}
	// One that stays inside is as good as any, and so is one to the whole project.
	at, store := home(t)
	at.Project = filepath.Join(t.TempDir(), "link")
	real := t.TempDir()
	if err := os.Symlink(real, at.Project); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(real, "config", "servers.json"), "{}")
	if err := os.Symlink(filepath.Join("config", "servers.json"), filepath.Join(real, ".mcp.json")); err != nil {
		t.Fatal(err)
	}
	install(t, find(t, ClaudeCode, at), options, store)
	if got := text(t, filepath.Join(real, "config", "servers.json")); !strings.Contains(got, "orgmem") {
		t.Errorf("behind the link is %s", got)
	}
}

// A part that is put in alone is taken out alone.
func TestAPartOfTheHooks(t *testing.T) {
	at, store := home(t)
	whole := find(t, ClaudeCode, at)
	part := whole.OnlyHooks(SessionEndHooks(ClaudeCode))
	path := whole.Files[0].Path
	write(t, path, `{"model":"opus"}`)
	install(t, part, options, store)
	if got := text(t, path); strings.Count(got, "command\":\"/opt") != 1 {
		t.Errorf("the part is %s", got)
	}
	install(t, whole, options, store)
	remove(t, part, store)
	if got := text(t, path); strings.Count(got, "plugin context") != 2 || strings.Contains(got, "sessions push") {
		t.Errorf("without the part it is %s", got)
	}
	remove(t, whole, store)
	if got := text(t, path); got != `{"model":"opus"}` {
		t.Errorf("at the end it is %s", got)
	}
}

// chance makes settings as nobody would write them.
type chance struct{ *rand.Rand }

func (r chance) space() string {
	return []string{"", "", " ", "\n", "\n  ", "\r\n\t", "  \n\n "}[r.IntN(7)]
}

func (r chance) name(i int) string {
	names := []string{"hooks", "mcpServers", "SessionStart", "SessionEnd", "orgmem", "x", "ä \\\"", "\\u007b", "env"}
	return fmt.Sprintf("%q", names[r.IntN(len(names))]+strings.Repeat("'", i))
}

func (r chance) value(depth int) string {
	if depth == 0 {
		return []string{"1e9", `"s\n"`, "null", "true", "-0.10", "{}", "[]", `"}]{["`, "12345678901234567890"}[r.IntN(9)]
	}
	var parts []string
	object := r.IntN(2) == 0
	for i := range r.IntN(4) {
		part := r.space() + r.value(depth-1) + r.space()
		if object {
			part = r.space() + r.name(i+1) + r.space() + ":" + part
		}
		parts = append(parts, part)
	}
	inner := strings.Join(parts, ",")
	if inner == "" {
		inner = r.space()
	}
	if object {
		return "{" + inner + "}"
	}
	return "[" + inner + "]"
}

// settings are an object whose parts that we know may be there, empty, or full.
func (r chance) settings() string {
	groups := func() string {
		one := func() string {
			return `{` + r.space() + `"matcher":"` + strings.Repeat("*", r.IntN(2)) + `",` + r.space() + `"hooks":` + r.space() +
				`[` + r.space() + []string{"", `{"type":"command","command":"date"}`}[r.IntN(2)] + r.space() + `]}`
		}
		return "[" + r.space() + strings.Join(slices.Repeat([]string{one()}, r.IntN(3)), ","+r.space()) + r.space() + "]"
	}
	var parts []string
	for i := range r.IntN(3) {
		parts = append(parts, r.name(i+1)+":"+r.space()+r.value(r.IntN(4)))
	}
	if r.IntN(2) == 0 {
		var events []string
		for _, event := range []string{SessionStart, "PreToolUse", PromptSubmit, SessionEnd} {
			if r.IntN(2) == 0 {
				events = append(events, r.space()+fmt.Sprintf("%q:", event)+r.space()+groups())
			}
		}
		parts = append(parts, `"hooks":{`+r.space()+strings.Join(events, ",")+r.space()+"}")
	}
	if r.IntN(2) == 0 {
		servers := []string{"", `"x":` + r.value(1)}[r.IntN(2)]
		parts = append(parts, r.space()+`"mcpServers"`+r.space()+`:{`+r.space()+servers+r.space()+"}")
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return r.space() + "{" + r.space() + strings.Join(parts, ","+r.space()) + r.space() + "}" + r.space()
}

// Whatever stands in the settings, and however: installing keeps it, installing twice is
// installing once, and taking out gives back what was there.
func TestAnySettingsKeepTheirContent(t *testing.T) {
	const runs = 3000
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := chance{rand.New(rand.NewPCG(seed, 0))}
	for run := range runs {
		before, f := []byte(r.settings()), format(hooksFile{Hooks(ClaudeCode)})
		switch r.IntN(3) {
		case 0:
			f = mcpFile{}
		case 1:
			before, f = []byte(r.config()), tomlFile{}
		}
		once, err := f.with(before, options)
		if err != nil {
			t.Fatalf("run %d: %v\n%s", run, err, before)
		}
		if twice, err := f.with(once, options); err != nil || string(twice) != string(once) {
			t.Fatalf("run %d: installing again makes of\n%s\nthis\n%s\n%v", run, once, twice, err)
		}
		out, err := f.without(once, before)
		if err != nil || !f.same(out, before) {
			t.Fatalf("run %d: without us it is\n%s\nwant\n%s\n%v", run, out, before, err)
		}
	}
}

// And removing gives back every byte.
func TestRoundTripOfAnySettings(t *testing.T) {
	const runs = 60
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := chance{rand.New(rand.NewPCG(seed, 0))}
	for run := range runs {
		at, store := home(t)
		target := find(t, []string{ClaudeCode, Codex}[r.IntN(2)], at)
		for _, f := range target.Files {
			if _, isTOML := f.format.(tomlFile); isTOML {
				write(t, f.Path, r.config())
			} else {
				write(t, f.Path, r.settings())
			}
		}
		hooks, servers := text(t, target.Files[0].Path), text(t, target.Files[1].Path)
		install(t, target, options, store)
		for i, f := range target.Files {
			if entries, err := f.Status(); err != nil || len(entries) != []int{3, 1}[i] {
				t.Fatalf("run %d: %d entries in %s: %v\n%s", run, len(entries), f.Path, err, text(t, f.Path))
			}
		}
		remove(t, target, store)
		if got := text(t, target.Files[0].Path); got != hooks {
			t.Fatalf("run %d: the hooks became\n%q\nwant\n%q", run, got, hooks)
		}
		if got := text(t, target.Files[1].Path); got != servers {
			t.Fatalf("run %d: the servers became\n%q\nwant\n%q", run, got, servers)
		}
	}
}

// config is a TOML file as nobody would write it.
func (r chance) config() string {
	var b strings.Builder
	statement := func(i int) {
		key := fmt.Sprintf([]string{"k%d", "\"k %d\"", "a.k%d"}[r.IntN(3)], i)
		fmt.Fprintf(&b, "%s%s = %s%s\n", []string{"", "  "}[r.IntN(2)], key,
			[]string{
				"1", `"[mcp_servers.orgmem]"`, "'''\n[mcp_servers.orgmem]\n'''", "[\n  1, # ]\n  2,\n]", `"""a\"""" `,
				"'''x'''''", "{ x = \"}\" }", "2026-11-26T10:00:00Z",
			}[r.IntN(8)], []string{"", " # [x]"}[r.IntN(2)])
	}
	for i := range r.IntN(3) {
		statement(i)
	}
	for i := range r.IntN(4) {
		fmt.Fprintf(&b, "%s[%s]%s\n", []string{"", "\n", "# c\n", "\n# [d]\n\n"}[r.IntN(4)],
			fmt.Sprintf([]string{"t%d", "mcp_servers.s%d", "\"a.b\".'c d'.t%d", "[r%d]"}[r.IntN(4)], i),
			[]string{"", " # why"}[r.IntN(2)])
		for j := range r.IntN(3) {
			statement(j)
		}
	}
	if r.IntN(2) == 0 {
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}
