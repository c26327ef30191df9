package account

import (
	"orgmem/actors/commit"
	"orgmem/actors/moving"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Profile answers who a caller is and what the organization is, and keeps its subjects, its settings and its sandbox.
type Profile struct {
	*tenant.Org
	tenant.NoModule
}

// Handle begins what is asked of the organization itself.
func (o *Profile) Handle(c *tenant.Call) bool {
	view := &o.View // its methods may run in the pool
	switch op := c.Env.GetOp().(type) {
	case *pb.Envelope_Me:
		o.me(c)
	case *pb.Envelope_ListSubjects:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return view.ListSubjects(st, op.ListSubjects) })
	case *pb.Envelope_GetSubject_:
		o.GetSubject(c, op.GetSubject_)
	case *pb.Envelope_PutSubject:
		o.PutSubject(c, op.PutSubject)
	case *pb.Envelope_EraseSubject:
		o.EraseSubject(c, op.EraseSubject)
	case *pb.Envelope_Account:
		return o.handleAccount(c, op.Account)
	default:
		return false
	}
	return true
}

// handleAccount begins an operation of proto/account.proto.
func (o *Profile) handleAccount(c *tenant.Call, op *pb.AccountOp) bool {
	switch op := op.GetOp().(type) {
	case *pb.AccountOp_GetTeam:
		record := o.Record()
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.team(st, record) })
	case *pb.AccountOp_ResetSandbox:
		o.resetSandbox(c)
	case *pb.AccountOp_GetSettings:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return getSettings(c, st) })
	case *pb.AccountOp_PatchSettings:
		o.patchSettings(c, op.PatchSettings.GetSettings())
	case *pb.AccountOp_ResetSettings:
		o.resetSettings(c)
	default:
		return false
	}
	return true
}

// me tells a caller who they are.
func (o *Profile) me(c *tenant.Call) {
	me := &pb.Principal{
		Org: o.ID.Bytes(), OrgName: o.Record().GetName(), OrgSlug: o.Record().GetSlug(),
		User: c.Principal.User.Bytes(), Scopes: c.Principal.Scopes, Plan: o.Record().GetPlan(),
	}
	reply := &pb.Reply{Result: &pb.Reply_Me{Me: me}}
	moves := tenant.ModuleOf[*moving.Module](&o.View)
	if me.Embedding = moves.Known(); me.Embedding != nil {
		c.Reply(reply)
		return
	}
	o.ReadWide(c, func(st *storage.Store, _ int) (_ *pb.Reply, err error) {
		me.Embedding, err = moves.Count(st)
		return reply, err
	})
}

// team describes the organization. Its members are people: neither provisioned
// subjects nor the sandbox count.
func (o *Profile) team(r storage.Reader, record *pb.Organization) (*pb.Reply, error) {
	members, err := countRange(r, o.Space.Prefix(storage.TableMember)) // at most maxMembers
	if err != nil {
		return nil, err
	}
	return accountReply(&pb.AccountResult{Result: &pb.AccountResult_Team{Team: &pb.TeamInfo{
		Org: o.ID.Bytes(), Name: record.GetName(), Slug: record.GetSlug(), Members: members, CreatedMs: record.GetCreatedMs(),
	}}}), nil
}

// resetSandbox empties the sandbox: one commit says that another partition is
// meant, and the sandbox's next actor removes the one before (openSandbox).
func (o *Profile) resetSandbox(c *tenant.Call) {
	o.WithBusyMarkFor(c, func() { // until the bytes are gone
		o.Exclusive(tenant.SandboxLock, func(release func()) {
			now := clock.Millis(o.System.Clock.Now())
			r := accountReply(&pb.AccountResult{Result: &pb.AccountResult_SandboxReset{
				SandboxReset: &pb.SandboxReset{Subject: string(tenant.SandboxSubject), AtMs: now},
			}})
			ch := commit.New(o.Store)
			ch.Audit(c.AuditOf("sandbox.reset", string(tenant.SandboxSubject)))
			ref, err := o.NewSandbox(ch.Batch)
			if err == nil {
				err = c.Idempotency.Record(ch.Batch, r)
			}
			if err != nil {
				release()
				c.Fail(err)
				return
			}
			o.Committer.SubmitChange(ch, func(err error) {
				o.InMailbox(func() {
					if err != nil {
						release()
						c.Fail(err)
						return
					}
					o.RememberSandbox(ref)
					o.ReplaceSandbox(func() { release(); c.Reply(r) })
				})
			})
		})
	})
}

func accountReply(r *pb.AccountResult) *pb.Reply {
	return &pb.Reply{Result: &pb.Reply_Account{Account: r}}
}
