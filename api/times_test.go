package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	pb "orgmem/proto"
)

// turnBack makes a record as clocks that disagree would have stamped it: everything
// that comes after its creation lies an hour before it, and its end an hour before
// that.
func turnBack(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
		case f.Kind() == protoreflect.MessageKind && f.IsList():
			for i := range v.List().Len() {
				turnBack(v.List().Get(i).Message())
			}
		case f.Kind() == protoreflect.MessageKind:
			turnBack(v.Message())
		case f.Kind() == protoreflect.Int64Kind && strings.HasSuffix(string(f.Name()), "_ms") && f.Name() != "created_ms":
			back := time.Hour
			if f.Name() == "finished_ms" {
				back = 2 * time.Hour
			}
			m.Set(f, protoreflect.ValueOfInt64(v.Int()-back.Milliseconds()))
		}
		return true
	})
}

// timesInOrder walks an answer and counts the pairs of times in it that follow each
// other in the life of a record.
func timesInOrder(t *testing.T, v any) (pairs int) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			pairs += timesInOrder(t, e)
		}
	case map[string]any:
		for _, pair := range [][2]string{
			{"createdAt", "startedAt"},
			{"createdAt", "finishedAt"},
			{"startedAt", "finishedAt"},
			{"createdAt", "updatedAt"},
			{"createdAt", "tombstonedAt"},
			{"createdAt", "decidedAt"},
			{"createdAt", "lastUsedAt"},
			{"createdAt", "revokedAt"},
			{"createdAt", "lastSyncAt"},
			{"createdAt", "lastDeliveryAt"},
			{"createdAt", "lastSuccessAt"},
		} {
			first, _ := v[pair[0]].(string)
			then, _ := v[pair[1]].(string)
			if first == "" || then == "" {
				continue
			}
			if pairs++; then < first { // all are of one layout
				t.Errorf("%s %s lies before %s %s", pair[1], then, pair[0], first)
			}
		}
		for _, e := range v {
			pairs += timesInOrder(t, e)
		}
	}
	return pairs
}

// TestNoTimeLiesBeforeItsBeginning answers every route with records that two clocks
// have stamped which disagree.
func TestNoTimeLiesBeforeItsBeginning(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.asker.answer = func(_ context.Context, env *pb.Envelope) (*pb.Reply, error) {
		reply := fakeAnswer(env)
		turnBack(reply.ProtoReflect())
		return reply, nil
	}
	pairs := 0
	for _, r := range h.s.table.Routes {
		if r.Streams() {
			continue
		}
		target, body := h.sample(r)
		res := h.do(r.Method, target, body)
		if !r.SucceedsWith(res.StatusCode) {
			t.Errorf("%s: %d %s", r.ID, res.StatusCode, res.body)
			continue
		}
		if res.StatusCode == http.StatusNoContent {
			continue
		}
		var v any
		if err := json.Unmarshal(res.body, &v); err != nil {
			t.Fatal(err)
		}
		t.Run(r.ID, func(t *testing.T) { pairs += timesInOrder(t, v) })
	}
	if pairs < 30 {
		t.Errorf("only %d pairs of times were seen", pairs)
	}
}
