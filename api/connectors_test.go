package api

import (
	"sync"
	"testing"

	"orgmem/api/problems"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

// TestFirstConfigsAreReadAtOnce: requests make no schema; huma's registry, which
// does, writes to plain maps. It stands before all tests that send a config, since
// only the first of a process could find it out.
func TestFirstConfigsAreReadAtOnce(t *testing.T) {
	newHarness(t)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		for kind, config := range map[string]string{
			"feed": `{"url":"https://e.example/f"}`, "web": `{"pages":["https://e.example/"]}`,
			"git": `{"url":"https://e.example/r"}`,
		} {
			wg.Go(func() {
				var errs problems.Violations
				<-begin
				if checkConfig(kind, wire.Object(config), &errs); errs.Any() {
					t.Errorf("%s: %v", kind, errs.List)
				}
			})
		}
	}
	close(begin)
	wg.Wait()
}

func TestConnectorConfigs(t *testing.T) {
	h := newHarness(t)
	for body, field := range map[string]string{
		`{"type":"feed","name":"n","config":{"url":"https://e.example/f"}}`:                                  "",
		`{"type":"web","name":"n","config":{"pages":["https://e.example/"]}}`:                                "",
		`{"type":"git","name":"n","config":{"url":"https://e.example/r","token":"t"},"intervalSeconds":300}`: "",
		`{"type":"feed","name":"n"}`:                                            "config",
		`{"type":"feed","name":"n","config":{}}`:                                "config.url",
		`{"type":"feed","name":"n","config":{"url":"x","token":"t"}}`:           "config.token",
		`{"type":"web","name":"n","config":{}}`:                                 "config",
		`{"type":"web","name":"n","config":{"sitemap":"x","pages":["y"]}}`:      "config",
		`{"type":"mail","name":"n","config":{"url":"x"}}`:                       "type",
		`{"type":"feed","name":"n","config":{"url":"x"},"intervalSeconds":299}`: "intervalSeconds",
	} {
		res := h.do("POST", "/v1/connectors", body)
		if field == "" && res.StatusCode != 201 ||
			field != "" && (res.code(t) != pb.CodeValidation || res.fields(t)[field] == "") {
			t.Errorf("%s: %s", body, res.body)
		}
	}
	if op := func() *pb.CreateConnector {
		h.do("POST", "/v1/connectors", `{"type":"feed","name":"n","config":{"url":"https://e.example/f"}}`)
		return h.asker.last().GetLink().GetCreateConnector()
	}(); op.GetIntervalS() != defaultInterval || !op.GetEnabled() {
		t.Errorf("%v", op)
	}
	for _, bad := range []string{`{}`, `{"config":{"colour":1}}`} {
		if res := h.do("PATCH", "/v1/connectors/"+testJob.String(), bad); res.code(t) != pb.CodeValidation {
			t.Errorf("%s: %s", bad, res.body)
		}
	}
}
