package plugin

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// folder is the plugin of Claude Code that is shipped.
var folder = filepath.Join("..", "..", "..", "..", "sdk", "adapters", "coding-assistants")

// The folder holds what the installer puts in.
func TestTheFolderIsMadeFromTheTable(t *testing.T) {
	files, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if *update {
			write(t, path, string(want))
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is %s, want %s: go test with -update writes it anew; %v", name, got, want, err)
		}
	}
	// And by our own reading it holds all that is installed, as this program writes it.
	f := hooksFile{Hooks(ClaudeCode)}
	if entries, err := f.find(files["hooks/hooks.json"]); err != nil || len(entries) != 3 || !entries[0].Current {
		t.Errorf("the hooks are %v: %v", entries, err)
	}
	if entries, err := (mcpFile{}).find(files[".mcp.json"]); err != nil || len(entries) != 1 || !entries[0].Current {
		t.Errorf("the servers are %v: %v", entries, err)
	}
	// Nothing else in it is read by Claude Code.
	known := []string{".claude-plugin/plugin.json", ".mcp.json", "README.md", "hooks/hooks.json", "standin.py"}
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		for _, k := range known {
			if filepath.ToSlash(name) == k {
				return err
			}
		}
		t.Errorf("%s does not belong there", name)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
