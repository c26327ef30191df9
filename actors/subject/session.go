package subject

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/cognition"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// A coding session is a list of events. Each of them becomes a node of kind session, by way of the ingest queue, so
// that it is found like everything else. The event's own record holds no text, so all of it is gone when the node is
// forgotten. Requests that read and then write run in the subject's actor, one at a time, so that an event is
// recognised as new only once.

const (
	// KindSession is the kind of the nodes that the events of coding sessions become.
	KindSession = cognition.KindSession
	// roleSignal is the role of a signal, which nobody has said.
	roleSignal = "signal"

	// maxSessionEvents bounds the events of one session, and its signals as well:
	// some days of uninterrupted work, and few enough that a session can be deleted
	// while its caller waits.
	maxSessionEvents = 20_000

	// EventStored says that an event is new and becomes a node. This and the two below are the outcomes of an event.
	EventStored   = "stored"
	eventDeduped  = "deduped"
	eventRejected = "rejected"

	// The partition's counters: events accepted, events that the worker is done
	// with, and the last finalization's job.
	counterAccepted = "sessions.accepted"
	// CounterDone is the name of the second of these.
	CounterDone     = "sessions.done"
	counterFinalize = "sessions.finalize"
)

// EventKey distinguishes an event from the others of its session: by the client's id for it, or by what it says
// (docs/sessions.md).
func EventKey(e *pb.SessionEvent) [sha256.Size]byte {
	h := sha256.New()
	part := func(s string) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(s))))
		h.Write([]byte(s))
	}
	if e.GetEvent() != "" {
		part("id")
		part(e.GetEvent())
	} else {
		part("text")
		part(e.GetRole())
		part(string(binary.BigEndian.AppendUint64(nil, uint64(e.GetAtMs()))))
		part(e.GetText())
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// ItemOfEvent is an event as an item of the queue. Its scope gives it a node of its own: equal words in two sessions,
// or twice in one, are different nodes.
func ItemOfEvent(e *pb.SessionEvent, key [sha256.Size]byte) (*pb.IngestItem, error) {
	about := map[string]jsontext.Value{} // of the client's own, whose digits stay
	if len(e.GetMetadata()) > 0 {
		if err := json.Unmarshal(e.GetMetadata(), &about); err != nil {
			return nil, err
		}
	}
	for name, value := range map[string]string{
		"sessionId": e.GetSession(), "role": e.GetRole(), "eventId": e.GetEvent(), "cwd": e.GetCwd(), "model": e.GetModel(),
		"tool": e.GetTool(),
	} {
		if value == "" {
			continue
		}
		quoted, err := jsontext.AppendQuote(nil, value)
		if err != nil {
			return nil, err
		}
		about[name] = quoted
	}
	metadata, err := json.Marshal(about, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return &pb.IngestItem{
		Content: e.GetText(), Kind: KindSession, OccurredMs: e.GetAtMs(), Metadata: metadata, Source: pb.SourceSession,
		Scope: e.GetSession() + "\x00" + hex.EncodeToString(key[:]),
	}, nil
}

// link begins an operation of proto/link.proto that a subject carries out.
func (a *subjectActor) link(self *actor.PID, c *tenant.Call, op *pb.LinkOp) bool {
	switch op := op.GetOp().(type) {
	case *pb.LinkOp_SessionEvents:
		a.serially(self, c, func(done func()) { a.sessionEvents(self, c, op.SessionEvents, done) })
	case *pb.LinkOp_AgentSignals:
		a.serially(self, c, func(done func()) { a.agentSignals(self, c, op.AgentSignals, done) })
	case *pb.LinkOp_SessionFinalize:
		a.serially(self, c, func(done func()) { a.sessionFinalize(self, c, done) })
	case *pb.LinkOp_ImportFile:
		a.importJob(self, c)
	default:
		return false
	}
	return true
}

// sessionDone is the end of a request about sessions: the next may begin.
type sessionDone struct{}

// serially runs f when no other request about sessions is under way, and until
// done is called no other. done may be called from any goroutine.
func (a *subjectActor) serially(self *actor.PID, c *tenant.Call, f func(done func())) {
	root := a.org.System.ActorRoot
	run := func() {
		if a.dead {
			c.Fail(commit.ErrLost)
			root.Send(self, sessionDone{})
			return
		}
		f(func() { root.Send(self, sessionDone{}) })
	}
	a.sessions.add(waitingCall{c, run})
}

// sessionTurns lets requests about coding sessions go one at a time.
type sessionTurns struct {
	busy    bool
	waiting []waitingCall // bounded by maxCallsPerOrg
}

type waitingCall struct {
	call *tenant.Call
	run  func()
}

// add begins a request, or lets it wait for the one that is under way.
func (s *sessionTurns) add(c waitingCall) {
	if s.busy {
		s.waiting = append(s.waiting, c)
		return
	}
	s.busy = true
	c.run()
}

// next begins the request that waits longest, at the end of another.
func (s *sessionTurns) next() {
	if len(s.waiting) == 0 {
		s.busy = false
		return
	}
	first := s.waiting[0]
	s.waiting = s.waiting[1:]
	first.run()
}

// drop fails the requests that wait, since the actor ends.
func (s *sessionTurns) drop() {
	for _, w := range s.waiting {
		w.call.Fail(commit.ErrLost)
	}
	s.waiting = nil
}

// intake is what one request adds to the sessions of a partition.
type intake struct {
	part     *partition.Ref
	st       *storage.Store
	batch    *storage.Batch
	now      int64
	sessions map[string]*pb.Session
	seen     map[string]map[[sha256.Size]byte]string
	items    []*pb.IngestItem
}

func (a *subjectActor) newIntake(st *storage.Store) *intake {
	return &intake{
		part: a.part, st: st, batch: storage.NewBatch(a.org.Store), now: clock.Millis(a.org.System.Clock.Now()),
		sessions: map[string]*pb.Session{}, seen: map[string]map[[sha256.Size]byte]string{},
	}
}

// session returns the record of a session, and makes a missing one.
func (in *intake) session(id string) (*pb.Session, error) {
	if s := in.sessions[id]; s != nil {
		return s, nil
	}
	s := &pb.Session{}
	found, err := in.st.Get(in.part.Session(id), s)
	if err != nil {
		return nil, err
	}
	if !found {
		s = &pb.Session{Id: id, CreatedMs: in.now}
		in.batch.PutRaw(sessionByTime(in.part, s), nil)
	}
	in.sessions[id] = s
	in.seen[id] = map[[sha256.Size]byte]string{}
	return s, nil
}

func sessionByTime(part *partition.Ref, s *pb.Session) storage.Key {
	return part.Space.Key(storage.TableSessionByTime, storage.U64Desc(uint64(s.GetCreatedMs())), storage.Str(s.GetId()))
}

// write puts the changed sessions into the batch.
func (in *intake) write() {
	for id, s := range in.sessions {
		s.UpdatedMs = in.now
		in.batch.Put(in.part.Session(id), s)
	}
}

// add takes in one event and says what became of it.
func (in *intake) add(e *pb.SessionEvent) (*pb.SessionResult, error) {
	if e.GetInvalid() != "" {
		return &pb.SessionResult{Status: eventRejected, Error: e.GetInvalid()}, nil
	}
	s, err := in.session(e.GetSession())
	if err != nil {
		return nil, err
	}
	key := EventKey(e)
	before, known := in.seen[s.GetId()][key]
	seenKey := in.part.Space.Key(storage.TableSessionSeen, storage.Str(s.GetId()), storage.Hash32(key))
	if !known {
		var raw []byte
		if raw, known, err = in.st.GetRaw(seenKey); err != nil {
			return nil, err
		}
		before = string(raw)
	}
	if known {
		return &pb.SessionResult{Status: eventDeduped, Node: before}, nil
	}
	if s.GetEvents() >= maxSessionEvents {
		return &pb.SessionResult{Status: eventRejected, Error: "the session has as many events as it may: begin another"}, nil
	}
	item, err := ItemOfEvent(e, key)
	if err != nil {
		return nil, err
	}
	node := in.part.NodeIn(item.GetScope(), item.GetContent())
	at := e.GetAtMs()
	if at == 0 {
		at = in.now
	}
	s.Events++
	s.Last++
	if s.GetFirstEventMs() == 0 || at < s.GetFirstEventMs() {
		s.FirstEventMs = at
	}
	s.LastEventMs = max(s.GetLastEventMs(), at)
	if e.GetCwd() != "" {
		s.Cwd = e.GetCwd()
	}
	if e.GetModel() != "" {
		s.Model = e.GetModel()
	}
	in.seen[s.GetId()][key] = string(node)
	in.batch.PutRaw(seenKey, []byte(node))
	in.batch.Put(in.part.Space.Key(storage.TableSessionEvent, storage.Str(s.GetId()), storage.U64(s.GetLast())),
		&pb.StoredEvent{
			Event: &pb.SessionEvent{Role: e.GetRole(), AtMs: at}, Node: string(node), ReceivedMs: in.now,
		})
	in.items = append(in.items, item)
	return &pb.SessionResult{Status: EventStored, Node: string(node)}, nil
}

// sessionEvents makes new events durable, and queues them, before it answers.
func (a *subjectActor) sessionEvents(self *actor.PID, c *tenant.Call, op *pb.SessionEvents, done func()) {
	results := &pb.SessionResults{}
	var in *intake
	err := a.org.WithStore(func(st *storage.Store) error {
		in = a.newIntake(st)
		for _, e := range op.GetEvents() {
			r, err := in.add(e)
			if err != nil {
				return err
			}
			results.Results = append(results.Results, r)
		}
		if len(in.items) == 0 {
			return nil
		}
		return in.count(counterAccepted, uint64(len(in.items)), 0)
	})
	r := tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_SessionResults{SessionResults: results}})
	switch {
	case err != nil:
		done()
		c.Fail(err)
		return
	case len(in.items) == 0:
		done()
		c.Reply(r)
		return
	}
	in.write()
	kind := pb.JobIngest
	if op.GetBatch() {
		kind = pb.JobIngestBatch
	}
	a.enqueueEvents(self, c, kind, in, r, done)
}

