package actors

import (
	"slices"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func (c client) stream() *webhook.EventStream {
	c.n.t.Helper()
	ticket := c.ok(openStream()).GetLink().GetStream()
	s, ok := tenant.FeatureOf[*webhook.Feature](c.n.sys.System).Streams.Take(ticket)
	if !ok {
		c.n.t.Fatal("the ticket opens nothing")
	}
	c.n.t.Cleanup(s.Close)
	return s
}

func openStream() *pb.Envelope {
	return link(&pb.LinkOp{Op: &pb.LinkOp_StreamEvents{StreamEvents: &pb.StreamEvents{}}})
}

// next returns the type of the next event, which must come.
func next(t *testing.T, s *webhook.EventStream) string {
	t.Helper()
	if e := nextEvent(t, s); e != nil {
		return e.GetType()
	}
	return "ended"
}

// nextEvent returns the next event, or nil for a stream that has ended.
func nextEvent(t *testing.T, s *webhook.EventStream) *pb.OutboxEvent {
	t.Helper()
	select {
	case e := <-s.Events():
		return e
	case <-time.After(patience):
		t.Fatal("no event")
		return nil
	}
}

// emit commits events as a worker would.
func (n *testNode) emit(org pb.OrgID, events ...*pb.OutboxEvent) {
	n.t.Helper()
	err := n.sys.Visit(n.t.Context(), org, func(o *tenant.Org, done func(error)) {
		ch := commit.New(o.Store)
		ch.Events = events
		o.Committer.SubmitChange(ch, done)
	})
	if err != nil {
		n.t.Fatal(err)
	}
}

// TestStreamReach is the interface's table of reach: each kind of event, and who
// of an organization sees it.
//
// interface: What the service does/8 events
// interface: Events/job.completed
// interface: Events/Stream reach
func TestStreamReach(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	owner := client{n: n, key: org.APIKey}
	peer := n.member(owner, org, "peer@example.com")
	other := n.org(account.NewOrg{Name: "Other", OwnerEmail: "o@example.com", Plan: pb.PlanUnlimited})
	foreign := client{n: n, key: other.APIKey}
	mine, theirs, elsewhere := owner.stream(), peer.stream(), foreign.stream()

	me := org.Owner.Bytes()
	for _, c := range []struct {
		name          string
		event         *pb.OutboxEvent
		owner, member bool
	}{
		{"what a request did", &pb.OutboxEvent{Type: pb.EventGraphUpdated, User: me, Partition: me}, true, false},
		{
			"what a request did for a subject", &pb.OutboxEvent{Type: pb.EventGraphUpdated, User: me, Subject: "ann"}, true,
			false,
		},
		{"an import", &pb.OutboxEvent{Type: pb.EventImportFinished, User: me, Subject: "ann"}, true, false},
		{"a person's identity", &pb.OutboxEvent{Type: pb.EventIdentityUpdated, Partition: me}, true, false},
		{"a subject's identity", &pb.OutboxEvent{
			Type: pb.EventIdentityUpdated, Subject: "ann",
			Partition: []byte("0123456789abcdef"),
		}, true, true},
		{"a test", &pb.OutboxEvent{Type: pb.EventWebhookTest, User: me}, true, false},
		{"what nobody did", &pb.OutboxEvent{Type: pb.EventGraphUpdated, Partition: me}, false, false},
		{"a person's job", &pb.OutboxEvent{Type: pb.EventJobCompleted, Partition: me}, true, false},
		{"a person's belief", &pb.OutboxEvent{Type: pb.EventBeliefSuperseded, Partition: me}, true, false},
		{"a person's contradiction", &pb.OutboxEvent{Type: pb.EventContradictionFound, Partition: me}, true, false},
		{"a person's basin", &pb.OutboxEvent{Type: pb.EventBasinShifted, Partition: me}, true, false},
		{"a subject's job", &pb.OutboxEvent{
			Type: pb.EventJobCompleted, Subject: "ann",
			Partition: []byte("0123456789abcdef"),
		}, true, true},
		{"a subject's basin", &pb.OutboxEvent{
			Type: pb.EventBasinShifted, Subject: "ann",
			Partition: []byte("0123456789abcdef"),
		}, true, true},
		{"an insight", &pb.OutboxEvent{Type: pb.EventInsightProposed, Partition: me}, true, true},
		{"a brain", &pb.OutboxEvent{Type: pb.EventBrainTrained}, true, true},
		{"what concerns all", &pb.OutboxEvent{Type: pb.EventJobCompleted}, true, true},
		{
			"another member's", &pb.OutboxEvent{Type: pb.EventJobCompleted, Partition: []byte("fedcba9876543210")}, false,
			false,
		},
	} {
		mark := &pb.OutboxEvent{Type: pb.EventInsightProposed, Subject: "mark"} // reaches everybody
		n.emit(org.Org, c.event, mark)
		for who, want := range map[*webhook.EventStream]bool{mine: c.owner, theirs: c.member} {
			var got []*pb.OutboxEvent
			for len(got) == 0 || got[len(got)-1].GetSubject() != "mark" {
				select {
				case e := <-who.Events():
					got = append(got, e)
				case <-time.After(patience):
					t.Fatalf("%s: the mark does not come", c.name)
				}
			}
			if saw := len(got) == 2; saw != want {
				t.Errorf("%s: seen by the owner %v (want %v)", c.name, who == mine, want)
			}
		}
	}
	if len(elsewhere.Events()) > 0 {
		t.Error("an event reached another organization")
	}
}

// TestEndOfAnErasureIsTold erases a subject, which afterwards is nobody's: every
// member hears of it.
func TestEndOfAnErasureIsTold(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	owner := client{n: n, key: org.APIKey}
	owner.put("ann")
	owner.as("ann").note("Ann was here.")
	streams := []*webhook.EventStream{owner.stream(), n.member(owner, org, "peer@example.com").stream()}
	job := jobOf(owner.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: "ann"}}}))
	for i, s := range streams {
		select {
		case e := <-s.Events():
			if want := `{"jobId":"` + job +
				`","jobType":"subject_erase","status":"succeeded","subject":null}`; string(e.GetData()) != want ||
				e.GetType() != pb.EventJobCompleted {
				t.Errorf("stream %d: %s %s", i, e.GetType(), e.GetData())
			}
		case <-time.After(patience):
			t.Fatal("no event")
		}
	}
}

