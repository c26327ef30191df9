package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/importer"
	"orgmem/proto/clock"
)

const (
	testOrg   = "6f1c2a8e-0f43-4c39-9c3b-0a2f6a1d9b10"
	testUser  = "c0a8f1de-7d55-4b7e-8a67-1f0e2d3c4b5a"
	testToken = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// result is what a command line printed and how it ended.
type result struct {
	status   int
	out, err string
}

// machine is a world for command lines.
type machine struct {
	t   *testing.T
	env map[string]string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	return &machine{t, map[string]string{"XDG_STATE_HOME": t.TempDir()}}
}

func (m *machine) run(args ...string) result {
	m.t.Helper()
	var out, errs bytes.Buffer
	status := run(m.t.Context(), args, world{
		out: &out, err: &errs,
		lookupEnv: func(name string) (string, bool) { v, ok := m.env[name]; return v, ok },
		environ: func() []string {
			var pairs []string
			for name, v := range m.env {
				pairs = append(pairs, name+"="+v)
			}
			return pairs
		},
		clock: clock.Real(),
	})
	return result{status, out.String(), errs.String()}
}

// ok runs a command line that must succeed and print one JSON object.
func (m *machine) ok(args ...string) map[string]any {
	m.t.Helper()
	r := m.run(append(args, "--json")...)
	if r.status != exitDone {
		m.t.Fatalf("%v ended with %d: %s", args, r.status, r.err)
	}
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(r.out))
	if err := decoder.Decode(&object); err != nil {
		m.t.Fatalf("%v printed %q: %v", args, r.out, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		m.t.Fatalf("%v printed more than one object: %q", args, r.out)
	}
	return object
}

// serveOperator is an operator interface that answers from a table and notes
// what it was asked.
func serveOperator(t *testing.T, m *machine, answers map[string]string) *[]string {
	t.Helper()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+testToken {
			t.Errorf("%s without the token", r.URL.Path)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		what := r.Method + " " + r.URL.Path
		asked = append(asked, strings.TrimSpace(what+" "+string(body)))
		answer, ok := answers[what]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"code":"not_found","detail":"no such thing","status":404}`
		}
		io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	token := filepath.Join(t.TempDir(), "operator.token")
	if err := os.WriteFile(token, []byte(testToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.env["ORGMEM_OPERATOR"], m.env["ORGMEM_OPERATOR_TOKEN"] = server.URL, token
	return &asked
}

func TestOperatorCommandsPrintWhatScriptsRelyOn(t *testing.T) {
	m := newMachine(t)
	org := `{"orgId":"` + testOrg +
		`","name":"Acme","slug":"acme","personal":false,"plan":"standard","createdAt":"2026-01-01T00:00:00.000Z",` +
		`"members":1,"subjects":2}`
	at := "/operator/orgs/" + testOrg
	asked := serveOperator(t, m, map[string]string{
		"POST /operator/orgs": `{"orgId":"` + testOrg + `","slug":"acme","userId":"` + testUser +
			`","apiKey":"svc_prod_x","keyId":"k"}`,
		"GET /operator/orgs":  `{"data":[` + org + `]}`,
		"GET " + at:           org,
		"PUT " + at + "/plan": `{}`,
		"DELETE " + at:        ``,
		"POST " + at + "/members": `{"userId":"` + testUser +
			`","email":"b@example.com","role":"admin","createdAt":"x"}`,
		"GET " + at + "/members":                `{"data":[]}`,
		"DELETE " + at + "/members/" + testUser: ``,
		"POST " + at + "/keys":                  `{"apiKey":"svc_prod_y","id":"h","label":"ci"}`,
	})
	cases := []struct {
		args string
		keys string // of the printed object, sorted as JSON would
		sent string // the last request
	}{
		{
			"org create --name Acme --owner-email a@example.com --plan scale", "apiKey keyId orgId slug userId",
			`POST /operator/orgs {"name":"Acme","ownerEmail":"a@example.com","plan":"scale"}`,
		},
		{"org list", "data", "GET /operator/orgs"},
		{"org show " + testOrg, "createdAt members name orgId personal plan slug subjects", "GET " + at},
		{"org show acme", "createdAt members name orgId personal plan slug subjects", "GET " + at},
		{"org set-plan acme unlimited", "orgId plan", "PUT " + at + `/plan {"plan":"unlimited"}`},
		{"org delete " + testOrg, "deleted orgId", "DELETE " + at},
		{
			"member add acme --email b@example.com --role admin", "userId",
			"POST " + at + `/members {"email":"b@example.com","role":"admin"}`,
		},
		{"member list acme", "data", "GET " + at + "/members"},
		{"member remove acme " + testUser, "removed userId", "DELETE " + at + "/members/" + testUser},
		{
			"key create acme --user " + testUser + " --scopes read,write --label ci", "apiKey id label",
			"POST " + at + `/keys {"userId":"` + testUser + `","scopes":["read","write"],"label":"ci"}`,
		},
	}
	for _, c := range cases {
		object := m.ok(strings.Fields(c.args)...)
		var keys []string
		for key := range strings.FieldsSeq(c.keys) {
			if _, ok := object[key]; ok {
				keys = append(keys, key)
			}
		}
		if len(object) != len(keys) || strings.Join(keys, " ") != c.keys {
			t.Errorf("%s printed %v", c.args, object)
		}
		if got := (*asked)[len(*asked)-1]; got != c.sent {
			t.Errorf("%s sent %s, want %s", c.args, got, c.sent)
		}
	}
	// The same commands for people print something too, and no JSON.
	for _, c := range cases {
		if r := m.run(strings.Fields(c.args)...); r.status != exitDone || r.out == "" || strings.HasPrefix(r.out, "{") {
			t.Errorf("%s printed %q, %s", c.args, r.out, r.err)
		}
	}
}

func TestRefusalsAreShownInTheServersWords(t *testing.T) {
	m := newMachine(t)
	serveOperator(t, m, nil)
	r := m.run("org", "show", testOrg)
	if r.status != exitFailed || !strings.Contains(r.err, "no such thing") || r.out != "" {
		t.Errorf("%+v", r)
	}
}

func TestWrongUsage(t *testing.T) {
	m := newMachine(t)
	m.env["ORGMEM_DATA"] = t.TempDir()
	for _, args := range []string{
		"frobnicate", "org", "org show", "org create --name x", "key create acme", "member remove a", "search", "import",
		"serve --lissten x", "version extra", "org list --plan",
	} {
		if r := m.run(strings.Fields(args)...); r.status != exitUsage || r.err == "" || r.out != "" {
			t.Errorf("%q: %+v", args, r)
		}
	}
	for args, hint := range map[string]string{
		"org list":                 "start the server first",
		"search anything":          "ORGMEM_API_KEY",
		"import " + t.TempDir():    "ORGMEM_API_KEY",
		"serve --listen nowhere":   "not host:port",
		"serve --config /nonexist": "/nonexist",
	} {
		if r := m.run(strings.Fields(args)...); r.status == exitDone || !strings.Contains(r.err, hint) {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	r := newMachine(t).run("help")
	for _, name := range []string{"serve", "org", "member", "key", "import", "search", "doctor", "version"} {
		if !strings.Contains(r.out, "\n  "+name+" ") {
			t.Errorf("%s is missing in\n%s", name, r.out)
		}
	}
}

func TestVersionTellsModelAndCommit(t *testing.T) {
	object := newMachine(t).ok("version")
	for _, key := range []string{"version", "commit", "go", "model"} {
		if text, _ := object[key].(string); text == "" || strings.HasPrefix(text, "none") {
			t.Errorf("%s is %q", key, text)
		}
	}
}

// servePublic is a memory that finds every document it was given.
func servePublic(t *testing.T, m *machine) {
	t.Helper()
	docs := map[string]string{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/me", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"org":{"id":"`+testOrg+`"},"user":{"id":"`+testUser+`"},"plan":"standard"}`)
	})
	mux.HandleFunc("POST /v1/ingest/batch", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Items []struct{ Content, ExternalID, Title string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		for _, item := range body.Items {
			docs[item.ExternalID] = item.Content
		}
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, `{"jobId":"j","status":"pending"}`)
	})
	mux.HandleFunc("GET /v1/ingest/j/status", func(w http.ResponseWriter, _ *http.Request) {
		items := []map[string]any{}
		for id := range docs {
			items = append(items, map[string]any{"index": len(items), "externalId": id, "nodeId": "n", "status": "created"})
		}
		json.NewEncoder(w).Encode(map[string]any{"id": "j", "status": "done", "result": map[string]any{"items": items}})
	})
	mux.HandleFunc("GET /v1/graph/nodes/n", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"status":"live"}`)
	})
	mux.HandleFunc("POST /v1/search", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Svc-Subject") != "ann" {
			t.Errorf("subject %q", r.Header.Get("X-Svc-Subject"))
		}
		hits := []map[string]any{}
		for id, text := range docs {
			hits = append(hits, map[string]any{"chunk": text, "title": "T", "score": 0.5, "nodeId": "n", "externalId": id})
		}
		json.NewEncoder(w).Encode(map[string]any{"results": hits, "usage": map[string]any{"readUnits": 1}})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	m.env["ORGMEM_BASE_URL"], m.env["ORGMEM_API_KEY"] = server.URL, "svc_prod_x"
}

func TestImportAndSearch(t *testing.T) {
	m := newMachine(t)
	servePublic(t, m)
	folder := t.TempDir()
	for name, text := range map[string]string{
		"note.md":   "# T\nThe \x1b[31mboiler\nwas serviced.",
		"photo.png": "\x89PNG",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum := m.ok("import", folder)
	if sum["created"] != 1.0 || len(sum["skipped"].([]any)) != 1 {
		t.Errorf("imported %v", sum)
	}
	if sum := m.ok("import", folder); sum["created"] != 0.0 || sum["unchanged"] != 1.0 {
		t.Errorf("imported again %v", sum)
	}
	if r := m.run("import", folder); !strings.Contains(r.out,
		"0 created, 0 superseded, 1 unchanged, 1 skipped, 0 failed; 0 documents taken in") ||
		!strings.Contains(r.out, "is an image") {
		t.Errorf("%+v", r)
	}
	if r := m.run("import", t.TempDir()); r.status != 0 || !strings.Contains(r.err, "There is no file") {
		t.Errorf("of an empty folder: %+v", r)
	}
	hits := m.ok("search", "--subject", "ann", "the", "heating")
	if results := hits["results"].([]any); len(results) != 1 {
		t.Errorf("found %v", hits)
	}
	r := m.run("search", "--subject", "ann", "the heating")
	if !strings.Contains(r.out, "boiler was serviced") || !strings.Contains(r.out, "note.md") ||
		strings.Contains(r.out, "\x1b") {
		t.Errorf("printed %q", r.out)
	}
}

// What stands beside the bar: speeds, and what the rest takes at that speed.
func TestRatesOfAnImport(t *testing.T) {
	p := importer.Progress{Files: 6, TotalFiles: 10, Bytes: 1 << 20, TotalBytes: 4 << 20}
	if got, want := ratesOf(p, 2*time.Second), "3.0 files/s, 0.50 MiB/s, 6s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if p.Bytes = p.TotalBytes; strings.Contains(ratesOf(p, 2*time.Second), "left") {
		t.Error("something is left of nothing")
	}
}

func TestInterruptedCommandSaysSo(t *testing.T) {
	m := newMachine(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"code":"rate_limit_exceeded"}`)
		cancel()
	}))
	defer server.Close()
	m.env["ORGMEM_BASE_URL"], m.env["ORGMEM_API_KEY"] = server.URL, "svc_prod_x"
	var errs bytes.Buffer
	status := run(ctx, []string{"search", "x"}, world{
		out: io.Discard, err: &errs, environ: func() []string { return nil }, clock: clock.NewFake(time.Unix(0, 0)),
		lookupEnv: func(name string) (string, bool) { v, ok := m.env[name]; return v, ok },
	})
	if status != exitInterrupted || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

// TestHelpNamesNoValueByAccident: pflag calls a flag's value by what stands in quotes of
// code in its text, and `--listen /v1` is no help.
func TestHelpNamesNoValueByAccident(t *testing.T) {
	flags := 0
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if flags++; strings.Contains(f.Usage, "`") {
				t.Errorf("%s --%s: %s", c.CommandPath(), f.Name, f.Usage)
			}
		})
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(newRoot(world{lookupEnv: func(string) (string, bool) { return "", false }}))
	if flags < len(config.Settings) {
		t.Errorf("%d flags were looked at", flags)
	}
}