// enqueueEvents queues what is new of sessions, and answers r.
func (a *subjectActor) enqueueEvents(
	self *actor.PID, c *tenant.Call, kind string, in *intake, r *pb.Reply, done func(),
) {
	a.enqueue(self, c, kind, queueOf(in.items), &commit.Change{Batch: in.batch}, func(job *pb.Job) (*pb.Reply, error) {
		job.Session = true
		return r, nil
	}, done)
}

// count adds to a counter of the partition.
func (in *intake) count(name string, events, nodes uint64) error {
	return AddToCounter(in.st, in.batch, in.part, name, events, nodes, in.now)
}

// AddToCounter adds events and nodes to a counter of the partition, and stamps it with now, in Unix milliseconds. It
// reads the counter from r, so a batch must add to each counter once only.
func AddToCounter(
	r storage.Reader, b *storage.Batch, part *partition.Ref, name string, events, nodes uint64, now int64,
) error {
	n := &pb.SessionCounter{}
	if _, err := r.Get(part.Counter(name), n); err != nil {
		return err
	}
	n.Events += events
	n.Nodes += nodes
	n.AtMs = now
	b.Put(part.Counter(name), n)
	return nil
}

// agentSignals stores what a client noticed of its agent. Each signal becomes a node of its session, so that it is
// found like what was said, and an insight that rests on the node. A signal with a time is stored once, however often
// it is sent.
func (a *subjectActor) agentSignals(self *actor.PID, c *tenant.Call, op *pb.AgentSignals, done func()) {
	var in *intake
	var p *pb.Problem
	err := a.org.WithStore(func(st *storage.Store) error {
		in = a.newIntake(st)
		s, err := in.session(op.GetSession())
		if err != nil {
			return err
		}
		if s.GetSignals()+uint64(len(op.GetSignals())) > maxSessionEvents {
			p = tenant.Invalid("signals", "are more than a session may have")
			return nil
		}
		for _, signal := range op.GetSignals() {
			if err := in.signal(s, signal); err != nil {
				return err
			}
		}
		if len(in.items) == 0 {
			return nil
		}
		return in.count(counterAccepted, uint64(len(in.items)), 0)
	})
	r := tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Signals{Signals: uint32(len(op.GetSignals()))}})
	r.Status = 202
	switch {
	case err != nil:
		done()
		c.Fail(err)
		return
	case p != nil:
		done()
		c.Refuse(p)
		return
	case len(in.items) == 0:
		done()
		c.Reply(r)
		return
	}
	in.write()
	a.enqueueEvents(self, c, pb.JobIngestBatch, in, r, done)
}

