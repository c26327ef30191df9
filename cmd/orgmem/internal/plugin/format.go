package plugin

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Entry is something of ours in a settings file.
type Entry struct {
	What    string // an event, or the name of a server
	Options Options
	// Current says that it is as this program would put it in with the same options.
	Current bool
}

// format knows how what is ours stands in one kind of settings file.
type format interface {
	// find lists what is ours.
	find(text []byte) ([]Entry, error)
	// with puts in what is missing, and puts right what is not as the options say.
	with(text []byte, o Options) ([]byte, error)
	// without takes out what is ours. What is empty then goes too, unless it is in
	// before: the file as it was without us, nil where that is not known.
	without(text, before []byte) ([]byte, error)
	// same reports whether two files say the same.
	same(a, b []byte) bool
	// blank is a file that says nothing.
	blank() []byte
}

// jsonFormat is what the JSON files have in common.
type jsonFormat struct{}

func (jsonFormat) same(a, b []byte) bool {
	x, y := jsontext.Value(a).Clone(), jsontext.Value(b).Clone()
	return x.Compact() == nil && y.Compact() == nil && bytes.Equal(x, y)
}

func (jsonFormat) blank() []byte { return []byte("{}\n") }

// known parses the file as it was without us; nil where that is not known.
func known(before []byte) *document {
	if d, err := parseDocument(before); err == nil {
		return d
	}
	return nil
}

// had reports whether a file had a member of the root, or a member of that.
func (d *document) had(names ...string) bool {
	if d == nil {
		return false
	}
	v := d.root
	for _, name := range names {
		var there bool
		if v, there = v.get(name); !there {
			return false
		}
	}
	return true
}

// hooksFile is a file whose member "hooks" has lists of groups of hooks, by event.
type hooksFile struct{ hooks []Hook }

func (hooksFile) same(a, b []byte) bool { return jsonFormat{}.same(a, b) }
func (hooksFile) blank() []byte         { return jsonFormat{}.blank() }

// ourHook is one of ours, and where: in which member of hooks, group and list.
type ourHook struct {
	hook              Hook
	options           Options
	event, group, pos int
	at                place
	alone             bool // in its group
	exact             bool // what is ours of it is as it would be put in
}

// parse reads a file, and finds what is ours in it.
func (f hooksFile) parse(text []byte) (*document, []ourHook, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, nil, err
	}
	found, err := f.ours(d)
	return d, found, err
}

func (f hooksFile) ours(d *document) ([]ourHook, error) {
	hooks, _, err := d.object(d.root, "hooks")
	if err != nil {
		return nil, err
	}
	var found []ourHook
	for e, event := range hooks.members {
		groups, _, err := d.list(hooks, event.name)
		if err != nil {
			return nil, err
		}
		for g, group := range groups.items {
			if group.kind != '{' {
				return nil, fmt.Errorf("%w: line %d: no group of hooks", ErrSettings, lineOf(d.text, group.start))
			}
			list, _, err := d.list(group, "hooks")
			if err != nil {
				return nil, err
			}
			for i, one := range list.items {
				value, _ := one.get("command")
				command := d.str(value)
				for _, hook := range f.hooks {
					options, ok := parseCall(wordsOf(command), hook.Call)
					if !ok || hook.Event != event.name {
						continue
					}
					found = append(found, ourHook{
						hook: hook, options: options, event: e, group: g, pos: i, alone: len(list.items) == 1, at: one,
						exact: d.has(one, hook.own(options)),
					})
				}
			}
		}
	}
	return found, nil
}

func (f hooksFile) find(text []byte) ([]Entry, error) {
	_, found, err := f.parse(text)
	var entries []Entry
	for _, h := range found {
		entries = append(entries, Entry{h.hook.Event, h.options, h.exact})
	}
	return entries, err
}

