package quality

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"orgmem/actors/commit"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/search"
	"orgmem/actors/tenant"
	"orgmem/brain/index"
	"orgmem/brain/quality"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// maxRestarts bounds how often one attempt begins anew because something was forgotten meanwhile.
	maxRestarts = 20
	// slice is how many memories one CPU task asks about: some 100 ms.
	slice = 8
	// topK is how many hits are looked at.
	topK = 10
	// neighbours is how many of the nearest chunks are compared for near duplicates.
	neighbours = 8
	// maxSuccessors bounds how far what took the place of a memory is followed.
	maxSuccessors = 8
)

// carryOut evaluates, however often that takes, and reports to the mailbox. It runs beside it.
func (o *Module) carryOut(ctx context.Context, r *run) {
	var err error
	for range maxRestarts {
		if err = o.guarded(ctx, r); !errors.Is(err, errStale) {
			break
		}
	}
	o.mu.Lock()
	gone := r.gone
	r.cancel = nil
	again := err != nil && !gone
	if !again {
		o.remove(r)
	}
	o.mu.Unlock()
	pause := tenant.WaitError{Wait: tenant.EraseRetry}
	if again && !errors.As(err, &pause) {
		if tenant.Superseded(err) || ctx.Err() != nil {
			return // another activation goes on
		}
		o.System.Log.Error("an evaluation failed; it is tried again", "org", o.ID.String(), "job", r.id.String(), "err", err)
		if tenant.IsWorkFailure(err) {
			o.noteFailure(r)
		}
	}
	o.InMailbox(func() {
		switch {
		case again:
			o.System.Clock.AfterFunc(pause.Wait, func() { o.InMailbox(o.next) })
			return
		case !gone:
			o.JobsEnded(r.id)
		}
		o.next()
	})
}

// noteFailure notes that an attempt has failed.
func (o *Module) noteFailure(r *run) {
	ch := commit.New(o.Store)
	err := o.WithStore(func(st *storage.Store) error { return o.FailAttempt(st, ch.Batch, r.id) })
	if err == nil && ch.Len() > 0 {
		o.mu.Lock()
		r.stale = false // what is written says nothing of the memory
		o.mu.Unlock()
		err = o.commit(r, ch, false)
	}
	if err != nil && !tenant.Superseded(err) && !errors.Is(err, errGone) {
		o.System.Log.Warn("a failed attempt is not counted", "org", o.ID.String(), "job", r.id.String(), "err", err)
	}
}

// guarded is attempt; a panic is an error.
func (o *Module) guarded(ctx context.Context, r *run) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = node.PanicError("evaluation", p)
		}
	}()
	o.mu.Lock()
	r.stale = false
	o.mu.Unlock()
	return o.attempt(ctx, r)
}

// attempt evaluates once. It returns nil when the job has ended, one way or another.
func (o *Module) attempt(ctx context.Context, r *run) error {
	e := &evaluation{o: o, run: r, ctx: ctx, job: &pb.Job{}, state: &pb.QualityRun{}}
	found := false
	err := o.WithStore(func(st *storage.Store) (err error) {
		if found, err = st.Get(o.Space.Key(storage.TableJob, storage.ID16(r.id)), e.job); err == nil && found {
			_, err = st.Get(o.runKey(r.id), e.state)
		}
		return err
	})
	if err != nil || !found || tenant.Terminal(e.job.GetStatus()) {
		return err
	}
	why := o.BeginAttempt(e.job)
	if wait, waits := errors.AsType[tenant.WaitError](why); waits {
		return errors.Join(e.note(), wait)
	}
	if why != nil {
		return e.end(why)
	}
	if e.job.GetStatus() != pb.JobRunning {
		e.job.Status, e.job.StartedMs = pb.JobRunning, clock.Millis(o.System.Clock.Now())
	}
	// This commit is also the barrier behind which what is read holds all that was acknowledged before.
	if err := e.note(); err != nil {
		return err
	}
	o.System.Config.JobWorkBegan(pb.JobQuality, func() bool { return ctx.Err() != nil })
	if err := o.WithStore(e.measure); err != nil {
		return err
	}
	return e.end(nil)
}

// evaluation is one attempt.
type evaluation struct {
	o     *Module
	run   *run
	ctx   context.Context //nolint:containedctx // the run's: it lives as long as the evaluation
	job   *pb.Job
	state *pb.QualityRun
	parts []*partition.Ref
}

func (e *evaluation) goOn() error {
	if e.ctx.Err() != nil {
		return node.ErrClosing
	}
	return nil
}

