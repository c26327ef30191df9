package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"orgmem/actors/tenant"
	"orgmem/api/operator"
	pb "orgmem/proto"
)

// op sends a request to the operator interface, with its token unless headers
// say otherwise.
func (h *harness) op(method, target, body string, headers ...string) response {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), method, "http://127.0.0.1:8081"+target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+testToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			r.Host = headers[i+1]
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.s.operator.Handler.ServeHTTP(w, r)
	out := w.Result()
	content, err := io.ReadAll(out.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	res := response{out, content}
	if target != "/metrics" || out.StatusCode >= 400 {
		h.checkGeneral(res)
	}
	return res
}

func TestOperatorRoutes(t *testing.T) {
	h := newHarness(t, func(c *Config) {
		c.Cluster, c.Vault, c.Node = fakeCluster{}, fakeVault{}, operator.NodeName{ID: "n-1", Name: "fig"}
		c.Doctor = func(context.Context) operator.Doctor {
			return operator.Doctor{
				Version: "v1", Config: []operator.Setting{{Name: "listen", Value: ":1", Origin: "flag"}},
				Checks: []operator.Check{{Name: "disk", OK: true, Detail: "fine"}},
			}
		}
	})
	org, user := testOrg.String(), testUser.String()
	const at = "2026-03-04T05:06:07.089Z"
	info := `{"orgId":"` + org + `","name":"Fig","slug":"fig","personal":false,"plan":"standard","createdAt":"` + at +
		`","members":1,"subjects":2}`
	entry := `{"orgId":"` + org + `","name":"Fig","slug":"fig","createdAt":"` + at + `"}`
	cases := []struct {
		method, target, body string
		status               int
		want                 string
	}{
		{"GET", "/healthz", "", 200, `{"status":"ok"}`},
		{"GET", "/readyz", "", 200, `{"status":"ready"}`},
		{
			"POST", "/operator/orgs", `{"name":"Fig","ownerEmail":"a@b.example","personal":true,"plan":"free"}`, 201,
			`{"orgId":"` + org + `","slug":"fig","userId":"` + user + `","apiKey":"` + goodKey + `","keyId":"` +
				hashOf(goodKey) + `"}`,
		},
		{"GET", "/operator/orgs", "", 200, `{"data":[` + entry + `]}`},
		{"GET", "/operator/orgs?limit=1&cursor=no", "", 200, `{"data":[` + entry + `],"nextCursor":"nomore"}`},
		{"GET", "/operator/orgs/" + org, "", 200, info},
		{"PUT", "/operator/orgs/" + org + "/plan", `{"plan":"scale"}`, 204, ""},
		{"DELETE", "/operator/orgs/" + org, "", 204, ""},
		{
			"POST", "/operator/orgs/" + org + "/members", `{"email":"a@b.example","role":"admin"}`, 201,
			`{"userId":"` + user + `","email":"a@b.example","role":"admin","createdAt":"` + at + `"}`,
		},
		{
			"GET", "/operator/orgs/" + org + "/members", "", 200,
			`{"data":[{"userId":"` + user + `","email":"a@b.example","role":"owner","createdAt":"` + at + `"}]}`,
		},
		{"DELETE", "/operator/orgs/" + org + "/members/" + user, "", 204, ""},
		{
			"POST", "/operator/orgs/" + org + "/keys", `{"userId":"` + user + `","scopes":["read"],"label":"x"}`, 201,
			`{"apiKey":"` + goodKey + `","id":"` + hashOf(goodKey) + `","label":"x"}`,
		},
		{
			"POST", "/operator/orgs/" + org + "/restore", `{}`, 200,
			`{"partitionId":"{}","nodeIds":["n"],"created":1,"unchanged":0}`,
		},
		{
			"GET", "/operator/requests/slow", "", 200,
			`{"node":"n-1","nodeName":"fig","thresholdMs":1000,"total":0,"data":[]}`,
		},
		{"GET", "/debug/pprof/goroutine", "", 200, "\x1f\x8b"},
		{"GET", "/operator/backups", "", 200, vaultJSON},
		{"POST", "/operator/backups", "", 202, vaultJSON},
		{"POST", "/operator/backups/fig/verify", "", 202, vaultJSON},
		{"POST", "/operator/cluster/tokens", `{}`, 201, `{"token":"orgmem-join-1h0m0s","expiresAt":"` + at + `"}`},
		{
			"POST", "/operator/cluster/rotation", "", 202,
			`{"generations":[1,2],"signing":1,"waiting":["n-2"],"expiresAt":"` + at + `"}`,
		},
		{
			"GET", "/operator/cluster/rotation", "", 200,
			`{"generations":[1,2],"signing":1,"waiting":["n-2"],"expiresAt":"` + at + `"}`,
		},
		{"GET", "/operator/cluster", "", 200, clusterJSON},
		{"PUT", "/operator/cluster/nodes/fig/drain", "", 202, clusterJSON},
		{"DELETE", "/operator/cluster/nodes/fig/drain", "", 202, clusterJSON},
		{"DELETE", "/operator/cluster/nodes/fig", "", 202, clusterJSON},
		{
			"GET", "/operator/doctor", "", 200,
			`{"version":"v1","config":[{"name":"listen","value":":1","origin":"flag"}],"checks":[{"name":"disk","ok":true,` +
				`"detail":"fine"}]}`,
		},
	}
	tested := map[string]bool{}
	pattern := strings.NewReplacer("backups/fig", "backups/{backup}", org, "{org}", user, "{user}", "fig", "{node}",
		"goroutine", "{profile}")
	for _, c := range cases {
		tested[c.method+" "+pattern.Replace(c.target)] = true
		res := h.op(c.method, c.target, c.body)
		if res.StatusCode != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.target, res.StatusCode, res.body)
			continue
		}
		if c.want == "" {
			if len(res.body) > 0 {
				t.Errorf("%s %s: body %s", c.method, c.target, res.body)
			}
			continue
		}
		if zipped := "\x1f\x8b"; c.want == zipped {
			if !strings.HasPrefix(string(res.body), zipped) || res.Header.Get("Content-Type") != "application/octet-stream" {
				t.Errorf("%s %s: %v %.40q", c.method, c.target, res.Header, res.body)
			}
			continue
		}
		var got, want any
		if err := json.Unmarshal(res.body, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s %s\n got %s\nwant %s", c.method, c.target, res.body, c.want)
		}
	}
	for _, r := range operator.Routes {
		if !tested[r.Method+" "+r.Path] {
			t.Errorf("%s %s has no test", r.Method, r.Path)
		}
		target := strings.NewReplacer("{org}", org, "{user}", user).Replace(r.Path)
		for name, headers := range map[string][]string{
			"none": {"Authorization", ""}, "wrong": {"Authorization", "Bearer " + strings.Repeat("x", 32)},
			"shorter": {"Authorization", "Bearer " + testToken[:31]}, "no scheme": {"Authorization", testToken},
			"API key": {"Authorization", "Bearer " + goodKey},
		} {
			res := h.op(r.Method, target, `{"name":7}`, headers...)
			if r.Open != (res.StatusCode < 400) || (!r.Open && res.code(t) != pb.CodeAuthentication) {
				t.Errorf("%s %s, token %s: %d %s", r.Method, r.Path, name, res.StatusCode, res.body)
			}
		}
		if res := h.op(r.Method, target, "", "Host", "evil.example:8081"); res.code(t) != pb.CodePermissionDenied {
			t.Errorf("%s %s answers to a stranger's name: %d", r.Method, r.Path, res.StatusCode)
		}
	}
}

