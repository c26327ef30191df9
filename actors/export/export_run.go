package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"time"

	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// maxExportPieces bounds a document: 64 GiB, some ten million notes.
	maxExportPieces = 128 << 10
	// maxExportRestarts bounds how often one attempt begins anew because something
	// was forgotten meanwhile.
	maxExportRestarts = 20
)

var (
	// errExportStale means that something the document may hold was forgotten: it
	// is begun anew.
	errExportStale = errors.New("the export must begin anew")
	// errExportTooLarge means that a document does not fit into maxExportPieces.
	errExportTooLarge = errors.New("the export is too large")
)

// queueExport makes an export known, and begins it when none is being written.
func (o *Module) queueExport(e *pb.Export) {
	run := &Run{ID: pb.ExportID(e.GetId()), user: pb.UserID(e.GetUser())}
	if e.GetScope() == pb.ExportScopeUser {
		part, err := o.LoadPartition(pb.PartitionID(e.GetPartition()))
		if err != nil {
			o.System.Log.Error("an export cannot be begun; it is tried again", "org", o.ID.String(), "export", run.ID.String(),
				"err", err)
			o.System.Clock.AfterFunc(tenant.EraseRetry, func() { o.InMailbox(func() { o.queueExport(e) }) })
			return
		}
		if part == nil {
			return // it is being erased, and this export with it
		}
		run.part = part
	}
	o.Mu.Lock()
	o.Runs[run.ID] = run
	o.Mu.Unlock()
	o.nextExport()
}

