package actors

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/llm"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
	"orgmem/proto/tracing/tracingtest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// traced is what has a node trace.
func traced(spans **tracingtest.Spans, tracer **tracing.Tracer) func(*tenant.Config, *storage.Options) {
	return func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Tracer, *spans = tracingtest.New(cfg.Clock, true)
		*tracer = cfg.Tracer
	}
}

// inTrace puts a request into the caller's trace, as the edge does.
func inTrace(tracer *tracing.Tracer, recorded bool, op *pb.Envelope) (*pb.Envelope, tracing.Span) {
	edge := tracer.Server(tracingtest.Header(recorded), time.Unix(0, 0), "POST", "/v1/x")
	op.Trace = edge.Context()
	return op, edge
}

// What an ingest causes goes on in its trace up to those who are told of it by a webhook; and where the caller wants
// nothing recorded, nothing is, behind the answer neither.
func TestAWebhookGoesOnInTheTrace(t *testing.T) {
	t.Parallel()
	heard := make(chan http.Header, 8)
	url, allow := receiver(t, func(_ http.ResponseWriter, r *http.Request) { heard <- r.Header })
	var spans *tracingtest.Spans
	var tracer *tracing.Tracer
	n := startNode(t, storagetest.NewDisk(), allow, traced(&spans, &tracer))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ok(newWebhook(url, pb.EventJobCompleted))
	for _, recorded := range []bool{false, true} {
		op, edge := inTrace(tracer, recorded, items(doc("marzipan", "The zanzibar is quagmire.")))
		n.wait(jobOf(c.ok(op)))
		edge.End()
		h := <-heard
		n.waitFor(func() bool {
			_, ended := spans.Find("webhook")
			return ended == recorded
		})
		parent := h.Get("Traceparent")
		if !recorded {
			if parent != "" || len(spans.Ended()) != 0 {
				t.Errorf("a trace that nobody records goes on: %q, %v", parent, spans.Ended())
			}
			continue
		}
		if !strings.HasPrefix(parent, "00-"+tracingtest.Trace) || !strings.HasSuffix(parent, "-01") ||
			h.Get("Tracestate") != tracingtest.State {
			t.Errorf("the receiver gets %q and %q", parent, h.Get("Tracestate"))
		}
	}
	hook, _ := spans.Find("webhook")
	if way := strings.Join(hook.Way, " > "); way != "POST /v1/x > webhook" || hook.Failed ||
		hook.Says["orgmem.event"] != pb.EventJobCompleted || hook.Says["http.response.status_code"] != "200" {
		t.Errorf("%s says %v", way, hook.Says)
	}
	for _, s := range spans.Ended() {
		for name, value := range s.Says {
			for _, secret := range []string{"marzipan", "zanzibar", "quagmire", "example.com", c.key} {
				if strings.Contains(value, secret) {
					t.Errorf("%s says %s=%q", s.Name(), name, value)
				}
			}
		}
	}
}

// A language model outside is asked within the trace of the answer that it words.
func TestALanguageModelGoesOnInTheTrace(t *testing.T) {
	t.Parallel()
	var spans *tracingtest.Spans
	var tracer *tracing.Tracer
	p, c := phrased(t, 100, traced(&spans, &tracer))
	var header http.Header
	p.answer = func(r *http.Request, q llm.Question) (int, string) {
		header = r.Header
		return p.sentences(llm.Sentence{Text: charges, Passages: []int{passage(q, "fifty")}})
	}
	c.ingest(doc("a", charges))
	for recorded, flags := range map[bool]string{false: "-00", true: "-01"} {
		op, edge := inTrace(tracer, recorded, answerOp("What does Mrs Okafor charge?", 0))
		c.ok(op)
		edge.End()
		got := header.Get("Traceparent")
		if !strings.HasPrefix(got, "00-"+tracingtest.Trace) || !strings.HasSuffix(got, flags) ||
			header.Get("Tracestate") != tracingtest.State {
			t.Errorf("the model gets %q and %q", got, header.Get("Tracestate"))
		}
	}
	s, ok := spans.Find("chat stub")
	if !ok || s.Failed || s.Says["gen_ai.request.model"] != "stub" || s.Says["gen_ai.operation.name"] != "chat" ||
		s.Says["http.response.status_code"] != "200" || s.Says["server.address"] != "127.0.0.1" {
		t.Errorf("%v", s)
	}
}

// Items of several requests that are taken in together are told to the trace of each.
func TestASliceOfManyRequestsIsInTheTraceOfEach(t *testing.T) {
	t.Parallel()
	var spans *tracingtest.Spans
	var tracer *tracing.Tracer
	n := startNode(t, storagetest.NewDisk(), traced(&spans, &tracer))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	first := strings.Replace(tracingtest.Trace, "0af", "111", 1)
	var jobs []string
	for _, trace := range []string{first, tracingtest.Trace} {
		h := tracingtest.Header(true)
		h["Traceparent"] = []string{strings.Replace(h.Get("Traceparent"), tracingtest.Trace, trace, 1)}
		op := items(doc(trace, "Text of "+trace))
		op.Trace = tracer.Server(h, time.Unix(0, 0), "POST", "/v1/ingest").Context()
		jobs = append(jobs, jobOf(c.ok(op)))
	}
	n.wait(jobs...)
	for _, step := range []string{"queue", "ingest", "embed queue", "embed", "index"} {
		seen := map[string]bool{}
		n.waitFor(func() bool {
			for _, s := range spans.Ended() {
				if s.Name() == step {
					seen[s.Trace] = true
				}
			}
			return len(seen) == 2
		})
	}
}

// A request that is refused at admission ends its spans all the same.
func TestARefusedRequestHasItsSpans(t *testing.T) {
	t.Parallel()
	var spans *tracingtest.Spans
	var tracer *tracing.Tracer
	n := startNode(t, storagetest.NewDisk(), traced(&spans, &tracer))
	c := client{n: n, key: "svc_prod_unknown"}
	op, _ := inTrace(tracer, true, find("anything"))
	c.refused(pb.CodeAuthentication, op)
	c.key = n.org(account.NewOrg{}).APIKey
	op, _ = inTrace(tracer, true, find("anything"))
	c.subject = "nobody"
	c.refused(pb.CodeSubjectNotProvisioned, op)
	if s, ok := spans.Find("admission"); !ok || s.Says["gen_ai.memory.store.id"] == "" {
		t.Errorf("%v", spans.Ended())
	}
}