// signal takes in one signal of a session.
func (in *intake) signal(s *pb.Session, signal *pb.AgentSignal) error {
	said := &pb.SessionEvent{Role: roleSignal, Text: signalText(signal), AtMs: signal.GetAtMs()}
	if said.GetAtMs() == 0 { // the same may happen again
		said.Event = "signal " + strconv.FormatUint(s.GetLast()+1, 10)
	}
	key := EventKey(said)
	seenKey := in.part.Space.Key(storage.TableSessionSeen, storage.Str(s.GetId()), storage.Hash32(key))
	_, known := in.seen[s.GetId()][key]
	if !known {
		var err error
		if _, known, err = in.st.GetRaw(seenKey); err != nil {
			return err
		}
	}
	if known {
		return nil
	}
	about := map[string]string{"sessionId": s.GetId(), "role": roleSignal, "signal": signal.GetType()}
	if signal.GetSeverity() != "" {
		about["severity"] = signal.GetSeverity()
	}
	metadata, err := json.Marshal(about, json.Deterministic(true))
	if err != nil {
		return err
	}
	item := &pb.IngestItem{
		Content: said.GetText(), Kind: KindSession, OccurredMs: signal.GetAtMs(), Metadata: metadata, Source: pb.SourceSignal,
		Scope: s.GetId() + "\x00" + hex.EncodeToString(key[:]),
	}
	node := in.part.NodeIn(item.GetScope(), item.GetContent())
	s.Signals++
	s.Last++
	in.seen[s.GetId()][key] = string(node)
	in.batch.PutRaw(seenKey, []byte(node))
	in.batch.Put(in.part.Space.Key(storage.TableSessionEvent, storage.Str(s.GetId()), storage.U64(s.GetLast())),
		&pb.StoredEvent{
			Signal: &pb.AgentSignal{Type: signal.GetType(), Severity: signal.GetSeverity(), AtMs: signal.GetAtMs()},
			Node:   string(node), ReceivedMs: in.now,
		})
	in.items = append(in.items, item)
	return nil
}