func hashOf(key string) string { return pb.HashKey(key).String() }

func TestOperatorProblems(t *testing.T) {
	org := testOrg.String()
	for err, code := range map[error]string{
		fmt.Errorf("plan: %w: no such plan", tenant.ErrInvalid): pb.CodeValidation,
		fmt.Errorf("member: %w", tenant.ErrConflict):            pb.CodeConflict,
		tenant.ErrUserNotFound:                                  pb.CodeUserNotFound,
		tenant.ErrOrgNotFound:                                   pb.CodeOrganizationNotFound,
		context.DeadlineExceeded:                                pb.CodeServiceDegraded,
		errBoom:                                                 pb.CodeInternal,
	} {
		h := newHarness(t, func(c *Config) {
			c.Operator, c.Cluster, c.Vault = fakeOperator{err}, fakeCluster{err}, fakeVault{err}
		})
		for _, r := range operator.Routes {
			switch r.Method + " " + r.Path {
			case "GET /operator/doctor", "GET /operator/requests/slow", "GET /operator/backups", // these do not fail
				"GET /debug/pprof/{profile}":
				continue
			}
			if r.Open {
				continue
			}
			body := map[string]string{
				"/operator/orgs": `{"name":"Fig","ownerEmail":"a@b.example"}`, "/operator/orgs/{org}/plan": `{"plan":"scale"}`,
				"/operator/orgs/{org}/members": `{"email":"a@b.example","role":"admin"}`,
				"/operator/orgs/{org}/keys":    `{"userId":"` + testUser.String() + `","scopes":["read"],"label":"x"}`,
				"/operator/cluster/tokens":     `{"ttlSeconds":60}`,
			}[r.Path]
			switch {
			case r.Raw:
				body = "{}"
			case r.Body == nil:
				body = ""
			}
			res := h.op(r.Method, strings.NewReplacer("{org}", org, "{user}", testUser.String()).Replace(r.Path), body)
			if res.code(t) != code {
				t.Errorf("%s %s, %v: %d %s", r.Method, r.Path, err, res.StatusCode, res.body)
			}
			if strings.Contains(string(res.body), "secret detail") {
				t.Errorf("%s", res.body)
			}
		}
	}
}

