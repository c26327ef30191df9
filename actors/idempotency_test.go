package actors

import (
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"orgmem/actors/account"
	"orgmem/actors/egress"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// retryable is an operation that may be sent again, in two wordings.
type retryable struct {
	name string
	// make is what a client sends; each client has two nodes of its own.
	make func(nodes [2]string, wording int) *pb.Envelope
	// outcome of a wording, "" for a success.
	outcome [2]string
	// own: its route looks at no selector.
	own bool
}

var retryables = []retryable{
	{name: "job", make: func(_ [2]string, w int) *pb.Envelope {
		return items(doc("", fmt.Sprintf("A text in wording %d.",
			w)))
	}},
	{
		name: "key.create", make: func(_ [2]string, w int) *pb.Envelope { return createKey(fmt.Sprint("key ", w)) },
		own: true,
	},
	// Refused before it is decided: nothing is kept, and the key is free.
	{name: "key.create", make: func(_ [2]string, w int) *pb.Envelope {
		return createKey("key", []string{pb.ScopeRead, "root"}[w])
	}, outcome: [2]string{1: pb.CodeValidation}, own: true},
	{name: "edge.assert", make: func(nodes [2]string, w int) *pb.Envelope {
		return assertOp(&pb.AssertEdge{Source: nodes[0], Target: nodes[1], Type: fmt.Sprint("near ", w)})
	}},
	{name: "settings.reset", make: func([2]string, int) *pb.Envelope { return resetSettings() }},
	// A refusal by the state of things is an outcome like any other.
	{
		name: "node.undelete", make: func(nodes [2]string, w int) *pb.Envelope { return undeleteOp(nodes[w]) },
		outcome: [2]string{pb.CodeNodeNotForgotten, pb.CodeNodeNotForgotten},
	},
	{name: "webhook.create", make: func(_ [2]string, w int) *pb.Envelope {
		return newWebhook(fmt.Sprintf("https://example.com/%d", w), "brain.trained") // which does not come
	}, own: true},
}

// remembered is what the model knows of a key that was used.
type remembered struct {
	body  string
	first *pb.Reply
	step  int
	at    time.Time
}

// asReplay is what a first answer reads like when it is given again.
func asReplay(r *pb.Reply) *pb.Reply {
	r = proto.CloneOf(r)
	r.Rate, r.Replayed = nil, true
	if k := r.GetNewKey(); k != nil {
		k.ApiKey = tenant.SecretMarker
	}
	if h := r.GetLink().GetWebhook(); h != nil {
		h.Secret = tenant.SecretMarker
	}
	return r
}

// inTurn asks until the service does not have more work than it can queue, as it has for
// a moment when the organizations of all runs wake at once, a day later.
func (c client) inTurn(env *pb.Envelope) (r *pb.Reply) {
	for range 10_000 {
		if r = c.ask(env); r.GetProblem().GetCode() != pb.CodeServiceDegraded {
			break
		}
		runtime.Gosched()
	}
	return r
}

// TestIdempotencyAgainstModel lets several clients send a few operations under a few
// keys, at the same moment and again later, in the same words and in others, while
// hours go by. The model knows of each (credential, subject, route, key) what it
// meant first: within a day everything under it is that answer again, with the
// secrets hidden, or a refusal; after it the key is new. However many were sent at
// once, each meaning has had one effect.
//
// interface: Endpoints/Conventions Idempotency-Key
func TestIdempotencyAgainstModel(t *testing.T) {
	storagetest.FewerUnderRace(t, 20)
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		out, err := egress.New(egress.Config{Resolver: names{"example.com": "93.184.216.34"}, Dialer: &net.Dialer{}})
		if err != nil {
			t.Fatal(err)
		}
		c.Egress = out
	})
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		made := n.org(account.NewOrg{Name: fmt.Sprint("Run ", runs), OwnerEmail: "owner@example.com", Plan: pb.PlanUnlimited})
		owner := client{n: n, key: made.APIKey}
		owner.put("anna")
		second := n.keyOf(made.Org, made.Owner)
		clients := []client{owner, owner.as("anna"), second, second.as("anna")}
		nodes := map[string][2]string{} // of a partition
		for _, subject := range []string{"", "anna"} {
			nodes[subject] = [2]string{owner.as(subject).note("One end."), owner.as(subject).note("The other end.")}
		}
		// the nodes came by ingestion, the clients' keys by the operator
		effects := map[string]int{"job": 2 * len(nodes), "key.create": 2}
		known := map[string]*remembered{}

		type request struct {
			who     client
			op      retryable
			wording int
			scope   string // whose key it is
			env     *pb.Envelope
			reply   *pb.Reply
		}
		live := func(m *remembered) bool { return m != nil && n.clock.Now().Sub(m.at) < tenant.IdempotencyRetention }
		for step := range rapid.IntRange(1, 5).Draw(rt, "steps") { // so few that no list of 20 webhooks is full
			n.clock.Advance(rapid.SampledFrom([]time.Duration{
				0, time.Minute, 11 * time.Hour,
				tenant.IdempotencyRetention - time.Millisecond, tenant.IdempotencyRetention,
			}).Draw(rt, "later"))
			var sent []*request
			for range rapid.IntRange(1, 6).Draw(rt, "at once") {
				r := &request{
					who:     clients[rapid.IntRange(0, len(clients)-1).Draw(rt, "client")],
					op:      retryables[rapid.IntRange(0, len(retryables)-1).Draw(rt, "operation")],
					wording: rapid.IntRange(0, 1).Draw(rt, "wording"),
				}
				r.env = r.op.make(nodes[r.who.subject], r.wording)
				r.env.IdempotencyKey = rapid.SampledFrom([]string{"k1", "k2"}).Draw(rt, "key")
				subject := r.who.subject
				if r.op.own {
					subject = ""
				}
				r.scope = strings.Join([]string{r.who.key, subject, operation(r.env), r.env.IdempotencyKey}, " ")
				sent = append(sent, r)
			}
			var all sync.WaitGroup
			for _, r := range sent {
				all.Go(func() { r.reply = r.who.inTurn(r.env) })
			}
			all.Wait()
			// The first of those that were decided now says what the key means.
			for _, r := range sent {
				code := r.reply.GetProblem().GetCode()
				if r.reply.GetReplayed() || code == pb.CodeIdempotencyKeyReused || code == pb.CodeIdempotencyInProgress {
					continue
				}
				if m := known[r.scope]; live(m) && m.step < step {
					rt.Fatalf("%s %s: decided %v, after %v", r.op.name, r.env.IdempotencyKey, r.reply, m.first)
				}
				if want := r.op.outcome[r.wording]; code != want {
					rt.Fatalf("%s: %v, want %q", r.op.name, r.reply, want)
				}
				if code == "" {
					effects[r.op.name]++
				}
				if code != pb.CodeValidation {
					known[r.scope] = &remembered{string(r.env.BodyHash), r.reply, step, n.clock.Now()}
				}
			}
			alone := map[string]int{}
			for _, r := range sent {
				alone[r.scope]++
			}
			for _, r := range sent {
				m, code := known[r.scope], r.reply.GetProblem().GetCode()
				if !live(m) {
					m = nil
				}
				switch {
				case code == pb.CodeIdempotencyInProgress: // another of the same key, sent with it
					if alone[r.scope] == 1 || m != nil && m.step < step || r.reply.GetProblem().GetRetryAfterS() != 1 {
						rt.Fatalf("%s: %v with nothing under way", r.op.name, r.reply)
					}
				case code == pb.CodeIdempotencyKeyReused:
					if m == nil || m.body == string(r.env.BodyHash) {
						rt.Fatalf("%s: refused as another body, first %v", r.op.name, m)
					}
				case r.reply.GetReplayed():
					got := proto.CloneOf(r.reply)
					got.Rate = nil
					if m == nil || m.body != string(r.env.BodyHash) || !proto.Equal(got, asReplay(m.first)) {
						rt.Fatalf("%s: replayed %v, first %v", r.op.name, got, m)
					}
				case code != pb.CodeValidation && (m == nil || m.first != r.reply):
					rt.Fatalf("%s: decided twice, %v and %v", r.op.name, r.reply, m)
				}
			}
		}
		// What happened is what the model counted.
		got := map[string]int{}
		for _, action := range n.audits(made.Org) {
			got[action]++
		}
		for page := (&pb.Page{Size: 100}); page != nil; {
			list := owner.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{
				Type: pb.JobIngestBatch,
				Page: page,
			}}}).GetJobs()
			got["job"] += len(list.GetJobs())
			page = nil
			if next := list.GetNextCursor(); next != "" {
				page = &pb.Page{Size: 100, Cursor: next}
			}
		}
		for _, op := range retryables {
			if got[op.name] != effects[op.name] {
				rt.Fatalf("%s: %d effects, want %d", op.name, got[op.name], effects[op.name])
			}
		}
		if listed := owner.ok(listKeys()).GetKeys().GetKeys(); len(listed) != effects["key.create"] ||
			slices.ContainsFunc(listed, func(k *pb.Key) bool { return k.GetStatus() != pb.KeyActive }) {
			rt.Fatalf("%d keys, want %d", len(listed), effects["key.create"])
		}
	})
}
