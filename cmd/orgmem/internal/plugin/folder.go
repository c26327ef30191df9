package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// FolderVersion is the version of the plugin folder.
const FolderVersion = "0.1.0"

// manifest is what Claude Code reads of a plugin first.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Author      map[string]string `json:"author"`
	License     string            `json:"license"`
	Keywords    []string          `json:"keywords"`
}

// Folder is the plugin of Claude Code as a folder, file by file: what Install puts in, for
// those who would rather name a folder than have their settings changed. The program is
// found in the PATH, and the environment says the key and the address.
func Folder() (map[string][]byte, error) {
	o := Options{Program: "orgmem"}
	hooks, err := parseDocument([]byte(`{"description":"What memory knows, for the model; and each session, for memory"}`))
	if err != nil {
		return nil, err
	}
	for _, hook := range Hooks(ClaudeCode) {
		if hooks, err = putHook(hooks, hook, o); err != nil {
			return nil, err
		}
	}
	about, err := json.Marshal(manifest{
		Name: Server, Version: FolderVersion, License: "Apache-2.0", Keywords: []string{"memory"},
		Description: "Gives the model what the memory of your organization knows, and remembers each session",
		Author:      map[string]string{"name": "The orgmem authors"},
	})
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		".claude-plugin/plugin.json": about,
		"hooks/hooks.json":           hooks.text,
		".mcp.json":                  fmt.Appendf(nil, "{%s:{%s:%s}}", jsonText(mcpMember), jsonText(Server), mcpJSON(o)),
	}
	for name, raw := range files {
		v := jsontext.Value(bytes.Clone(raw))
		if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
			return nil, err
		}
		files[name] = append(v, '\n')
	}
	return files, nil
}