// signalText is a signal in words, for people and for search.
func signalText(signal *pb.AgentSignal) string {
	text, known := signalTexts[signal.GetType()]
	if !known {
		text = "The agent's client noticed: " + strings.ReplaceAll(signal.GetType(), "_", " ")
	}
	if detail := strings.TrimSpace(signal.GetDetail()); detail != "" {
		return text + ": " + detail
	}
	return text + "."
}

var signalTexts = map[string]string{
	"tool_failure": "A tool failed", "test_failure": "Tests failed", "user_correction": "The person corrected the agent",
	"loop": "The agent went round in circles", "abandoned": "The work was given up",
}

// sessionFinalize queues the derivation from sessions behind all that was sent before, unless one is queued already.
func (a *subjectActor) sessionFinalize(self *actor.PID, c *tenant.Call, done func()) {
	state := &pb.SessionState{}
	err := a.org.WithStore(func(st *storage.Store) (err error) {
		state, err = readSessionState(a.org, st, a.part)
		return err
	})
	if err != nil {
		done()
		c.Fail(err)
		return
	}
	r := tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_SessionState{SessionState: state}})
	state.Finalize = true
	if state.GetFinalizePending() {
		state.AlreadyInFlight = true
		done()
		c.Reply(r)
		return
	}
	state.FinalizePending, state.Building = true, true
	ch := commit.New(a.org.Store)
	a.enqueue(self, c, pb.JobSessionFinalize, []*pb.QueueEntry{{Work: pb.JobSessionFinalize}}, ch,
		func(job *pb.Job) (*pb.Reply, error) {
			ch.PutRaw(a.part.Counter(counterFinalize), job.GetId())
			return r, nil
		}, done)
}

