package actors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/export"
	"orgmem/actors/peer"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// TestAnyNodeAnswers: an organization lives on one node, and another one answers
// for it: requests, pages, events, exports and the operator's orders.
func TestAnyNodeAnswers(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("b", pb.PlanUnlimited) // lives on a
	if w.at("a").sys.Stats().ActiveOrgs != 1 || w.at("b").sys.Stats().ActiveOrgs != 0 {
		t.Fatal("the organization was begun on the wrong node")
	}
	b := w.at("b").client(made.APIKey)
	stream := b.ok(openStream()).GetLink().GetStream()
	live, ok := w.at("b").sys.TakeStream(stream)
	if !ok {
		t.Fatalf("the ticket %q opens nothing", stream)
	}
	defer live.Close()
	accepted := b.ok(items(doc("1", "Ada wrote the first program.")))
	if accepted.GetServer() != "a" {
		t.Errorf("the answer does not say that another node gave it: %q", accepted.GetServer())
	}
	if here := w.at("a").client(made.APIKey).ok(me()).GetServer(); here != "" {
		t.Errorf("its own answer is said to be of %q", here)
	}
	job := jobOf(accepted)
	w.at("a").wait(job)
	if got := b.chunks("program"); len(got) != 1 || got[0] != "Ada wrote the first program." {
		t.Fatalf("search on the other node found %q", got)
	}
	select {
	case e := <-live.Events():
		if e.GetType() != pb.EventGraphUpdated && e.GetType() != pb.EventJobCompleted {
			t.Errorf("event %q", e.GetType())
		}
	case <-time.After(patience):
		t.Fatal("no event came from the other node")
	}

	exportID := jobOfExport(b.ok(&pb.Envelope{
		Op: &pb.Envelope_Data{Data: &pb.DataOp{Op: &pb.DataOp_CreateExport{CreateExport: &pb.CreateExport{}}}},
	}))
	w.at("a").wait(exportID)
	download := b.ok(&pb.Envelope{
		Op: &pb.Envelope_Data{Data: &pb.DataOp{Op: &pb.DataOp_DownloadExport{DownloadExport: &pb.DownloadExport{Id: exportID}}}},
	}).GetData().GetDownload()
	there, err := w.at("b").sys.ExportPiece(t.Context(), download, 0)
	if err != nil {
		t.Fatal(err)
	}
	here, err := w.at("a").sys.ExportPiece(t.Context(), download, 0)
	if err != nil || !bytes.Equal(here, there) || len(here) == 0 {
		t.Errorf("the nodes differ in a piece of %d and %d bytes (%v)", len(here), len(there), err)
	}
	if _, err := w.at("b").sys.ExportPiece(t.Context(), download, 7); !errors.Is(err, export.ErrGone) {
		t.Errorf("a piece that is not there: %v", err)
	}
	if w.at("b").sys.Stats().ActiveOrgs != 0 {
		t.Error("the organization woke on the node that only asks")
	}
}

func jobOfExport(r *pb.Reply) string { return pb.JobID(r.GetData().GetExport().GetId()).String() }

