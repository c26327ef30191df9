package actors

import (
	"context"
	"errors"
	"time"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// accountModule keeps an organization's members, keys, subjects, settings and audit trail.
type accountModule struct {
	*tenant.Org
	tenant.NoModule
	expired  []pb.KeyHash            // keys that the sweep under way deletes
	minting  map[pb.KeyHash]struct{} // keys under way from the directory to the store
	gone     []pb.KeyHash            // keys to be dropped from the directory
	dropping bool                    // some are, or are being looked for
}

func newAccountModule(o *tenant.Org) *accountModule {
	return &accountModule{Org: o, minting: map[pb.KeyHash]struct{}{}}
}

func accountOf(o *tenant.Org) *accountModule { return tenant.ModuleOf[*accountModule](&o.View) }

// Quiet reports whether no keys are being dropped from the directory.
func (o *accountModule) Quiet() bool { return !o.dropping }

func (o *accountModule) Handle(c *tenant.Call) bool {
	view := &o.View // its methods may run in the pool
	switch op := c.Env.GetOp().(type) {
	case *pb.Envelope_Me:
		o.me(c)
	case *pb.Envelope_ListKeys:
		o.Read(c, o.listKeys(c))
	case *pb.Envelope_CreateKey:
		o.createKey(c, op.CreateKey)
	case *pb.Envelope_RevokeKey:
		o.revokeKey(c, op.RevokeKey)
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
func (o *accountModule) handleAccount(c *tenant.Call, op *pb.AccountOp) bool {
	switch op := op.GetOp().(type) {
	case *pb.AccountOp_DeleteMe:
		o.deleteMe(c)
	case *pb.AccountOp_GetTeam:
		record := o.Record
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.team(st, record) })
	case *pb.AccountOp_ListMembers:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.membersPage(st, op.ListMembers.GetPage()) })
	case *pb.AccountOp_ListAudit:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.auditPage(st, op.ListAudit) })
	case *pb.AccountOp_ListSandboxKeys:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) {
			return o.sandboxKeysPage(st, op.ListSandboxKeys.GetPage())
		})
	case *pb.AccountOp_CreateSandboxKey:
		o.createSandboxKey(c, op.CreateSandboxKey)
	case *pb.AccountOp_RevokeSandboxKey:
		o.revoke(c, op.RevokeSandboxKey.GetId(), pb.ActionSandboxKeyRevoke, (*pb.Key).GetSandbox)
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

