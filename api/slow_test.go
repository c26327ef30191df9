package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	pb "orgmem/proto"
)

type slowAnswer struct {
	ThresholdMs int64
	Total       int
	Data        []struct {
		At, RequestID, Method, Route, Code, OrgID, Node                string
		Status, DurationMs, ReceiveMs, WaitMs, WorkMs, SendMs, BytesIn int
	}
}

func (h *harness) slow() (out slowAnswer, raw string) {
	h.t.Helper()
	res := h.op("GET", "/operator/requests/slow", "")
	if err := json.Unmarshal(res.body, &out); err != nil || res.StatusCode != http.StatusOK {
		h.t.Fatalf("%d %s: %v", res.StatusCode, res.body, err)
	}
	return out, string(res.body)
}

// takes has every request take some time to answer.
func (h *harness) takes(d *time.Duration) {
	h.asker.answer = func(_ context.Context, env *pb.Envelope) (*pb.Reply, error) {
		h.clock.Advance(*d)
		r := fakeAnswer(env)
		r.WaitedMs, r.Server = 300, "n-2"
		return r, nil
	}
}

func ofGoodKey(hash pb.KeyHash) (pb.OrgID, bool) { return testOrg, hash == pb.HashKey(goodKey) }

func TestSlowRequestsAreRememberedWithoutWhatTheySaid(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *Config) { c.OrgOf = ofGoodKey })
	took := 999 * time.Millisecond
	h.takes(&took)
	h.do("GET", "/v1/me", "")
	if got, _ := h.slow(); got.Total != 0 || got.ThresholdMs != 1000 {
		t.Errorf("a request of %v is remembered: %+v", took, got)
	}
	took = 2 * time.Second
	h.do("POST", "/v1/search", `{"query":"private words"}`, "X-Svc-Subject", "private-subject", "X-Request-Id", "r-1")
	h.do("GET", "/v1/graph/nodes/private-id?asOf=private", "", "X-Request-Id", "r-2")
	h.do("GET", "/v1/me", "", "X-Svc-API-Key", badKey, "X-Request-Id", "r-3")
	got, raw := h.slow()
	for _, said := range []string{"private", goodKey, badKey, "asOf"} {
		if strings.Contains(raw, said) {
			t.Errorf("%q is told of: %s", said, raw)
		}
	}
	if got.Total != 3 || len(got.Data) != 3 {
		t.Fatalf("%+v", got)
	}
	refused, one := got.Data[0], got.Data[2]
	if one.RequestID != "r-1" || one.Method != "POST" || one.Route != "/v1/search" || one.Status != 200 ||
		one.OrgID != testOrg.String() || one.Node != "n-2" || one.BytesIn != 25 {
		t.Errorf("%+v", one)
	}
	if one.DurationMs != 2000 || one.ReceiveMs != 0 || one.WaitMs != 300 || one.WorkMs != 1700 || one.SendMs != 0 {
		t.Errorf("where the time went: %+v", one)
	}
	if refused.RequestID != "r-3" || refused.OrgID != "" || refused.Code != pb.CodeAuthentication ||
		refused.Status != 401 {
		t.Errorf("%+v", refused)
	}
}

// TestSlowRequestsAreBounded: the latest are there, and the slowest however long ago.
func TestSlowRequestsAreBounded(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *Config) { c.OrgOf = ofGoodKey })
	took := time.Minute
	h.takes(&took)
	const many = 1000
	for i := range many {
		h.do("GET", "/v1/me", "", "X-Request-Id", fmt.Sprintf("r-%d", i))
		took = time.Second
	}
	got, _ := h.slow()
	if got.Total != many || len(got.Data) > 320 || len(got.Data) < 256 {
		t.Fatalf("%d of %d", len(got.Data), got.Total)
	}
	if first := got.Data[0].RequestID; first != "r-999" {
		t.Errorf("the latest is %s", first)
	}
	if last := got.Data[len(got.Data)-1]; last.RequestID != "r-0" || last.DurationMs != 60_000 {
		t.Errorf("the slowest is forgotten: %+v", last)
	}
	for i, r := range got.Data[:256] {
		if want := fmt.Sprintf("r-%d", many-1-i); r.RequestID != want {
			t.Fatalf("%d: %s, want %s", i, r.RequestID, want)
		}
	}
}
