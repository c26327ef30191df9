package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
)

// Here stands what the interface says of fields, headers and figures, by hand, as
// the document of its routes does not: that is made from the code which it is to
// hold. Each answer comes from the whole service.

// shape is what a value must look like: a map names the fields of an object, all
// that it has, those with a question mark where it has them; a list of one says
// what all elements are; text names what a scalar is, with "|null" if it may be.
type shape any

// shapeUnits and the others occur in several records.
var (
	shapeUnits    = map[string]shape{"readUnits": "int", "embedTokens": "int"}
	shapeSettings = map[string]shape{"qualityMode": "string", "learnModeDefault": "bool"}
	shapeNode     = map[string]shape{
		"id": "string", "kind": "string", "title": "string", "content?": "string", "domainId": "string|null",
		"subject":   "string|null",
		"authority": "number", "confidence": "number", "status": "string", "supersededBy": "string|null",
		"source": map[string]shape{
			"type": "string", "jobId": "uuid|null", "externalId": "string|null",
			"externalIds": []shape{"string"},
		},
		"validFrom": "time|null", "validTo": "time|null", "createdAt": "time", "updatedAt": "time",
		"tombstonedAt":    "time|null",
		"restorableUntil": "time|null", "degree": "int", "metadata": "object",
	}
	shapeEdge = map[string]shape{
		"id": "string", "source": "string", "target": "string", "type": "string", "weight": "number", "confidence": "number",
		"origin":   "string",
		"evidence": []shape{"string"}, "status": "string", "subject": "string|null", "validFrom": "time|null",
		"validTo":   "time|null",
		"createdAt": "time", "updatedAt": "time", "tombstonedAt": "time|null", "note": "string|null",
	}
	shapeJob = map[string]shape{
		"id": "uuid", "type": "string", "status": "string", "progress": map[string]shape{"done": "int", "total": "int"},
		"subject":  "string|null",
		"attempts": "int", "createdAt": "time", "startedAt": "time|null", "finishedAt": "time|null", "error": "object|null",
		"result": "object|null",
	}
	shapeWebhook = map[string]shape{
		"id": "uuid", "url": "string", "eventTypes": []shape{"string"}, "inactiveEventTypes": []shape{"string"},
		"disabled":       "bool",
		"disabledReason": "string|null", "consecutiveFailures": "int", "lastDeliveryAt": "time|null",
		"lastSuccessAt": "time|null",
		"createdAt":     "time", "updatedAt": "time|null",
	}
	shapeSessions = map[string]shape{
		"sessionNodeCount": "int", "sessionEdgeCount": "int", "ingestPending": "int", "finalizePending": "bool",
		"building":       "bool",
		"totalNodeCount": "int", "lastIngestedAt": "time|null", "warmLayers": []shape{"string"},
	}
	shapeHit = map[string]shape{
		"chunk": "string", "nodeId": "string", "title": "string", "score": "number", "chunkId": "string",
		"externalId": "string|null",
		"subject":    "string|null", "createdAt": "time", "scores": map[string]shape{"vector": "number", "keyword": "number"},
	}
	shapePurge = map[string]shape{
		"requestId": "string", "scope": "string", "dryRun": "bool", "counts": "object", "totalRows": "int",
		"purgedAt": "time|null",
	}
)

// with is a shape with more fields.
func with(f map[string]shape, more map[string]shape) map[string]shape {
	all := maps.Clone(f)
	maps.Copy(all, more)
	return all
}

// paged is the envelope of lists.
func paged(entry shape) shape {
	return map[string]shape{"data": []shape{entry}, "hasMore": "bool", "nextCursor?": "string"}
}

var scalars = map[string]*regexp.Regexp{
	"string": regexp.MustCompile(`^"`),
	"bool":   regexp.MustCompile(`^(true|false)$`),
	"number": regexp.MustCompile(`^-?[0-9]`),
	"int":    regexp.MustCompile(`^[0-9]+$`),
	"object": regexp.MustCompile(`^\{`),
	"uuid":   regexp.MustCompile(`^"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$`),
	"hash":   regexp.MustCompile(`^"[0-9a-f]{64}"$`),
	"time":   regexp.MustCompile(`^"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"$`),
}

// unlike says where a value differs from its shape, "" if it does not.
func unlike(at string, raw json.RawMessage, want shape) string {
	switch want := want.(type) {
	case string:
		kind, null := strings.CutSuffix(want, "|null")
		if null && string(raw) == "null" || scalars[kind].Match(raw) {
			return ""
		}
		return fmt.Sprintf("%s is %s, not %s", at, raw, want)
	case []shape:
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil || list == nil {
			return fmt.Sprintf("%s is %s, not a list", at, raw)
		}
		for i, one := range list {
			if wrong := unlike(fmt.Sprintf("%s[%d]", at, i), one, want[0]); wrong != "" {
				return wrong
			}
		}
		return ""
	}
	fields := want.(map[string]shape)
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return fmt.Sprintf("%s is %s, not an object", at, raw)
	}
	for name, f := range fields {
		name, optional := strings.CutSuffix(name, "?")
		value, there := object[name]
		delete(object, name)
		if !there {
			if !optional {
				return fmt.Sprintf("%s has no %s", at, name)
			}
			continue
		}
		if wrong := unlike(at+"."+name, value, f); wrong != "" {
			return wrong
		}
	}
	for name := range object {
		return fmt.Sprintf("%s has a field %s", at, name)
	}
	return ""
}

// letter sends a request that must be answered with a status and a shape; nil: no
// body.
func (s *stack) letter(t *testing.T, c caller, method, path, body string, status int, want shape,
	headers ...string,
) answer {
	t.Helper()
	a := s.send(t, c, method, path, body, headers...)
	switch {
	case a.status != status:
		t.Errorf("%s %s: %d %s, want %d", method, path, a.status, a.body, status)
	case want == nil:
		if len(a.body) > 0 {
			t.Errorf("%s %s: a body: %s", method, path, a.body)
		}
	default:
		if wrong := unlike("the answer", a.body, want); wrong != "" {
			t.Errorf("%s %s: %s: %s", method, path, wrong, a.body)
		}
	}
	return a
}

// refused sends a request that must be answered with a problem.
func (s *stack) refused(t *testing.T, c caller, method, path, body, code string) {
	t.Helper()
	if a := s.send(t, c, method, path, body); a.code(t) != code {
		t.Errorf("%s %s %s: %d %s, want %s", method, path, body, a.status, a.body, code)
	}
}

// entries are the objects of a list in an answer.
func (a answer) entries(t *testing.T, field string) []map[string]any {
	t.Helper()
	list, ok := a.object(t)[field].([]any)
	if !ok {
		t.Fatalf("no list %s in %d %s", field, a.status, a.body)
	}
	out := make([]map[string]any, len(list))
	for i := range list {
		out[i], _ = list[i].(map[string]any)
	}
	return out
}