// TestOperatorAnywhere: every order reaches the organization from every node, and
// refusals keep their meaning.
func TestOperatorAnywhere(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("b", "")
	for _, name := range []wire.ServerID{"a", "b"} {
		op := w.at(name).operator()
		if err := op.SetPlan(t.Context(), made.Org, pb.PlanUnlimited); err != nil {
			t.Fatal(err)
		}
		info, err := op.Org(t.Context(), made.Org)
		want := account.OrgInfo{Org: made.Org, Name: "Acme", Slug: made.Slug, Plan: pb.PlanUnlimited, Members: 1}
		others := cmpopts.IgnoreFields(account.OrgInfo{}, "Created", "Subjects")
		if diff := cmp.Diff(want, info, others); diff != "" || err != nil {
			t.Errorf("on %s: %v (-want +got):\n%s", name, err, diff)
		}
		m, err := op.AddMember(t.Context(), made.Org, "m-"+string(name)+"@example.com", pb.RoleMember)
		if err != nil {
			t.Fatal(err)
		}
		all, err := op.Members(t.Context(), made.Org)
		if err != nil || !slices.ContainsFunc(all, func(x tenant.MemberInfo) bool {
			return x.User == m.User &&
				x.Email == m.Email && x.Role == m.Role
		}) {
			t.Errorf("on %s: members %+v lack %+v (%v)", name, all, m, err)
		}
		k, err := op.CreateKey(t.Context(), account.NewKey{
			Org: made.Org, User: m.User, Scopes: []string{pb.ScopeRead},
			Label: "x",
		})
		if err != nil || k.Label != "x" {
			t.Fatalf("%+v, %v", k, err)
		}
		if got := w.at(name).client(k.APIKey).ok(me()).GetMe().GetUser(); !bytes.Equal(got, m.User.Bytes()) {
			t.Errorf("the key is of %x", got)
		}
		part, err := op.Restore(t.Context(), made.Org, []byte(`{"partition":{"kind":"subject","subject":"s","id":"x"}}`))
		if err != nil || part.PartitionID == "" {
			t.Errorf("on %s: restore: %+v, %v", name, part, err)
		}
		if err := op.RemoveMember(t.Context(), made.Org, m.User); err != nil {
			t.Error(err)
		}
		if page, err := op.Orgs(t.Context(), "", 10); err != nil || len(page.Orgs) != 1 {
			t.Errorf("on %s: %+v, %v", name, page, err)
		}

		for what, wrong := range map[error]func() error{
			tenant.ErrUserNotFound: func() error { return op.RemoveMember(t.Context(), made.Org, pb.UserID{1}) },
			tenant.ErrInvalid:      func() error { return op.SetPlan(t.Context(), made.Org, "gold") },
			tenant.ErrConflict:     func() error { return op.RemoveMember(t.Context(), made.Org, made.Owner) },
			tenant.ErrOrgNotFound:  func() error { return op.SetPlan(t.Context(), pb.OrgID{9}, pb.PlanUnlimited) },
		} {
			if err := wrong(); !errors.Is(err, what) {
				t.Errorf("on %s: %v, want %v", name, err, what)
			}
		}
	}
	if err := w.at("b").operator().DeleteOrg(t.Context(), made.Org); err != nil {
		t.Fatal(err)
	}
	if _, err := w.at("b").operator().Org(t.Context(), made.Org); !errors.Is(err, tenant.ErrOrgNotFound) {
		t.Errorf("the removed organization: %v", err)
	}
	w.at("b").client(made.APIKey).refused(pb.CodeAuthentication, me())
}

// TestLimitsHoldAcrossNodes: a bucket is drawn from in one place, whichever node
// is asked.
func TestLimitsHoldAcrossNodes(t *testing.T) {
	w := startTown(t, "a", "b", "c")
	made := w.org("a", pb.PlanFree)
	names := []wire.ServerID{"a", "b", "c"}
	burst := int(tenant.LimitOf("reads", pb.PlanFree).Burst)
	granted := 0
	for i := range 2 * burst {
		r := w.at(names[i%len(names)]).client(made.APIKey).ask(me())
		switch r.GetProblem().GetCode() {
		case "":
			granted++
		case pb.CodeRateLimit:
		default:
			t.Fatal(r.GetProblem())
		}
	}
	// The bucket fills while the test runs.
	if granted < burst || granted == 2*burst {
		t.Errorf("%d of %d requests passed a bucket of %d", granted, 2*burst, burst)
	}
	if left := w.at("a").client(made.APIKey).ask(me()).GetRate().GetRemaining(); int(left) > burst/2 {
		t.Errorf("%d are left", left)
	}
}

