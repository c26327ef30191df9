//go:build trust

package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/cmd/orgmem/process"
	"orgmem/storage/storagetest"
)

const (
	// erasedWithin is how long bytes that were erased may stay in files
	// (docs/operations.md), and erasedSlack what a machine may take longer that has no time
	// for it: the run reads the whole data directory again and again meanwhile.
	erasedWithin = time.Minute
	erasedSlack  = 30 * time.Second
	// erasedAtMost is how long the run looks, to say what is left and where.
	erasedAtMost = 4 * time.Minute
)

// canaries are words that occur nowhere else, by the place they were put into.
type canaries struct {
	random *rand.Rand
	words  map[string]string // word to place
	// secrets are the words that the service makes itself.
	secrets map[string]string
	// compared is how many pieces of data were looked through, times the words that each
	// was looked through for.
	compared int
}

func (k *canaries) put(place string) string {
	word := []byte("zq")
	for range 16 {
		word = append(word, byte('a'+k.random.IntN(26)))
	}
	k.words[string(word)] = place
	return string(word)
}

// canaryLength is that of every word that put makes.
const canaryLength = 18

// found lists the places whose words some bytes hold.
func (k *canaries) found(data []byte) (places []string) {
	k.compared += len(k.words)
	data = bytes.ToLower(data)
	for rest := data; ; rest = rest[1:] {
		i := bytes.Index(rest, []byte("zq"))
		if i < 0 || len(rest) < i+canaryLength {
			break
		}
		rest = rest[i:]
		if place, ok := k.words[string(rest[:canaryLength])]; ok && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	for word, place := range k.secrets {
		if bytes.Contains(data, []byte(word)) {
			places = append(places, place)
		}
	}
	return places
}

// raw looks through every byte of a directory's files.
func (k *canaries) raw(t *testing.T, dir string) map[string][]string {
	t.Helper()
	at := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "BALLAST" { // which is empty space
			return ignoreGone(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return ignoreGone(err)
		}
		for _, place := range append(k.found(data), k.found([]byte(path))...) {
			at[place] = append(at[place], strings.TrimPrefix(path, dir))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// ignoreGone: the service deletes files while they are listed.
func ignoreGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// unpacked looks through the keys and values of every table of a stopped service, also
// those that a later one hides, which compression keeps from a look at the bytes.
func (k *canaries) unpacked(t *testing.T, dir string) (at map[string][]string, records int) {
	t.Helper()
	at = map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".sst" {
			return err
		}
		n, err := storagetest.EachRecord(t.Context(), path, func(key, value []byte) {
			for _, place := range append(k.found(key), k.found(value)...) {
				at[place] = append(at[place], strings.TrimPrefix(path, dir))
			}
		})
		records += n
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return at, records
}

// eraser is a client that plants canaries, and takes them away again in every way
// that there is.
type eraser struct {
	t *testing.T
	k *canaries
	m *machine
	caller
	ways []string
}

func (e *eraser) way(name string) { e.ways = append(e.ways, name) }

func (e *eraser) ok(c caller, method, path string, body any) map[string]any {
	e.t.Helper()
	a := c.send(e.t.Context(), method, path, "", body)
	if a.Status/100 != 2 {
		e.t.Fatalf("%s %s: %d %s", method, path, a.Status, a.Body)
	}
	return parsed(a.Body)
}

// note ingests one item, and returns its node.
func (e *eraser) note(c caller, item map[string]any) string {
	e.t.Helper()
	return e.nodeOf(c, e.ok(c, http.MethodPost, "/v1/ingest", item)["jobId"].(string))
}

func (e *eraser) nodeOf(c caller, job string) string {
	e.t.Helper()
	if j := c.finished(e.t, job); j.Status != "done" {
		e.t.Fatalf("%+v", j)
	}
	result := e.ok(c, http.MethodGet, "/v1/jobs/"+job, nil)["result"].(map[string]any)
	return result["items"].([]any)[0].(map[string]any)["nodeId"].(string)
}

// file imports a file, and returns the node of its one document.
func (e *eraser) file(c caller, name, content string) string {
	e.t.Helper()
	body := form("--sample\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r\n\r\n" +
		content + "\r\n--sample--\r\n")
	return e.nodeOf(c, e.ok(c, http.MethodPost, "/v1/import", body)["jobId"].(string))
}

func (e *eraser) forget(c caller, node string) {
	e.t.Helper()
	e.ok(c, http.MethodDelete, "/v1/graph/nodes/"+node, nil)
}

// memory plants what a memory may hold.
func (e *eraser) memory(c caller, of string) {
	e.t.Helper()
	p := func(what string) string { return e.k.put(of + ": " + what) }
	a := e.note(c, map[string]any{
		"content": "The " + p("content") + " is here.", "title": p("title"),
		"externalId": p("external id"), "metadata": map[string]any{"where": p("metadata")},
	})
	e.file(c, p("file name")+".txt", "Of the "+p("content of a file")+" it is said.")
	b := e.note(c, map[string]any{"content": "Another " + p("second content") + "."})
	e.ok(c, http.MethodPost, "/v1/graph/edges",
		map[string]any{"source": a, "target": b, "type": p("edge type"), "note": p("edge note")})
	e.ok(c, http.MethodPatch, "/v1/graph/nodes/"+b, map[string]any{"title": p("edited title"), "reason": p("reason")})
}

func (e *eraser) forgetNodes() {
	e.way("node forgotten")
	c, p := e.caller, func(what string) string { return e.k.put("node forgotten: " + what) }
	node := e.note(c, map[string]any{
		"content": "It was " + p("content") + " that came.", "title": p("title"),
		"externalId": p("external id"), "metadata": map[string]any{"about": p("metadata")},
	})
	other := e.note(c, map[string]any{"content": "This one stays, with its heron."})
	edge := map[string]any{"source": node, "target": other, "type": p("type of its edge"), "note": p("note of its edge")}
	if a := c.send(e.t.Context(), http.MethodPost, "/v1/graph/edges", "with-the-node",
		edge); a.Status != http.StatusCreated {
		e.t.Fatalf("edge: %d %s", a.Status, a.Body)
	}
	e.ok(c, http.MethodPatch, "/v1/graph/nodes/"+node,
		map[string]any{
			"title": p("edited title"), "content": "Then it was " + p("edited content") + ".",
			"reason": p("reason"),
		})
	e.ok(c, http.MethodPost, "/v1/search", map[string]any{"query": "what is " + p("query")})
	e.forget(c, node)

	e.way("file forgotten")
	p = func(what string) string { return e.k.put("file forgotten: " + what) }
	e.forget(c, e.file(c, p("name")+".txt", "In the file is "+p("content")+"."))

	e.way("superseded and forgotten")
	p = func(what string) string { return e.k.put("superseded and forgotten: " + what) }
	old := e.note(c, map[string]any{"content": "First " + p("content") + ".", "title": p("title")})
	next := e.ok(c, http.MethodPost, "/v1/graph/nodes/"+old+"/supersede",
		map[string]any{"content": "Then " + p("content of the successor") + ".", "reason": p("reason")})["newNodeId"].(string)
	e.forget(c, next)
	e.forget(c, old)

	e.way("undeleted")
	p = func(what string) string { return e.k.put("undeleted: " + what) }
	node = e.note(c, map[string]any{"content": "Gone is " + p("content") + ".", "title": p("title")})
	e.forget(c, node)
	e.ok(c, http.MethodPost, "/v1/graph/nodes/"+node+"/undelete", nil)

	e.way("edge forgotten")
	p = func(what string) string { return e.k.put("edge forgotten: " + what) }
	a, b := e.note(c, map[string]any{"content": "The left side stays."}), e.note(c,
		map[string]any{"content": "The right side stays."})
	made := e.ok(c, http.MethodPost, "/v1/graph/edges",
		map[string]any{"source": a, "target": b, "type": "holds", "note": p("note")})
	e.ok(c, http.MethodDelete, "/v1/graph/edges/"+made["id"].(string), nil)
}

func (e *eraser) eraseSubjects() {
	c := e.caller
	e.way("subject erased")
	name := e.k.put("subject erased: name")
	e.ok(c, http.MethodPut, "/v1/subjects/"+name, nil)
	e.memory(c.as(name), "subject erased")
	e.export(c.as(name), "user")
	e.ok(c, http.MethodDelete, "/v1/subjects/"+name, nil)

	e.way("subject purged")
	e.ok(c, http.MethodPut, "/v1/subjects/purged", nil)
	e.memory(c.as("purged"), "subject purged")
	body := map[string]any{"scope": "subject", "subjectId": "purged"}
	body["confirmToken"] = purge(e.t, c, body).ConfirmToken
	body["dryRun"] = false
	e.ok(c, http.MethodPost, "/v1/purge", body)
}

// export makes a document, which holds what is erased later.
func (e *eraser) export(c caller, scope string) {
	e.t.Helper()
	id := e.ok(c, http.MethodPost, "/v1/exports", map[string]any{"scope": scope})["exportId"].(string)
	eventually(e.t, "an export", func() bool {
		return e.ok(c, http.MethodGet, "/v1/exports/"+id, nil)["status"] == "succeeded"
	})
}

func (e *eraser) deleteSessions() {
	e.way("session deleted")
	c, p := e.caller, func(what string) string { return e.k.put("session deleted: " + what) }
	id := p("id")
	var events []any
	for i := range 3 {
		events = append(events, map[string]any{
			"sessionId": id, "role": "user", "text": "Please " + p("text") + ".",
			"cwd": "/" + p("directory"), "model": p("model"), "eventId": p("event id"),
			"metadata": map[string]any{"n": i, "x": p("metadata")},
		})
	}
	e.ok(c, http.MethodPost, "/v1/ingest/session-batch", map[string]any{"events": events})
	e.ok(c, http.MethodPost, "/v1/ingest/agent-signals",
		map[string]any{"sessionId": id, "signals": []any{map[string]any{"type": "loop", "detail": p("detail of a signal")}}})
	eventually(e.t, "the session", func() bool {
		return e.ok(c, http.MethodGet, "/v1/ingest/session-status", nil)["ingestPending"] == 0.0
	})
	e.ok(c, http.MethodDelete, "/v1/recall/sessions/"+id, nil)
}

func (e *eraser) deleteEndpoints(port string) {
	c := e.caller
	e.way("webhook deleted")
	p := func(what string) string { return e.k.put("webhook deleted: " + what) }
	a := c.send(e.t.Context(), http.MethodPost, "/v1/webhooks", "for-the-endpoint",
		map[string]any{"url": "https://127.0.0.1:" + port + "/" + p("address"), "eventTypes": []string{"*"}})
	if a.Status != http.StatusCreated {
		e.t.Fatalf("webhook: %d %s", a.Status, a.Body)
	}
	made := parsed(a.Body)
	e.k.secrets[strings.ToLower(made["secret"].(string))] = "webhook deleted: secret"
	hook := "/v1/webhooks/" + made["id"].(string)
	e.ok(c, http.MethodPost, hook+"/test", nil)
	e.ok(c, http.MethodPatch, hook, map[string]any{"url": "https://127.0.0.1:" + port + "/" + p("second address")})
	e.ok(c, http.MethodDelete, hook, nil)

	e.way("connector deleted")
	p = func(what string) string { return e.k.put("connector deleted: " + what) }
	connector := "/v1/connectors/" + e.ok(c, http.MethodPost, "/v1/connectors",
		map[string]any{
			"type": "feed", "name": p("name"),
			"config": map[string]any{"url": "https://127.0.0.1:" + port + "/" + p("address"), "authorization": "Bearer " +
				p("secret")},
		})["id"].(string)
	job := e.ok(c, http.MethodPost, connector+"/sync", nil)["jobId"].(string)
	eventually(e.t, "the sync", func() bool {
		s := e.ok(c, http.MethodGet, "/v1/jobs/"+job, nil)["status"]
		return s == "failed" || s == "succeeded"
	})
	e.ok(c, http.MethodDelete, connector, nil)
}

func (e *eraser) resetSandbox() {
	e.way("sandbox reset")
	made := e.ok(e.caller, http.MethodPost, "/v1/sandbox/keys", map[string]any{"label": "trial"})
	e.memory(caller{base: e.base, key: made["apiKey"].(string)}, "sandbox reset")
	e.ok(e.caller, http.MethodPost, "/v1/sandbox/reset", nil)
}

// leave deletes an account, and whole organizations: by their own person, by the
// operator, and by a purge of all that they remember.
func (e *eraser) leave() {
	for _, how := range []string{
		"organization deleted by the operator", "organization deleted by its owner",
		"organization purged", "member removed",
	} {
		e.way(how)
		p := func(what string) string { return e.k.put(how + ": " + what) }
		args := []string{"org", "create", "--plan", "unlimited"}
		if how == "organization purged" || how == "member removed" {
			args = append(args, "--name", "Stays", "--owner-email", strings.ReplaceAll(how, " ", ".")+"@example.com")
		} else {
			args = append(args, "--name", p("name"), "--owner-email", p("e-mail")+"@example.com")
		}
		if how == "organization deleted by its owner" {
			args = append(args, "--personal")
		}
		made := e.m.ok(args...)
		org := made["orgId"].(string)
		c := caller{base: e.base, key: made["apiKey"].(string)}
		subject := "someone"
		if how != "organization purged" && how != "member removed" {
			subject = p("subject")
		}
		e.ok(c, http.MethodPut, "/v1/subjects/"+subject, nil)
		switch how {
		case "organization deleted by the operator":
			e.memory(c.as(subject), how)
			e.ok(c, http.MethodPost, "/v1/keys", map[string]any{"label": p("label of a key"), "scopes": []string{"read"}})
			e.m.ok("org", "delete", org)
		case "organization deleted by its owner":
			e.memory(c, how)
			e.ok(c, http.MethodDelete, "/v1/me", nil)
		case "organization purged":
			e.memory(c.as(subject), how)
			e.memory(c, how)
			e.export(c, "org")
			body := map[string]any{"scope": "org"}
			body["confirmToken"] = purge(e.t, c, body).ConfirmToken
			body["dryRun"] = false
			e.ok(c, http.MethodPost, "/v1/purge", body)
		case "member removed":
			user := e.m.ok("member", "add", org, "--email", p("e-mail")+"@example.com", "--role", "member")["userId"].(string)
			key := e.m.ok("key", "create", org, "--user", user, "--scopes", "read,write", "--label", p("label of a key"))
			e.memory(caller{base: e.base, key: key["apiKey"].(string)}, how)
			e.m.ok("member", "remove", org, user)
		}
	}
}

// answers asks every GET route that there is, of everything that its lists name, and
// searches, and reports what holds a canary.
func (e *eraser) answers() (asked int) {
	e.t.Helper()
	look := func(what string, a answer) {
		asked++
		if a.Status >= 500 || a.Status == 0 {
			e.t.Errorf("%s: %d %s", what, a.Status, a.Body)
		}
		for _, place := range e.k.found(a.Body) {
			e.t.Errorf("%s is answered by %s: %s", place, what, a.Body)
		}
	}
	for _, c := range []caller{e.caller, e.as("purged")} {
		ids := map[string][]string{}
		paths := gets(e.t, c)
		for _, path := range paths {
			if strings.Contains(path, "{") || path == "/v1/events" {
				continue
			}
			for _, query := range []string{"", "?status=tombstoned", "?groupBy=subject", "?pageSize=100"} {
				a := c.send(e.t.Context(), http.MethodGet, path+query, "", nil)
				look(path+query, a)
				if a.Status == http.StatusOK {
					for _, item := range list(parsed(a.Body)["data"]) {
						if id, ok := item["id"].(string); ok {
							ids[path] = append(ids[path], id)
						}
					}
				}
			}
		}
		for _, path := range paths {
			root, rest, templated := strings.Cut(path, "/{")
			if !templated {
				continue
			}
			_, tail, _ := strings.Cut(rest, "}")
			of := ids[root]
			if strings.HasSuffix(root, "/recall") {
				of = []string{"identity", "graph", "insights", "temporal"}
			}
			slices.Sort(of)
			for _, id := range slices.Compact(of) {
				look(path+" of "+id, c.send(e.t.Context(), http.MethodGet, root+"/"+url.PathEscape(id)+tail, "", nil))
			}
		}
		for _, body := range []map[string]any{
			{"query": "zq"},
			{"query": "the content that is here"},
			{"query": "heron", "includeSuperseded": true},
		} {
			look("search", c.send(e.t.Context(), http.MethodPost, "/v1/search", "", body))
		}
		look("retrieve", c.send(e.t.Context(), http.MethodPost, "/v1/retrieve", "",
			map[string]any{"query": "the content that is here"}))
	}
	return asked
}

func parsed(raw []byte) (object map[string]any) {
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object
}

func list(v any) (items []map[string]any) {
	all, _ := v.([]any)
	for _, x := range all {
		if item, ok := x.(map[string]any); ok {
			items = append(items, item)
		}
	}
	return items
}

// TestTrustCanaries puts words that occur nowhere else into everything that takes a
// word, erases them in every way that there is, and looks for them where anything may be
// left: in every byte of the data directory, in every record of its tables and logs, in
// the answers of every route, in a new export, a new backup, and what the service logs.
func TestTrustCanaries(t *testing.T) {
	dir := t.TempDir()
	data, vault, secrets := filepath.Join(dir, "data"), filepath.Join(dir, "vault"), filepath.Join(dir, "secrets")
	if err := os.WriteFile(secrets, []byte(strings.Repeat("s3cr3t-", 8)), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	options := process.Options{
		Args: []string{"--secrets-key-file", secrets},
		Env:  []string{"ORGMEM_EGRESS_ALLOW_CIDRS=127.0.0.0/8", "ORGMEM_EGRESS_ALLOW_PORTS=" + port},
	}
	p := start(t, data, options)
	unlimited(t, p, data, p.OrgID)
	seed := uint64(time.Now().UnixNano())
	e := &eraser{t: t, k: &canaries{
		random: rand.New(rand.NewPCG(seed, 0)), words: map[string]string{},
		secrets: map[string]string{},
	}, m: newMachine(t), caller: caller{base: p.BaseURL, key: p.APIKey}}
	e.m.env["ORGMEM_OPERATOR"], e.m.env["ORGMEM_DATA"] = p.OperatorURL, data

	e.forgetNodes()
	e.eraseSubjects()
	e.deleteSessions()
	e.deleteEndpoints(port)
	e.resetSandbox()
	e.leave()
	planted := len(e.k.raw(t, data))
	if planted < len(e.k.words)/4 {
		t.Errorf("of %d canaries %d are found right after they were erased: were they planted?", len(e.k.words), planted)
	}
	began := time.Now()
	var left map[string][]string
	eventually2(t, erasedAtMost, func() bool { left = e.k.raw(t, data); return len(left) == 0 })
	took := time.Since(began)
	for place, files := range left {
		t.Errorf("after %v %s lies in %v", took.Round(time.Second), place, files)
	}
	if took > erasedWithin+erasedSlack {
		t.Errorf("gone from files after %v, promised are %v", took.Round(time.Second), erasedWithin)
	}

	asked := e.answers()
	id := e.ok(e.caller, http.MethodPost, "/v1/exports", map[string]any{"scope": "org"})["exportId"].(string)
	eventually(t, "an export", func() bool {
		return e.ok(e.caller, http.MethodGet, "/v1/exports/"+id, nil)["status"] == "succeeded"
	})
	document := e.send(t.Context(), http.MethodGet, "/v1/exports/"+id+"/download", "", nil).Body
	for _, place := range e.k.found(document) {
		t.Errorf("%s is in a new export", place)
	}
	backupKey := filepath.Join(dir, "key")
	e.m.ok("backup", "keygen", backupKey)
	e.m.ok("backup", "create", vault, "--key", backupKey+".pub")
	log := p.Log()
	for _, place := range e.k.found([]byte(log)) {
		t.Errorf("%s is in the log of the service", place)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	records := 0
	for name, dir := range map[string]string{
		"the data directory":         data,
		"what a new backup restores": restoredInto(t, e.m, vault, backupKey, filepath.Join(dir, "again")),
	} {
		for place, files := range e.k.raw(t, dir) {
			t.Errorf("%s lies in %s, in %v", place, name, files)
		}
		found, n := e.k.unpacked(t, dir)
		for place, files := range found {
			t.Errorf("%s lies packed in %s, in %v", place, name, files)
		}
		records += n
	}
	if records == 0 || asked == 0 || len(document) == 0 {
		t.Errorf("%d records, %d answers and %d bytes of export were looked at", records, asked, len(document))
	}
	t.Logf("trust: canaries: %d canaries, %d ways of erasing, gone from files after %v, %d answers, %d records of "+
		"tables, export of %d bytes, log of %d bytes, words times pieces of data %d: %d left",
		len(e.k.words), len(e.ways), took.Round(time.Second), asked, records, len(document), len(log), e.k.compared,
		len(left))
}

func restoredInto(t *testing.T, m *machine, vault, key, dir string) string {
	t.Helper()
	m.ok("backup", "restore", vault, "--key", key, "--data", dir)
	return dir
}

// eventually2 asks until ok, or a time is over, and does not fail.
func eventually2(t *testing.T, within time.Duration, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !ok() && time.Now().Before(end); {
		select {
		case <-t.Context().Done():
			return
		case <-time.After(time.Second):
		}
	}
}