func (f hooksFile) with(text []byte, o Options) ([]byte, error) {
	d, found, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	for _, hook := range f.hooks {
		first := slices.IndexFunc(found, func(h ourHook) bool { return h.hook.Event == hook.Event })
		if first < 0 {
			d, err = putHook(d, hook, o)
		} else {
			d, err = f.right(d, hook, o, found[first])
		}
		if err != nil {
			return nil, err
		}
		if found, err = f.ours(d); err != nil {
			return nil, err
		}
	}
	return d.text, nil
}

// right puts one right that is there, and takes out those of its event behind it: they
// would do the same once more. What else a person has set of it, such as the time that it
// may take, or when it is called, stays.
func (f hooksFile) right(d *document, hook Hook, o Options, h ourHook) (*document, error) {
	d, err := d.set(h.at, 5, hook.own(o))
	if err != nil {
		return nil, err
	}
	for {
		found, err := f.ours(d)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(h ourHook) bool { return h.hook.Event != hook.Event })
		if len(found) < 2 {
			return d, nil
		}
		if d, err = dropHook(d, found[len(found)-1], nil); err != nil {
			return nil, err
		}
	}
}

func putHook(d *document, hook Hook, o Options) (*document, error) {
	group := hook.group(o)
	hooks, there, err := d.object(d.root, "hooks")
	if err != nil {
		return nil, err
	}
	if !there {
		return d.put(d.root, 0, "hooks", fmt.Appendf(nil, "{%s:[%s]}", jsonText(hook.Event), group))
	}
	groups, there, err := d.list(hooks, hook.Event)
	if err != nil {
		return nil, err
	}
	if !there {
		return d.put(hooks, 1, hook.Event, fmt.Appendf(nil, "[%s]", group))
	}
	return d.put(groups, 2, "", group)
}

func (f hooksFile) without(text, before []byte) ([]byte, error) {
	old := known(before)
	for {
		d, found, err := f.parse(text)
		if err != nil || len(found) == 0 {
			return text, err
		}
		if d, err = dropHook(d, found[len(found)-1], old); err != nil {
			return nil, err
		}
		text = d.text
	}
}

// dropHook takes one out, and what only stood there for it.
func dropHook(d *document, h ourHook, old *document) (*document, error) {
	hooks, _ := d.root.get("hooks")
	event := hooks.members[h.event]
	group := event.value.items[h.group]
	switch {
	case !h.alone:
		list, _ := group.get("hooks")
		return d.drop(list, 4, h.pos)
	case len(event.value.items) > 1 || old.had("hooks", event.name):
		return d.drop(event.value, 2, h.group)
	case len(hooks.members) > 1 || old.had("hooks"):
		return d.drop(hooks, 1, h.event)
	}
	return d.drop(d.root, 0, slices.IndexFunc(d.root.members, func(m member) bool { return m.name == "hooks" }))
}

// mcpFile is a file whose member "mcpServers" has servers, by name.
type mcpFile struct{}

func (mcpFile) same(a, b []byte) bool { return jsonFormat{}.same(a, b) }
func (mcpFile) blank() []byte         { return jsonFormat{}.blank() }

const mcpMember = "mcpServers"

// server is what Server has in a file: whether it is there, and whether it is ours.
func (mcpFile) server(d *document) (entry Entry, there, ours bool, err error) {
	servers, _, err := d.object(d.root, mcpMember)
	if err != nil {
		return Entry{}, false, false, err
	}
	v, there := servers.get(Server)
	if !there {
		return Entry{}, false, false, nil
	}
	command, _ := v.get("command")
	program := d.str(command)
	words := []string{program}
	args, _ := v.get("args")
	for _, arg := range args.items {
		word := d.str(arg)
		words = append(words, word)
	}
	options, ours := parseCall(words, mcpCall)
	return Entry{Server, options, d.has(v, mcpOwn(options))}, true, ours, nil
}

func (f mcpFile) find(text []byte) ([]Entry, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	entry, _, ours, err := f.server(d)
	if err != nil || !ours {
		return nil, err
	}
	return []Entry{entry}, nil
}

// errForeign means that somebody else's server has our name.
func errForeign(where string) error {
	return fmt.Errorf("%w: %s is there and is not ours: take it out, or give it another name", ErrSettings, where)
}

