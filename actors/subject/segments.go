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
)

// indexWriter stores a partition's index in segments, and shows readers what is stored. It is the worker's, and its
// methods are called from the worker's slices.
type indexWriter struct {
	org  *tenant.View
	part *partition.Ref
	anew anew
}

// merge carries out a plan. A small result, of segments that are not stored, is not stored either.
func (x *indexWriter) merge(now *partition.Index, plan index.Plan) (*partition.Index, error) {
	var merged *index.Segment
	err := x.compute(func(int) (err error) {
		merged, err = index.Merge(plan.Views)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("merge segments: %w", err)
	}
	if merged.Len() < cmp.Or(x.org.System.Config.SegmentChunks, defaultSealChunks) &&
		!slices.ContainsFunc(plan.Views, func(v index.View) bool { return v.ID != 0 }) {
		snapshot, ok := now.Snapshot.Replace(plan, 0, merged)
		if !ok {
			return nil, errors.New("merge segments: the plan does not fit its own snapshot")
		}
		next := &partition.Index{Snapshot: snapshot, State: now.State} // nothing durable changes
		x.show(next)
		return next, nil
	}
	state := partition.CloneState(now.State)
	state.IndexVersion++
	return x.seal(now, plan, merged, state)
}

// compute runs one task in the organization's share of the CPU workers.
func (x *indexWriter) compute(task func(worker int) error) error {
	return x.org.System.CPU.Foreground(x.org.ID, []func(int) error{task})[0]
}

func (x *indexWriter) publish(b *storage.Batch, next *partition.Index) (*partition.Index, error) {
	if err := x.org.Committer.Commit(b); err != nil {
		return nil, err
	}
	x.show(next)
	return next, nil
}

// show makes next what readers see. Its state is committed.
func (x *indexWriter) show(next *partition.Index) {
	x.org.System.Checks.Committed(x.org, x.part, next)
	x.org.Residents.Publish(x.part, next)
}

// seal stores a merged segment in place of those of the plan: first its pieces, to which nothing refers yet, then in
// one commit the segment, its liveness and the removal of what it replaces.
func (x *indexWriter) seal(
	now *partition.Index, plan index.Plan, merged *index.Segment, state *pb.PartitionState,
) (*partition.Index, error) {
	state.NextSegment++
	id := state.GetNextSegment()
	snapshot, ok := now.Snapshot.Replace(plan, id, merged)
	if !ok {
		return nil, errors.New("seal segment: the plan does not fit its own snapshot")
	}
	final := storage.NewBatch(x.org.Store)
	for _, v := range snapshot.Views {
		if v.ID == id {
			if err := x.storeView(final, v); err != nil {
				return nil, err
			}
		}
	}
	for _, v := range plan.Views {
		if v.ID != 0 {
			x.deleteSegment(final, state, v.ID)
			continue
		}
		for doc := range v.Segment.Len() {
			final.Delete(x.part.Space.Key(storage.TableUnsealed, storage.U64(v.Segment.Seq(doc))))
		}
	}
	final.Put(x.part.Space.Key(storage.TableState), state)
	return x.publish(final, &partition.Index{Snapshot: snapshot, State: state})
}

// reseal stores a segment that was rebuilt from its chunks because an older text analysis had made it, and removes the
// old one. Otherwise each cold start would rebuild it.
func (x *indexWriter) reseal(now *partition.Index) error {
	old := now.Stale[0]
	next := &partition.Index{Snapshot: now.Snapshot, State: partition.CloneState(now.State), Stale: now.Stale[1:]}
	next.State.IndexVersion++
	final := storage.NewBatch(x.org.Store)
	if i := slices.IndexFunc(now.Snapshot.Views, func(v index.View) bool { return v.Segment == old.Rebuilt }); i >= 0 {
		next.State.NextSegment++
		views := slices.Clone(now.Snapshot.Views)
		views[i].ID = next.State.GetNextSegment()
		next.Snapshot = &index.Snapshot{Views: views}
		if err := x.storeView(final, views[i]); err != nil {
			return err
		}
	}
	x.deleteSegment(final, now.State, old.ID)
	final.Put(x.part.Space.Key(storage.TableState), next.State)
	_, err := x.publish(final, next)
	return err
}

// storeView writes a segment under its view's id, with its liveness.
func (x *indexWriter) storeView(final *storage.Batch, v index.View) error {
	if err := x.storeSegment(final, v.ID, v.Segment); err != nil {
		return err
	}
	final.PutRaw(x.part.Space.Key(storage.TableSegmentLiveness, storage.U64(v.ID)), v.AppendLiveness(nil))
	return nil
}

// storeSegment writes a segment's pieces at once, and its record with the batch.
func (x *indexWriter) storeSegment(final *storage.Batch, id uint64, seg *index.Segment) error {
	data := seg.AppendBinary(make([]byte, 0, seg.Size()))
	// An attempt that a crash ended may have left pieces under this id.
	stage := storage.NewBatch(x.org.Store)
	stage.DeleteRange(x.part.Space.Prefix(storage.TableSegmentPiece, storage.U64(id)))
	n := uint32(0)
	for piece := range slices.Chunk(data, segmentPiece) {
		stage.PutRaw(x.part.Space.Key(storage.TableSegmentPiece, storage.U64(id), storage.U32(n)), piece)
		n++
		if stage.Bytes() >= graph.StageBytes {
			if err := x.org.Committer.Commit(stage); err != nil {
				return err
			}
			stage = storage.NewBatch(x.org.Store)
		}
	}
	if stage.Len() > 0 {
		if err := x.org.Committer.Commit(stage); err != nil {
			return err
		}
	}
	first, last := seg.SeqRange()
	final.Put(x.part.Space.Key(storage.TableSegment, storage.U64(id)), &pb.Segment{
		Id: id, FirstSeq: first, LastSeq: last, Chunks: uint32(seg.Len()), Bytes: uint64(len(data)),
		Model: string(seg.Model()),
	})
	return nil
}

// deleteSegment deletes a stored segment. Where it holds something that was forgotten, its bytes are erased from the
// files too.
func (x *indexWriter) deleteSegment(b *storage.Batch, state *pb.PartitionState, id uint64) {
	b.Delete(x.part.Space.Key(storage.TableSegment, storage.U64(id)))
	b.Delete(x.part.Space.Key(storage.TableSegmentLiveness, storage.U64(id)))
	pieces := x.part.Space.Prefix(storage.TableSegmentPiece, storage.U64(id))
	if slices.Contains(state.GetForgottenSegments(), id) {
		b.EraseRange(pieces)
		return
	}
	b.DeleteRange(pieces)
}
