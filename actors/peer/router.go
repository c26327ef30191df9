package peer

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/backup"
	"orgmem/actors/export"
	"orgmem/actors/tenant"
	"orgmem/cluster/mesh"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
)

const (
	// leaderPause is how long a request waits before it looks again who leads its
	// organization's shard: an election takes one to two seconds, a transfer some
	// tens of milliseconds, of which this is a small part.
	leaderPause = 25 * time.Millisecond
	// moveCheck is how often a request that waits for another node's answer looks
	// whether the organization still lives there; moveGrace and longGrace are how many
	// looks in a row must find it elsewhere before the answer is given up: a leader
	// that has just stepped down still answers what it had, a paused machine never
	// does. What may be asked again elsewhere is given up sooner than what may not.
	moveCheck = 100 * time.Millisecond
	moveGrace = 4
	longGrace = 50
	// doubtAfter is after how many looks, and after how many more each time, the other
	// node is asked whether it still works on the question. Messages get lost without a
	// word: what a node answers to one that was away a moment ago waits for a connection
	// that protoactor gives up after two seconds, with all that waits for it.
	doubtAfter = 10
	// silentGrace is after how many looks without a word the other node is given up, once
	// the organization lives elsewhere: a process that is paused and a machine that has
	// lost its power say nothing, one that still works on the question says so.
	silentGrace = 6
	// unheardGrace is after how many looks without a word it is given up where nobody is
	// heard to lead instead: a node that has no replica of the shard hears of nobody.
	unheardGrace = 20
	// maxHops bounds how often in a row one node's word leads on to the next: after
	// that they contradict each other, and time decides.
	maxHops = 3
)

// Remote carries messages to the actors of other nodes. remoting.Remoting
// implements it, and its comments are the contract.
type Remote interface {
	Start(system *actor.ActorSystem, kinds []string, lost func(server wire.ServerID, sent bool)) error
	// At returns the gateway of a node.
	At(server wire.ServerID) *actor.PID
	// Reachable reports whether it makes sense to send to a node.
	Reachable(server wire.ServerID) bool
	// Owner returns the gateway of the node where an organization lives.
	Owner(org pb.OrgID) (*actor.PID, bool)
	Stop()
}

// Network opens streams to other nodes, and hears of them. *mesh.Network implements it.
type Network interface {
	Dial(ctx context.Context, to wire.ServerID, kind mesh.Kind) (net.Conn, error)
	Handle(kind mesh.Kind, f func(ctx context.Context, peer wire.ServerID, conn net.Conn))
	// InstanceOf names the start of a node that was last heard of; "" where none was.
	InstanceOf(server wire.ServerID) string
}

// Config is how a node of several reaches the others. All fields are required.
type Config struct {
	Placement tenant.Placement
	Remote    Remote
	Network   Network
}

// Router brings what this node is asked to the node where the organization lives, and answers what others bring here.
type Router struct {
	Config
	sys       *tenant.System
	backups   backup.Copier
	self      wire.ServerID
	answers   *actor.PID // receives what others answer
	questions questions
	visitors  visitors
}

// Start opens the gateway, which from then on answers.
func Start(s *tenant.System, backups backup.Copier, cfg Config) (*Router, error) {
	o := &Router{Config: cfg, sys: s, backups: backups, self: cfg.Placement.Server()}
	o.questions.init(s.Clock, cfg.Network.InstanceOf)
	o.visitors.init(cmp.Or(s.Config.ForwardedBytes, defaultForwardedBytes))
	if err := binary.Read(s.Config.Random, binary.BigEndian, &o.questions.next); err != nil {
		return nil, fmt.Errorf("actors: %w", err)
	}
	if err := cfg.Remote.Start(s.Actors, s.Kinds.Names(), o.connectionLost); err != nil {
		return nil, fmt.Errorf("actors: %w", err)
	}
	s.AskOutlived = o.outlived
	o.answers = s.ActorRoot.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if r, ok := ctx.Message().(*pb.NodeReply); ok {
			o.questions.settle(r.GetId(), r)
		}
	}))
	gateway := actor.PropsFromFunc(o.gateway)
	if _, err := s.ActorRoot.SpawnNamed(gateway, cfg.Remote.At(o.self).GetId()); err != nil {
		return nil, fmt.Errorf("actors: gateway: %w", err)
	}
	cfg.Network.Handle(mesh.KindEvents, o.serveStream)
	return o, nil
}