// readSessionState reads how far a partition's sessions are.
func readSessionState(o *tenant.View, st *storage.Store, part *partition.Ref) (_ *pb.SessionState, err error) {
	snap, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer partition.CloseSnapshot(snap, &err)
	in, out, head, cog := &pb.SessionCounter{}, &pb.SessionCounter{}, &pb.PartitionState{}, &pb.Cognition{}
	for name, counter := range map[string]*pb.SessionCounter{counterAccepted: in, CounterDone: out} {
		if _, err := snap.Get(part.Counter(name), counter); err != nil {
			return nil, err
		}
	}
	if _, err := snap.Get(part.Space.Key(storage.TableState), head); err != nil {
		return nil, err
	}
	if _, err := snap.Get(part.Space.Key(storage.TableCognition), cog); err != nil {
		return nil, err
	}
	state := &pb.SessionState{
		SessionNodes: out.GetNodes(), IngestPending: in.GetEvents() - out.GetEvents(), TotalNodes: head.GetNodes(),
		LastIngestedMs: out.GetAtMs(),
	}
	if state.GetSessionNodes() > 0 { // the count is the last cycle's
		state.SessionEdges = cog.GetSessionEdges()
	}
	if state.WarmLayers, err = warmLayers(snap, part); err != nil {
		return nil, err
	}
	raw, found, err := snap.GetRaw(part.Counter(counterFinalize))
	if err != nil || !found {
		return state, err
	}
	id, err := pb.JobIDFrom(raw)
	if err != nil {
		return nil, err
	}
	job := &pb.Job{}
	if found, err = snap.Get(o.Space.Key(storage.TableJob, storage.ID16(id)), job); err != nil {
		return nil, err
	}
	state.FinalizePending = found && !tenant.Terminal(job.GetStatus())
	state.Building = state.FinalizePending
	return state, nil
}

// warmLayers are the recall views that hold something.
func warmLayers(r storage.Reader, part *partition.Ref) (warm []string, err error) {
	for _, layer := range []struct {
		name    string
		records storage.Range
	}{
		{pb.RecallIdentity, part.Space.Prefix(storage.TableView, storage.Str(graph.ViewIdentity))},
		{pb.RecallGraph, part.Space.Prefix(storage.TableDomain)},
		{pb.RecallInsights, part.Space.Prefix(storage.TableInsight)},
		{pb.RecallTemporal, part.Space.Prefix(storage.TableMoment)},
		{pb.RecallTemporal, part.Space.Prefix(storage.TableRecurrence)},
	} {
		if slices.Contains(warm, layer.name) {
			continue
		}
		for _, err := range r.Scan(layer.records, storage.ScanOptions{Limit: 1}) {
			if err != nil {
				return nil, err
			}
			warm = append(warm, layer.name)
		}
	}
	return warm, nil
}

