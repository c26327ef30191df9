package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestScripts runs the scripts in testdata/scripts. A script is a list of commands, each with what
// it caused below it: the answer, the records of the organization's store that came, went or
// changed, what nodes said to each other, and which actors came into memory or left it.
// CONTRIBUTING.md says how to write one; `go test ./actors -run TestScripts -rewrite` writes what
// is below the commands anew.
//
// Each script has a bubble of its own (testing/synctest): a command has had its effect when all
// goroutines of the bubble wait for something. So traces hold everything, and are the same in
// each run.
func TestScripts(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/scripts/*/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(path, "testdata/scripts/"), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				t.Cleanup(func() { pass(time.Second) }) // protoactor counts undelivered messages for that long
				s := &script{t: t, held: map[string]chan struct{}{}, poison: map[string]bool{}, keys: map[string]string{}}
				datadriven.RunTest(t, path, s.run)
			})
		})
	}
}

// script is a script that runs.
type script struct {
	t    *testing.T
	disk *storagetest.Disk
	node *testNode // the one node; nil where there are several
	town *town
	at   []wire.ServerID // names of the nodes
	org  pb.OrgID
	keys map[string]string // name → API key
	user pb.UserID         // the owner

	names  *nameBook
	was    shown                      // the store after the last command
	memory map[wire.ServerID][]string // likewise, the actors of each node
	busy   bool                       // likewise, the directory's mark
	calls  []*scriptCall              // not answered yet

	mu     sync.Mutex // guards what follows: the embedder asks for it
	held   map[string]chan struct{}
	poison map[string]bool
	said   []string // between nodes, since the last command
}

// scriptCall is a request that a command has made.
type scriptCall struct {
	what string
	old  bool // of a command before
	done chan struct{}
	text string // when done is closed
}

// run carries out a command and returns the trace of it.
func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	if s.names == nil && d.Cmd != "start" {
		d.Fatalf(t, "a script begins with start")
	}
	var head []string
	switch d.Cmd {
	case "start":
		s.start(d)
		t.Cleanup(s.release) // before the nodes stop: they wait for what is held
	case "org":
		s.makeOrg(d)
	case "key":
		head = append(head, s.makeKey(d))
	case "hold":
		s.mu.Lock()
		s.held[s.first(d)] = make(chan struct{})
		s.mu.Unlock()
	case "release":
		s.release()
	case "poison":
		s.mu.Lock()
		s.poison[s.first(d)] = true
		s.mu.Unlock()
	case "advance":
		s.advance(d)
	case "crash", "restart":
		s.again(d.Cmd == "crash")
		t.Cleanup(s.release)
	case "hand-over":
		to := wire.ServerID(s.first(d))
		s.later(d, func() string { s.town.handOver(to); return "done" })
		synctest.Wait()
		pass(lookAgain)
	default:
		s.request(d)
	}
	synctest.Wait()
	return s.trace(head)
}

// first is a command's first argument.
func (s *script) first(d *datadriven.TestData) string {
	if len(d.CmdArgs) == 0 {
		d.Fatalf(s.t, "%s needs an argument", d.Cmd)
	}
	return d.CmdArgs[0].Key
}

// arg is the value of a named argument. It may be the name of an id.
func (s *script) arg(d *datadriven.TestData, name string) string {
	a, ok := d.Arg(name)
	if !ok {
		return ""
	}
	return s.names.out(strings.Join(a.Vals, ", "))
}

// start begins the node, or several.
func (s *script) start(d *datadriven.TestData) {
	set := func(c *tenant.Config, _ *storage.Options) {
		c.Workers = 1
		c.WithoutDerivation = !d.HasArg("derive")
		c.Embedder = wordEmbedder{id: "words", fail: s.embeds}
	}
	if nodes, ok := d.Arg("nodes"); ok {
		for _, name := range nodes.Vals {
			s.at = append(s.at, wire.ServerID(name))
		}
		s.town = startTownWith(s.t, set, s.at...)
		s.town.mu.Lock()
		s.town.seen = s.hears
		s.town.mu.Unlock()
		s.names = newNameBook(time.Now())
		s.names.round = time.Second
		return
	}
	s.at = []wire.ServerID{"the node"}
	s.disk = storagetest.NewDisk()
	s.node = startNode(s.t, s.disk, set)
	s.names = newNameBook(s.node.clock.Now())
}

// again starts the node anew, on what a power failure leaves of its disk, or after a stop in good
// order.
func (s *script) again(crash bool) {
	before, now := s.node, s.node.clock.Now()
	plain := before.sys.Config
	if crash { // the node that was goes on with a disk that nobody looks at any more
		s.disk = s.disk.Crash(0, 1)
		s.calls = nil
	}
	s.release()
	before.stop()
	s.node = startNode(s.t, s.disk, func(c *tenant.Config, _ *storage.Options) {
		c.Workers, c.WithoutDerivation, c.Embedder = plain.Workers, plain.WithoutDerivation, plain.Embedder
		c.Clock.(*clock.Fake).Jump(now.Sub(s.names.began))
	})
}

// embeds is called before a text is embedded.
func (s *script) embeds(text string) {
	s.mu.Lock()
	var wait chan struct{}
	for word, gate := range s.held {
		if strings.Contains(text, word) {
			wait = gate
		}
	}
	bad := false
	for word := range s.poison {
		bad = bad || strings.Contains(text, word)
	}
	s.mu.Unlock()
	if wait != nil {
		<-wait
	}
	if bad {
		panic("the embedder cannot digest this")
	}
}

func (s *script) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for word, gate := range s.held {
		close(gate)
		delete(s.held, word)
	}
}

// hears notes what one node says to another. A node that waits for an answer asks once a second
// whether it is still to come: when that second ends is chance, and not noted.
func (s *script) hears(from wire.ServerID, m proto.Message) bool {
	if text := cases(m); strings.HasPrefix(text, "underway") {
		return false
	}
	other := s.at[0]
	if from == other {
		other = s.at[1]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, fmt.Sprintf("%s tells %s: %s", from, other, spoken(m)))
	return false
}

// spoken is what a message is about, by the cases of its oneofs.
func spoken(m proto.Message) string {
	text := string(m.ProtoReflect().Descriptor().Name())
	switch m := m.(type) {
	case *pb.NodeAsk:
		text = "asks"
		if m.GetEnvelope() != nil {
			_, name, _ := strings.Cut(operation(m.GetEnvelope()), "_")
			return "asks " + name
		}
	case *pb.NodeReply:
		text = "answers"
		if p := m.GetReply().GetProblem(); p != nil {
			return "answers " + p.GetCode()
		}
		if e := m.GetElsewhere(); e != nil {
			return fmt.Sprintf("it lives elsewhere, on %q", e.GetServer())
		}
		if f := m.GetFailure(); f != nil {
			return "nobody knows: " + f.GetDetail()
		}
		if m.GetReply() != nil {
			return "answers " + cases(m.GetReply())
		}
	}
	return text + " " + cases(m)
}

// cases names the cases of a message's oneofs that are set.
func cases(m proto.Message) string {
	r := m.ProtoReflect()
	all := r.Descriptor().Oneofs()
	var out []string
	for i := range all.Len() {
		f := r.WhichOneof(all.Get(i))
		if f == nil {
			continue
		}
		out = append(out, string(f.Name()))
		if f.Kind() == protoreflect.BoolKind {
			out = append(out, fmt.Sprint(r.Get(f).Bool()))
		}
	}
	return strings.Join(out, " ")
}

func (s *script) nodeAt(d *datadriven.TestData) *testNode {
	if s.town == nil {
		return s.node
	}
	n := s.town.at(wire.ServerID(cmp.Or(s.arg(d, "at"), string(s.at[0]))))
	if n == nil {
		d.Fatalf(s.t, "no such node")
	}
	return n.testNode
}

func (s *script) makeOrg(d *datadriven.TestData) {
	n := s.nodeAt(d)
	made, err := n.sys.Operator().CreateOrg(s.t.Context(), account.NewOrg{
		Name: s.first(d), OwnerEmail: "owner@example.com", Plan: cmp.Or(s.arg(d, "plan"), pb.PlanUnlimited),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.org, s.user = made.Org, made.Owner
	s.know("owner", made.APIKey)
}

// know remembers a key by its name.
func (s *script) know(name, key string) {
	s.keys[name] = key
	s.names.call(pb.HashKey(key).String(), name+"-key")
}

func (s *script) makeKey(d *datadriven.TestData) string {
	name := s.first(d)
	scopes, _ := d.Arg("scopes")
	made, err := s.nodeAt(d).sys.Operator().CreateKey(s.t.Context(),
		account.NewKey{Org: s.org, User: s.user, Label: name, Scopes: scopes.Vals})
	if err != nil {
		return err.Error()
	}
	s.know(name, made.APIKey)
	return "made"
}

func (s *script) advance(d *datadriven.TestData) {
	text := s.first(d)
	var by time.Duration
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil {
			d.Fatalf(s.t, "%v", err)
		}
		by = time.Duration(n) * 24 * time.Hour
	} else {
		var err error
		if by, err = time.ParseDuration(text); err != nil {
			d.Fatalf(s.t, "%v", err)
		}
	}
	if s.town != nil { // its nodes tell the time by the bubble's clock
		pass(by)
		return
	}
	// Step by step, so that what a timer begins is done before the next one ends.
	steps := max(1, min(int(by/time.Second), maxSteps))
	for range steps {
		s.node.clock.Advance(by / time.Duration(steps))
		synctest.Wait()
	}
}

// pass has the bubble's own clock go on, which stands still as long as anything has something to do.
func pass(d time.Duration) { <-clock.Real().NewTimer(d).C() }

// lookAgain is longer than work waits that began before its organization knew what became of the
// attempts before, and shorter than one who asks another node waits before it asks again.
const lookAgain = 200 * time.Millisecond

// maxSteps bounds the steps of an advance.
const maxSteps = 60

// request sends what a command asks for.
func (s *script) request(d *datadriven.TestData) {
	key, ok := s.keys[cmp.Or(s.arg(d, "as"), "owner")]
	if !ok {
		key = "no such key"
	}
	n := s.nodeAt(d)
	c := client{n: n, key: key, subject: s.arg(d, "subject")}
	op := s.operation(d)
	if op == nil {
		d.Fatalf(s.t, "unknown command %s", d.Cmd)
	}
	op.IdempotencyKey = s.arg(d, "idem")
	env := c.envelope(op)
	if d.Cmd == "search" {
		env.Capability = "search" // it is metered
	}
	times, _ := strconv.Atoi(cmp.Or(s.arg(d, "times"), "1"))
	s.later(d, func() string {
		var r *pb.Reply
		for range times {
			var err error
			if r, err = n.sys.Ask(context.Background(), proto.CloneOf(env)); err != nil {
				var known interface{ Problem() *pb.Problem }
				if !errors.As(err, &known) {
					return "error: " + err.Error()
				}
				r = &pb.Reply{Result: &pb.Reply_Problem{Problem: known.Problem()}}
			}
		}
		return s.answer(r, d.HasArg("rate"))
	})
}

// later runs what may not end before a later command; its answer stands in the trace of the
// command after which it came.
func (s *script) later(d *datadriven.TestData, do func() string) {
	call := &scriptCall{what: d.FullCmd(), done: make(chan struct{})}
	s.calls = append(s.calls, call)
	go func() {
		call.text = do()
		close(call.done)
	}()
}

// operation is what a command asks an organization for.
func (s *script) operation(d *datadriven.TestData) *pb.Envelope {
	id := s.arg(d, "id")
	switch d.Cmd {
	case "me":
		return me()
	case "subject":
		return &pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: s.first(d)}}}
	case "ingest":
		return items(s.items(d)...)
	case "job":
		return &pb.Envelope{Op: &pb.Envelope_GetJob{GetJob: &pb.GetJob{Id: id}}}
	case "cancel":
		return &pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: id}}}
	case "search":
		return &pb.Envelope{Op: &pb.Envelope_Search{Search: &pb.Search{Query: s.arg(d, "q"), Mode: "keyword", TopK: 5}}}
	case "node":
		return getNodeOp(id)
	case "forget":
		return forgetOp(id)
	case "undelete":
		return undeleteOp(id)
	case "edit":
		return editOp(&pb.EditNode{Id: id, Content: new(s.arg(d, "text"))})
	case "edge":
		return assertOp(&pb.AssertEdge{Source: s.arg(d, "from"), Target: s.arg(d, "to"), Type: s.arg(d, "type")})
	case "get-edge":
		return getEdgeOp(id)
	case "export":
		return createExport(false)
	case "get-export":
		return getExport(id)
	case "rejected": // what the edge found wrong with a body
		return &pb.Envelope{Op: &pb.Envelope_Rejected{Rejected: &pb.Rejected{Problem: &pb.Problem{
			Code: s.arg(d, "code"), Detail: "The edge refuses the body.",
		}}}}
	}
	return nil
}

// items reads the items of an ingest, one a line: an external id, a colon and the text. n=100 makes
// as many of each, with a number behind them.
func (s *script) items(d *datadriven.TestData) (all []*pb.IngestItem) {
	n, _ := strconv.Atoi(s.arg(d, "n"))
	for line := range strings.Lines(d.Input) {
		ext, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if n == 0 {
			all = append(all, doc(ext, text))
		}
		for i := range n {
			all = append(all, doc(fmt.Sprint(ext, i+1), fmt.Sprint(text, " ", i+1)))
		}
	}
	return all
}

// answer shows a reply.
func (s *script) answer(r *pb.Reply, rate bool) string {
	var text string
	if p := r.GetProblem(); p != nil {
		text = p.GetCode() + ": " + p.GetDetail()
		for _, e := range p.GetErrors() {
			text += fmt.Sprintf(" %s: %s", e.GetField(), e.GetMessage())
		}
		if p.GetRetryAfterS() > 0 {
			text += fmt.Sprintf(" Retry after %d s.", p.GetRetryAfterS())
		}
	} else {
		text = fmt.Sprint(cmp.Or(r.GetStatus(), 200))
		all := r.ProtoReflect().Descriptor().Oneofs().ByName("result")
		if f := r.ProtoReflect().WhichOneof(all); f != nil {
			text += " " + string(f.Name()) + " " + joined(s.names.fields(r.ProtoReflect().Get(f).Message().Interface()))
		}
	}
	if r.GetReplayed() {
		text += " (replayed)"
	}
	if rate && r.GetRate() != nil {
		text += fmt.Sprintf("\n  rate: %d left of a bucket that %d a minute fill", r.GetRate().GetRemaining(),
			r.GetRate().GetQuota())
	}
	return text
}

// trace is what has happened since the last command.
func (s *script) trace(lines []string) string {
	now := shown{}
	if s.org != (pb.OrgID{}) {
		now = s.records()
	}
	changes := differences(s.was, now)
	s.was = now
	var waits []*scriptCall
	for _, call := range s.calls {
		select {
		case <-call.done:
			if call.old {
				call.text = call.what + ": " + call.text
			}
			lines = append(lines, call.text)
		default:
			call.old = true
			waits = append(waits, call)
			lines = append(lines, call.what+": not answered yet")
		}
	}
	s.calls = waits
	for i := range lines {
		lines[i] = s.names.in(lines[i])
	}
	s.mu.Lock()
	lines = append(lines, s.said...)
	s.said = nil
	s.mu.Unlock()
	lines = append(lines, s.names.tell(changes)...)
	lines = append(lines, s.actors()...)
	if len(lines) == 0 {
		return "nothing"
	}
	return strings.Join(lines, "\n")
}

func (s *script) anyNode() *testNode {
	if s.town != nil {
		return s.town.at(s.at[0]).testNode
	}
	return s.node
}

// records reads the organization's store.
func (s *script) records() shown {
	id := storage.StoreID{Org: s.org, Realm: storage.RealmMain}
	st, err := s.anyNode().store.Acquire(id)
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.Release()
	return s.names.read(s.t, st, id)
}

// actors are the actors that came into memory or left it, and the mark by which a node that starts
// knows that the organization has work.
func (s *script) actors() (lines []string) {
	now := map[wire.ServerID][]string{}
	for _, name := range s.at {
		n := s.node
		if s.town != nil {
			n = s.town.at(name).testNode
		}
		now[name] = s.awake(n)
		for _, who := range s.memory[name] {
			if !slices.Contains(now[name], who) {
				lines = append(lines, fmt.Sprintf("%s leaves the memory of %s", who, name))
			}
		}
		for _, who := range now[name] {
			if !slices.Contains(s.memory[name], who) {
				lines = append(lines, fmt.Sprintf("%s comes into the memory of %s", who, name))
			}
		}
	}
	s.memory = now
	e, _ := s.anyNode().host.Directory().Org(s.org)
	if e.GetBusy() != s.busy {
		s.busy = e.GetBusy()
		lines = append(lines, map[bool]string{true: "the directory says: busy", false: "the directory says: idle"}[s.busy])
	}
	return lines
}

// awake lists the actors of a node.
func (s *script) awake(n *testNode) []string {
	if n.sys.Stats().ActiveOrgs == 0 {
		return nil
	}
	who := []string{"the organization"}
	err := n.sys.Visit(s.t.Context(), s.org, func(o *tenant.Org, done func(error)) {
		for id, ch := range o.InMemory() {
			name := "subject " + s.names.in(id.String())
			if !ch.Awake() {
				name += ", to be read only,"
			}
			who = append(who, name)
		}
		done(nil)
	})
	if err != nil {
		return []string{"the organization, which says: " + err.Error()}
	}
	slices.Sort(who)
	return who
}