// Stop ends the connections to the other nodes. Drain goes before it.
func (o *Router) Stop() { o.Remote.Stop() }

// AddStats adds the figures of what went between this node and the others.
func (o *Router) AddStats(st *tenant.Stats) {
	st.AskedElsewhere = o.questions.asked.Load()
	st.AnsweredForOthers = o.visitors.answered.Load()
	st.LostOnTheWay = o.questions.lost.Load()
}

// connectionLost ends the waiting for a node's answers. What was never sent is as
// if that node had refused it.
func (o *Router) connectionLost(server wire.ServerID, sent bool) {
	var r *pb.NodeReply
	if !sent {
		r = elsewhere("")
	}
	o.visitors.dropAsker(server)
	o.questions.connectionLost(server, r)
}

// send puts a question on its way. The caller calls questions.drop when it does not wait any more.
func (o *Router) send(to wire.ServerID, ask *pb.NodeAsk) (id uint64, a *question, err error) {
	id, a, err = o.questions.add(to, ask)
	if err == nil {
		o.sys.ActorRoot.RequestWithCustomSender(o.Remote.At(to), ask, o.answers)
	}
	return id, a, err
}

// noOwner says that nobody answered for an organization in time.
type noOwner struct{ maybe bool } // maybe: it may have been done all the same

func (e noOwner) Error() string { return e.Problem().GetDetail() }

// Problem is what the edge answers.
func (e noOwner) Problem() *pb.Problem {
	p := &pb.Problem{Code: pb.CodeServiceDegraded, RetryAfterS: tenant.RetryAfterBusySeconds}
	p.Detail = "The organization's shard has no leader right now; nothing was done."
	if e.maybe {
		p.Detail = "The outcome of the write is not known; repeat the request with its Idempotency-Key."
	}
	return p
}

// busyNode is errNodeBusy to the edge.
type busyNode struct{ error }

// Problem is what the edge answers.
func (busyNode) Problem() *pb.Problem {
	return &pb.Problem{
		Code: pb.CodeServiceDegraded, RetryAfterS: tenant.RetryAfterBusySeconds,
		Detail: "The service has more work than it can queue; try again shortly.",
	}
}

// askOwner brings a question to where the organization lives, and waits for that
// while nobody leads its shard. It returns who answered. repeatable says that it
// may be carried out twice without harm. An error means that nobody decided;
// where it has a Problem, the edge can say why.
func (o *Router) askOwner(ctx context.Context, wait time.Duration, org pb.OrgID, ask *pb.NodeAsk,
	repeatable bool,
) (*pb.NodeReply, wire.ServerID, error) {
	s := o.sys
	deadline := s.Clock.Now().Add(wait)
	late := s.Clock.NewTimer(wait)
	defer late.Stop()
	ask.Org = org.Bytes()
	grace := longGrace
	if repeatable {
		grace = moveGrace
	}
	maybe, trace := false, ask.GetTrace() // maybe: an attempt may have been carried out
	var hint, failed wire.ServerID
	for try := 0; ; try++ {
		changed := o.Placement.LeadersChanged()
		var r *pb.NodeReply
		what, from := tenant.Moved, o.self
		var err error
		if o.Placement.Lead(org) == nil {
			r, what, err = o.decideHere(ctx, late.C(), org, ask)
		} else if from = o.choose(org, hint, failed, try); from != "" {
			span := o.calls(from, ask, trace)
			r, what, err = o.askThere(ctx, late.C(), deadline, from, org, ask, grace)
			if err != nil || what == tenant.Unknown { // given up
				span.Fail(tracing.FailureOther)
			}
			span.End()
		}
		switch {
		case errors.Is(err, errNodeBusy):
			return nil, "", busyNode{err}
		case err != nil:
			return nil, "", err
		case what == tenant.Decided:
			if from != o.self {
				o.Placement.NoteLeader(o.Placement.Shard(org), from)
			}
			return r, from, nil
		case what == tenant.Unknown && !repeatable && r.GetReply() != nil:
			return r, from, nil // it says so, in its own words
		case what == tenant.Unknown && !repeatable:
			return nil, "", noOwner{maybe: true}
		case what == tenant.Unknown:
			maybe = true
		}
		failed, hint = from, wire.ServerID(r.GetElsewhere().GetServer())
		if hint != "" && hint != from && try%maxHops < maxHops-1 {
			continue
		}
		pause := s.Clock.NewTimer(leaderPause)
		select {
		case <-pause.C():
		case <-changed:
		case <-late.C():
			pause.Stop()
			return nil, "", noOwner{maybe}
		case <-ctx.Done():
			pause.Stop()
			return nil, "", fmt.Errorf("ask: %w", ctx.Err())
		}
		pause.Stop()
	}
}

