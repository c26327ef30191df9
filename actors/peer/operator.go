package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/export"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// operator carries an operator's orders to where their organization lives.
// The list of organizations is in the directory, which every node has.
type operator struct{ *Router }

// Operator returns what the operator interface may do, wherever the organizations live.
func (o *Router) Operator() account.Operator { return operator{o} }

var _ account.Operator = operator{}

// order brings one order to its organization.
func (a operator) order(ctx context.Context, org pb.OrgID, repeatable bool,
	op *pb.OperatorOp,
) (*pb.OperatorResult, error) {
	ask := &pb.NodeAsk{What: &pb.NodeAsk_Operator{Operator: op}}
	r, _, err := a.askOwner(ctx, tenant.DefaultDeadline, org, ask, repeatable)
	if err != nil {
		return nil, err
	}
	if refusal := r.GetOperator().GetRefusal(); refusal != nil {
		return nil, errorFrom(refusal)
	}
	return r.GetOperator(), nil
}

// CreateOrg implements Operator. The directory's part is done here, the rest where
// the new organization lives.
func (a operator) CreateOrg(ctx context.Context, order account.NewOrg) (account.CreatedOrg, error) {
	made, rec, email, err := account.LocalOperator{System: a.sys}.RegisterOrg(ctx, order)
	if err != nil {
		return account.CreatedOrg{}, err
	}
	begin := &pb.BeginOrg{Record: rec, Owner: made.Owner.Bytes(), Email: email}
	r, err := a.order(ctx, made.Org, false, &pb.OperatorOp{Op: &pb.OperatorOp_BeginOrg{BeginOrg: begin}})
	if err != nil {
		return account.CreatedOrg{}, fmt.Errorf("create organization: %w", err)
	}
	key, err := keyFrom(r.GetKey())
	made.APIKey, made.Key = key.APIKey, key.Key
	return made, err
}

// Orgs implements Operator.
func (a operator) Orgs(ctx context.Context, from string, size int) (account.OrgPage, error) {
	return account.LocalOperator{System: a.sys}.Orgs(ctx, from, size)
}

// Org implements Operator.
func (a operator) Org(ctx context.Context, org pb.OrgID) (account.OrgInfo, error) {
	r, err := a.order(ctx, org, true, &pb.OperatorOp{Op: &pb.OperatorOp_ShowOrg{ShowOrg: &pb.ShowOrg{}}})
	rec := r.GetOrg().GetRecord()
	return account.OrgInfo{
		Org: org, Name: rec.GetName(), Slug: rec.GetSlug(), Personal: rec.GetPersonal(), Plan: rec.GetPlan(),
		Created: time.UnixMilli(rec.GetCreatedMs()).UTC(), Members: int(r.GetOrg().GetMembers()),
		Subjects:     int(r.GetOrg().GetSubjects()),
		OutOfService: r.GetOrg().GetOutOfService(),
	}, err
}

// SetPlan implements Operator.
func (a operator) SetPlan(ctx context.Context, org pb.OrgID, plan string) error {
	_, err := a.order(ctx, org, true, &pb.OperatorOp{Op: &pb.OperatorOp_SetPlan{SetPlan: &pb.SetPlan{Plan: plan}}})
	return err
}

// DeleteOrg implements Operator.
func (a operator) DeleteOrg(ctx context.Context, org pb.OrgID) error {
	_, err := a.order(ctx, org, false, &pb.OperatorOp{Op: &pb.OperatorOp_DeleteOrg{DeleteOrg: &pb.DeleteOrg{}}})
	return err
}

// AddMember implements Operator.
func (a operator) AddMember(ctx context.Context, org pb.OrgID, email string,
	role account.Role) (tenant.MemberInfo,
	error,
) {
	r, err := a.order(ctx, org, false, &pb.OperatorOp{Op: &pb.OperatorOp_AddMember{AddMember: &pb.AddMember{
		Email: email,
		Role:  string(role),
	}}})
	if err != nil {
		return tenant.MemberInfo{}, err
	}
	return memberFrom(r.GetMember())
}

