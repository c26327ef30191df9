package actors

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

func (o *orgActor) getSubject(c *call, op *pb.GetSubject) {
	var ref *partition.Ref
	var err error
	if validSubject(op.GetId()) {
		ref, err = o.lookupSubject(pb.SubjectKey(op.GetId()))
	}
	switch {
	case err != nil:
		c.fail(err)
	case ref == nil:
		c.refuse(problem(pb.CodeSubjectNotFound, "There is no such subject."))
	default:
		c.reply(subjectReply(ref, 200))
	}
}

func subjectReply(ref *partition.Ref, status uint32) *pb.Reply {
	return &pb.Reply{Status: status, Result: &pb.Reply_Subject{Subject: &pb.SubjectInfo{Id: string(ref.Subject), CreatedMs: ref.Created}}}
}

// putSubject provisions a subject: 201 the first time, 200 after.
func (o *orgActor) putSubject(c *call, op *pb.PutSubject) {
	if !validSubject(op.GetId()) {
		c.refuse(invalid("subject_id", "must be 1 to 256 bytes of UTF-8 without control characters"))
		return
	}
	if id, err := pb.ParsePartitionID(op.GetId()); err == nil {
		ref, err := o.loadPartition(id)
		if err != nil {
			c.fail(err)
			return
		}
		if ref != nil && ref.Kind == pb.PartitionMember { // nobody could tell the two apart
			c.refuse(invalid("subject_id", "must not be the user id of a member"))
			return
		}
	}
	name := pb.SubjectKey(op.GetId())
	o.exclusive(subjectLock(op.GetId()), func(release func()) {
		ref, err := o.lookupSubject(name)
		if err != nil || ref != nil {
			release()
			if err != nil {
				c.fail(err)
				return
			}
			c.reply(subjectReply(ref, 200))
			return
		}
		id, err := o.sys.newUUID()
		if err == nil {
			ref, err = o.newPartition(pb.PartitionID(id), pb.PartitionSubject, name)
		}
		if err != nil {
			release()
			c.fail(err)
			return
		}
		ch := commit.New(o.store)
		putPartition(ch.Batch, o.space, ref)
		ch.Audit(c.auditOf(pb.ActionSubjectProvision, ref.ID.String()))
		o.committer.SubmitChange(ch, func(err error) {
			o.tell(func(o *orgActor) {
				if err == nil {
					o.rememberSubject(ref)
				}
				release()
				if err != nil {
					c.fail(err)
					return
				}
				c.reply(subjectReply(ref, 201))
			})
		})
	})
}

func (o *orgView) newPartition(id pb.PartitionID, kind string, subject pb.SubjectKey) (*partition.Ref, error) {
	secret := make([]byte, partitionSecretBytes)
	if _, err := io.ReadFull(o.sys.cfg.Random, secret); err != nil {
		return nil, err
	}
	rec := &pb.Partition{Kind: kind, Subject: string(subject), Secret: secret, CreatedMs: clock.Millis(o.sys.clock.Now())}
	if kind == pb.PartitionSubject {
		rec.Born = o.committer.LastEvent() + 1
	}
	return partition.NewRef(o.store, o, id, rec), nil
}

func partitionRecord(ref *partition.Ref) *pb.Partition {
	return &pb.Partition{Id: ref.ID.Bytes(), Kind: ref.Kind, Subject: string(ref.Subject), Secret: ref.Secret, CreatedMs: ref.Created, Born: ref.Born}
}

func putPartition(b *storage.Batch, org storage.Space, ref *partition.Ref) {
	b.Put(org.Key(storage.TablePartition, storage.ID16(ref.ID)), partitionRecord(ref))
	if ref.Kind == pb.PartitionSubject {
		b.PutRaw(org.Key(storage.TableSubject, storage.Str(ref.Subject)), ref.ID.Bytes())
	}
}

// listSubjects pages through the subjects in the order of their ids: an order
// that no write changes.
func (o *orgView) listSubjects(r storage.Reader, op *pb.ListSubjects) (*pb.Reply, error) {
	all := o.space.Prefix(storage.TableSubject)
	kind := cursorKind{list: "subjects"}
	entries, next, p, err := pageOfKeys(o, r, all, kind, op.GetPage(), maxRecordsPerPage, func(item storage.Item) (*pb.SubjectInfo, bool, error) {
		id, err := pb.PartitionIDFrom(item.Value)
		if err != nil {
			return nil, false, err
		}
		rec := &pb.Partition{}
		found, err := r.Get(o.space.Key(storage.TablePartition, storage.ID16(id)), rec)
		return &pb.SubjectInfo{Id: rec.GetSubject(), CreatedMs: rec.GetCreatedMs()}, found, err
	})
	if p != nil {
		return refuse(p), nil
	}
	return &pb.Reply{Result: &pb.Reply_Subjects{Subjects: &pb.SubjectList{Subjects: entries, NextCursor: next}}}, err
}

// eraseSubject makes a subject unusable at once and queues the erasure of all
// it has.
func (o *orgActor) eraseSubject(c *call, op *pb.EraseSubject) {
	if !validSubject(op.GetId()) {
		c.refuse(problem(pb.CodeSubjectNotFound, "There is no such subject."))
		return
	}
	name := pb.SubjectKey(op.GetId())
	o.whenBusyFor(c, func() {
		o.exclusive(subjectLock(op.GetId()), func(release func()) {
			ref, err := o.lookupSubject(name)
			if err != nil || ref == nil {
				release()
				if err != nil {
					c.fail(err)
					return
				}
				c.refuse(problem(pb.CodeSubjectNotFound, "There is no such subject."))
				return
			}
			job, err := o.newJob(pb.JobSubjectErase, c.who, ref, 1)
			if err != nil {
				release()
				c.fail(err)
				return
			}
			ch := commit.New(o.store)
			ch.Erase(o.space.Key(storage.TableSubject, storage.Str(ref.Subject)))
			ch.Audit(c.auditOf(pb.ActionSubjectErase, ref.ID.String()))
			delete(o.subjects, name)
			o.beginErasure(ch.Batch, ref, job)
			o.committer.SubmitChange(ch, func(err error) {
				o.tell(func(o *orgActor) {
					delete(o.erasing, ref.ID)
					release()
					if err != nil {
						c.fail(err)
						return
					}
					o.openJobs++
					c.reply(accepted(job))
					o.erase(ref, job)
				})
			})
		})
	})
}