// member adds a member with a key of their own.
func (n *testNode) member(owner client, org account.CreatedOrg, email string) client {
	n.t.Helper()
	m, err := n.sys.AddMember(n.t.Context(), org.Org, email, pb.RoleMember)
	if err != nil {
		n.t.Fatal(err)
	}
	k, err := n.sys.CreateKey(n.t.Context(), account.NewKey{Org: org.Org, User: m.User, Scopes: []string{
		pb.ScopeRead,
		pb.ScopeWrite,
	}, Label: "own"})
	if err != nil {
		n.t.Fatal(err)
	}
	owner.key = k.APIKey
	return owner
}

func TestStreamLimitAndTickets(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var open []*webhook.EventStream
	for range webhook.MaxStreams - 1 {
		open = append(open, c.stream())
	}
	lost := c.ok(openStream()).GetLink().GetStream() // never taken up
	if p := c.refused(pb.CodeTooManyStreams, openStream()); p.GetRetryAfterS() != 15 {
		t.Errorf("%v", p)
	}
	n.clock.Advance(webhook.TicketLifetime)
	if _, ok := tenant.FeatureOf[*webhook.Feature](n.sys.System).Streams.Take(lost); ok {
		t.Error("a ticket that is too old opens a stream")
	}
	ticket := c.ok(openStream()).GetLink().GetStream() // there is room again
	s, ok := tenant.FeatureOf[*webhook.Feature](n.sys.System).Streams.Take(ticket)
	if !ok {
		t.Fatal("a ticket does not open its stream")
	}
	if _, again := tenant.FeatureOf[*webhook.Feature](n.sys.System).Streams.Take(ticket); again {
		t.Error("a ticket opened two streams")
	}
	n.clock.Advance(webhook.TicketLifetime) // says nothing to a stream that was taken up
	c.refused(pb.CodeTooManyStreams, openStream())
	s.Close()
	s.Close()
	open = append(open, c.stream())
	for _, s := range open {
		s.Close()
	}
	if left := n.sys.Stats().EventStreams; left != 0 {
		t.Errorf("%d streams left", left)
	}
	if _, ok := tenant.FeatureOf[*webhook.Feature](n.sys.System).Streams.Take("no such ticket"); ok {
		t.Error("anything opens a stream")
	}
}

