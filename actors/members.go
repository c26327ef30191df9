package actors

import (
	"context"
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

// putMember writes a member and the partition that is theirs.
func (o *accountModule) putMember(b *storage.Batch, user pb.UserID, email string, role Role) error {
	ref, err := o.NewPartition(pb.PartitionID(user), pb.PartitionMember, "")
	if err != nil {
		return err
	}
	tenant.PutPartition(b, o.Space, ref)
	b.Put(o.Space.Key(storage.TableMember, storage.ID16(user)), &pb.Member{User: user.Bytes(), Email: email,
		Role: string(role), CreatedMs: ref.Created})
	b.PutRaw(o.Space.Key(storage.TableMemberByEmail, storage.Str(email)), user.Bytes())
	return nil
}

// AddMember implements Operator.
func (s localOperator) AddMember(ctx context.Context, org pb.OrgID, email string, role Role) (tenant.MemberInfo,
	error) {
	email, err := cleanEmail("email", email)
	if err != nil {
		return tenant.MemberInfo{}, err
	}
	if !slices.Contains([]Role{RoleOwner, RoleAdmin, RoleMember}, role) {
		return tenant.MemberInfo{}, fmt.Errorf("%w: role must be owner, admin or member", tenant.ErrInvalid)
	}
	id, err := s.NewUUID()
	if err != nil {
		return tenant.MemberInfo{}, err
	}
	info := tenant.MemberInfo{User: pb.UserID(id), Email: email, Role: string(role),
		Created: s.Clock.Now().UTC().Truncate(time.Millisecond)}
	err = s.VisitOrg(ctx, org, func(o *tenant.Org, done func(error)) {
		o.Exclusive(tenant.MembersLock, func(release func()) {
			finish := func(err error) { release(); done(err) }
			if o.Record.GetPersonal() {
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
			if err := accountOf(o).putMember(ch.Batch, info.User, email, role); err != nil {
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
func (s localOperator) Members(ctx context.Context, org pb.OrgID) ([]tenant.MemberInfo, error) {
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
func (s localOperator) RemoveMember(ctx context.Context, org pb.OrgID, user pb.UserID) error {
	return s.VisitOrg(ctx, org, func(o *tenant.Org, done func(error)) {
		accountOf(o).removeMember(user, o.ByOperator(pb.ActionMemberRemove, user.String()), done)
	})
}

// removeMember takes a member out of the organization. From done(nil) on nothing
// that was theirs can be reached; a job erases it.
func (o *accountModule) removeMember(user pb.UserID, why *pb.Audit, done func(error)) {
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
func (o *accountModule) beginRemoval(user pb.UserID, why *pb.Audit, committed func(error)) error {
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
		if m.Role == string(RoleOwner) {
			owners++
		}
	}
	if members[i].Role == string(RoleOwner) && owners == 1 {
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
	hashes, err := o.deleteKeys(ch.Batch, user)
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
	delete(o.Members, user)
	o.BeginErasure(ch.Batch, ref, job)
	o.Committer.SubmitChange(ch, func(err error) {
		o.InMailbox(func() {
			delete(o.Erasing, ref.ID)
			if err == nil {
				for _, h := range hashes {
					delete(o.Keys, h)
				}
				o.dropKeys(hashes)
				o.OpenJobs++
				o.Erase(ref, job)
				o.sweepSandbox()
			}
			committed(err)
		})
	})
	return nil
}

// deleteKeys removes all keys that a member minted, those of the sandbox too, and
// returns them.
func (o *accountModule) deleteKeys(b *storage.Batch, user pb.UserID) ([]pb.KeyHash, error) {
	var hashes []pb.KeyHash
	err := o.WithStore(func(st *storage.Store) error {
		own := o.Space.Prefix(storage.TableKeyByUser, storage.ID16(user))
		for item, err := range st.Scan(own, storage.ScanOptions{}) {
			if err != nil {
				return err
			}
			hash, err := listedKey(item, false)
			if err != nil {
				return err
			}
			hashes = append(hashes, hash)
			o.deleteKey(b, hash)
			b.Erase(o.Space.Key(storage.TableKey, storage.Hash32(hash))) // its label is their text
		}
		b.DeleteRange(own)
		for k, err := range o.sandboxKeys(st) {
			if err != nil {
				return err
			}
			if string(k.GetUser()) == string(user[:]) {
				hashes = append(hashes, pb.KeyHash(k.GetHash()))
				o.deleteSandboxKey(b, k)
				b.Erase(o.Space.Key(storage.TableKey, storage.Hash32(pb.KeyHash(k.GetHash()))))
			}
		}
		return nil
	})
	return hashes, err
}

// sweepSandbox lets what a removed member has left in the sandbox go: their
// connectors, with the tokens. A sandbox that sleeps is woken for it; behind a crash
// it is woken for the erasure's sake, and looks by itself.
func (o *accountModule) sweepSandbox() {
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