func (f mcpFile) with(text []byte, o Options) ([]byte, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	entry, there, ours, err := f.server(d)
	switch {
	case err != nil:
		return nil, err
	case there && !ours:
		return nil, errForeign(mcpMember + "." + Server)
	case there && entry.Current && entry.Options == o:
		return text, nil
	}
	servers, listed := d.root.get(mcpMember)
	switch v, _ := servers.get(Server); {
	case there: // a person may have set more of it, such as env
		d, err = d.set(v, 2, mcpOwn(o))
	case listed:
		d, err = d.put(servers, 1, Server, mcpJSON(o))
	default:
		d, err = d.put(d.root, 0, mcpMember, fmt.Appendf(nil, "{%s:%s}", jsonText(Server), mcpJSON(o)))
	}
	if err != nil {
		return nil, err
	}
	return d.text, nil
}

func (f mcpFile) without(text, before []byte) ([]byte, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	_, _, ours, err := f.server(d)
	if err != nil || !ours {
		return text, err
	}
	named := func(name string) func(member) bool { return func(m member) bool { return m.name == name } }
	servers, _ := d.root.get(mcpMember)
	if len(servers.members) > 1 || known(before).had(mcpMember) {
		d, err = d.drop(servers, 1, slices.IndexFunc(servers.members, named(Server)))
	} else {
		d, err = d.drop(d.root, 0, slices.IndexFunc(d.root.members, named(mcpMember)))
	}
	if err != nil {
		return nil, err
	}
	return d.text, nil
}

// tomlFile is Codex's file, in which [mcp_servers.NAME] is a server.
type tomlFile struct{}

func (tomlFile) blank() []byte { return nil }

func (tomlFile) same(a, b []byte) bool {
	x, xerr := parseTOML(a)
	y, yerr := parseTOML(b)
	return xerr == nil && yerr == nil && reflect.DeepEqual(x, y)
}

var mcpTable = []string{"mcp_servers", Server}

func (tomlFile) server(text []byte) (entry Entry, there, ours bool, err error) {
	values, err := parseTOML(text)
	if err != nil {
		return Entry{}, false, false, err
	}
	v, there := lookTOML(values, mcpTable)
	if !there {
		return Entry{}, false, false, nil
	}
	fields, _ := v.(map[string]any)
	command, _ := fields["command"].(string)
	args, _ := fields["args"].([]any)
	words := []string{command}
	for _, arg := range args {
		word, _ := arg.(string)
		words = append(words, word)
	}
	options, ours := parseCall(words, mcpCall)
	// One that is no table of its own, such as a line below [mcp_servers], is a person's.
	ours = ours && slices.ContainsFunc(tomlTables(text), func(t table) bool { return slices.Equal(t.name, mcpTable) })
	return Entry{Server, options, holdsTOML(fields, mcpTOML(options))}, true, ours, nil
}

func (f tomlFile) find(text []byte) ([]Entry, error) {
	entry, _, ours, err := f.server(text)
	if err != nil || !ours {
		return nil, err
	}
	return []Entry{entry}, nil
}

func (f tomlFile) with(text []byte, o Options) ([]byte, error) {
	entry, there, ours, err := f.server(text)
	switch {
	case err != nil:
		return nil, err
	case there && !ours:
		return nil, errForeign("mcp_servers." + Server)
	case there && entry.Current && entry.Options == o:
		return text, nil
	case there: // a person may have set more of it, and of its tools
		return setTable(text, mcpTable, mcpTOML(o))
	}
	return putTable(text, mcpTable, mcpTOML(o))
}

func (f tomlFile) without(text, _ []byte) ([]byte, error) {
	_, _, ours, err := f.server(text)
	if err != nil || !ours {
		return text, err
	}
	out := dropTable(text, mcpTable)
	if _, err := parseTOML(out); err != nil {
		return nil, fmt.Errorf("without mcp_servers.%s it would not be well-formed: %w", Server, err)
	}
	return out, nil
}