// resumeExport queues an export that a stop or a crash interrupted.
func (o *Module) resumeExport(id pb.ExportID) error {
	e := &pb.Export{}
	found := false
	err := o.WithStore(func(st *storage.Store) (err error) {
		found, err = st.Get(Key(o.Space, id), e)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("export %s: %w", id, tenant.ErrNoRecord)
	}
	if err != nil {
		return err
	}
	o.queueExport(e)
	return nil
}

// nextExport begins the oldest export that waits, unless one is being written.
func (o *Module) nextExport() {
	if o.Retired || o.System.Lifetime.Err() != nil {
		return
	}
	stored, err := o.storedExports()
	if err != nil {
		o.System.Log.Error("exports cannot be read; they are tried again", "org", o.ID.String(), "err", err)
		o.retryExports(tenant.EraseRetry)
		return
	}
	o.Mu.Lock()
	defer o.Mu.Unlock()
	for _, run := range o.Runs {
		if run.cancel != nil {
			return // one at a time
		}
	}
	for _, e := range slices.Backward(stored) {
		run := o.Runs[pb.ExportID(e.GetId())]
		if run == nil {
			continue
		}
		ctx, cancel := context.WithCancel(o.System.Lifetime)
		run.cancel = cancel
		o.System.BackgroundTasks.Go(func() {
			defer cancel()
			o.Export(ctx, run)
		})
		return
	}
}

func (o *Module) retryExports(after time.Duration) {
	o.System.Clock.AfterFunc(after, func() { o.InMailbox(o.nextExport) })
}

// Export writes one document, however often that takes, and reports to the
// organization's actor. It runs beside the mailbox.
func (o *Module) Export(ctx context.Context, run *Run) {
	var err error
	for range maxExportRestarts {
		if err = o.tryExport(ctx, run); !errors.Is(err, errExportStale) {
			break
		}
	}
	o.Mu.Lock()
	gone := run.Gone
	run.cancel = nil
	again := err != nil && !gone
	if !again && o.Runs[run.ID] == run { // after a cancellation that failed there is another
		delete(o.Runs, run.ID)
	}
	o.Mu.Unlock()
	pause := tenant.WaitError{Wait: tenant.EraseRetry}
	if again && !errors.As(err, &pause) {
		if tenant.Superseded(err) || ctx.Err() != nil {
			return // another activation goes on
		}
		o.System.Log.Error("export failed; it is tried again", "org", o.ID.String(), "export", run.ID.String(), "err", err)
		if tenant.IsWorkFailure(err) {
			o.exportFailed(run)
		}
	}
	o.InMailbox(func() {
		switch {
		case again:
			o.retryExports(pause.Wait)
			return
		case !gone:
			o.JobsEnded(pb.JobID(run.ID))
		}
		o.nextExport()
	})
}

// exportFailed notes that an attempt at an export has failed.
func (o *Module) exportFailed(run *Run) {
	ch := commit.New(o.Store)
	err := o.WithStore(func(st *storage.Store) error { return o.FailAttempt(st, ch.Batch, pb.JobID(run.ID)) })
	if err == nil && ch.Len() > 0 {
		o.Mu.Lock()
		run.stale = false // what is written says nothing of the memory
		o.Mu.Unlock()
		err = o.commitExport(run, ch, nil)
	}
	if err != nil && !tenant.Superseded(err) && !errors.Is(err, ErrGone) {
		o.System.Log.Warn("a failed attempt is not counted", "org", o.ID.String(), "export", run.ID.String(), "err", err)
	}
}

// tryExport is one attempt. After the last that it has, it ends the export as
// failed and returns nil, as it does when it succeeds.
func (o *Module) tryExport(ctx context.Context, run *Run) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = node.PanicError("export", r)
		}
	}()
	o.Mu.Lock()
	run.stale = false
	o.Mu.Unlock()
	e, job := &pb.Export{}, &pb.Job{}
	err = o.WithStore(func(st *storage.Store) error {
		found, err := st.Get(Key(o.Space, run.ID), e)
		if err == nil && found {
			found, err = st.Get(o.Space.Key(storage.TableJob, storage.ID16(run.ID)), job)
		}
		if err == nil && !found {
			err = fmt.Errorf("export %s: %w", run.ID, tenant.ErrNoRecord)
		}
		return err
	})
	if err != nil {
		return err
	}
	why := o.BeginAttempt(job) // to begin anew for what was forgotten is the same attempt
	if wait, waits := errors.AsType[tenant.WaitError](why); waits {
		waiting := commit.New(o.Store)
		tenant.UpdateJob(waiting.Batch, o.Space, job)
		return errors.Join(o.commitExport(run, waiting, nil), wait)
	}
	if why != nil {
		return o.endExport(run, e, job, commit.New(o.Store), why)
	}
	job.Status, e.Status = pb.JobRunning, pb.ExportRunning
	if job.GetStartedMs() == 0 {
		job.StartedMs = clock.Millis(o.System.Clock.Now())
	}
	begin := commit.New(o.Store)
	begin.EraseRange(exportPieces(o.Space, run.ID)) // of an attempt that did not end
	begin.Put(Key(o.Space, run.ID), e)
	tenant.UpdateJob(begin.Batch, o.Space, job)
	// This commit is also the barrier behind which the snapshot holds all that was
	// acknowledged before.
	if err := o.commitExport(run, begin, nil); err != nil {
		return err
	}
	o.System.Config.JobWorkBegan(pb.JobExport, func() bool { return ctx.Err() != nil })
	if err := ctx.Err(); err != nil {
		return err
	}
	var snap *storage.Snapshot
	err = o.WithStore(func(st *storage.Store) (err error) {
		snap, err = st.Snapshot()
		return err
	})
	if err != nil {
		return err
	}
	defer partition.CloseSnapshot(snap, &err)
	e.Seen = o.Committer.LastEvent() + 1 // behind the snapshot: it is at least the last that it saw
	w := &documentWriter{exports: o, ctx: ctx, run: run, batch: commit.New(o.Store), sum: sha256.New()}
	err = o.writeDocument(w, snap, e, run.part)
	if err == nil {
		err = w.flush()
	}
	switch {
	case errors.Is(err, errExportTooLarge):
		return o.endExport(run, e, job, commit.New(o.Store), err)
	case err != nil:
		return err
	}
	e.Bytes, e.Sha256 = w.bytes, hex.EncodeToString(w.sum.Sum(nil))
	return o.endExport(run, e, job, w.batch, nil)
}