// TestRequestWaitsForLeader: while nobody leads, a request waits; it is answered
// when somebody does, and refused when its time is over.
func TestRequestWaitsForLeader(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	b := w.at("b").client(made.APIKey)
	w.lead("")
	_, err := w.at("b").sys.Ask(t.Context(), within(b.envelope(me()), 100*time.Millisecond))
	var known interface{ Problem() *pb.Problem }
	if !errors.As(err, &known) || known.Problem().GetCode() != pb.CodeServiceDegraded ||
		known.Problem().GetRetryAfterS() == 0 {
		t.Fatalf("without a leader: %v", err)
	}
	answered := make(chan *pb.Reply, 1)
	go func() { answered <- b.ask(me()) }()
	looked := func() int {
		w.at("b").mu.Lock()
		defer w.at("b").mu.Unlock()
		return w.at("b").looked
	}
	before := looked()
	w.at("b").waitFor(func() bool { return looked() >= before+2 }) // it has found nobody, and looks again
	if len(answered) != 0 {
		t.Error("the request was answered without a leader")
	}
	w.lead("b")
	select {
	case r := <-answered:
		if r.GetProblem() != nil {
			t.Error(r.GetProblem())
		}
	case <-time.After(patience):
		t.Fatal("the request was not answered")
	}
}

// TestOrganizationMoves: what lived on one node lives on another; the first one has
// nothing of it in memory, its streams end, and nothing that was acknowledged is
// missing.
func TestOrganizationMoves(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	a, b := w.at("a").client(made.APIKey), w.at("b").client(made.APIKey)
	stream, ok := w.at("a").sys.TakeStream(a.ok(openStream()).GetLink().GetStream())
	if !ok {
		t.Fatal("no stream")
	}
	afar, ok := w.at("b").sys.TakeStream(b.ok(openStream()).GetLink().GetStream())
	if !ok {
		t.Fatal("no stream from afar")
	}
	a.put("s1")
	w.lead("b")
	b.put("s2")
	a.put("s3") // by way of b
	for _, c := range []client{a, b} {
		list := c.ok(&pb.Envelope{Op: &pb.Envelope_ListSubjects{ListSubjects: &pb.ListSubjects{}}}).GetSubjects().
			GetSubjects()
		var names []string
		for _, s := range list {
			names = append(names, s.GetId())
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != "s1 s2 s3" {
			t.Errorf("subjects after the move: %s", got)
		}
	}
	for _, s := range []peer.LiveStream{stream, afar} {
		for range s.Events() { // ends: the stream's organization has moved
		}
		if s.Valid() {
			t.Error("a stream outlived its organization's move")
		}
		s.Close()
	}
	w.at("a").waitFor(func() bool { return w.at("a").sys.Stats().ActiveOrgs == 0 })
	if err := w.at("a").sys.AwaitMovedAway(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOneByOneAcrossAMove: who waits for an entity while its organization moves decides
// where it lives then, one by one: on a planned move the log still takes what is proposed
// here.
func TestOneByOneAcrossAMove(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	a := w.at("a").client(made.APIKey) // its first key
	for range account.MaxKeysPerUser - 2 {
		a.ok(createKey(""))
	}
	const rivals = 4
	var placed atomic.Int32
	var all sync.WaitGroup
	lock := tenant.KeysLock(made.Owner.Bytes())
	// the holder of the lock is not done when the organization leaves
	a.inOrg(func(o *tenant.Org) { o.Exclusive(lock, func(func()) {}) })
	for n := range rivals {
		all.Go(func() {
			create := a.envelope(createKey(""))
			create.IdempotencyKey = fmt.Sprint("rival ", n)
			r, err := w.at("a").sys.Ask(t.Context(), create)
			switch {
			case err != nil:
				t.Error(err)
			case r.GetProblem() == nil:
				placed.Add(1)
			case r.GetProblem().GetCode() != "key_limit_reached":
				t.Error(r.GetProblem())
			}
		})
	}
	w.at("a").waitFor(func() bool {
		waiting := 0
		a.inOrg(func(o *tenant.Org) { waiting = o.Waiting(lock) })
		return waiting == rivals
	})
	w.handOver("b")
	all.Wait()
	if got := placed.Load(); got != 1 {
		t.Errorf("%d keys have the place of one", got)
	}
	if got := len(a.ok(listKeys()).GetKeys().GetKeys()); got != account.MaxKeysPerUser {
		t.Errorf("%d keys are listed", got)
	}
}

// TestWrongGuessIsCorrected: a node that is wrong about where an organization
// lives is told, by whoever it asks.
func TestWrongGuessIsCorrected(t *testing.T) {
	w := startTown(t, "a", "b", "c")
	made := w.org("a", pb.PlanUnlimited)
	c := w.at("c")
	c.mu.Lock()
	c.believe = "b"
	c.mu.Unlock()
	c.client(made.APIKey).ok(me())
	if n := w.at("b").sys.Stats().ActiveOrgs; n != 0 {
		t.Errorf("%d organizations woke on the node that was asked in error", n)
	}
	w.at("b").mu.Lock()
	defer w.at("b").mu.Unlock()
	if w.at("b").carried == 0 {
		t.Error("nobody was asked in error")
	}
}

// TestLostConnection: what was on its way when the connection ended may have been
// done. A request that may be repeated is; another one is told so.
func TestLostConnection(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	b := w.at("b").client(made.APIKey)
	b.ok(me())
	ask := func(op *pb.Envelope) (*pb.Reply, error) {
		w.sever(true)
		type answer struct {
			r   *pb.Reply
			err error
		}
		before := w.at("b").sys.Stats().AskedElsewhere
		answered := make(chan answer, 1)
		go func() {
			r, err := w.at("b").sys.Ask(context.Background(), op)
			answered <- answer{r, err}
		}()
		w.at("b").waitFor(func() bool { return w.at("b").sys.Stats().AskedElsewhere > before })
		w.sever(true) // the connection that it went into ends
		w.sever(false)
		got := <-answered
		return got.r, got.err
	}
	read := b.envelope(me())
	read.Method = tenant.MethodGet
	if r, err := ask(read); err != nil || r.GetProblem() != nil {
		t.Errorf("a read: %v %v", r, err)
	}
	write := b.envelope(&pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: "s"}}})
	write.IdempotencyKey = "once"
	if r, err := ask(write); err != nil || r.GetProblem() != nil {
		t.Errorf("a write with a key: %v %v", r, err)
	}
	_, err := ask(b.envelope(&pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: "t"}}}))
	var known interface{ Problem() *pb.Problem }
	if !errors.As(err, &known) || !strings.Contains(known.Problem().GetDetail(), "Idempotency-Key") {
		t.Errorf("a write without a key: %v", err)
	}
	if n := w.at("b").sys.Stats().LostOnTheWay; n < 3 {
		t.Errorf("%d losses were counted", n)
	}
}

