package tenant

import (
	"context"
	"errors"
	"io"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const partitionSecretBytes = 32

// GetSubject answers with a provisioned subject.
func (o *Org) GetSubject(c *Call, op *pb.GetSubject) {
	var ref *partition.Ref
	var err error
	if ValidSubject(op.GetId()) {
		ref, err = o.LookupSubject(pb.SubjectKey(op.GetId()))
	}
	switch {
	case err != nil:
		c.Fail(err)
	case ref == nil:
		c.Refuse(NewProblem(pb.CodeSubjectNotFound, "There is no such subject."))
	default:
		c.Reply(subjectReply(ref, 200))
	}
}

func subjectReply(ref *partition.Ref, status uint32) *pb.Reply {
	return &pb.Reply{Status: status, Result: &pb.Reply_Subject{Subject: &pb.SubjectInfo{
		Id:        string(ref.Subject),
		CreatedMs: ref.Created,
	}}}
}

// PutSubject provisions a subject: 201 the first time, 200 after.
func (o *Org) PutSubject(c *Call, op *pb.PutSubject) {
	if !ValidSubject(op.GetId()) {
		c.Refuse(Invalid("subject_id", "must be 1 to 256 bytes of UTF-8 without control characters"))
		return
	}
	if id, err := pb.ParsePartitionID(op.GetId()); err == nil {
		ref, err := o.LoadPartition(id)
		if err != nil {
			c.Fail(err)
			return
		}
		if ref != nil && ref.Kind == pb.PartitionMember { // refuser could tell the two apart
			c.Refuse(Invalid("subject_id", "must not be the user id of a member"))
			return
		}
	}
	name := pb.SubjectKey(op.GetId())
	o.Exclusive(SubjectLock(op.GetId()), func(release func()) {
		ref, err := o.LookupSubject(name)
		if err != nil || ref != nil {
			release()
			if err != nil {
				c.Fail(err)
				return
			}
			c.Reply(subjectReply(ref, 200))
			return
		}
		id, err := o.System.NewUUID()
		if err == nil {
			ref, err = o.NewPartition(pb.PartitionID(id), pb.PartitionSubject, name)
		}
		if err != nil {
			release()
			c.Fail(err)
			return
		}
		ch := commit.New(o.Store)
		PutPartition(ch.Batch, o.Space, ref)
		ch.Audit(c.AuditOf(pb.ActionSubjectProvision, ref.ID.String()))
		o.Committer.SubmitChange(ch, func(err error) {
			o.InMailbox(func() {
				if err == nil {
					o.rememberSubject(ref)
				}
				release()
				if err != nil {
					c.Fail(err)
					return
				}
				c.Reply(subjectReply(ref, 201))
			})
		})
	})
}

// NewPartition makes a partition of a kind with a secret of its own. Nothing is stored: the caller writes it by
// PutPartition, in the commit that brings what the partition belongs to. It may be called from any goroutine.
func (o *View) NewPartition(id pb.PartitionID, kind string, subject pb.SubjectKey) (*partition.Ref, error) {
	secret := make([]byte, partitionSecretBytes)
	if _, err := io.ReadFull(o.System.Config.Random, secret); err != nil {
		return nil, err
	}
	rec := &pb.Partition{
		Kind: kind, Subject: string(subject), Secret: secret,
		CreatedMs: clock.Millis(o.System.Clock.Now()),
	}
	if kind == pb.PartitionSubject {
		rec.Born = o.Committer.LastEvent() + 1
	}
	return partition.NewRef(o.Store, o, id, rec), nil
}

func partitionRecord(ref *partition.Ref) *pb.Partition {
	return &pb.Partition{
		Id: ref.ID.Bytes(), Kind: ref.Kind, Subject: string(ref.Subject), Secret: ref.Secret,
		CreatedMs: ref.Created, Born: ref.Born,
	}
}

// PutPartition writes a partition, and for a subject the entry that leads from its name to it.
func PutPartition(b *storage.Batch, org storage.Space, ref *partition.Ref) {
	b.Put(org.Key(storage.TablePartition, storage.ID16(ref.ID)), partitionRecord(ref))
	if ref.Kind == pb.PartitionSubject {
		b.PutRaw(org.Key(storage.TableSubject, storage.Str(ref.Subject)), ref.ID.Bytes())
	}
}

// ListSubjects pages through the subjects in the order of their ids: an order
// that no write changes.
func (o *View) ListSubjects(r storage.Reader, op *pb.ListSubjects) (*pb.Reply, error) {
	all := o.Space.Prefix(storage.TableSubject)
	kind := CursorKind{List: "subjects"}
	entries, next, p, err := PageOfKeys(o, r, all, kind, op.GetPage(), MaxRecordsPerPage,
		func(item storage.Item) (*pb.SubjectInfo, bool, error) {
			id, err := pb.PartitionIDFrom(item.Value)
			if err != nil {
				return nil, false, err
			}
			rec := &pb.Partition{}
			found, err := r.Get(o.Space.Key(storage.TablePartition, storage.ID16(id)), rec)
			return &pb.SubjectInfo{Id: rec.GetSubject(), CreatedMs: rec.GetCreatedMs()}, found, err
		})
	if p != nil {
		return Refuse(p), nil
	}
	return &pb.Reply{Result: &pb.Reply_Subjects{Subjects: &pb.SubjectList{Subjects: entries, NextCursor: next}}}, err
}

// EraseSubject makes a subject unusable at once and queues the erasure of all
// it has.
func (o *Org) EraseSubject(c *Call, op *pb.EraseSubject) {
	if !ValidSubject(op.GetId()) {
		c.Refuse(NewProblem(pb.CodeSubjectNotFound, "There is no such subject."))
		return
	}
	name := pb.SubjectKey(op.GetId())
	o.WithBusyMarkFor(c, func() {
		o.Exclusive(SubjectLock(op.GetId()), func(release func()) {
			ref, err := o.LookupSubject(name)
			if err != nil || ref == nil {
				release()
				if err != nil {
					c.Fail(err)
					return
				}
				c.Refuse(NewProblem(pb.CodeSubjectNotFound, "There is no such subject."))
				return
			}
			job, err := o.NewJob(pb.JobSubjectErase, c.Principal, ref, 1)
			if err != nil {
				release()
				c.Fail(err)
				return
			}
			job.Trace = c.RecordedTrace()
			ch := commit.New(o.Store)
			ch.Erase(o.Space.Key(storage.TableSubject, storage.Str(ref.Subject)))
			ch.Audit(c.AuditOf(pb.ActionSubjectErase, ref.ID.String()))
			delete(o.subjects, name)
			o.BeginErasure(ch.Batch, ref, job)
			o.Committer.SubmitChange(ch, func(err error) {
				o.InMailbox(func() {
					o.ErasureCommitted(ref.ID)
					release()
					if err != nil {
						c.Fail(err)
						return
					}
					o.JobOpened()
					c.Reply(Accepted(job))
					o.Erase(ref, job)
				})
			})
		})
	})
}

// BeginErasure writes that a partition is to be erased. From here on no request
// reaches it, also while the commit is on its way: a write that is accepted now
// would be lost. Its caller calls ErasureCommitted once that is answered.
func (o *Org) BeginErasure(b *storage.Batch, ref *partition.Ref, job *pb.Job) {
	b.Put(o.Space.Key(storage.TablePartition, storage.ID16(ref.ID)), &pb.Partition{
		Id: ref.ID.Bytes(), Kind: ref.Kind, CreatedMs: ref.Created, Erasing: true,
	})
	PutJob(b, o.Space, job)
	o.erasing[ref.ID] = true
}

// Erase carries out a subject_erase job. It can be repeated from the start: a
// crash anywhere before the last commit leaves the job open. It waits for a purge
// that is under way, which may have stopped the partition's actor and not seen its
// end; no later one takes up a partition that is being erased.
func (o *Org) Erase(ref *partition.Ref, job *pb.Job) {
	o.Exclusive(PurgeLock, func(release func()) {
		release()
		ch := o.actors[ref.ID]
		if ch == nil {
			o.eraseStored(ref, job)
			return
		}
		delete(o.actors, ref.ID)
		view := &o.View
		view.System.BackgroundTasks.Go(func() {
			view.StopChild(ch)
			view.InMailbox(func() { o.eraseStored(ref, job) })
		})
	})
}

func (o *Org) eraseStored(ref *partition.Ref, job *pb.Job) {
	view := &o.View
	o.System.BackgroundTasks.Go(func() {
		ctx, cancel := context.WithTimeout(view.System.BaseContext, eraseLimit)
		defer cancel()
		err := view.EraseNow(ctx, ref, job)
		pause := WaitError{EraseRetry}
		if err != nil && !errors.As(err, &pause) && !errors.Is(err, commit.ErrLost) {
			view.System.Log.Error("erasing a subject failed; it is tried again", "org", view.ID.String(), "job", job.GetId(),
				"err", err)
		}
		o.InMailbox(func() {
			if err == nil {
				o.JobsEnded(pb.JobID(job.GetId()))
				return
			}
			o.System.Clock.AfterFunc(pause.Wait, func() { o.InMailbox(func() { o.eraseStored(ref, job) }) })
		})
	})
}

// EraseNow erases all of a partition and finishes the job. The partition's
// unfinished jobs go with it, and its name: it may be a person's. It is never given up,
// since nothing else would take away what is left.
func (o *View) EraseNow(ctx context.Context, ref *partition.Ref, job *pb.Job) (err error) {
	begin := storage.NewBatch(o.Store)
	why := o.BeginAttempt(job)
	if errors.Is(why, ErrUnclean) {
		job.Unclean = job.GetUnclean()[1:]
		why = o.BeginAttempt(job)
	}
	wait, waits := errors.AsType[WaitError](why)
	if errors.Is(why, ErrGivenUp) {
		job.Begun = o.Activation.Name
	}
	job.Subject = ""
	if !waits {
		job.Status = pb.JobRunning
		if job.GetStartedMs() == 0 {
			job.StartedMs = clock.Millis(o.System.Clock.Now())
		}
	}
	UpdateJob(begin, o.Space, job)
	if waits {
		return errors.Join(o.Committer.Commit(begin), wait)
	}
	defer func() {
		if IsWorkFailure(err) {
			job.Begun = "" // the next attempt writes it
		}
	}()
	// Behind this commit the store holds all that was on its way into it when the
	// partition's actor ended: what is read from here on misses nothing.
	if err := o.Committer.Commit(begin); err != nil {
		return err
	}
	o.System.Config.JobWorkBegan(pb.JobSubjectErase, func() bool { return o.System.Lifetime.Err() != nil })
	for _, m := range o.Modules {
		if err := m.ErasePartition(ref); err != nil {
			return err
		}
	}
	b := storage.NewBatch(o.Store)
	b.EraseRange(ref.Space.All())
	b.Erase(o.Space.Key(storage.TablePartition, storage.ID16(ref.ID)))
	// The record that is written behind it is the only one that is left.
	b.Erase(o.Space.Key(storage.TableJob, storage.ID16(pb.JobID(job.GetId()))))
	UpdateJob(b, o.Space, job)
	o.Residents.Drop(ref.ID)
	if err := o.Committer.Commit(b); err != nil {
		return err
	}
	o.Modules.AfterForget(ref)
	// The order matters: what was erased must be gone from files and log before
	// the job says so.
	if err := o.System.Config.Host.Erase(ctx, o.Store); err != nil {
		return err
	}
	o.Residents.Drop(ref.ID)
	job.Status, job.Done, job.FinishedMs = pb.JobSucceeded, 1, clock.Millis(o.System.Clock.Now())
	done := commit.New(o.Store)
	if err := EndJob(done, o, job); err != nil {
		return err
	}
	return o.Committer.CommitChange(done)
}

// StopChild waits until a subject's actor has ended. Its worker ends with it,
// after its slice: nothing is written behind it. A wait that ends early is begun
// again.
func (o *View) StopChild(ch *Child) {
	for range stopTries {
		if o.System.ActorRoot.PoisonFuture(ch.PID).Wait() == nil {
			return
		}
	}
}
