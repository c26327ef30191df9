package actors

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orgmem/actors/commit"
	pb "orgmem/proto"
	"orgmem/storage"
)

// maxMembers bounds a list that the operator reads whole.
const maxMembers = 10_000

// errLastOwner refuses to leave an organization without anybody who answers for
// it.
var errLastOwner = fmt.Errorf("%w: the only owner cannot be removed", ErrConflict)

// putMember writes a member and the partition that is theirs.
func (o *accountModule) putMember(b *storage.Batch, user pb.UserID, email string, role Role) error {
	ref, err := o.newPartition(pb.PartitionID(user), pb.PartitionMember, "")
	if err != nil {
		return err
	}
	putPartition(b, o.space, ref)
	b.Put(o.space.Key(storage.TableMember, storage.ID16(user)), &pb.Member{User: user.Bytes(), Email: email, Role: string(role), CreatedMs: ref.Created})
	b.PutRaw(o.space.Key(storage.TableMemberByEmail, storage.Str(email)), user.Bytes())
	return nil
}

// AddMember implements Operator.
func (s localOperator) AddMember(ctx context.Context, org pb.OrgID, email string, role Role) (MemberInfo, error) {
	email, err := cleanEmail("email", email)
	if err != nil {
		return MemberInfo{}, err
	}
	if !slices.Contains([]Role{RoleOwner, RoleAdmin, RoleMember}, role) {
		return MemberInfo{}, fmt.Errorf("%w: role must be owner, admin or member", ErrInvalid)
	}
	id, err := s.newUUID()
	if err != nil {
		return MemberInfo{}, err
	}
	info := MemberInfo{User: pb.UserID(id), Email: email, Role: string(role), Created: s.clock.Now().UTC().Truncate(time.Millisecond)}
	err = s.visitOrg(ctx, org, func(o *orgActor, done func(error)) {
		o.exclusive(membersLock, func(release func()) {
			finish := func(err error) { release(); done(err) }
			if o.record.GetPersonal() {
				finish(fmt.Errorf("%w: a personal organization has one member", ErrConflict))
				return
			}
			members, err := o.listMembers()
			switch {
			case err != nil:
				finish(err)
				return
			case len(members) >= maxMembers:
				finish(fmt.Errorf("%w: an organization has at most %d members", ErrConflict, maxMembers))
				return
			case slices.ContainsFunc(members, func(m MemberInfo) bool { return m.Email == email }):
				finish(fmt.Errorf("%w: the e-mail address belongs to a member already", ErrConflict))
				return
			}
			ch := commit.New(o.store)
			if err := accountOf(o).putMember(ch.Batch, info.User, email, role); err != nil {
				finish(err)
				return
			}
			ch.Audit(o.byOperator(pb.ActionMemberAdd, info.User.String()))
			o.committer.SubmitChange(ch, finish)
		})
	})
	return info, err
}

// Members implements Operator, oldest first.
func (s localOperator) Members(ctx context.Context, org pb.OrgID) ([]MemberInfo, error) {
	var out []MemberInfo
	err := s.visitOrg(ctx, org, func(o *orgActor, done func(error)) {
		var err error
		out, err = o.listMembers()
		done(err)
	})
	return out, err
}

// RemoveMember implements Operator: the member, their keys and all that is in
// their own partition.
func (s localOperator) RemoveMember(ctx context.Context, org pb.OrgID, user pb.UserID) error {
	return s.visitOrg(ctx, org, func(o *orgActor, done func(error)) {
		accountOf(o).removeMember(user, o.byOperator(pb.ActionMemberRemove, user.String()), done)
	})
}

// removeMember takes a member out of the organization. From done(nil) on nothing
// that was theirs can be reached; a job erases it.
func (o *accountModule) removeMember(user pb.UserID, why *pb.Audit, done func(error)) {
	o.whenBusy(func(err error) {
		if err != nil {
			done(err)
			return
		}
		o.exclusive(membersLock, func(members func()) {
			o.exclusive(connectorsLock, func(connectors func()) { // theirs go with them
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
	members, err := o.listMembers()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(members, func(m MemberInfo) bool { return m.User == user })
	if i < 0 {
		return ErrUserNotFound
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
	ref, err := o.member(user)
	if err == nil && ref == nil {
		err = fmt.Errorf("member %s has no partition", user)
	}
	if err != nil {
		return err
	}
	job, err := o.newJob(pb.JobSubjectErase, principal{user: user}, ref, 1)
	if err != nil {
		return err
	}
	ch := commit.New(o.store)
	ch.Audit(why)
	hashes, err := o.deleteKeys(ch.Batch, user)
	if err != nil {
		return err
	}
	err = o.withStore(func(st *storage.Store) error {
		for _, m := range o.modules {
			if err := m.EraseMember(st, ch, user); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	ch.Erase(o.space.Key(storage.TableMember, storage.ID16(user)))
	ch.Erase(o.space.Key(storage.TableMemberByEmail, storage.Str(members[i].Email)))
	delete(o.members, user)
	o.beginErasure(ch.Batch, ref, job)
	o.committer.SubmitChange(ch, func(err error) {
		o.later(func() {
			delete(o.erasing, ref.ID)
			if err == nil {
				for _, h := range hashes {
					delete(o.keys, h)
				}
				o.dropKeys(hashes)
				o.openJobs++
				o.erase(ref, job)
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
	err := o.withStore(func(st *storage.Store) error {
		own := o.space.Prefix(storage.TableKeyByUser, storage.ID16(user))
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
			b.Erase(o.space.Key(storage.TableKey, storage.Hash32(hash))) // its label is their text
		}
		b.DeleteRange(own)
		for k, err := range o.sandboxKeys(st) {
			if err != nil {
				return err
			}
			if string(k.GetUser()) == string(user[:]) {
				hashes = append(hashes, pb.KeyHash(k.GetHash()))
				o.deleteSandboxKey(b, k)
				b.Erase(o.space.Key(storage.TableKey, storage.Hash32(pb.KeyHash(k.GetHash()))))
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
	if o.sandbox == nil {
		if err := o.resumeSandbox(); err != nil {
			o.sys.log.Error("the sandbox could not be opened for a removed member's connectors; it is tried again", "org", o.id.String(), "err", err)
			o.wakeSandboxLater()
		}
	}
	if o.sandbox != nil {
		o.send(o.sandbox, look{})
	}
}