// watch looks at every message between nodes, and loses those that it says.
func (w *town) watch(seen func(from wire.ServerID, m proto.Message) (lost bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = seen
}

// TestLostMessage: a question or an answer is lost without a word, as is what waits for
// a connection that is given up. A request that may be repeated is; another one is told
// that nobody knows, long before its time is over.
func TestLostMessage(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	b := w.at("b").client(made.APIKey)
	b.ok(me())
	for name, lost := range map[string]func(proto.Message) bool{
		"the question": func(m proto.Message) bool { _, is := m.(*pb.NodeAsk); return is },
		"the answer":   func(m proto.Message) bool { _, is := m.(*pb.NodeReply); return is },
		"the answer, and what is answered to the doubt": func(m proto.Message) bool { _, is := m.(*pb.NodeReply); return is },
	} {
		most := 1
		if strings.Contains(name, "doubt") {
			most = 2
		}
		arm := func() {
			var n atomic.Int64
			w.watch(func(_ wire.ServerID, m proto.Message) bool { return lost(m) && n.Add(1) <= int64(most) })
		}
		arm()
		read := b.envelope(me())
		read.Method = tenant.MethodGet
		if r, err := w.at("b").sys.Ask(t.Context(), read); err != nil || r.GetProblem() != nil {
			t.Errorf("%s of a read: %v %v", name, r, err)
		}
		arm()
		write := b.envelope(&pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: "s"}}})
		_, err := w.at("b").sys.Ask(t.Context(), write)
		var known interface{ Problem() *pb.Problem }
		if !errors.As(err, &known) || !strings.Contains(known.Problem().GetDetail(), "Idempotency-Key") {
			t.Errorf("%s of a write without a key: %v", name, err)
		}
	}
}

