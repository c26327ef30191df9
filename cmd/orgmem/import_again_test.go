package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/process"
)

// What was forgotten in the service does not come back when the folder is imported again,
// though it was everything, until the command line asks for it; another service gets all.
func TestImportAgain(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, data, process.Options{})
	m, c, _ := freshOrg(t, p, data, "folder")
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	texts := map[string]string{
		"gate.txt": "The gate is green.", "fence.txt": "The fence is low.", "bell.txt": "The bell is brass.",
		"well.txt": "The well is deep.", "roof.txt": "The roof is slate.", "shed.txt": "The shed is red.",
	}
	for name, text := range texts {
		write(name, text)
	}
	if sum := m.ok("import", folder); sum["created"] != 6.0 || sum["forgotten"] != 0.0 {
		t.Fatalf("import %v", sum)
	}
	forget := func(node string) {
		t.Helper()
		if r := c.send(t.Context(), http.MethodDelete, "/v1/graph/nodes/"+node, "", nil); r.Status/100 != 2 {
			t.Fatalf("forget: %d %s", r.Status, r.Body)
		}
	}
	forget(notesOf(t, c)[" gate.txt"].ID)
	write("gate.txt", "The gate is blue.")
	write("fence.txt", "The fence is high.")
	if sum := m.ok("import", folder); sum["superseded"] != 1.0 || sum["unchanged"] != 4.0 || sum["forgotten"] != 1.0 {
		t.Errorf("after one was forgotten and two were changed: %v", sum)
	}
	notes := notesOf(t, c)
	if n := notes[" gate.txt"]; n.Status == "live" || strings.Contains(n.Content, "gate") {
		t.Errorf("what was forgotten is back: %+v", n)
	}
	if n := notes[" fence.txt"]; n.Content != "The fence is high." {
		t.Errorf("what was changed is %+v", n)
	}
	for name := range texts {
		if name != "gate.txt" {
			forget(notes[" "+name].ID)
		}
	}
	again := m.run("import", folder)
	if again.status != exitDone || !strings.Contains(again.out, "0 created, 0 superseded") ||
		!strings.Contains(again.out, "seems to hold nothing any more") || !strings.Contains(again.out, "--again") {
		t.Errorf("after all of it was forgotten: %+v", again)
	}
	for id, n := range notesOf(t, c) {
		if n.Status == "live" {
			t.Errorf("%s is back: %+v", id, n)
		}
	}
	if sum := m.ok("import", "--again", folder); sum["created"] != 6.0 || sum["emptied"] != false {
		t.Errorf("when asked: %v", sum)
	}
	if n := notesOf(t, c)[" gate.txt"]; n.Content != "The gate is blue." {
		t.Errorf("when asked: %+v", n)
	}
	other, oc, _ := freshOrg(t, p, data, "elsewhere")
	other.env["XDG_STATE_HOME"] = m.env["XDG_STATE_HOME"]
	if sum := other.ok("import", folder); sum["created"] != 6.0 {
		t.Errorf("into another organization: %v", sum)
	}
	if n := notesOf(t, oc); len(n) != 6 {
		t.Errorf("it holds %v", n)
	}
}