// fakeCluster answers every order alike.
type fakeCluster struct{ err error }

func (f fakeCluster) JoinToken(_ context.Context, life time.Duration) (operator.JoinToken, error) {
	return operator.JoinToken{Token: "orgmem-join-" + life.String(), Expires: time.UnixMilli(1772600767089)}, f.err
}

func (f fakeCluster) Rotate(context.Context) error { return f.err }

func (f fakeCluster) Rotation(context.Context) (operator.Rotation, error) {
	return operator.Rotation{
		Generations: []uint64{1, 2}, Signing: 1, Waiting: []string{"n-2"}, Expires: time.UnixMilli(1772600767089),
	}, f.err
}

func (f fakeCluster) Status(context.Context) (*pb.ClusterStatus, error) {
	return &pb.ClusterStatus{
		Cluster: "c", Controller: "n-1", Version: 1,
		Nodes: []*pb.NodeStatus{{
			Server: "n-1", Name: "fig", Zone: "z", Address: "h:1", Version: 1, State: "alive", SinceMs: 1772600767089,
			Draining: true, Leaving: true, Voters: 2, Learners: 1, Leads: 3, Load: 7,
		}},
		Groups: []*pb.GroupPlace{
			{Group: 0},
			{
				Group: 1, Leader: "n-1", Replicas: []*pb.ReplicaPlace{{Server: "n-1", Voter: true, CaughtUp: true}},
				Desired: []string{"n-1"}, Waits: "w",
			},
		},
		Decisions: []*pb.Decision{
			{AtMs: 1772600767089, Action: "promote", Group: 1, Server: "n-1", Why: "y", Outcome: "done", Times: 2},
		},
	}, f.err
}

func (f fakeCluster) Drain(context.Context, string, bool) error { return f.err }

func (f fakeCluster) Remove(context.Context, string) error { return f.err }

// clusterJSON is what scripts read of fakeCluster's status.
const clusterJSON = `{"cluster":"c","controller":"n-1","version":1,` +
	`"nodes":[{"id":"n-1","name":"fig","zone":"z","address":"h:1","version":1,"state":"alive",` +
	`"since":"2026-03-04T05:06:07.089Z",` +
	`"draining":true,"leaving":true,"voters":2,"learners":1,"leads":3,"load":7}],` +
	`"groups":[{"group":0,"leader":"","replicas":[],"desired":[],"waits":""},` +
	`{"group":1,"leader":"n-1","replicas":[{"node":"n-1","voter":true,"caughtUp":true}],"desired":["n-1"],"waits":"w"}],` +
	`"decisions":[{"at":"2026-03-04T05:06:07.089Z","action":"promote","group":1,"node":"n-1","why":"y",` +
	`"outcome":"done","times":2}]}`

