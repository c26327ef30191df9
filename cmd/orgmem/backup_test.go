package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/process"
)

// A backup of a running service, brought back into another directory, has what
// was there, and not what had been forgotten.
func TestBackupOfARunningServiceIsRestored(t *testing.T) {
	dir := t.TempDir()
	data, vault, key := filepath.Join(dir, "data"), filepath.Join(dir, "vault"), filepath.Join(dir, "key")
	p := start(t, data, process.Options{})
	m := newMachine(t)
	m.env["ORGMEM_OPERATOR"], m.env["ORGMEM_DATA"] = p.OperatorURL, data
	c := caller{base: p.BaseURL, key: p.APIKey}
	remember := func(id, text string) string {
		t.Helper()
		job := c.finished(t, c.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest", map[string]any{"content": text, "externalId": id})["jobId"].(string))
		if job.Status != "done" {
			t.Fatalf("job %+v", job)
		}
		found := c.must(t, http.StatusOK, http.MethodPost, "/v1/search", map[string]any{"query": text})
		return found["results"].([]any)[0].(map[string]any)["nodeId"].(string)
	}
	remember("boiler", "Mrs Okafor serviced the boiler in May.")
	const secret = "zanzibarquokka"
	forgotten := remember("secret", "The password is "+secret+".")
	if a := c.send(t.Context(), http.MethodDelete, "/v1/graph/nodes/"+forgotten, "", nil); a.Status/100 != 2 {
		t.Fatalf("forget: %d %s", a.Status, a.Body)
	}

	m.ok("backup", "keygen", key)
	if made := m.ok("backup", "create", vault, "--key", key+".pub"); made["stores"].(float64) < 2 {
		t.Fatalf("made %v", made)
	}
	remember("later", "The gutter was cleaned in November.")
	second := m.ok("backup", "create", vault, "--key", key+".pub")
	if second["newBytes"].(float64) >= second["bytes"].(float64) {
		t.Errorf("the second backup is not incremental: %v", second)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if r := m.run("backup", "verify", vault, "--key", key+".pub"); r.status == exitDone || !strings.Contains(r.err, "secret key") {
		t.Errorf("verified with the public half: %+v", r)
	}
	m.ok("backup", "verify", vault, "--key", key)

	again := filepath.Join(dir, "again")
	if err := os.Mkdir(again, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(again, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := m.run("backup", "restore", vault, "--key", key, "--data", again); r.status == exitDone || !strings.Contains(r.err, "not empty") {
		t.Errorf("restored into a directory with something in it: %+v", r)
	}
	again = filepath.Join(dir, "anew")
	m.ok("backup", "restore", vault, "--key", key, "--data", again)
	if n, where := planted(t, again, []string{secret}); n > 0 {
		t.Errorf("what was forgotten before the backup came back in %s", where)
	}
	restored := start(t, again, process.Options{Args: []string{"--shards", "5"}})
	c.base = restored.BaseURL
	c.mustFind(t, "who looked after the heating", "boiler")
	c.mustFind(t, "gutter", "later")
	remember("new", "The roof was mended after the restore.")
	if err := restored.Stop(); err != nil {
		t.Fatal(err)
	}
	other, err := process.Start(t.Context(), process.Options{Binary: binary(t), Data: again, Args: []string{"--shards", "32"}})
	if err == nil {
		other.Kill()
		t.Fatal("it started with another number of shards")
	}
	if !strings.Contains(err.Error(), "directory has 5 shards") {
		t.Errorf("it says: %v", err)
	}
	restored = start(t, again, process.Options{})
	c.base = restored.BaseURL
	c.mustFind(t, "roof mended", "new")

	if err := os.WriteFile(filepath.Join(again, restoringFile), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := restored.Stop(); err != nil {
		t.Fatal(err)
	}
	half, err := process.Start(t.Context(), process.Options{Binary: binary(t), Data: again})
	if err == nil {
		half.Kill()
		t.Fatal("it started on a half-restored directory")
	}
	if !strings.Contains(err.Error(), "restore") {
		t.Errorf("it says: %v", err)
	}
}
