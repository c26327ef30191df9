package api

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
)

// widenMaps gives every map in a record a dozen entries more, and says how many maps
// there are.
func widenMaps(m protoreflect.Message) (maps int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap():
			values := m.Mutable(f).Map()
			for n := range 12 {
				value := protoreflect.ValueOfUint64(uint64(n))
				if f.MapValue().Kind() == protoreflect.DoubleKind {
					value = protoreflect.ValueOfFloat64(float64(n))
				} else if f.MapValue().Kind() != protoreflect.Uint64Kind {
					continue
				}
				values.Set(protoreflect.ValueOfString(fmt.Sprintf("key_%d", n)).MapKey(), value)
			}
			maps++
		case f.Kind() == protoreflect.MessageKind && f.IsList():
			for i := range m.Get(f).List().Len() {
				maps += widenMaps(m.Get(f).List().Get(i).Message())
			}
		case f.Kind() == protoreflect.MessageKind && m.Has(f):
			maps += widenMaps(m.Get(f).Message())
		}
	}
	return maps
}

// TestEqualCallsHaveEqualAnswers sends each route the same request again and again:
// whatever is kept as a map, and however many faults a request has, the bytes of the
// answer are the same.
func TestEqualCallsHaveEqualAnswers(t *testing.T) {
	t.Parallel()
	const calls = 12
	h := newHarness(t)
	maps := 0
	h.asker.answer = func(_ context.Context, env *pb.Envelope) (*pb.Reply, error) {
		reply := fakeAnswer(env)
		maps += widenMaps(reply.ProtoReflect())
		return reply, nil
	}
	same := func(r *web.Route, target, body string) {
		t.Helper()
		var first string
		for n := range calls {
			res := h.do(r.Method, target, body, "X-Request-Id", "same")
			if answer := fmt.Sprint(res.StatusCode, " ", string(res.body)); n == 0 {
				first = answer
			} else if answer != first {
				t.Errorf("%s: equal calls are answered\n%s\nand\n%s", r.ID, first, answer)
				return
			}
		}
	}
	for _, r := range h.s.table.Routes {
		if r.Streams() {
			continue
		}
		target, body := h.sample(r)
		same(r, target, body)
		var query []string
		for n := range problems.MaxViolations + 5 { // more than are shown
			query = append(query, url.QueryEscape(fmt.Sprintf("fault%d", n))+"=1")
		}
		for _, p := range r.Params("query") {
			query = append(query, p.Name+"=%00", p.Name+"=%00")
		}
		path, _, _ := strings.Cut(target, "?")
		same(r, path+"?"+strings.Join(query, "&"), body)
	}
	if maps < 3*calls {
		t.Errorf("only %d maps were answered", maps)
	}
}
