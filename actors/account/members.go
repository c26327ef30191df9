package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orgmem/actors/commit"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// maxMembers bounds a list that the operator reads whole.
const maxMembers = 10_000

// errLastOwner refuses to leave an organization without anybody who answers for
// it.
var errLastOwner = fmt.Errorf("%w: the only owner cannot be removed", tenant.ErrConflict)

// Members is the people of an organization, who come and leave.
type Members struct {
	*tenant.Org
	tenant.NoModule
}

func membersOf(o *tenant.Org) *Members { return tenant.ModuleOf[*Members](&o.View) }

// Handle begins what is asked of members.
func (o *Members) Handle(c *tenant.Call) bool {
	switch op := c.Env.GetAccount().GetOp().(type) {
	case *pb.AccountOp_ListMembers:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.membersPage(st, op.ListMembers.GetPage()) })
	case *pb.AccountOp_DeleteMe:
		o.deleteMe(c)
	default:
		return false
	}
	return true
}

// JobKinds is the erasure of a memory: it is the organization's, since the partition's own actor has to end for it.
// Nothing brings back what it has begun to erase, so it cannot be cancelled.
func (o *Members) JobKinds() map[string]tenant.JobKind {
	return map[string]tenant.JobKind{pb.JobSubjectErase: {
		Resume: func(job *pb.Job) (bool, error) {
			ref, err := o.PartitionOf(job)
			if err != nil {
				return false, err
			}
			ref.Kind = pb.PartitionSubject
			o.Erase(ref, job)
			return true, nil
		},
		Cancel: func(c *tenant.Call, job *pb.Job) bool { c.Refuse(tenant.NotCancellable(job)); return true },
	}}
}

// membersPage pages through the members in the order of their e-mail addresses,
// which no write changes.
func (o *Members) membersPage(r storage.Reader, page *pb.Page) (*pb.Reply, error) {
	all := o.Space.Prefix(storage.TableMemberByEmail)
	kind := tenant.CursorKind{List: "members"}
	entries, next, p, err := tenant.PageOfKeys(&o.View, r, all, kind, page, tenant.MaxRecordsPerPage,
		func(item storage.Item) (*pb.Member, bool, error) {
			user, err := pb.UserIDFrom(item.Value)
			if err != nil {
				return nil, false, err
			}
			m := &pb.Member{}
			found, err := r.Get(o.Space.Key(storage.TableMember, storage.ID16(user)), m)
			return m, found, err // else removed since the scan began
		})
	if p != nil {
		return tenant.Refuse(p), nil
	}
	return accountReply(&pb.AccountResult{Result: &pb.AccountResult_Members{Members: &pb.MemberList{
		Members:    entries,
		NextCursor: next,
	}}}), err
}

// deleteMe ends the caller's account: a personal organization as a whole, in a
// team the caller with their keys and their own memory.
func (o *Members) deleteMe(c *tenant.Call) {
	switch {
	case c.Principal.Sandbox:
		c.Refuse(tenant.NewProblem(pb.CodePermissionDenied, "A sandbox key cannot delete an account."))
	case o.Record().GetPersonal():
		o.System.RunInBackground(func(ctx context.Context) {
			// From its return on none of the keys leads anywhere.
			if err := o.System.Config.Host.Directory().RemoveOrg(ctx, c.Org.ID); err != nil {
				c.Fail(err)
				return
			}
			c.Org.AskRetire()
			LocalOperator{o.System}.deleteStores(c.Org.ID)
			c.Reply(tenant.EmptyReply())
		})
	default:
		o.removeMember(c.Principal.User, c.AuditOf("account.delete", c.Principal.User.String()), func(err error) {
			switch {
			case errors.Is(err, errLastOwner):
				c.Refuse(tenant.NewProblem(pb.CodeLastOwner, "You are the organization's only owner."))
			case errors.Is(err, tenant.ErrUserNotFound): // by a second request at the same time
				c.Refuse(tenant.Unauthenticated())
			case err != nil:
				c.Fail(err)
			default:
				c.Reply(tenant.EmptyReply())
			}
		})
	}
}

// putMember writes a member and the partition that is theirs.
func (o *Members) putMember(b *storage.Batch, user pb.UserID, email string, role Role) error {
	ref, err := o.NewPartition(pb.PartitionID(user), pb.PartitionMember, "")
	if err != nil {
		return err
	}
	tenant.PutPartition(b, o.Space, ref)
	b.Put(o.Space.Key(storage.TableMember, storage.ID16(user)), &pb.Member{
		User: user.Bytes(), Email: email,
		Role: string(role), CreatedMs: ref.Created,
	})
	b.PutRaw(o.Space.Key(storage.TableMemberByEmail, storage.Str(email)), user.Bytes())
	return nil
}

