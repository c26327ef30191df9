package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/export"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
)

var errPanicked = errors.New("panicked")

// gateway receives what other nodes ask of the organizations that they think
// live here. It hands on and waits for nothing.
func (o *Router) gateway(ctx actor.Context) {
	ask, ok := ctx.Message().(*pb.NodeAsk)
	sender := ctx.Sender()
	if !ok || sender == nil {
		return
	}
	answer := func(r *pb.NodeReply) {
		r.Id = ask.GetId()
		o.sys.ActorRoot.Send(sender, r)
	}
	from := wire.ServerID(sender.GetAddress())
	switch w := ask.GetWhat().(type) {
	case *pb.NodeAsk_Underway:
		answer(&pb.NodeReply{What: &pb.NodeReply_Underway{Underway: o.visitors.worksOn(visitor{from, w.Underway})}})
		return
	case *pb.NodeAsk_Outlived:
		answer(&pb.NodeReply{What: &pb.NodeReply_Outlived{Outlived: o.sys.Outlived(w.Outlived)}})
		return
	case *pb.NodeAsk_Farewell:
		o.questions.hearFarewell(from, func() { answer(&pb.NodeReply{What: &pb.NodeReply_Farewell{Farewell: &pb.Empty{}}}) })
		return
	}
	o.visitors.noteAsker(from)
	o.questions.resumed(from)
	if !o.sys.AdmitVisit() { // stopping: somebody else leads soon
		answer(elsewhere(""))
		return
	}
	v := visitor{from, ask.GetId()}
	release, ok := o.visitors.enter(v, ask)
	if !ok {
		o.sys.EndVisit()
		answer(&pb.NodeReply{What: &pb.NodeReply_Reply{Reply: tenant.Refuse(busyNode{}.Problem())}})
		return
	}
	go func() { // ends with the question's deadline; Close waits for it
		defer o.sys.EndVisit()
		defer o.visitors.leave(v, release) // behind the answer
		o.visitors.answered.Add(1)
		answer(o.answer(ask))
	}()
}

// answer decides another node's question, or says where it should go.
func (o *Router) answer(ask *pb.NodeAsk) (r *pb.NodeReply) {
	defer func() {
		if p := recover(); p != nil {
			o.sys.Log.Error("panicked", "actor", "gateway", "panic", fmt.Sprint(p))
			r = failed(errPanicked)
		}
	}()
	org, err := pb.OrgIDFrom(ask.GetOrg())
	if err != nil {
		return failed(err)
	}
	span := o.sys.Config.Tracer.Start(ask.GetTrace(), tracing.StepServeNode)
	defer span.End()
	if own, env := span.Context(), ask.GetEnvelope(); own != nil && env != nil {
		env.Trace = own
	}
	if o.Placement.Lead(org) != nil {
		leader, _ := o.Placement.Leader(org)
		return elsewhere(leader)
	}
	wait := min(time.Duration(ask.GetWaitMs())*time.Millisecond, tenant.DefaultDeadline)
	ctx, cancel := context.WithCancel(o.sys.BaseContext)
	defer cancel()
	late := o.sys.Clock.NewTimer(wait)
	defer late.Stop()
	defer o.sys.Clock.AfterFunc(wait, cancel).Stop() // an operator's order has no timer of its own
	r, what, err := o.decideHere(ctx, late.C(), org, ask)
	switch {
	case err != nil:
		return failed(err)
	case what == tenant.Moved:
		leader, _ := o.Placement.Leader(org)
		return elsewhere(leader)
	}
	r.Unknown = what == tenant.Unknown
	return r
}

// decideHere carries out what is asked of an organization that lives here.
func (o *Router) decideHere(ctx context.Context, late <-chan time.Time, org pb.OrgID, ask *pb.NodeAsk) (*pb.NodeReply,
	tenant.Outcome, error,
) {
	switch w := ask.GetWhat().(type) {
	case *pb.NodeAsk_Envelope:
		r, what, err := o.sys.AskHere(ctx, late, org, true, w.Envelope)
		return &pb.NodeReply{What: &pb.NodeReply_Reply{Reply: r}}, what, err
	case *pb.NodeAsk_Piece:
		data, err := export.ReadPiece(ctx, o.sys, w.Piece.GetExport(), w.Piece.GetPiece())
		return &pb.NodeReply{What: &pb.NodeReply_Piece{Piece: &pb.ExportPiece{Data: data, Gone: err != nil}}}, tenant.Decided,
			nil
	case *pb.NodeAsk_Operator:
		return o.operateHere(ctx, org, w.Operator)
	}
	return nil, tenant.Decided, fmt.Errorf("question %T is unknown here", ask.GetWhat())
}

func elsewhere(server wire.ServerID) *pb.NodeReply {
	return &pb.NodeReply{What: &pb.NodeReply_Elsewhere{Elsewhere: &pb.Elsewhere{Server: string(server)}}}
}

func failed(err error) *pb.NodeReply {
	return &pb.NodeReply{What: &pb.NodeReply_Failure{Failure: &pb.NodeFailure{Detail: err.Error()}}}
}