// JobKinds: the erasure of a memory is the organization's, since the partition's own actor has to end for it. Nothing
// brings back what it has begun to erase, so it cannot be cancelled.
func (o *accountModule) JobKinds() map[string]tenant.JobKind {
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

// Tick finds keys that the directory has and the organization does not know.
func (o *accountModule) Tick() { o.dropLostKeys() }

// Sweep deletes acts of the trail that are past their retention, and the sandbox's keys that have expired.
func (o *accountModule) Sweep(st *storage.Store, b *storage.Batch, now time.Time) (int, error) {
	acts, err := o.sweepAudit(st, b, now.Add(-auditRetention))
	if err == nil {
		o.expired, err = o.dropExpired(b, st)
	}
	return acts, err
}

// Swept tells the directory of the keys that have expired.
func (o *accountModule) Swept() { o.dropKeys(o.expired) }

func accountReply(r *pb.AccountResult) *pb.Reply {
	return &pb.Reply{Result: &pb.Reply_Account{Account: r}}
}

// team describes the organization. Its members are people: neither provisioned
// subjects nor the sandbox count.
func (o *accountModule) team(r storage.Reader, record *pb.Organization) (*pb.Reply, error) {
	members := uint64(0)
	for _, err := range r.Scan(o.Space.Prefix(storage.TableMember), storage.ScanOptions{}) { // at most maxMembers
		if err != nil {
			return nil, err
		}
		members++
	}
	return accountReply(&pb.AccountResult{Result: &pb.AccountResult_Team{Team: &pb.TeamInfo{
		Org: o.ID.Bytes(), Name: record.GetName(), Slug: record.GetSlug(), Members: members, CreatedMs: record.GetCreatedMs(),
	}}}), nil
}

// membersPage pages through the members in the order of their e-mail addresses,
// which no write changes.
func (o *accountModule) membersPage(r storage.Reader, page *pb.Page) (*pb.Reply, error) {
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
	return accountReply(&pb.AccountResult{Result: &pb.AccountResult_Members{Members: &pb.MemberList{Members: entries,
		NextCursor: next}}}), err
}

// deleteMe ends the caller's account: a personal organization as a whole, in a
// team the caller with their keys and their own memory.
func (o *accountModule) deleteMe(c *tenant.Call) {
	switch {
	case c.Principal.Sandbox:
		c.Refuse(tenant.NewProblem(pb.CodePermissionDenied, "A sandbox key cannot delete an account."))
	case o.Record.GetPersonal():
		o.System.RunInBackground(func(ctx context.Context) {
			// From its return on none of the keys leads anywhere.
			if err := o.System.Config.Host.Directory().RemoveOrg(ctx, c.Org.ID); err != nil {
				c.Fail(err)
				return
			}
			c.Org.Tell((*tenant.Org).Retire)
			localOperator{o.System}.bury(c.Org.ID)
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

// getSettings answers what holds for the effective partition.
func getSettings(c *tenant.Call, st *storage.Store) (*pb.Reply, error) {
	s, err := c.Org.Residents.Settings(st, c.Part)
	if err != nil {
		return nil, err
	}
	return settingsReply(s), nil
}

func settingsReply(s partition.Settings) *pb.Reply {
	return accountReply(&pb.AccountResult{Result: &pb.AccountResult_Settings{Settings: &pb.SettingsInfo{
		QualityMode: string(s.Quality), LearnModeDefault: s.Learn,
	}}})
}

// patchSettings changes the fields that the patch names.
func (o *accountModule) patchSettings(c *tenant.Call, patch *pb.Settings) {
	if patch.QualityMode != nil && !partition.KnownQuality(partition.Quality(patch.GetQualityMode())) {
		c.Refuse(tenant.Invalid("qualityMode", "must be fast, balanced or thorough"))
		return
	}
	o.Exclusive(tenant.SettingsLock(c.Part.ID), func(release func()) {
		if !o.StillInUse(c) {
			release()
			return
		}
		rec := &pb.Settings{}
		key := c.Part.Space.Key(storage.TableSettings)
		err := o.WithStore(func(st *storage.Store) error {
			_, err := st.Get(key, rec)
			return err
		})
		if err != nil {
			release()
			c.Fail(err)
			return
		}
		if patch.QualityMode != nil {
			rec.QualityMode = patch.QualityMode
		}
		if patch.LearnModeDefault != nil {
			rec.LearnModeDefault = patch.LearnModeDefault
		}
		rec.UpdatedMs = clock.Millis(o.System.Clock.Now())
		ch := commit.New(o.Store)
		ch.Put(key, rec)
		ch.Audit(c.AuditOf("settings.update", ""))
		o.putSettings(c, ch, partition.SettingsFrom(rec), release)
	})
}

// resetSettings goes back to the defaults, also where they will change.
func (o *accountModule) resetSettings(c *tenant.Call) {
	o.Exclusive(tenant.SettingsLock(c.Part.ID), func(release func()) {
		if !o.StillInUse(c) {
			release()
			return
		}
		ch := commit.New(o.Store)
		ch.Delete(c.Part.Space.Key(storage.TableSettings))
		ch.Audit(c.AuditOf("settings.reset", ""))
		o.putSettings(c, ch, partition.SettingsFrom(&pb.Settings{}), release)
	})
}

// PutSettings commits a change of settings, and answers what now holds.
func (o *accountModule) putSettings(c *tenant.Call, ch *commit.Change, s partition.Settings, release func()) {
	r := settingsReply(s)
	if err := c.Idempotency.Record(ch.Batch, r); err != nil {
		release()
		c.Fail(err)
		return
	}
	o.Committer.SubmitChange(ch, func(err error) {
		if err == nil {
			c.Org.Residents.PutSettings(c.Part, s)
		}
		release()
		if err != nil {
			c.Fail(err)
			return
		}
		c.Reply(r)
	})
}
