package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serveQuality is a service that evaluates at once: the report of the job, and one before it.
func serveQuality(t *testing.T, m *machine) *[]string {
	t.Helper()
	var asked []string
	share := func(n, of int) string {
		return fmt.Sprintf(`{"count":%d,"of":%d,"share":%f,"low":%f,"high":%f}`, n, of, float64(n)/float64(of),
			max(float64(n)/float64(of)-.05, 0), min(float64(n)/float64(of)+.05, 1))
	}
	report := func(job string, found int) string {
		recall := fmt.Sprintf(`{"questions":100,"at1":%s,"at5":%s,"at10":%s}`, share(found-20, 100), share(found-10, 100),
			share(found, 100))
		return `{"jobId":"` + job + `","at":"2026-01-02T03:04:05Z","scope":"user","memories":50,"partial":false,` +
			`"sampled":50,"recall":` + recall + `,"byKind":[{"kind":"words","recall":` + recall + `}],"unfound":` +
			share(10, 50) + `,"nearDuplicates":` + share(0, 50) + `,"stale":` + share(0, 50) + `,"formerFirst":` +
			share(0, 100) + `,"contradicted":` + share(2, 50) + `,"languages":[{"language":"de","memories":` + share(50, 50) +
			`}],"model":"m","brainVersion":null}`
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Svc-Subject")+string(body))
		switch r.URL.Path {
		case "/v1/jobs/" + testOrg:
			io.WriteString(w, `{"status":"succeeded","progress":{"done":50,"total":50},"error":null}`)
		case "/v1/quality":
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusAccepted)
				io.WriteString(w, `{"jobId":"`+testOrg+`","status":"queued"}`)
				return
			}
			io.WriteString(w, `{"data":[`+report(testOrg, 60)+`,`+report(testUser, 90)+`],"hasMore":false,"nextCursor":null}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	m.env["ORGMEM_BASE_URL"], m.env["ORGMEM_API_KEY"] = server.URL, "k"
	return &asked
}

func TestEvalSaysWhatIsFoundAndWhatToDo(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	asked := serveQuality(t, m)
	r := m.run("eval", "--subject", "ann", "--watch")
	if r.status != exitDone {
		t.Fatalf("%d: %s", r.status, r.err)
	}
	for _, want := range []string{
		"50 memories, 50 asked about, in de 100 %", "60 of 100", "90 %", "set qualityMode thorough",
		"add what they are about", "GET /v1/contradictions",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	if strings.Contains(r.out, "externalId") || !strings.Contains(r.err, "50 of 50") {
		t.Errorf("it advises against what is not found, or says no progress:\n%s\n%s", r.out, r.err)
	}
	if (*asked)[0] != `POST /v1/quality ann{"scope":"user"}` {
		t.Errorf("asked %v", *asked)
	}
	if one := m.ok("eval"); one["jobId"] != testOrg {
		t.Errorf("as JSON: %v", one)
	}
	if list, err := json.Marshal(m.ok("eval", "--history")); err != nil || !strings.Contains(string(list), testUser) {
		t.Errorf("the history: %s %v", list, err)
	}
	if r := m.run("eval", "--history"); strings.Count(r.out, "\n") != 3 {
		t.Errorf("the history:\n%s", r.out)
	}
	if r := m.run("eval", "--all", "--subject", "ann"); r.status != exitUsage {
		t.Errorf("--all with a subject: %d", r.status)
	}
}
