package actors

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/peer"
	"orgmem/actors/webhook"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// watch opens a stream by a node, whichever one the organization lives on.
func (n *townNode) watch(key string) peer.LiveStream {
	n.t.Helper()
	s, ok := n.sys.TakeStream(n.client(key).ok(openStream()).GetLink().GetStream())
	if !ok {
		n.t.Fatal("the ticket opens nothing")
	}
	n.t.Cleanup(s.Close)
	return s
}

// coming returns the type of a stream's next event, which must come; empty: the stream
// has ended.
func coming(t *testing.T, s peer.LiveStream) string {
	t.Helper()
	select {
	case e := <-s.Events():
		return e.GetType()
	case <-time.After(patience):
		t.Fatal("no event, and no end")
		return ""
	}
}

// ends waits for the end of a stream, whatever comes before, and returns how much that
// was.
func ends(t *testing.T, s peer.LiveStream) (events int) {
	t.Helper()
	for coming(t, s) != "" {
		events++
	}
	return events
}

// TestStreamsAreCountedAcrossNodes: an organization has five streams however they are
// spread, and the sixth is refused whichever node is asked; also behind a move.
//
// interface: Limits/Concurrent event streams
func TestStreamsAreCountedAcrossNodes(t *testing.T) {
	names := []wire.ServerID{"a", "b", "c"}
	w := startTown(t, names...)
	made, other := w.org("a", pb.PlanUnlimited), w.org("b", pb.PlanUnlimited)
	full := func() (open []peer.LiveStream) {
		t.Helper()
		for i := range webhook.MaxStreams {
			open = append(open, w.at(names[i%len(names)]).watch(made.APIKey))
		}
		for _, name := range names {
			if p := w.at(name).client(made.APIKey).refused(pb.CodeTooManyStreams, openStream()); p.GetRetryAfterS() != 15 {
				t.Errorf("by %s: %v", name, p)
			}
		}
		return open
	}
	open := full()
	w.at("c").watch(other.APIKey) // has its own five

	open[1].Close() // by b, and a has to hear of it
	w.at("c").waitFor(func() bool {
		return w.at("c").client(made.APIKey).ask(openStream()).GetProblem() == nil
	})
	w.at("b").client(made.APIKey).refused(pb.CodeTooManyStreams, openStream()) // c's counts, taken up or not

	w.lead("b")
	for i, s := range open {
		if i != 1 && (ends(t, s) != 0 || s.Slow()) {
			t.Errorf("stream %d did not end with the move as it should", i)
		}
	}
	full()
}

// TestEventsComeFromAfar lets happen what workers cause: it reaches whom it concerns, by
// whatever node they watch.
//
// interface: Events/Stream reach
func TestEventsComeFromAfar(t *testing.T) {
	w := startTown(t, "a", "b", "c")
	made := w.org("a", pb.PlanUnlimited)
	owner := w.at("b").client(made.APIKey)
	m, err := w.at("b").operator().AddMember(t.Context(), made.Org, "peer@example.com", pb.RoleMember)
	if err != nil {
		t.Fatal(err)
	}
	k, err := w.at("b").operator().CreateKey(t.Context(), account.NewKey{
		Org: made.Org, User: m.User,
		Scopes: []string{pb.ScopeRead}, Label: "own",
	})
	if err != nil {
		t.Fatal(err)
	}
	near, afar := w.at("a").watch(owner.key), w.at("b").watch(owner.key)
	member := w.at("c").watch(k.APIKey)
	me, subject := made.Owner.Bytes(), []byte("0123456789abcdef")
	both := []string{pb.EventInsightProposed, pb.EventBrainTrained, pb.EventJobCompleted}
	w.at("a").emit(made.Org,
		&pb.OutboxEvent{Type: pb.EventJobCompleted, Partition: me},
		&pb.OutboxEvent{Type: pb.EventContradictionFound, Partition: me},
		&pb.OutboxEvent{Type: pb.EventBeliefSuperseded, Partition: me},
		&pb.OutboxEvent{Type: pb.EventBasinShifted, Partition: me},
		&pb.OutboxEvent{Type: pb.EventInsightProposed, Partition: me},
		&pb.OutboxEvent{Type: pb.EventBrainTrained},
		&pb.OutboxEvent{Type: pb.EventJobCompleted, Subject: "ann", Partition: subject},
	)
	for who, s := range map[string]struct {
		peer.LiveStream
		want []string
	}{
		"the owner, where it lives": {near, append([]string{
			pb.EventJobCompleted, pb.EventContradictionFound,
			pb.EventBeliefSuperseded, pb.EventBasinShifted,
		}, both...)},
		"the owner, elsewhere": {afar, append([]string{
			pb.EventJobCompleted, pb.EventContradictionFound,
			pb.EventBeliefSuperseded, pb.EventBasinShifted,
		}, both...)},
		"another member": {member, both},
	} {
		var got []string
		for range s.want {
			got = append(got, coming(t, s))
		}
		if !slices.Equal(got, s.want) {
			t.Errorf("%s saw %v, want %v", who, got, s.want)
		}
	}
}