// listSessions pages through a partition's sessions, newest first.
func listSessions(o *tenant.View, r storage.Reader, part *partition.Ref, op *pb.ListSessions) (*pb.Reply, error) {
	all := part.Space.Prefix(storage.TableSessionByTime)
	kind := tenant.CursorKind{List: "sessions", Partition: part.ID}
	entries, next, p, err := tenant.PageOfKeys(o, r, all, kind, op.GetPage(), tenant.MaxRecordsPerPage,
		func(item storage.Item) (*pb.Session, bool, error) {
			parts := item.Key.Parts()
			parts.U64Desc()
			id := parts.Str()
			if err := parts.Done(); err != nil {
				return nil, false, err
			}
			s := &pb.Session{}
			found, err := r.Get(part.Session(id), s)
			return s, found, err
		})
	if p != nil {
		return tenant.Refuse(p), nil
	}
	list := &pb.SessionList{Sessions: entries, NextCursor: next}
	return tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Sessions{Sessions: list}}), err
}

// deleteSession forgets every node of a session and removes its records. Its events that still wait in the queue go
// too.
func deleteSession(f *graph.Tx, op *pb.DeleteSession) (*pb.Reply, error) {
	s := &pb.Session{}
	found, err := f.Store.Get(f.Part.Session(op.GetId()), s)
	if err != nil {
		return nil, err
	}
	if !found {
		return tenant.Refuse(tenant.NewProblem(pb.CodeSessionNotFound, "There is no such coding session.")), nil
	}
	if err := f.EraseQueuedItems(func(item *pb.IngestItem) bool {
		return strings.HasPrefix(item.GetScope(), s.GetId()+"\x00")
	}); err != nil {
		return nil, err
	}
	events := f.Part.Space.Prefix(storage.TableSessionEvent, storage.Str(s.GetId()))
	if err := forgetEvents(f, events); err != nil {
		return nil, err
	}
	f.Batch.EraseRange(events)
	f.Batch.EraseRange(f.Part.Space.Prefix(storage.TableSessionSeen, storage.Str(s.GetId())))
	f.Batch.Erase(f.Part.Session(s.GetId()))
	f.Batch.Erase(sessionByTime(f.Part, s))
	f.Batch.Erase(f.Part.Counter(graph.CounterSequence + s.GetId()))
	f.TouchesExports = true
	f.Batch.Audit(f.Call.AuditOf("session.delete", ""))
	return &pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}, nil
}

// forgetEvents forgets the nodes of events, as many as fit into one piece of an edit, and counts them.
func forgetEvents(f *graph.Tx, events storage.Range) error {
	forgotten, unfinished := uint64(0), false
	for rec, err := range storage.ScanRecords(f.Store, events, storage.ScanOptions{},
		func() *pb.StoredEvent { return &pb.StoredEvent{} }) {
		if err != nil {
			return err
		}
		n, err := f.Node(pb.NodeID(rec.Value.GetNode()))
		if err != nil {
			return err
		}
		if n == nil || n.GetStatus() == pb.StatusTombstoned {
			continue
		}
		err = graph.ErrUnfinished
		if !f.IsFull() {
			err = f.TombstoneEdges(pb.NodeID(n.GetId()))
		}
		if unfinished = errors.Is(err, graph.ErrUnfinished); unfinished {
			break
		}
		if err != nil {
			return err
		}
		text, err := f.Content(pb.NodeID(n.GetId()))
		if err != nil {
			return err
		}
		if err := f.Forget(n, text); err != nil {
			return err
		}
		forgotten++
	}
	if forgotten > 0 {
		done := &pb.SessionCounter{}
		if _, err := f.Store.Get(f.Part.Counter(CounterDone), done); err != nil {
			return err
		}
		done.Nodes -= min(done.GetNodes(), forgotten)
		f.Batch.Put(f.Part.Counter(CounterDone), done)
		if err := graph.AddGraphUpdated(f.Batch, f.Org, f.Part, graph.ChangeForgotten, "", int(forgotten)); err != nil {
			return err
		}
	}
	if unfinished {
		return graph.ErrUnfinished
	}
	return nil
}