// calls begins the asking of another node in a trace, and has that node go on in it.
func (o *Router) calls(to wire.ServerID, ask *pb.NodeAsk, trace *pb.TraceContext) tracing.Span {
	span := o.sys.Config.Tracer.Start(trace, tracing.StepAskNode)
	span.Word(tracing.AttributeNode, string(to))
	if own := span.Context(); own != nil {
		ask.Trace = own
	}
	return span
}

// choose picks the other node to ask: the one that the last answer named, the one
// that this node takes for the leader, or one of those that may know, in turn. It skips
// the leader if that one has just failed. Empty: there is no other node.
func (o *Router) choose(org pb.OrgID, hint, failed wire.ServerID, try int) wire.ServerID {
	if hint != "" && hint != o.self {
		return hint
	}
	if to, ok := o.owner(org); ok && to != o.self && to != failed {
		return to
	}
	others := slices.DeleteFunc(o.Placement.Candidates(org), func(id wire.ServerID) bool { return id == o.self })
	if len(others) == 0 {
		return ""
	}
	return others[try%len(others)]
}

// owner is the node where an organization lives, as far as this one knows.
func (o *Router) owner(org pb.OrgID) (wire.ServerID, bool) {
	gateway, ok := o.Remote.Owner(org)
	return wire.ServerID(gateway.GetAddress()), ok
}

// askThere asks one other node and waits for its answer, unless the connection
// ends or the organization turns out to live elsewhere.
func (o *Router) askThere(ctx context.Context, late <-chan time.Time, deadline time.Time, to wire.ServerID,
	org pb.OrgID,
	ask *pb.NodeAsk, grace int,
) (*pb.NodeReply, tenant.Outcome, error) {
	if !o.Remote.Reachable(to) {
		return nil, tenant.Moved, nil
	}
	// A message of its own: one that was given up may still be being encoded.
	ask = &pb.NodeAsk{
		Org: ask.GetOrg(), What: ask.GetWhat(), Trace: ask.GetTrace(),
		WaitMs: uint32(max(deadline.Sub(o.sys.Clock.Now()), 0).Milliseconds()),
	}
	id, a, err := o.send(to, ask)
	switch {
	case errors.Is(err, errParting):
		return nil, tenant.Moved, nil
	case err != nil:
		return nil, tenant.Moved, err
	}
	doubt := o.probe(to, id)
	defer func() {
		doubt.drop()
		o.questions.drop(id)
	}()
	// Looks in a row; silent: those of them that doubt waits for a word; unheard: those that
	// it waits, wherever the organization lives.
	gone, silent, unheard := 0, 0, 0
	for look := 1; gone < grace && silent < silentGrace && unheard < unheardGrace; look++ {
		check := o.sys.Clock.NewTimer(moveCheck)
		select {
		case r := <-a.reply:
			check.Stop()
			r, what := outcomeOfAnswer(r)
			return r, what, nil
		case r := <-doubt.reply():
			check.Stop()
			silent, unheard = 0, 0
			if doubt.drop(); !doubt.confirmed(r) {
				continue
			}
			select { // what it answered came before this, or never comes
			case r := <-a.reply:
				r, what := outcomeOfAnswer(r)
				return r, what, nil
			default:
				return nil, tenant.Unknown, nil
			}
		case <-check.C():
			if now, ok := o.owner(org); ok && now != to {
				gone++
			} else {
				gone, silent = 0, 0
			}
			if doubt.waits() {
				unheard++
			}
			switch {
			case gone == 1, look%doubtAfter == 0:
				doubt.ask()
			case gone > 0 && doubt.waits():
				silent++
			}
		case <-late:
			check.Stop()
			return nil, tenant.Unknown, fmt.Errorf("ask: %w", context.DeadlineExceeded)
		case <-ctx.Done():
			check.Stop()
			return nil, tenant.Unknown, fmt.Errorf("ask: %w", ctx.Err())
		}
	}
	return nil, tenant.Unknown, nil
}