// endExport writes an export's end, with what is left of its document.
func (o *Module) endExport(run *Run, e *pb.Export, job *pb.Job, ch *commit.Change, why error) error {
	now := o.System.Clock.Now()
	e.FinishedMs, job.FinishedMs = clock.Millis(now), clock.Millis(now)
	job.Done = job.GetTotal()
	switch {
	case errors.Is(why, errExportTooLarge):
		e.Error = fmt.Sprintf("the document would be larger than %d GiB", maxExportPieces*storage.PieceBytes>>30)
	case errors.Is(why, tenant.ErrUnclean):
		e.Error = tenant.GivenUp("the document", why)
	case why != nil:
		e.Error = "the document could not be written"
	}
	if why != nil {
		e.Status, job.Status = pb.ExportFailed, pb.JobFailed
		job.Done, job.ErrorCode, job.ErrorDetail = 0, pb.CodeInternal, e.GetError()
		ch.EraseRange(exportPieces(o.Space, run.ID))
	} else {
		e.Status, job.Status = pb.ExportSucceeded, pb.JobSucceeded
		e.ExpiresMs = clock.Millis(now.Add(o.retention))
	}
	ch.Put(Key(o.Space, run.ID), e)
	if err := tenant.EndJob(ch, &o.View, job); err != nil {
		return err
	}
	return o.commitExport(run, ch, e)
}

// commitExport commits a part of a document, or with finished its end, unless it
// must not go on. Nothing of it enters the commit behind what ends it.
func (o *Module) commitExport(run *Run, ch *commit.Change, finished *pb.Export) error {
	o.Mu.Lock()
	switch {
	case run.Gone:
		o.Mu.Unlock()
		return ErrGone
	case run.stale && finished != nil && finished.GetStatus() == pb.ExportSucceeded, run.stale && finished == nil:
		o.Mu.Unlock()
		return errExportStale
	}
	run.finished = finished
	result := make(chan error, 1)
	o.Committer.SubmitChange(ch, func(err error) { result <- err })
	o.Mu.Unlock()
	err := <-result
	if err != nil && finished != nil {
		o.Mu.Lock()
		run.finished = nil
		o.Mu.Unlock()
	}
	return err
}

// documentWriter cuts a document into pieces and commits them as they come:
// nowhere does more of it lie in memory than graph.StageBytes and one record.
type documentWriter struct {
	exports *Module
	ctx     context.Context // the run's: it lives as long as the writer
	run     *Run
	batch   *commit.Change
	buf     []byte
	n       uint32
	bytes   uint64
	sum     hash.Hash
}

// Write implements io.Writer.
func (w *documentWriter) Write(data []byte) (int, error) {
	w.bytes += uint64(len(data))
	w.sum.Write(data)
	for rest := data; len(rest) > 0; {
		k := min(storage.PieceBytes-len(w.buf), len(rest))
		w.buf = append(w.buf, rest[:k]...)
		rest = rest[k:]
		if len(w.buf) < storage.PieceBytes {
			break
		}
		if err := w.flush(); err != nil {
			return 0, err
		}
		if w.batch.Bytes() < graph.StageBytes {
			continue
		}
		if err := w.ctx.Err(); err != nil {
			return 0, err
		}
		full := w.batch
		w.batch = commit.New(w.exports.Store)
		if err := w.exports.commitExport(w.run, full, nil); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}

// flush puts what is buffered into the batch, as a piece of its own.
func (w *documentWriter) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	if w.n == maxExportPieces {
		return errExportTooLarge
	}
	w.batch.PutRaw(pieceKey(w.exports.Space, w.run.ID, w.n), w.buf)
	w.n++
	w.buf = nil
	return nil
}