// TestSlowAnswerIsWaitedFor: what the other node still works on is asked once.
func TestSlowAnswerIsWaitedFor(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	a, b := w.at("a").client(made.APIKey), w.at("b").client(made.APIKey)
	b.ok(me())
	var asked atomic.Int64
	worksOn := make(chan struct{})
	var once sync.Once
	w.watch(func(from wire.ServerID, m proto.Message) bool {
		switch m := m.(type) {
		case *pb.NodeAsk:
			if m.GetEnvelope() != nil {
				asked.Add(1)
			}
		case *pb.NodeReply:
			if from == "a" && m.GetUnderway() {
				once.Do(func() { close(worksOn) })
			}
		}
		return false
	})
	read := b.envelope(me())
	read.Method = tenant.MethodGet
	answered := make(chan error, 1)
	a.inOrg(func(*tenant.Org) {
		go func() {
			r, err := w.at("b").sys.Ask(t.Context(), read)
			if err == nil && r.GetProblem() != nil {
				err = errors.New(r.GetProblem().GetDetail())
			}
			answered <- err
		}()
		select {
		case <-worksOn:
		case <-time.After(patience):
			t.Error("nobody doubted")
		}
	})
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
}

// TestPausedOwnerIsGivenUp: a node that says nothing while its organizations live
// elsewhere is not waited for as long as one that still works on what it was asked.
func TestPausedOwnerIsGivenUp(t *testing.T) {
	w := startTown(t, "a", "b", "c")
	made := w.org("a", pb.PlanUnlimited)
	a, b := w.at("a").client(made.APIKey), w.at("b").client(made.APIKey)
	b.ok(me())
	type answer struct {
		r    *pb.Reply
		err  error
		asks int
	}
	ask := func(silent bool) (got answer) {
		w.lead("a")
		answered := make(chan answer, 1)
		var doubts atomic.Int64
		moved := make(chan struct{})
		w.watch(func(from wire.ServerID, m proto.Message) bool {
			if ask, asks := m.(*pb.NodeAsk); asks && from == "b" && ask.GetEnvelope() == nil {
				select {
				case <-moved:
					doubts.Add(1)
				default:
				}
			}
			return silent && from == "a"
		})
		a.inOrg(func(o *tenant.Org) { // it works on what it has, and on nothing else
			w.at("a").waitFor(func() bool { return o.Activation.Calls.Load() == 1 }) // this alone
			go func() {
				r, err := w.at("b").sys.Ask(context.Background(), b.envelope(createKey("")))
				answered <- answer{r: r, err: err}
			}()
			w.at("a").waitFor(func() bool { return o.Activation.Calls.Load() == 2 })
			w.lead("c")
			close(moved)
			if !silent { // until it has been doubted as often as a silent one is waited for
				w.at("b").waitFor(func() bool { return doubts.Load() > 2 })
				return
			}
			got = <-answered
		})
		if !silent {
			got = <-answered
		}
		got.asks = int(doubts.Load())
		return got
	}
	got := ask(true)
	var known interface{ Problem() *pb.Problem }
	if !errors.As(got.err, &known) || !strings.Contains(known.Problem().GetDetail(), "Idempotency-Key") {
		t.Errorf("a silent one: %v, %v", got.r, got.err)
	}
	const most = 3 // one that still works on it is asked five times
	if got.asks > most {
		t.Errorf("a silent one was asked %d times before it was given up", got.asks)
	}
	if got := ask(false); got.err != nil || got.r.GetProblem() != nil {
		t.Errorf("one that works on it: %v %v", got.r, got.err)
	}
}