// countSessions notes that the worker is done with events of sessions.
func countSessions(f *graph.Tx, events, nodes uint64) error {
	if events == 0 {
		return nil
	}
	return AddToCounter(f.Store, f.Batch.Batch, f.Part, CounterDone, events, nodes, f.NowMs)
}

// errUnknownWork means that an entry of the queue is of a kind that this version does not know. A newer version has
// written it.
var errUnknownWork = errors.New("unknown work in the queue")

// runUpkeep does an entry of the queue that is not an item. There is one kind, the finalization of sessions. It starts
// a cognition cycle, and its job ends with the cycle, when everything is derived from the sessions before it.
//
// Unknown work, and work that panics, is tried again like an item that fails, and given up after some attempts.
func (w *worker) runUpkeep(now *partition.Index, e partition.Embedder, entry graph.Queued) (done sliceDone) {
	_, jobs, refused, err := w.begin([]graph.Queued{entry})
	if err != nil {
		return sliceDone{err: err}
	}
	defer func() {
		if r := recover(); r != nil {
			done = sliceDone{err: itemError{node.PanicError("chore", r)}}
		}
	}()
	id := pb.JobID(entry.GetJob())
	job := jobs[id]
	if refused != nil {
		why := refused
		if entry.GetWork() != pb.JobSessionFinalize {
			why = errUnknownWork
		}
		w.org.System.Log.Error("work is given up", "org", w.org.ID.String(), "job", id.String(), "work", entry.GetWork(),
			"err", why)
		_, _, err := w.apply(now, e, []graph.Prepared{{Queued: entry, Err: why}}, jobs)
		return sliceDone{more: true, last: entry.Seq, err: err}
	}
	if entry.GetWork() != pb.JobSessionFinalize {
		return sliceDone{err: itemError{errUnknownWork}}
	}
	w.org.System.Config.UpkeepBegan()
	if !w.org.System.Config.WithoutDerivation {
		return w.finalize(entry, job)
	}
	job.Done, job.Status, job.FinishedMs = 1, pb.JobSucceeded, clock.Millis(w.org.System.Clock.Now())
	ch := commit.New(w.org.Store)
	ch.Delete(w.part.Space.Key(storage.TableQueue, storage.U64(entry.Seq)))
	if err := tenant.EndJob(ch, w.org, job); err != nil {
		return sliceDone{err: err}
	}
	if err := w.org.Committer.CommitChange(ch); err != nil {
		return sliceDone{err: err}
	}
	w.org.JobsEnded(id)
	return sliceDone{more: true, last: entry.Seq}
}

// finalize hands a finalization to the next cycle.
func (w *worker) finalize(entry graph.Queued, job *pb.Job) sliceDone {
	cog := &pb.Cognition{}
	err := w.org.WithStore(func(st *storage.Store) error {
		_, err := st.Get(w.part.Space.Key(storage.TableCognition), cog)
		return err
	})
	if err != nil {
		return sliceDone{err: err}
	}
	cog.Finalizes = append(cog.Finalizes, job.GetId())
	b := storage.NewBatch(w.org.Store)
	b.Delete(w.part.Space.Key(storage.TableQueue, storage.U64(entry.Seq)))
	b.Put(w.part.Space.Key(storage.TableCognition), cog)
	b.PutRaw(w.org.Space.Key(storage.TableCognitionDue, storage.ID16(w.part.ID)), nil)
	if err := w.org.Committer.Commit(b); err != nil {
		return sliceDone{err: err}
	}
	w.org.System.ActorRoot.Send(w.parent, FollowNow{})
	return sliceDone{more: true, last: entry.Seq}
}
