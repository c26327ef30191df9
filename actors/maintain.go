package actors

import (
	"errors"
	"fmt"
	"slices"

	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// defaultSealChunks is the size from which a merged segment is stored instead of
	// being rebuilt from its chunks at the next cold start: some 4,096 chunks are
	// rebuilt in about 0.1 s.
	defaultSealChunks = 2048
	// segmentPiece is the size of a stored piece of a segment.
	segmentPiece = 512 << 10
	// rebuildChunks is how many chunks one CPU task analyses and indexes: some 0.1 s,
	// as long as one of embedding.
	rebuildChunks = 4096
	// maxMerges bounds the merges after one slice, so that new content is not
	// kept waiting by old.
	maxMerges = 4
	// reembedBatch is how many chunks are embedded anew between two looks at the
	// queue.
	reembedBatch = 64
)

// current returns the partition's hot state and the embedder that its new
// chunks are embedded with.
func (w *worker) current() (*loaded, Embedder, error) {
	var now *loaded
	err := w.org.withStore(func(st *storage.Store) (err error) {
		now, err = w.org.sys.parts.get(st, w.part, w.org.sys.dim)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if e := w.org.sys.models[now.state.GetModel()]; e != nil {
		return now, e, nil
	}
	return now, w.org.sys.cfg.Embedder, nil
}

// neglected reports whether a partition that nothing is ingested into needs its
// worker: parts of its index are made anew at each cold start, or its vectors
// are of a former model.
func (s *System) neglected(now *loaded) bool {
	m := now.state.GetModel()
	return len(now.stale) > 0 || m != "" && m != s.cfg.Embedder.ID()
}

// attend wakes a partition's worker, which looks after the partition by itself.
// One that is being purged or erased is left alone.
func (o *orgActor) attend(id pb.PartitionID) {
	if _, held := o.held[id]; held || o.lost || o.children[id] != nil {
		return
	}
	part, err := o.loadPartition(id)
	if err != nil {
		o.sys.log.Error("could not look after a partition; the next search tries again", "org", o.id.String(), "err", err)
		return
	}
	if part != nil {
		o.child(part)
	}
}

// maintain does what can wait: removing what was forgotten long ago, merging
// segments, and embedding anew after a change of model. It reports whether there
// is more to do.
func (w *worker) maintain(now *loaded) (more bool, err error) {
	now, more, err = w.bury(now, w.org.sys.cfg.Embedder)
	if err != nil || more {
		return more, err
	}
	more, err = w.compact(now)
	if err != nil || more {
		return more, err
	}
	want := w.org.sys.cfg.Embedder
	if now.state.GetModel() == "" || now.state.GetModel() == want.ID() {
		return false, nil
	}
	return w.reembed(now, want)
}

// compact merges segments where that is worth it, and where they hold what was
// forgotten.
func (w *worker) compact(now *loaded) (more bool, err error) {
	if now, err = w.rewriteForgotten(now); err != nil {
		return false, err
	}
	for range maxMerges {
		plan, ok := now.snapshot.Compact(index.MergePolicy{})
		if !ok {
			return false, nil
		}
		if now, err = w.merge(now, plan); err != nil {
			return false, err
		}
	}
	return true, nil
}

// merge carries out a plan. A result that is small and holds no stored segment
// stays in memory only.
func (w *worker) merge(now *loaded, plan index.Plan) (*loaded, error) {
	var merged *index.Segment
	err := w.compute(func(int) (err error) {
		merged, err = index.Merge(plan.Views)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("merge segments: %w", err)
	}
	if merged.Len() < w.org.sys.cfg.sealChunks && !slices.ContainsFunc(plan.Views, func(v index.View) bool { return v.ID != 0 }) {
		snapshot, ok := now.snapshot.Replace(plan, 0, merged)
		if !ok {
			return nil, errors.New("merge segments: the plan does not fit its own snapshot")
		}
		next := &loaded{snapshot: snapshot, state: now.state} // nothing durable changes
		w.show(next)
		return next, nil
	}
	state := cloneState(now.state)
	state.IndexVersion++
	return w.seal(now, plan, merged, state)
}

// compute runs one task in the organization's share of the CPU workers.
func (w *worker) compute(task func(worker int) error) error {
	return w.org.sys.cpu.All(w.org.id, []func(int) error{task})[0]
}

func (w *worker) publish(b *storage.Batch, next *loaded) (*loaded, error) {
	if err := w.org.committer.commit(b); err != nil {
		return nil, err
	}
	w.show(next)
	return next, nil
}

// show makes next what readers see. Its state is committed.
func (w *worker) show(next *loaded) {
	w.org.sys.checks.committed(w, next)
	w.org.sys.parts.publish(w.part, next)
}

// seal stores a merged segment in place of the plan's: first its pieces, which
// nothing refers to, then in one commit the segment, its liveness and the end
// of what it replaces.
func (w *worker) seal(now *loaded, plan index.Plan, merged *index.Segment, state *pb.PartitionState) (*loaded, error) {
	state.NextSegment++
	id := state.GetNextSegment()
	snapshot, ok := now.snapshot.Replace(plan, id, merged)
	if !ok {
		return nil, errors.New("seal segment: the plan does not fit its own snapshot")
	}
	final := storage.NewBatch(w.org.store)
	for _, v := range snapshot.Views {
		if v.ID == id {
			if err := w.storeView(final, v); err != nil {
				return nil, err
			}
		}
	}
	for _, v := range plan.Views {
		if v.ID != 0 {
			w.deleteSegment(final, state, v.ID)
			continue
		}
		for doc := range v.Segment.Len() {
			final.Delete(w.part.space.Key(storage.TableUnsealed, storage.U64(v.Segment.Seq(doc))))
		}
	}
	final.Put(w.part.space.Key(storage.TableState), state)
	return w.publish(final, &loaded{snapshot: snapshot, state: state})
}

// reseal stores a segment that was rebuilt from its chunks, because another text
// analysis had made it, in place of what it was rebuilt from. Otherwise each
// cold start would rebuild it again.
func (w *worker) reseal(now *loaded) error {
	old := now.stale[0]
	next := &loaded{snapshot: now.snapshot, state: cloneState(now.state), stale: now.stale[1:]}
	next.state.IndexVersion++
	final := storage.NewBatch(w.org.store)
	if i := slices.IndexFunc(now.snapshot.Views, func(v index.View) bool { return v.Segment == old.rebuilt }); i >= 0 {
		next.state.NextSegment++
		views := slices.Clone(now.snapshot.Views)
		views[i].ID = next.state.GetNextSegment()
		next.snapshot = &index.Snapshot{Views: views}
		if err := w.storeView(final, views[i]); err != nil {
			return err
		}
	}
	w.deleteSegment(final, now.state, old.id)
	final.Put(w.part.space.Key(storage.TableState), next.state)
	_, err := w.publish(final, next)
	return err
}

// storeView writes a segment under its view's id, and what of it is current.
func (w *worker) storeView(final *storage.Batch, v index.View) error {
	if err := w.storeSegment(final, v.ID, v.Segment); err != nil {
		return err
	}
	final.PutRaw(w.part.space.Key(storage.TableSegmentLiveness, storage.U64(v.ID)), v.AppendLiveness(nil))
	return nil
}

// storeSegment writes a segment's pieces at once, and its record with the batch.
func (w *worker) storeSegment(final *storage.Batch, id uint64, seg *index.Segment) error {
	data := seg.AppendBinary(make([]byte, 0, seg.Size()))
	// An attempt that a crash ended may have left pieces under this id.
	stage := storage.NewBatch(w.org.store)
	stage.DeleteRange(w.part.space.Prefix(storage.TableSegmentPiece, storage.U64(id)))
	n := uint32(0)
	for piece := range slices.Chunk(data, segmentPiece) {
		stage.PutRaw(w.part.space.Key(storage.TableSegmentPiece, storage.U64(id), storage.U32(n)), piece)
		n++
		if stage.Bytes() >= stageBytes {
			if err := w.org.committer.commit(stage); err != nil {
				return err
			}
			stage = storage.NewBatch(w.org.store)
		}
	}
	if stage.Len() > 0 {
		if err := w.org.committer.commit(stage); err != nil {
			return err
		}
	}
	first, last := seg.SeqRange()
	final.Put(w.part.space.Key(storage.TableSegment, storage.U64(id)), &pb.Segment{
		Id: id, FirstSeq: first, LastSeq: last, Chunks: uint32(seg.Len()), Bytes: uint64(len(data)), Model: string(seg.Model()),
	})
	return nil
}

// deleteSegment deletes a stored segment, and orders its bytes out of the files
// where it holds something that was forgotten.
func (w *worker) deleteSegment(b *storage.Batch, state *pb.PartitionState, id uint64) {
	b.Delete(w.part.space.Key(storage.TableSegment, storage.U64(id)))
	b.Delete(w.part.space.Key(storage.TableSegmentLiveness, storage.U64(id)))
	pieces := w.part.space.Prefix(storage.TableSegmentPiece, storage.U64(id))
	if slices.Contains(state.GetForgottenSegments(), id) {
		b.EraseRange(pieces)
		return
	}
	b.DeleteRange(pieces)
}

// reembed embeds the partition's chunks with another model while the old
// vectors serve: some chunks a call, their vectors beside the old ones. When
// all are there, one commit makes the new ones serve and ends the old. It is
// the worker that does it, between two slices, so no chunk can be missed.
func (w *worker) reembed(now *loaded, e Embedder) (more bool, err error) {
	var seqs []uint64
	var texts []string
	err = w.org.withStore(func(st *storage.Store) error {
		from := w.part.space.Key(storage.TableChunk, storage.U64(w.reembedded))
		opts := storage.ScanOptions{Limit: reembedBatch, After: from}
		for rec, err := range storage.ScanRecords(st, w.part.space.Prefix(storage.TableChunk), opts, func() *pb.Chunk { return &pb.Chunk{} }) {
			if err != nil {
				return err
			}
			seqs = append(seqs, rec.Value.GetSeq())
			if rec.Value.GetSeq() >= now.state.GetNextChunk() {
				break // staged by an attempt that a crash ended
			}
			done, found, err := st.GetRaw(vectorKey(w.part, e.ID(), rec.Value.GetSeq()))
			if err != nil {
				return err
			}
			if found && len(done) > 0 {
				texts = append(texts, "") // embedded before a restart
				continue
			}
			texts = append(texts, index.EmbedText(rec.Value.GetTitlePath(), rec.Value.GetText()))
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if len(texts) == 0 {
		return false, w.switchModel(now, e)
	}
	b := storage.NewBatch(w.org.store)
	vectors := make([][]float32, len(texts))
	var tasks []func(int) error
	for from := 0; from < len(texts); from += embedBatch {
		to := min(from+embedBatch, len(texts))
		tasks = append(tasks, func(worker int) error {
			for i := from; i < to; i++ {
				if texts[i] != "" {
					vectors[i] = w.org.sys.computers[worker].encoders.of(e).Passages(texts[i : i+1])[0]
				}
			}
			return nil
		})
	}
	for _, err := range w.org.sys.cpu.All(w.org.id, tasks) {
		if err != nil {
			return false, fmt.Errorf("embed anew: %w", err)
		}
	}
	for i, v := range vectors {
		if v != nil {
			putVector(b, w.part, e.ID(), seqs[i], v)
		}
	}
	if b.Len() > 0 {
		if err := w.org.committer.commit(b); err != nil {
			return false, err
		}
	}
	w.reembedded = seqs[len(texts)-1]
	return true, nil
}

// switchModel makes the new vectors serve.
func (w *worker) switchModel(now *loaded, e Embedder) error {
	old := now.state.GetModel()
	next := &loaded{snapshot: &index.Snapshot{}, state: cloneState(now.state)}
	next.state.Model = e.ID()
	next.state.IndexVersion++
	var seqs []uint64
	for _, v := range now.snapshot.Views {
		for doc := range v.Segment.Len() {
			seqs = append(seqs, v.Segment.Seq(doc))
		}
	}
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	final := storage.NewBatch(w.org.store)
	for _, v := range now.snapshot.Views {
		if v.ID != 0 {
			w.deleteSegment(final, now.state, v.ID)
		}
	}
	final.DeleteRange(w.part.space.Prefix(storage.TableUnsealed))
	for piece := range slices.Chunk(seqs, rebuildChunks) {
		err := w.compute(func(worker int) error {
			return w.org.withStore(func(st *storage.Store) (err error) {
				next.snapshot, err = indexChunks(next.snapshot, st, w.part, e.ID(), e.Dim(), piece, &w.org.sys.computers[worker].analyzer)
				return err
			})
		})
		if err != nil {
			return fmt.Errorf("index anew: %w", err)
		}
	}
	for i := range next.snapshot.Views {
		v := &next.snapshot.Views[i]
		if v.Segment.Len() < w.org.sys.cfg.sealChunks {
			for doc := range v.Segment.Len() {
				final.PutRaw(w.part.space.Key(storage.TableUnsealed, storage.U64(v.Segment.Seq(doc))), nil)
			}
			continue
		}
		next.state.NextSegment++
		v.ID = next.state.GetNextSegment()
		if err := w.storeView(final, *v); err != nil {
			return err
		}
	}
	final.DeleteRange(w.part.space.Prefix(storage.TableVector, storage.Str(old)))
	final.Put(w.part.space.Key(storage.TableState), next.state)
	if _, err := w.publish(final, next); err != nil {
		return err
	}
	w.reembedded = 0
	w.org.sys.log.Info("partition serves with a new model", "org", w.org.id.String(), "partition", w.part.id.String(), "model", e.ID())
	return nil
}