// outcomeOfAnswer is what an answer says of the question; nil: the connection ended.
func outcomeOfAnswer(r *pb.NodeReply) (*pb.NodeReply, tenant.Outcome) {
	switch {
	case r == nil:
		return nil, tenant.Unknown
	case r.GetElsewhere() != nil:
		return r, tenant.Moved
	case r.GetFailure() != nil:
		return nil, tenant.Unknown
	case r.GetUnknown():
		return r, tenant.Unknown
	}
	return r, tenant.Decided
}

// repeatable reports whether a request may be carried out twice: reading changes
// nothing, what has an idempotency key takes effect once, and PUT says how something
// is to be. Not DELETE, which would find nothing the second time and say so.
func repeatable(env *pb.Envelope) bool {
	return env.GetIdempotencyKey() != "" || env.GetMethod() == tenant.MethodGet || env.GetMethod() == tenant.MethodPut ||
		env.GetFamily() == pb.FamilySearch
}

// Ask brings a request to its organization, wherever that lives, and waits for the answer.
func (o *Router) Ask(ctx context.Context, wait time.Duration, hash pb.KeyHash, env *pb.Envelope) (*pb.Reply, error) {
	s := o.sys
	begun := s.Clock.Now()
	org, known, err := o.findKey(ctx, wait, hash)
	if err != nil {
		return nil, err
	}
	wait -= s.Clock.Now().Sub(begun)
	if !known {
		late := s.Clock.NewTimer(wait)
		defer late.Stop()
		r, _, err := s.AskHere(ctx, late.C(), org, false, env)
		return r, err
	}
	r, from, err := o.askOwner(ctx, wait, org, &pb.NodeAsk{
		What: &pb.NodeAsk_Envelope{Envelope: env}, Trace: env.GetTrace(),
	}, repeatable(env))
	if err != nil {
		return nil, err
	}
	reply := r.GetReply()
	if from != o.self && reply != nil {
		reply.Server = string(from)
	}
	if stream := reply.GetLink().GetStream(); stream != "" && from != o.self {
		reply.GetLink().Result = &pb.LinkResult_Stream{Stream: ticketAt(stream, from)}
	}
	return reply, nil
}

// findKey looks a key up. One that this node does not know may have been made on
// another a moment ago; while that cannot be found out nobody is refused.
func (o *Router) findKey(ctx context.Context, wait time.Duration, hash pb.KeyHash) (pb.OrgID, bool, error) {
	s := o.sys
	inTime, cancel := context.WithCancel(ctx)
	defer cancel()
	late := s.Clock.AfterFunc(wait, cancel)
	defer late.Stop()
	for {
		org, known, err := s.Config.Host.Directory().Find(inTime, hash)
		if err == nil {
			return org, known, nil
		}
		if clock.Wait(inTime, s.Clock, leaderPause) == nil {
			continue
		}
		if ctx.Err() != nil {
			return org, false, fmt.Errorf("ask: %w", ctx.Err())
		}
		return org, false, noOwner{}
	}
}

// ExportPiece returns one piece of an exported document, from where its organization lives.
func (o *Router) ExportPiece(ctx context.Context, e *pb.Export, piece uint32) ([]byte, error) {
	org, err := pb.OrgIDFrom(e.GetOrg())
	if err != nil {
		return nil, fmt.Errorf("export piece: %w", err)
	}
	ask := &pb.NodeAsk{What: &pb.NodeAsk_Piece{Piece: &pb.GetExportPiece{Export: e, Piece: piece}}}
	r, _, err := o.askOwner(ctx, tenant.DefaultDeadline, org, ask, true)
	if err == nil && r.GetPiece().GetGone() {
		err = export.ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("export piece: %w", err)
	}
	return r.GetPiece().GetData(), nil
}

// outlived asks the node that had an activation whether its process is still there and
// nothing panicked. One that has said farewell stops in good order.
func (o *Router) outlived(ctx context.Context, activation string) bool {
	to := tenant.ServerOf(activation)
	if !o.Remote.Reachable(to) {
		return false
	}
	id, a, err := o.send(to, &pb.NodeAsk{What: &pb.NodeAsk_Outlived{Outlived: activation}})
	if err != nil {
		return errors.Is(err, errParting)
	}
	defer o.questions.drop(id)
	select {
	case r := <-a.reply:
		return r.GetOutlived()
	case <-ctx.Done():
		return false
	}
}
