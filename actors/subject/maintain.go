package subject

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
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

// Upkeep wakes the partitions whose workers have something to do that nobody asks for.
type Upkeep struct {
	*tenant.Org
	tenant.NoModule
}

// Handle leaves all requests to the other modules.
func (o *Upkeep) Handle(*tenant.Call) bool { return false }

// Resume wakes the partitions that were to rewrite segments.
func (o *Upkeep) Resume() error { return o.resumeForgotten() }

// Tick wakes the partitions in which a forgotten node is to be removed.
func (o *Upkeep) Tick() { o.sweepTombstones() }

// current returns the partition's hot state and the embedder that its new
// chunks are embedded with.
func (w *worker) current() (*partition.Index, partition.Embedder, error) {
	var now *partition.Index
	err := w.org.WithStore(func(st *storage.Store) (err error) {
		now, err = w.org.Residents.Get(st, w.part, w.org.System.Embedders.Dim)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if e := w.org.System.Embedders.ByID(now.State.GetModel()); e != nil {
		return now, e, nil
	}
	return now, w.org.System.Config.Embedder, nil
}

// maintain does what can wait: removing what was forgotten long ago, merging
// segments, and embedding anew after a change of model. It reports whether there
// is more to do.
func (w *worker) maintain(now *partition.Index) (more bool, err error) {
	now, more, err = w.removeExpiredTombstones(now, w.org.System.Config.Embedder)
	if err != nil || more {
		return more, err
	}
	more, err = w.compact(now)
	if err != nil || more {
		return more, err
	}
	want := w.org.System.Config.Embedder
	if now.State.GetModel() == "" || now.State.GetModel() == want.ID() {
		return false, nil
	}
	return w.reembed(now, want)
}

// compact merges segments where that is worth it, and where they hold what was
// forgotten.
func (w *worker) compact(now *partition.Index) (more bool, err error) {
	if now, err = w.rewriteForgotten(now); err != nil {
		return false, err
	}
	for range maxMerges {
		plan, ok := now.Snapshot.Compact(index.MergePolicy{})
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
func (w *worker) merge(now *partition.Index, plan index.Plan) (*partition.Index, error) {
	var merged *index.Segment
	err := w.compute(func(int) (err error) {
		merged, err = index.Merge(plan.Views)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("merge segments: %w", err)
	}
	if merged.Len() < cmp.Or(w.org.System.Config.SegmentChunks, defaultSealChunks) &&
		!slices.ContainsFunc(plan.Views, func(v index.View) bool { return v.ID != 0 }) {
		snapshot, ok := now.Snapshot.Replace(plan, 0, merged)
		if !ok {
			return nil, errors.New("merge segments: the plan does not fit its own snapshot")
		}
		next := &partition.Index{Snapshot: snapshot, State: now.State} // nothing durable changes
		w.show(next)
		return next, nil
	}
	state := partition.CloneState(now.State)
	state.IndexVersion++
	return w.seal(now, plan, merged, state)
}

// compute runs one task in the organization's share of the CPU workers.
func (w *worker) compute(task func(worker int) error) error {
	return w.org.System.CPU.All(w.org.ID, []func(int) error{task})[0]
}

func (w *worker) publish(b *storage.Batch, next *partition.Index) (*partition.Index, error) {
	if err := w.org.Committer.Commit(b); err != nil {
		return nil, err
	}
	w.show(next)
	return next, nil
}

// show makes next what readers see. Its state is committed.
func (w *worker) show(next *partition.Index) {
	w.org.System.Checks.Committed(w.org, w.part, next)
	w.org.Residents.Publish(w.part, next)
}

// seal stores a merged segment in place of the plan's: first its pieces, which
// nothing refers to, then in one commit the segment, its liveness and the end
// of what it replaces.
func (w *worker) seal(
	now *partition.Index, plan index.Plan, merged *index.Segment, state *pb.PartitionState,
) (*partition.Index, error) {
	state.NextSegment++
	id := state.GetNextSegment()
	snapshot, ok := now.Snapshot.Replace(plan, id, merged)
	if !ok {
		return nil, errors.New("seal segment: the plan does not fit its own snapshot")
	}
	final := storage.NewBatch(w.org.Store)
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
			final.Delete(w.part.Space.Key(storage.TableUnsealed, storage.U64(v.Segment.Seq(doc))))
		}
	}
	final.Put(w.part.Space.Key(storage.TableState), state)
	return w.publish(final, &partition.Index{Snapshot: snapshot, State: state})
}

// reseal stores a segment that was rebuilt from its chunks, because another text
// analysis had made it, in place of what it was rebuilt from. Otherwise each
// cold start would rebuild it again.
func (w *worker) reseal(now *partition.Index) error {
	old := now.Stale[0]
	next := &partition.Index{Snapshot: now.Snapshot, State: partition.CloneState(now.State), Stale: now.Stale[1:]}
	next.State.IndexVersion++
	final := storage.NewBatch(w.org.Store)
	if i := slices.IndexFunc(now.Snapshot.Views, func(v index.View) bool { return v.Segment == old.Rebuilt }); i >= 0 {
		next.State.NextSegment++
		views := slices.Clone(now.Snapshot.Views)
		views[i].ID = next.State.GetNextSegment()
		next.Snapshot = &index.Snapshot{Views: views}
		if err := w.storeView(final, views[i]); err != nil {
			return err
		}
	}
	w.deleteSegment(final, now.State, old.ID)
	final.Put(w.part.Space.Key(storage.TableState), next.State)
	_, err := w.publish(final, next)
	return err
}

// storeView writes a segment under its view's id, and what of it is current.
func (w *worker) storeView(final *storage.Batch, v index.View) error {
	if err := w.storeSegment(final, v.ID, v.Segment); err != nil {
		return err
	}
	final.PutRaw(w.part.Space.Key(storage.TableSegmentLiveness, storage.U64(v.ID)), v.AppendLiveness(nil))
	return nil
}

// storeSegment writes a segment's pieces at once, and its record with the batch.
func (w *worker) storeSegment(final *storage.Batch, id uint64, seg *index.Segment) error {
	data := seg.AppendBinary(make([]byte, 0, seg.Size()))
	// An attempt that a crash ended may have left pieces under this id.
	stage := storage.NewBatch(w.org.Store)
	stage.DeleteRange(w.part.Space.Prefix(storage.TableSegmentPiece, storage.U64(id)))
	n := uint32(0)
	for piece := range slices.Chunk(data, segmentPiece) {
		stage.PutRaw(w.part.Space.Key(storage.TableSegmentPiece, storage.U64(id), storage.U32(n)), piece)
		n++
		if stage.Bytes() >= graph.StageBytes {
			if err := w.org.Committer.Commit(stage); err != nil {
				return err
			}
			stage = storage.NewBatch(w.org.Store)
		}
	}
	if stage.Len() > 0 {
		if err := w.org.Committer.Commit(stage); err != nil {
			return err
		}
	}
	first, last := seg.SeqRange()
	final.Put(w.part.Space.Key(storage.TableSegment, storage.U64(id)), &pb.Segment{
		Id: id, FirstSeq: first, LastSeq: last, Chunks: uint32(seg.Len()), Bytes: uint64(len(data)),
		Model: string(seg.Model()),
	})
	return nil
}

// deleteSegment deletes a stored segment, and orders its bytes out of the files
// where it holds something that was forgotten.
func (w *worker) deleteSegment(b *storage.Batch, state *pb.PartitionState, id uint64) {
	b.Delete(w.part.Space.Key(storage.TableSegment, storage.U64(id)))
	b.Delete(w.part.Space.Key(storage.TableSegmentLiveness, storage.U64(id)))
	pieces := w.part.Space.Prefix(storage.TableSegmentPiece, storage.U64(id))
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
func (w *worker) reembed(now *partition.Index, e partition.Embedder) (more bool, err error) {
	var seqs []uint64
	var texts []string
	err = w.org.WithStore(func(st *storage.Store) error {
		from := w.part.Space.Key(storage.TableChunk, storage.U64(w.reembedded))
		opts := storage.ScanOptions{Limit: reembedBatch, After: from}
		for rec, err := range storage.ScanRecords(st, w.part.Space.Prefix(storage.TableChunk), opts,
			func() *pb.Chunk { return &pb.Chunk{} }) {
			if err != nil {
				return err
			}
			seqs = append(seqs, rec.Value.GetSeq())
			if rec.Value.GetSeq() >= now.State.GetNextChunk() {
				break // staged by an attempt that a crash ended
			}
			done, found, err := st.GetRaw(partition.VectorKey(w.part, e.ID(), rec.Value.GetSeq()))
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
	b := storage.NewBatch(w.org.Store)
	vectors := make([][]float32, len(texts))
	var tasks []func(int) error
	for from := 0; from < len(texts); from += EmbedBatch {
		to := min(from+EmbedBatch, len(texts))
		tasks = append(tasks, func(worker int) error {
			for i := from; i < to; i++ {
				if texts[i] != "" {
					vectors[i] = w.org.System.Computers[worker].Encoders.Of(e).Passages(texts[i : i+1])[0]
				}
			}
			return nil
		})
	}
	for _, err := range w.org.System.CPU.All(w.org.ID, tasks) {
		if err != nil {
			return false, fmt.Errorf("embed anew: %w", err)
		}
	}
	for i, v := range vectors {
		if v != nil {
			partition.PutVector(b, w.part, e.ID(), seqs[i], v)
		}
	}
	if b.Len() > 0 {
		if err := w.org.Committer.Commit(b); err != nil {
			return false, err
		}
	}
	w.reembedded = seqs[len(texts)-1]
	return true, nil
}

// switchModel makes the new vectors serve.
func (w *worker) switchModel(now *partition.Index, e partition.Embedder) error {
	old := now.State.GetModel()
	next := &partition.Index{Snapshot: &index.Snapshot{}, State: partition.CloneState(now.State)}
	next.State.Model = e.ID()
	next.State.IndexVersion++
	var seqs []uint64
	for _, v := range now.Snapshot.Views {
		for doc := range v.Segment.Len() {
			seqs = append(seqs, v.Segment.Seq(doc))
		}
	}
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	final := storage.NewBatch(w.org.Store)
	for _, v := range now.Snapshot.Views {
		if v.ID != 0 {
			w.deleteSegment(final, now.State, v.ID)
		}
	}
	final.DeleteRange(w.part.Space.Prefix(storage.TableUnsealed))
	for piece := range slices.Chunk(seqs, rebuildChunks) {
		err := w.compute(func(worker int) error {
			return w.org.WithStore(func(st *storage.Store) (err error) {
				next.Snapshot, err = partition.IndexChunks(next.Snapshot, st, w.part, e.ID(), e.Dim(), piece,
					&w.org.System.Computers[worker].Analyzer)
				return err
			})
		})
		if err != nil {
			return fmt.Errorf("index anew: %w", err)
		}
	}
	for i := range next.Snapshot.Views {
		v := &next.Snapshot.Views[i]
		if v.Segment.Len() < cmp.Or(w.org.System.Config.SegmentChunks, defaultSealChunks) {
			for doc := range v.Segment.Len() {
				final.PutRaw(w.part.Space.Key(storage.TableUnsealed, storage.U64(v.Segment.Seq(doc))), nil)
			}
			continue
		}
		next.State.NextSegment++
		v.ID = next.State.GetNextSegment()
		if err := w.storeView(final, *v); err != nil {
			return err
		}
	}
	final.DeleteRange(w.part.Space.Prefix(storage.TableVector, storage.Str(old)))
	final.Put(w.part.Space.Key(storage.TableState), next.State)
	if _, err := w.publish(final, next); err != nil {
		return err
	}
	w.reembedded = 0
	w.org.System.Log.Info("partition serves with a new model", "org", w.org.ID.String(), "partition", w.part.ID.String(),
		"model", e.ID())
	return nil
}