func TestOperatorOfANodeAlone(t *testing.T) {
	h := newHarness(t)
	for _, r := range operator.ClusterRoutes {
		body := ""
		if r.Body != nil {
			body = "{}"
		}
		if res := h.op(r.Method, r.Path, body); res.code(t) != pb.CodeConflict ||
			!strings.Contains(string(res.body), "orgmem cluster init") {
			t.Errorf("%s %s: %d %s", r.Method, r.Path, res.StatusCode, res.body)
		}
	}
}

func TestOperatorBadInput(t *testing.T) {
	h := newHarness(t)
	org := testOrg.String()
	for _, c := range []struct{ method, target, body, code string }{
		{"POST", "/operator/orgs", `{"name":"Fig"}`, pb.CodeValidation},
		{"POST", "/operator/orgs", `{"name":"Fig","ownerEmail":"a@b.example","owner":1}`, pb.CodeValidation},
		{"POST", "/operator/orgs", `{"name":" ","ownerEmail":"a@b.example"}`, pb.CodeValidation},
		{"POST", "/operator/orgs", `{`, pb.CodeMalformed},
		{"PUT", "/operator/orgs/" + org + "/plan", `{"plan":"gold"}`, pb.CodeValidation},
		{"GET", "/operator/orgs?limit=many", "", pb.CodeValidation},
		{"POST", "/operator/cluster/tokens", `{"ttlSeconds":0.5}`, pb.CodeValidation},
		{"POST", "/operator/cluster/tokens", `{"ttlSeconds":604801}`, pb.CodeValidation},
		{"GET", "/operator/orgs/nonsense", "", pb.CodeOrganizationNotFound},
		{"GET", "/operator/orgs/" + testUser.String(), "", pb.CodeOrganizationNotFound},
		{"DELETE", "/operator/orgs/" + org + "/members/nonsense", "", pb.CodeUserNotFound},
		{"POST", "/operator/orgs/" + org + "/keys", `{"userId":"x","scopes":["read"],"label":"x"}`, pb.CodeUserNotFound},
		{"POST", "/operator/orgs/" + org + "/keys", `{"userId":"x","scopes":["fly"],"label":"x"}`, pb.CodeValidation},
		{"POST", "/operator/orgs/" + org + "/members", `{"email":"a@b.example","role":"king"}`, pb.CodeValidation},
		{"GET", "/operator/nothing", "", pb.CodeNotFound},
		{"PATCH", "/operator/orgs", "", pb.CodeMethodNotAllowed},
		{"GET", "/v1/me", "", pb.CodeNotFound},
	} {
		if res := h.op(c.method, c.target, c.body); res.code(t) != c.code {
			t.Errorf("%s %s %s: %d %s", c.method, c.target, c.body, res.StatusCode, res.body)
		}
	}
	if res := h.op("POST", "/operator/orgs", "name=Fig", "Content-Type",
		"application/x-www-form-urlencoded"); res.code(t) != pb.CodeUnsupportedMediaType {
		t.Errorf("a form: %s", res.body)
	}
}

func TestReadiness(t *testing.T) {
	h := newHarness(t, func(c *Config) {
		c.Ready = func(context.Context) error { return errors.New("shard 3 has no leader") }
	})
	if res := h.op("GET", "/readyz", ""); res.code(t) != pb.CodeServiceDegraded ||
		!strings.Contains(string(res.body), "shard 3 has no leader") {
		t.Errorf("%s", res.body)
	}
	h.s.Drain()
	if res := h.op("GET", "/readyz", ""); res.code(t) != pb.CodeServiceDraining {
		t.Errorf("%s", res.body)
	}
	if res := h.op("GET", "/healthz", ""); res.StatusCode != http.StatusOK {
		t.Errorf("%s", res.body)
	}
}

