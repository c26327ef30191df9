package api

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	pb "orgmem/proto"
)

// noise is what arithmetic leaves behind a figure.
const noise = 0.7 + 1.0/7e9

// disturb sets every float in a record that a client has not sent to one with sixteen
// digits, and every map's as well.
func disturb(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	float := func(k protoreflect.Kind) bool {
		return k == protoreflect.DoubleKind || k == protoreflect.FloatKind
	}
	asserted := m.Descriptor().Name() == "Edge" && m.Get(fields.ByName("origin")).String() == "asserted"
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case asserted && float(f.Kind()):
		case f.IsMap():
			if f.MapValue().Kind() == protoreflect.DoubleKind {
				m.Mutable(f).Map().Set(protoreflect.ValueOfString("recall10").MapKey(),
					protoreflect.ValueOfFloat64(0.9999999999999992))
				m.Mutable(f).Map().Set(protoreflect.ValueOfString("mrr").MapKey(), protoreflect.ValueOfFloat64(noise))
			}
		case float(f.Kind()) && f.IsList():
			if f.Kind() == protoreflect.DoubleKind {
				m.Mutable(f).List().Append(protoreflect.ValueOfFloat64(noise / 7))
			}
		case f.Kind() == protoreflect.DoubleKind:
			m.Set(f, protoreflect.ValueOfFloat64(noise))
		case f.Kind() == protoreflect.FloatKind:
			m.Set(f, protoreflect.ValueOfFloat32(float32(noise)))
		case f.Kind() == protoreflect.MessageKind && f.IsList():
			for i := range m.Get(f).List().Len() {
				disturb(m.Get(f).List().Get(i).Message())
			}
		case f.Kind() == protoreflect.MessageKind && m.Has(f):
			disturb(m.Get(f).Message())
		}
	}
}

// figuresIn counts the numbers with decimals in an answer, and complains about those
// with more than six digits.
func figuresIn(t *testing.T, path string, v any) (figures int) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			figures += figuresIn(t, path+"[]", e)
		}
	case map[string]any:
		for name, e := range v {
			figures += figuresIn(t, path+"."+name, e)
		}
	case float64:
		if v == math.Trunc(v) {
			return 0
		}
		figures = 1
		digits, _, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
		if len(strings.TrimLeft(strings.ReplaceAll(digits, ".", ""), "-")) > 6 {
			t.Errorf("%s is %v", path, v)
		}
	}
	return figures
}

// TestFiguresAreRounded answers every route with records whose floats have sixteen
// digits, as arithmetic makes them: what is answered has six. A field that is a float64
// in an answer and not a measure or a score is found here.
func TestFiguresAreRounded(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.asker.answer = func(_ context.Context, env *pb.Envelope) (*pb.Reply, error) {
		reply := fakeAnswer(env)
		disturb(reply.ProtoReflect())
		return reply, nil
	}
	figures, routes := 0, 0
	for _, r := range h.s.table.Routes {
		if r.Streams() {
			continue
		}
		targets := []string{""}
		if strings.Contains(r.Path, "{recall_type}") {
			targets = []string{"identity", "graph", "insights", "temporal"}
		}
		for _, kind := range targets {
			target, body := h.sample(r)
			if kind != "" {
				target = strings.Replace(r.Path, "{recall_type}", kind, 1)
			}
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
			if n := figuresIn(t, r.ID, v); n > 0 {
				figures += n
				routes++
			}
		}
	}
	if figures < 80 || routes < 20 {
		t.Errorf("only %d figures on %d routes were seen", figures, routes)
	}
}

// TestAssertedWeightsAreAnsweredAsTheyCame: a weight that a client has asserted is no
// measurement.
func TestAssertedWeightsAreAnsweredAsTheyCame(t *testing.T) {
	t.Parallel()
	const sent = 0.123456789012
	for origin, want := range map[string]float64{"asserted": sent, "cognition": 0.123457} {
		e := edgeOf(&pb.EdgeInfo{Edge: &pb.Edge{Origin: origin, Weight: sent, Confidence: sent}})
		if e.Weight != want || e.Confidence != want {
			t.Errorf("%s: %v, %v", origin, e.Weight, e.Confidence)
		}
	}
}