// TestStreamCutsSlowReaders: who reads nothing loses the stream, and nobody else
// waits for that.
func TestStreamCutsSlowReaders(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	slow, quick := c.stream(), c.stream()
	for range webhook.StreamBuffer + 1 {
		n.emit(org.Org, &pb.OutboxEvent{Type: pb.EventBrainTrained})
		if got := next(t, quick); got != pb.EventBrainTrained {
			t.Fatalf("the quick reader got %s", got)
		}
	}
	for range webhook.StreamBuffer {
		if got := next(t, slow); got != pb.EventBrainTrained {
			t.Fatalf("what was buffered is lost: %s", got)
		}
	}
	if got := next(t, slow); got != "ended" || !slow.Slow() || quick.Slow() {
		t.Errorf("a slow reader goes on: %s, or the quick one does not", got)
	}
}

// TestStreamValidity: a stream follows its key, also while the organization
// sleeps.
func TestStreamValidity(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	owner := client{n: n, key: org.APIKey}
	peer := n.member(owner, org, "peer@example.com")
	key := owner.ok(&pb.Envelope{Op: &pb.Envelope_CreateKey{CreateKey: &pb.CreateKey{Label: "second"}}}).GetNewKey()
	second := client{n: n, key: key.GetApiKey()}
	mine, own, theirs := second.stream(), owner.stream(), peer.stream()
	for name, s := range map[string]*webhook.EventStream{"second key": mine, "first key": own, "peer": theirs} {
		if !s.Valid() {
			t.Errorf("%s: not valid", name)
		}
	}
	second.ok(&pb.Envelope{Op: &pb.Envelope_RevokeKey{RevokeKey: &pb.RevokeKey{Id: key.GetId()}}})
	if mine.Valid() || !own.Valid() {
		t.Error("a revocation ends the wrong stream, or none")
	}
	members, err := n.sys.Members(t.Context(), org.Org)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(members, func(m tenant.MemberInfo) bool { return m.Email == "peer@example.com" })
	if err := n.sys.RemoveMember(t.Context(), org.Org, members[i].User); err != nil {
		t.Fatal(err)
	}
	if theirs.Valid() {
		t.Error("a removed member goes on watching")
	}
	if err := n.sys.DeleteOrg(t.Context(), org.Org); err != nil {
		t.Fatal(err)
	}
	if own.Valid() {
		t.Error("a removed organization is watched")
	}
}

// TestStreamOutlivesItsActor: an organization that was lost, or slept, tells its
// streams all the same.
func TestStreamOutlivesItsActor(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) { c.IdleOrg = time.Minute })
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	s := c.stream()
	err := n.sys.Visit(t.Context(), org.Org, func(o *tenant.Org, done func(error)) {
		o.Retire()
		done(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	n.emit(org.Org, &pb.OutboxEvent{Type: pb.EventBrainTrained})
	if got := next(t, s); got != pb.EventBrainTrained {
		t.Errorf("%s", got)
	}
}
