package main

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

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
		job := c.finished(t, c.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest",
			map[string]any{"content": text, "externalId": id})["jobId"].(string))
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
	// Work in the background may still write to the organization; then it is at rest.
	eventually(t, "a backup of what has not changed adds nothing", func() bool {
		made := m.ok("backup", "create", vault, "--key", key+".pub")
		if made["stores"].(float64) < 2 || made["bytes"].(float64) == 0 {
			t.Fatalf("made %v", made)
		}
		return made["newBytes"].(float64) == 0 && made["newFiles"].(float64) == 0
	})
	remember("later", "The gutter was cleaned in November.")
	// Each store is one part as yet, and nobody wrote to the directory.
	second := m.ok("backup", "create", vault, "--key", key+".pub")
	if second["newFiles"].(float64) != 1 || second["newBytes"].(float64) == 0 ||
		second["newBytes"].(float64) >= second["bytes"].(float64) {
		t.Errorf("what was written since is not what is new: %v", second)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if r := m.run("backup", "verify", vault, "--key", key+".pub"); r.status == exitDone ||
		!strings.Contains(r.err, "secret key") {
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
	if r := m.run("backup", "restore", vault, "--key", key, "--data", again); r.status == exitDone ||
		!strings.Contains(r.err, "not empty") {
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
	other, err := process.Start(t.Context(),
		process.Options{Binary: binary(t), Data: again, Args: []string{"--shards", "32"}})
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

// The settings of a bucket reach it: through the command line a service is copied into
// an S3-compatible store, and comes back.
func TestBackupIntoABucketIsRestored(t *testing.T) {
	memory := s3mem.New()
	if err := memory.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	objects := gofakes3.New(memory).Server()
	var strange atomic.Int64 // requests without the settings of the environment
	bucket := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed := r.Header.Get("Authorization")
		if !strings.Contains(signed, "Credential=access/") || !strings.Contains(signed, "/eu-north-7/s3/") ||
			r.Header.Get("X-Amz-Security-Token") != "session" {
			strange.Add(1)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		objects.ServeHTTP(w, r)
	}))
	t.Cleanup(bucket.Close)
	dir := t.TempDir()
	data, key, trusted := filepath.Join(dir, "data"), filepath.Join(dir, "key"), filepath.Join(dir, "bucket.pem")
	if err := os.WriteFile(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: bucket.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, data, process.Options{})
	c := caller{base: p.BaseURL, key: p.APIKey}
	job := c.finished(t, c.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest",
		map[string]any{"content": "Mrs Okafor serviced the boiler in May.", "externalId": "boiler"})["jobId"].(string))
	if job.Status != "done" {
		t.Fatalf("job %+v", job)
	}

	const vault = "s3://bucket/some/where"
	settings := map[string]string{
		"SSL_CERT_FILE": trusted, "ORGMEM_OPERATOR": p.OperatorURL, "ORGMEM_DATA": data,
		"ORGMEM_BACKUP_KEY_FILE": key + ".pub",
		"AWS_ACCESS_KEY_ID":      "access", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session",
		"AWS_REGION":                "eu-north-7",
		"ORGMEM_BACKUP_S3_ENDPOINT": bucket.URL,
	}
	// typed runs the binary, which has an environment of its own.
	typed := func(args ...string) (answer map[string]any, err error) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), binary(t), append([]string{"backup"}, append(args, "--json")...)...)
		for name, value := range settings {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.Stderr = t.Output()
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &answer)
		}
		return answer, err
	}
	ok := func(args ...string) map[string]any {
		t.Helper()
		answer, err := typed(args...)
		if err != nil {
			t.Fatalf("backup %v: %v", args, err)
		}
		return answer
	}
	ok("keygen", key)
	made := ok("create", vault)
	if made["stores"].(float64) < 2 || made["newBytes"] != made["bytes"] {
		t.Errorf("made %v", made)
	}
	snapshots := 1
	eventually(t, "a backup of what has not changed adds nothing", func() bool {
		snapshots++
		again := ok("create", vault)
		return again["newBytes"].(float64) == 0 && again["newFiles"].(float64) == 0 && again["stores"] == made["stores"]
	})
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	listed, err := memory.ListBucket("bucket", &gofakes3.Prefix{HasPrefix: true, Prefix: "some/where/snapshots/"},
		gofakes3.ListBucketPage{})
	if err != nil || len(listed.Contents) != snapshots || path.Base(listed.Contents[0].Key) != made["snapshot"] {
		t.Errorf("the bucket lists %+v, made was %v: %v", listed, made, err)
	}

	settings["ORGMEM_BACKUP_KEY_FILE"] = key
	if seen := ok("verify", vault, "--snapshot", made["snapshot"].(string)); seen["bytes"] != made["bytes"] {
		t.Errorf("verified %v of %v", seen, made)
	}
	again := filepath.Join(dir, "again")
	ok("restore", vault, "--data", again)
	c.base = start(t, again, process.Options{}).BaseURL
	c.mustFind(t, "who looked after the heating", "boiler")

	if n := strange.Load(); n > 0 {
		t.Errorf("%d requests did not have the settings of the environment", n)
	}
	settings["AWS_ACCESS_KEY_ID"] = "other"
	if _, err := typed("verify", vault); err == nil || strange.Load() == 0 {
		t.Error("verified with other credentials: they come from somewhere else")
	}
}