// TestSlowReaderAfarIsCutOff: one who watches by another node and reads nothing loses
// the stream as somebody slow, gets what the buffer held, and delays nobody.
func TestSlowReaderAfarIsCutOff(t *testing.T) {
	w := startTown(t, "a", "b", "c")
	made := w.org("a", pb.PlanUnlimited)
	slow, quick := w.at("b").watch(made.APIKey), w.at("c").watch(made.APIKey)
	beside := w.at("b").watch(made.APIKey)
	const events = 3 * webhook.StreamBuffer
	for range events {
		w.at("a").emit(made.Org, &pb.OutboxEvent{Type: pb.EventBrainTrained})
		for _, s := range []peer.LiveStream{quick, beside} {
			if got := coming(t, s); got != pb.EventBrainTrained {
				t.Fatalf("a quick reader got %q", got)
			}
		}
	}
	w.at("b").waitFor(slow.Slow)
	if got := ends(t, slow); got < webhook.StreamBuffer || got == events || !slow.Slow() {
		t.Errorf("it ended with %d of %d events, slow %v", got, events, slow.Slow())
	}
	if quick.Slow() || beside.Slow() || !quick.Valid() || !beside.Valid() {
		t.Error("the quick ones ended, too")
	}
	w.at("a").waitFor(func() bool { return w.at("a").sys.Stats().EventStreams == 2 }) // its place is free
}

// TestEventsWithoutABridge cuts the node that is asked off from the one where the
// organization lives: streams there end, or are refused, as the interface says, and
// webhooks go on; with the bridge they come back.
//
// interface: Events/Stream without a bus
func TestEventsWithoutABridge(t *testing.T) {
	in := newInbox(t)
	w := startTownWith(t, in.allow, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	w.at("a").client(made.APIKey).ok(newWebhook(in.url, "*"))
	near, afar := w.at("a").watch(made.APIKey), w.at("b").watch(made.APIKey)

	// The bridge alone: requests still find their way.
	w.bridge(false)
	if ends(t, afar) != 0 || afar.Slow() || afar.Valid() {
		t.Error("a stream goes on without its bridge")
	}
	ticket := w.at("b").client(made.APIKey).ok(openStream()).GetLink().GetStream()
	if _, ok := w.at("b").sys.TakeStream(ticket); ok { // the edge says 503
		t.Error("a stream was opened without a bridge")
	}
	w.at("a").happen(made.Org, pb.EventBrainTrained, 0, 3)
	w.at("a").waitFor(func() bool { return in.count() == 3 })
	for range 3 {
		if got := coming(t, near); got != pb.EventBrainTrained {
			t.Errorf("where it lives: %q", got)
		}
	}
	w.bridge(true)
	again := w.at("b").watch(made.APIKey)

	// Everything: the node that is asked cannot even ask.
	w.bridge(false)
	w.sever(true)
	b := w.at("b").client(made.APIKey)
	_, err := w.at("b").sys.Ask(t.Context(), within(b.envelope(openStream()), 100*time.Millisecond))
	if !errors.Is(err, context.DeadlineExceeded) { // the edge says 503
		t.Errorf("cut off: %v", err)
	}
	if ends(t, again) != 0 || again.Slow() {
		t.Error("a stream goes on across a cut")
	}
	w.at("a").happen(made.Org, pb.EventBrainTrained, 3, 2)
	w.at("a").waitFor(func() bool { return in.count() == 5 })
}

// TestStreamsEndWithTheirNode: when the node where the organization lives stops, streams
// by others end, and not as if their readers had been slow.
func TestStreamsEndWithTheirNode(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	afar := w.at("b").watch(made.APIKey)
	w.at("a").emit(made.Org, &pb.OutboxEvent{Type: pb.EventBrainTrained})
	if got := coming(t, afar); got != pb.EventBrainTrained {
		t.Fatalf("%q", got)
	}
	if err := w.at("a").sys.Close(); err != nil {
		t.Fatal(err)
	}
	if ends(t, afar) != 0 || afar.Slow() || afar.Valid() {
		t.Error("the stream outlives the node that it comes from")
	}
}