// AddMember implements Operator.
func (s LocalOperator) AddMember(
	ctx context.Context, org pb.OrgID, email string, role Role,
) (tenant.MemberInfo, error) {
	email, err := cleanEmail("email", email)
	if err != nil {
		return tenant.MemberInfo{}, err
	}
	if !slices.Contains([]Role{pb.RoleOwner, pb.RoleAdmin, pb.RoleMember}, role) {
		return tenant.MemberInfo{}, fmt.Errorf("%w: role must be owner, admin or member", tenant.ErrInvalid)
	}
	id, err := s.NewUUID()
	if err != nil {
		return tenant.MemberInfo{}, err
	}
	info := tenant.MemberInfo{
		User: pb.UserID(id), Email: email, Role: string(role),
		Created: s.Clock.Now().UTC().Truncate(time.Millisecond),
	}
	err = s.VisitOrg(ctx, org, func(o *tenant.Org, done func(error)) {
		o.Exclusive(tenant.MembersLock, func(release func()) {
			finish := func(err error) { release(); done(err) }
			if o.Record().GetPersonal() {
				finish(fmt.Errorf("%w: a personal organization has one member", tenant.ErrConflict))
				return
			}
			members, err := o.ListMembers()
			switch {
			case err != nil:
				finish(err)
				return
			case len(members) >= maxMembers:
				finish(fmt.Errorf("%w: an organization has at most %d members", tenant.ErrConflict, maxMembers))
				return
			case slices.ContainsFunc(members, func(m tenant.MemberInfo) bool { return m.Email == email }):
				finish(fmt.Errorf("%w: the e-mail address belongs to a member already", tenant.ErrConflict))
				return
			}
			ch := commit.New(o.Store)
			if err := membersOf(o).putMember(ch.Batch, info.User, email, role); err != nil {
				finish(err)
				return
			}
			ch.Audit(o.ByOperator(pb.ActionMemberAdd, info.User.String()))
			o.Committer.SubmitChange(ch, finish)
		})
	})
	return info, err
}

// Members implements Operator, oldest first.
func (s LocalOperator) Members(ctx context.Context, org pb.OrgID) ([]tenant.MemberInfo, error) {
	var out []tenant.MemberInfo
	err := s.VisitOrg(ctx, org, func(o *tenant.Org, done func(error)) {
		var err error
		out, err = o.ListMembers()
		done(err)
	})
	return out, err
}

// RemoveMember implements Operator: the member, their keys and all that is in
// their own partition.
func (s LocalOperator) RemoveMember(ctx context.Context, org pb.OrgID, user pb.UserID) error {
	return s.VisitOrg(ctx, org, func(o *tenant.Org, done func(error)) {
		membersOf(o).removeMember(user, o.ByOperator(pb.ActionMemberRemove, user.String()), done)
	})
}

// removeMember takes a member out of the organization. From done(nil) on nothing
// that was theirs can be reached; a job erases it.
func (o *Members) removeMember(user pb.UserID, why *pb.Audit, done func(error)) {
	o.WithBusyMark(func(err error) {
		if err != nil {
			done(err)
			return
		}
		o.Exclusive(tenant.MembersLock, func(members func()) {
			o.Exclusive(tenant.ConnectorsLock, func(connectors func()) { // theirs go with them
				finish := func(err error) { connectors(); members(); done(err) }
				if err := o.beginRemoval(user, why, finish); err != nil {
					finish(err)
				}
			})
		})
	})
}

// beginRemoval commits a removal and calls committed, unless it returns an error.
func (o *Members) beginRemoval(user pb.UserID, why *pb.Audit, committed func(error)) error {
	members, err := o.ListMembers()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(members, func(m tenant.MemberInfo) bool { return m.User == user })
	if i < 0 {
		return tenant.ErrUserNotFound
	}
	owners := 0
	for _, m := range members {
		if m.Role == pb.RoleOwner {
			owners++
		}
	}
	if members[i].Role == pb.RoleOwner && owners == 1 {
		return errLastOwner
	}
	ref, err := o.Member(user)
	if err == nil && ref == nil {
		err = fmt.Errorf("member %s has no partition", user)
	}
	if err != nil {
		return err
	}
	job, err := o.NewJob(pb.JobSubjectErase, tenant.Principal{User: user}, ref, 1)
	if err != nil {
		return err
	}
	ch := commit.New(o.Store)
	ch.Audit(why)
	keys := keysOf(o.Org)
	hashes, err := keys.deleteOf(ch.Batch, user)
	if err != nil {
		return err
	}
	err = o.WithStore(func(st *storage.Store) error {
		for _, m := range o.Modules {
			if err := m.EraseMember(st, ch, user); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	ch.Erase(o.Space.Key(storage.TableMember, storage.ID16(user)))
	ch.Erase(o.Space.Key(storage.TableMemberByEmail, storage.Str(members[i].Email)))
	o.ForgetMember(user)
	o.BeginErasure(ch.Batch, ref, job)
	o.Committer.SubmitChange(ch, func(err error) {
		o.InMailbox(func() {
			o.ErasureCommitted(ref.ID)
			if err == nil {
				for _, h := range hashes {
					o.ForgetKey(h)
				}
				keys.dropKeys(hashes)
				o.JobOpened()
				o.Erase(ref, job)
				o.SweepSandbox()
			}
			committed(err)
		})
	})
	return nil
}

// SweepSandbox lets what a removed member has left in the sandbox go: their
// connectors, with the tokens. A sandbox that sleeps is woken for it; behind a crash
// it is woken for the erasure's sake, and looks by itself.
func (o *Members) SweepSandbox() {
	if o.Sandbox == nil {
		if err := o.ResumeSandbox(); err != nil {
			o.System.Log.Error("the sandbox could not be opened for a removed member's connectors; it is tried again", "org",
				o.ID.String(), "err", err)
			o.WakeSandboxLater()
		}
	}
	if o.Sandbox != nil {
		o.Send(o.Sandbox, tenant.WakeMessage{})
	}
}