// TestMetrics holds that requests are counted by pattern, and that nothing a
// client sends becomes a label.
func TestMetrics(t *testing.T) {
	extra := prometheus.NewGauge(prometheus.GaugeOpts{Name: "orgmem_extra", Help: "From a collector."})
	h := newHarness(t, func(c *Config) { c.Collectors = []prometheus.Collector{extra} })
	h.do("GET", "/v1/me", "")
	h.do("GET", "/v1/me", "")
	h.do("GET", "/v1/subjects/planted-name", "")
	h.do("POST", "/v1/ingest", `{"content":"planted-text"}`)
	h.do("GET", "/planted-path", "")
	r := httpRequest(t, "GET", "/v1/me", "")
	r.Method = "PLANTED"
	h.serve(r)
	res := h.op("GET", "/metrics", "", "Authorization", "")
	page := string(res.body)
	for _, want := range []string{
		`orgmem_http_requests_total{method="GET",route="/v1/me",status="200"} 2`,
		`orgmem_http_requests_total{method="GET",route="/v1/subjects/{subject_id}",status="200"} 1`,
		`orgmem_http_requests_total{method="POST",route="/v1/ingest",status="202"} 1`,
		`orgmem_http_requests_total{method="any",route="unmatched",status="404"} 1`,
		`orgmem_http_requests_total{method="any",route="unmatched",status="405"} 1`,
		`orgmem_http_request_duration_seconds_count{method="GET",route="/v1/me"} 2`,
		"orgmem_http_requests_in_flight 0",
		"orgmem_http_request_body_bytes_total 26",
		"orgmem_http_request_body_held_bytes 0",
		"orgmem_extra 0",
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(strings.ToLower(page), "planted") {
		t.Error("a client chose a label")
	}
	if res := h.op("GET", "/metrics", "", "Host", "evil.example"); res.code(t) != pb.CodePermissionDenied {
		t.Errorf("metrics answer to a stranger's name: %d", res.StatusCode)
	}
}

// fakeVault holds one backup, and verifies it.
type fakeVault struct{ err error }

func (f fakeVault) Create() error { return f.err }

func (f fakeVault) Verify(context.Context, string) error { return f.err }

func (f fakeVault) State(context.Context) operator.VaultState {
	at := time.UnixMilli(1772600767089)
	return operator.VaultState{
		Address: "s3://fig/tree", CanVerify: true, Total: 2,
		Backups: []operator.Backup{{Name: "b-1", Begun: at}, {Name: "odd"}},
		Running: &operator.BackupRun{Kind: "verify", Backup: "b-1", Begun: at, Done: 1, Total: 3, Bytes: 7},
		Ended:   []operator.BackupRun{{Kind: "create", Begun: at, Ended: at, Problem: "the disk is full"}},
	}
}

const vaultJSON = `{"vault":"s3://fig/tree","canVerify":true,"total":2,
	"data":[{"name":"b-1","begunAt":"2026-03-04T05:06:07.089Z"},{"name":"odd"}],
	"running":{"kind":"verify","backup":"b-1","begunAt":"2026-03-04T05:06:07.089Z","done":1,"total":3,"bytes":7},
	"ended":[{"kind":"create","begunAt":"2026-03-04T05:06:07.089Z","endedAt":"2026-03-04T05:06:07.089Z","done":0,
		"total":0,"bytes":0,"problem":"the disk is full"}]}`

func TestWithoutAVaultNothingIsBegun(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	res := h.op("GET", "/operator/backups", "")
	want := `{"vault":"","canVerify":false,"total":0,"data":[],"ended":[]}`
	if got := strings.TrimSpace(string(res.body)); got != want {
		t.Errorf("%s", got)
	}
	for _, path := range []string{"/operator/backups", "/operator/backups/b-1/verify"} {
		res := h.op("POST", path, "")
		if res.code(t) != pb.CodeConflict || !strings.Contains(string(res.body), "backup-vault") {
			t.Errorf("%s: %d %s", path, res.StatusCode, res.body)
		}
	}
}