// compute runs a task on a CPU worker, behind all ingestion.
func (e *evaluation) compute(task func(worker int) error) error {
	return errors.Join(e.o.System.CPU.Background(e.o.ID, []func(int) error{func(worker int) error {
		if err := e.goOn(); err != nil {
			return err
		}
		return task(worker)
	}})...)
}

// note writes how far the evaluation has come.
func (e *evaluation) note() error {
	ch := commit.New(e.o.Store)
	tenant.UpdateJob(ch.Batch, e.o.Space, e.job)
	ch.Put(e.o.runKey(e.run.id), e.state)
	return e.o.commit(e.run, ch, false)
}

// measure asks about all of the sample that has not been asked about yet.
func (e *evaluation) measure(st *storage.Store) error {
	e.parts = []*partition.Ref{e.run.part}
	if e.run.part == nil {
		var err error
		if e.parts, err = e.o.AllPartitions(st); err != nil {
			return err
		}
	}
	s, err := e.takeSample(st)
	if err != nil {
		return err
	}
	rarity := &quality.Rarity{}
	if err := e.compute(func(int) error {
		for _, m := range s.picked {
			rarity.Add(m.memory)
		}
		return nil
	}); err != nil {
		return err
	}
	if digest := s.digest(); !bytes.Equal(e.state.GetSample(), digest) {
		e.state.Sample, e.state.Done, e.state.Report = digest, 0, &pb.QualityReport{Languages: map[string]uint64{}}
	}
	report := e.state.GetReport()
	if report.Languages == nil { // an empty map is not stored
		report.Languages = map[string]uint64{}
	}
	report.Memories, report.Partial, report.Stale, report.Contradicted = s.memories, s.partial, s.stale, s.contradicted
	report.Model = e.o.System.Config.Embedder.ID()
	e.job.Total, e.job.Done = uint64(max(len(s.picked), 1)), uint64(e.state.GetDone())
	for from := int(e.state.GetDone()); from < len(s.picked); from = int(e.state.GetDone()) {
		until := min(from+slice, len(s.picked))
		if err := e.compute(func(worker int) error {
			for _, m := range s.picked[from:until] {
				if err := e.ask(st, e.o.askers[worker], m, rarity, s.nowMs); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		e.state.Done, e.job.Done = uint32(until), uint64(until)
		e.o.NoteProgress(e.job)
		if err := e.note(); err != nil {
			return err
		}
		e.o.System.Config.QualitySliced()
	}
	return nil
}

// ask puts the questions of one memory to the memory that it is in.
func (e *evaluation) ask(
	st *storage.Store, own *search.Asker, m *picked, rarity *quality.Rarity, nowMs int64,
) error {
	r, part := e.state.GetReport(), e.parts[m.part]
	if m.former {
		q, ok := quality.FormerQuestion(m.memory, rarity)
		now, err := successor(st, part, m.node)
		if err != nil || !ok || now == "" {
			return err
		}
		found, err := e.rank(st, own, part, q.Text, nowMs)
		if err == nil {
			quality.Asked(r, q.Kind, found, func(id pb.NodeID) bool { return id == now })
		}
		return err
	}
	r.Sampled++
	r.Languages[quality.Language(m.memory)]++
	twins, err := e.twins(st, own, part, m)
	if err != nil {
		return err
	}
	if len(twins) > 0 {
		r.Duplicates++
	}
	questions, hit := quality.Questions(m.memory, rarity), false
	for _, q := range questions {
		if err := e.goOn(); err != nil {
			return err
		}
		found, err := e.rank(st, own, part, q.Text, nowMs)
		if err != nil {
			return err
		}
		// Whoever finds a near duplicate has found what was asked for.
		if quality.Asked(r, q.Kind, found, func(id pb.NodeID) bool { return id == m.id() || twins[id] }) {
			hit = true
		}
	}
	if len(questions) > 0 {
		r.Asked++
		if !hit {
			r.Unfound++
		}
	}
	return nil
}

// rank gives the nodes of the best hits of a question, and counts whether what no longer holds is before what does.
func (e *evaluation) rank(
	st *storage.Store, own *search.Asker, part *partition.Ref, question string, nowMs int64,
) ([]pb.NodeID, error) {
	found, err := tenant.ModuleOf[*search.Module](&e.o.View).Ask(own, st, part, question, topK)
	if err != nil {
		return nil, err
	}
	var ids []pb.NodeID
	var nodes []*pb.Node
	for _, h := range found.GetHits() {
		n := &pb.Node{}
		there, err := st.Get(part.Space.Key(storage.TableNode, storage.Str(h.GetNode())), n)
		if err != nil {
			return nil, err
		}
		if there {
			ids, nodes = append(ids, pb.NodeID(h.GetNode())), append(nodes, n)
		}
	}
	r := e.state.GetReport()
	r.Rankings++
	if quality.FormerFirst(nodes, nowMs) {
		r.FormerFirst++
	}
	r.Brain = max(r.GetBrain(), found.GetBrainVersion())
	return ids, nil
}

// twins are the near duplicates of a memory: of the nodes that are nearest by their vectors, those whose texts are
// nearly the same.
func (e *evaluation) twins(
	st *storage.Store, own *search.Asker, part *partition.Ref, m *picked,
) (map[pb.NodeID]bool, error) {
	now, err := e.o.Residents.Get(st, part, e.o.System.Embedders.Dim)
	if err != nil {
		return nil, err
	}
	model := now.State.GetModel()
	v, err := partition.ReadVector(st, part, model, m.node.GetChunks()[0])
	if err != nil || v == nil {
		return nil, err
	}
	near := map[pb.NodeID]bool{}
	for _, c := range own.Scratch.Candidates([]*index.Snapshot{now.Snapshot}, &index.Query{
		Vectors: map[index.ModelID][]float32{index.ModelID(model): v}, Mode: index.VectorOnly, N: neighbours,
		Config: index.DefaultConfig(),
	}) {
		if c.Node != m.id() {
			near[pb.NodeID(strings.Clone(string(c.Node)))] = true // it lies in the index
		}
	}
	own.Scratch.Reset()
	var mine quality.Shingles
	if len(near) > 0 {
		mine = quality.ShinglesOf(m.memory)
	}
	for id := range near {
		n, err := liveNode(st, part, id)
		if err != nil {
			return nil, err
		}
		if n != nil {
			theirs, err := memoryOf(st, part, n)
			if err != nil {
				return nil, err
			}
			if mine.Near(quality.ShinglesOf(theirs)) {
				continue
			}
		}
		delete(near, id)
	}
	return near, nil
}

// liveNode reads a node; nil where it is not live.
func liveNode(r storage.Reader, part *partition.Ref, id pb.NodeID) (*pb.Node, error) {
	n := &pb.Node{}
	_, err := r.Get(part.Space.Key(storage.TableNode, storage.Str(id)), n)
	if err != nil || n.GetStatus() != pb.StatusLive {
		return nil, err
	}
	return n, nil
}

// successor is the live node that has taken a superseded one's place; empty if no node has.
func successor(r storage.Reader, part *partition.Ref, n *pb.Node) (pb.NodeID, error) {
	for range maxSuccessors {
		next := &pb.Node{}
		found, err := r.Get(part.Space.Key(storage.TableNode, storage.Str(n.GetSupersededBy())), next)
		if err != nil || !found {
			return "", err
		}
		if next.GetStatus() == pb.StatusLive {
			return pb.NodeID(next.GetId()), nil
		}
		n = next
	}
	return "", nil
}

// end ends the job, and without a reason against it keeps the report.
func (e *evaluation) end(why error) error {
	o, now := e.o, clock.Millis(e.o.System.Clock.Now())
	ch := commit.New(o.Store)
	ch.Erase(o.runKey(e.run.id))
	e.job.FinishedMs = now
	if why != nil {
		e.job.Status, e.job.ErrorCode = pb.JobFailed, pb.ErrorQuality
		e.job.ErrorDetail = tenant.GivenUp("the evaluation", why)
	} else {
		e.job.Status, e.job.Done = pb.JobSucceeded, e.job.GetTotal()
		report := e.state.GetReport()
		report.Job, report.AtMs, report.Org = e.run.id.Bytes(), now, e.run.part == nil
		ch.Put(o.reportKey(e.run.part, report), report)
		if err := o.WithStore(func(st *storage.Store) error { return e.dropOldest(st, ch) }); err != nil {
			return err
		}
	}
	if err := tenant.EndJob(ch, &o.View, e.job); err != nil {
		return err
	}
	return o.commit(e.run, ch, true)
}

// dropOldest makes room for one more report.
func (e *evaluation) dropOldest(st *storage.Store, ch *commit.Change) error {
	n := 0
	for item, err := range st.Scan(e.o.reportsOf(e.run.part), storage.ScanOptions{}) {
		if err != nil {
			return err
		}
		if n++; n >= MaxReports {
			ch.Erase(item.Key)
		}
	}
	return nil
}