// beginErasure writes that a partition is to be erased. From here on no request
// reaches it, also while the commit is on its way: a write that is accepted now
// would be lost. Its caller takes it out of o.erasing once that is answered.
func (o *orgActor) beginErasure(b *storage.Batch, ref *partition.Ref, job *pb.Job) {
	b.Put(o.space.Key(storage.TablePartition, storage.ID16(ref.ID)), &pb.Partition{
		Id: ref.ID.Bytes(), Kind: ref.Kind, CreatedMs: ref.Created, Erasing: true,
	})
	putJob(b, o.space, job)
	o.erasing[ref.ID] = true
}

// erase carries out a subject_erase job. It can be repeated from the start: a
// crash anywhere before the last commit leaves the job open. It waits for a purge
// that is under way, which may have stopped the partition's actor and not seen its
// end; no later one takes up a partition that is being erased.
func (o *orgActor) erase(ref *partition.Ref, job *pb.Job) {
	o.exclusive(purgeLock, func(release func()) {
		release()
		ch := o.children[ref.ID]
		if ch == nil {
			o.eraseStored(ref, job)
			return
		}
		delete(o.children, ref.ID)
		view := &o.orgView
		view.sys.wg.Go(func() {
			view.stopChild(ch)
			view.tell(func(o *orgActor) { o.eraseStored(ref, job) })
		})
	})
}

func (o *orgActor) eraseStored(ref *partition.Ref, job *pb.Job) {
	view := &o.orgView
	o.sys.wg.Go(func() {
		ctx, cancel := context.WithTimeout(view.sys.root0, eraseLimit)
		defer cancel()
		err := view.eraseNow(ctx, ref, job)
		pause := waitError{eraseRetry}
		if err != nil && !errors.As(err, &pause) && !errors.Is(err, commit.ErrLost) {
			view.sys.log.Error("erasing a subject failed; it is tried again", "org", view.id.String(), "job", job.GetId(), "err", err)
		}
		o.tell(func(o *orgActor) {
			if err == nil {
				o.jobsEnded(pb.JobID(job.GetId()))
				return
			}
			o.sys.clock.AfterFunc(pause.wait, func() { o.tell(func(o *orgActor) { o.eraseStored(ref, job) }) })
		})
	})
}

// eraseNow erases all of a partition and finishes the job. The partition's
// unfinished jobs go with it, and its name: it may be a person's. It is never given up,
// since nothing else would take away what is left.
func (o *orgView) eraseNow(ctx context.Context, ref *partition.Ref, job *pb.Job) (err error) {
	begin := storage.NewBatch(o.store)
	why := o.beginAttempt(job)
	if errors.Is(why, errUnclean) {
		job.Unclean = job.GetUnclean()[1:]
		why = o.beginAttempt(job)
	}
	wait, waits := errors.AsType[waitError](why)
	if errors.Is(why, errGivenUp) {
		job.Begun = o.act.name
	}
	job.Subject = ""
	if !waits {
		job.Status = pb.JobRunning
		if job.GetStartedMs() == 0 {
			job.StartedMs = clock.Millis(o.sys.clock.Now())
		}
	}
	updateJob(begin, o.space, job)
	if waits {
		return errors.Join(o.committer.Commit(begin), wait)
	}
	defer func() {
		if ownFailure(err) {
			job.Begun = "" // the next attempt writes it
		}
	}()
	// Behind this commit the store holds all that was on its way into it when the
	// partition's actor ended: what is read from here on misses nothing.
	if err := o.committer.Commit(begin); err != nil {
		return err
	}
	o.sys.cfg.working(pb.JobSubjectErase, func() bool { return o.sys.ctx.Err() != nil })
	for _, m := range o.modules {
		if err := m.ErasePartition(ref); err != nil {
			return err
		}
	}
	b := storage.NewBatch(o.store)
	b.EraseRange(ref.Space.All())
	b.Erase(o.space.Key(storage.TablePartition, storage.ID16(ref.ID)))
	// The record that is written behind it is the only one that is left.
	b.Erase(o.space.Key(storage.TableJob, storage.ID16(pb.JobID(job.GetId()))))
	updateJob(b, o.space, job)
	o.sys.parts.Drop(ref)
	if err := o.committer.Commit(b); err != nil {
		return err
	}
	o.afterForget(ref)
	// The order matters: what was erased must be gone from files and log before
	// the job says so.
	if err := o.sys.cfg.Host.Erase(ctx, o.store); err != nil {
		return err
	}
	o.sys.parts.Drop(ref)
	job.Status, job.Done, job.FinishedMs = pb.JobSucceeded, 1, clock.Millis(o.sys.clock.Now())
	done := commit.New(o.store)
	if err := endJob(done, o, job); err != nil {
		return err
	}
	return o.committer.CommitChange(done)
}

// stopChild waits until a subject's actor has ended. Its worker ends with it,
// after its slice: nothing is written behind it. A wait that ends early is begun
// again.
func (o *orgView) stopChild(ch *child) {
	for range stopTries {
		if o.sys.root.PoisonFuture(ch.pid).Wait() == nil {
			return
		}
	}
}