// Members implements Operator.
func (a operator) Members(ctx context.Context, org pb.OrgID) ([]tenant.MemberInfo, error) {
	r, err := a.order(ctx, org, true, &pb.OperatorOp{Op: &pb.OperatorOp_ShowMembers{ShowMembers: &pb.ShowMembers{}}})
	if err != nil {
		return nil, err
	}
	var all []tenant.MemberInfo
	for _, m := range r.GetMembers().GetMembers() {
		info, err := memberFrom(m)
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	return all, nil
}

// RemoveMember implements Operator.
func (a operator) RemoveMember(ctx context.Context, org pb.OrgID, user pb.UserID) error {
	_, err := a.order(ctx, org, false,
		&pb.OperatorOp{Op: &pb.OperatorOp_RemoveMember{RemoveMember: &pb.RemoveMember{User: user.Bytes()}}})
	return err
}

// CreateKey implements Operator.
func (a operator) CreateKey(ctx context.Context, order account.NewKey) (account.CreatedKey, error) {
	mint := &pb.MintKey{User: order.User.Bytes(), Scopes: order.Scopes, Label: order.Label}
	r, err := a.order(ctx, order.Org, false, &pb.OperatorOp{Op: &pb.OperatorOp_MintKey{MintKey: mint}})
	if err != nil {
		return account.CreatedKey{}, err
	}
	return keyFrom(r.GetKey())
}

// Restore implements Operator. A part may be sent again, so it may be carried out
// twice.
func (a operator) Restore(ctx context.Context, org pb.OrgID, part []byte) (export.Restored, error) {
	r, err := a.order(ctx, org, true,
		&pb.OperatorOp{Op: &pb.OperatorOp_RestorePart{RestorePart: &pb.RestorePart{Part: part}}})
	if err != nil {
		return export.Restored{}, err
	}
	in := r.GetRestored()
	out := export.Restored{
		PartitionID: in.GetPartition(), NodeIDs: in.GetNodes(), Created: int(in.GetCreated()),
		Unchanged: int(in.GetUnchanged()),
	}
	if out.NodeIDs == nil {
		out.NodeIDs = []string{}
	}
	return out, nil
}

// operateHere carries out an order for an organization that lives here.
func (o *Router) operateHere(ctx context.Context, org pb.OrgID, op *pb.OperatorOp) (*pb.NodeReply, tenant.Outcome,
	error,
) {
	r, err := o.carryOutOrder(ctx, org, op)
	what := o.sys.OutcomeOf(err)
	switch {
	case what != tenant.Decided:
		return nil, what, nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil, tenant.Decided, err // nobody decided
	case err != nil:
		refusal := refusalOf(err)
		if refusal.GetKind() == pb.OperatorRefusal_FAILED {
			o.sys.Log.Error("an operator's order failed", "org", org.String(), "op", fmt.Sprintf("%T", op.GetOp()), "err", err)
		}
		r = &pb.OperatorResult{Refusal: refusal}
	}
	return &pb.NodeReply{What: &pb.NodeReply_Operator{Operator: r}}, tenant.Decided, nil
}

func (o *Router) carryOutOrder(ctx context.Context, org pb.OrgID, op *pb.OperatorOp) (*pb.OperatorResult, error) {
	s := account.LocalOperator{System: o.sys}
	r := &pb.OperatorResult{}
	switch op := op.GetOp().(type) {
	case *pb.OperatorOp_BeginOrg:
		owner, err := pb.UserIDFrom(op.BeginOrg.GetOwner())
		if err != nil {
			return nil, err
		}
		made, err := s.BeginOrg(ctx, account.CreatedOrg{Org: org, Owner: owner}, op.BeginOrg.GetRecord(),
			op.BeginOrg.GetEmail())
		r.Result = mintedKey(account.CreatedKey{APIKey: made.APIKey, Key: made.Key})
		return r, err
	case *pb.OperatorOp_ShowOrg:
		shown, err := s.Org(ctx, org)
		rec := &pb.Organization{
			Name: shown.Name, Slug: shown.Slug, Personal: shown.Personal, Plan: shown.Plan,
			CreatedMs: clock.Millis(shown.Created),
		}
		r.Result = &pb.OperatorResult_Org{Org: &pb.OrgShown{
			Record: rec, Members: uint64(shown.Members), Subjects: uint64(shown.Subjects), OutOfService: shown.OutOfService,
		}}
		return r, err
	case *pb.OperatorOp_SetPlan:
		return r, s.SetPlan(ctx, org, op.SetPlan.GetPlan())
	case *pb.OperatorOp_DeleteOrg:
		return r, s.DeleteOrg(ctx, org)
	case *pb.OperatorOp_AddMember:
		m, err := s.AddMember(ctx, org, op.AddMember.GetEmail(), account.Role(op.AddMember.GetRole()))
		r.Result = &pb.OperatorResult_Member{Member: memberRecord(m)}
		return r, err
	case *pb.OperatorOp_ShowMembers:
		all, err := s.Members(ctx, org)
		shown := &pb.MembersShown{}
		for _, m := range all {
			shown.Members = append(shown.Members, memberRecord(m))
		}
		r.Result = &pb.OperatorResult_Members{Members: shown}
		return r, err
	case *pb.OperatorOp_RemoveMember:
		user, err := pb.UserIDFrom(op.RemoveMember.GetUser())
		if err != nil {
			return nil, err
		}
		return r, s.RemoveMember(ctx, org, user)
	case *pb.OperatorOp_MintKey:
		user, err := pb.UserIDFrom(op.MintKey.GetUser())
		if err != nil {
			return nil, err
		}
		k, err := s.CreateKey(ctx, account.NewKey{
			Org: org, User: user, Scopes: op.MintKey.GetScopes(),
			Label: op.MintKey.GetLabel(),
		})
		r.Result = mintedKey(k)
		return r, err
	case *pb.OperatorOp_RestorePart:
		out, err := s.Restore(ctx, org, op.RestorePart.GetPart())
		r.Result = &pb.OperatorResult_Restored{Restored: &pb.PartRestored{
			Partition: out.PartitionID, Nodes: out.NodeIDs, Created: uint64(out.Created), Unchanged: uint64(out.Unchanged),
		}}
		return r, err
	}
	return o.carryOutCopy(ctx, op)
}

func mintedKey(k account.CreatedKey) *pb.OperatorResult_Key {
	return &pb.OperatorResult_Key{Key: &pb.MintedKey{ApiKey: k.APIKey, Hash: k.Key[:], Label: k.Label}}
}

func keyFrom(k *pb.MintedKey) (account.CreatedKey, error) {
	hash, err := pb.KeyHashFrom(k.GetHash())
	if err != nil {
		return account.CreatedKey{}, fmt.Errorf("answer of another node: %w", err)
	}
	return account.CreatedKey{APIKey: k.GetApiKey(), Key: hash, Label: k.GetLabel()}, nil
}

func memberRecord(m tenant.MemberInfo) *pb.Member {
	return &pb.Member{User: m.User.Bytes(), Email: m.Email, Role: m.Role, CreatedMs: clock.Millis(m.Created)}
}

func memberFrom(m *pb.Member) (tenant.MemberInfo, error) {
	user, err := pb.UserIDFrom(m.GetUser())
	if err != nil {
		return tenant.MemberInfo{}, fmt.Errorf("answer of another node: %w", err)
	}
	return tenant.MemberInfo{User: user, Email: m.GetEmail(), Role: m.GetRole(), Created: time.UnixMilli(m.GetCreatedMs()).
		UTC()}, nil
}

// refusals are the sentinels that cross from node to node.
var refusals = map[pb.OperatorRefusal_Kind]error{
	pb.OperatorRefusal_ORG_NOT_FOUND:  tenant.ErrOrgNotFound,
	pb.OperatorRefusal_USER_NOT_FOUND: tenant.ErrUserNotFound,
	pb.OperatorRefusal_INVALID:        tenant.ErrInvalid,
	pb.OperatorRefusal_CONFLICT:       tenant.ErrConflict,
}

// refusalOf spells an error for another node. An error that wraps no sentinel stays
// in this node's log, as its words may name what the operator is not to see.
func refusalOf(err error) *pb.OperatorRefusal {
	if errors.Is(err, wire.ErrRemoved) || errors.Is(err, wire.ErrOrgRemoved) || errors.Is(err, wire.ErrOrgUnknown) {
		return &pb.OperatorRefusal{Kind: pb.OperatorRefusal_ORG_NOT_FOUND, Detail: tenant.ErrOrgNotFound.Error()}
	}
	for kind, sentinel := range refusals {
		if errors.Is(err, sentinel) {
			return &pb.OperatorRefusal{Kind: kind, Detail: err.Error()}
		}
	}
	var known interface{ Problem() *pb.Problem }
	if errors.As(err, &known) {
		return &pb.OperatorRefusal{Kind: pb.OperatorRefusal_PROBLEM, Problem: known.Problem()}
	}
	return &pb.OperatorRefusal{Kind: pb.OperatorRefusal_FAILED}
}

// errorFrom is refusalOf's inverse.
func errorFrom(r *pb.OperatorRefusal) error {
	if sentinel, ok := refusals[r.GetKind()]; ok {
		return remoteError{r.GetDetail(), sentinel}
	}
	if r.GetKind() == pb.OperatorRefusal_PROBLEM {
		return remoteProblem{r.GetProblem()}
	}
	return errFailedThere
}

// errFailedThere means that the organization's node could not carry out an order;
// its log says why.
var errFailedThere = errors.New("the organization's node failed to carry out the order")

// remoteError is an error of another node: its words, and its sentinel.
type remoteError struct {
	words    string
	sentinel error
}

func (e remoteError) Error() string { return e.words }
func (e remoteError) Unwrap() error { return e.sentinel }

// remoteProblem is a problem of another node.
type remoteProblem struct{ problem *pb.Problem }

func (e remoteProblem) Error() string { return e.problem.GetDetail() }

// Problem is what the edge answers.
func (e remoteProblem) Problem() *pb.Problem { return e.problem }
