package graph

import (
	"bytes"
	"slices"
	"strings"

	"orgmem/actors/partition"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
)

// IndexChange is what a transaction changes in the partition's index: chunks that come and go, and nodes that leave
// search or come back to it. The index itself is built once, at the end (next).
type IndexChange struct {
	*Pending
	model     string        // that new chunks are embedded with
	entries   []index.Entry // of the new chunks
	removed   []uint64      // chunks that were replaced or forgotten
	hidden    []pb.NodeID   // leave search
	shown     []pb.NodeID   // come back to it
	forgotten []pb.NodeID   // of which nothing may be left
	vectors   []string      // the models that there are vectors of, once somebody has looked
}

// Hide takes a node out of search.
func (ix *IndexChange) Hide(id pb.NodeID) {
	ix.hidden = append(ix.hidden, id)
	ix.shown = slices.DeleteFunc(ix.shown, func(other pb.NodeID) bool { return other == id })
}

// show brings a hidden node back to search.
func (ix *IndexChange) show(id pb.NodeID) {
	ix.shown = append(ix.shown, id)
	ix.hidden = slices.DeleteFunc(ix.hidden, func(other pb.NodeID) bool { return other == id })
}

// isEmpty reports whether the transaction leaves the index as it is.
func (ix *IndexChange) isEmpty() bool {
	return len(ix.entries)+len(ix.removed)+len(ix.hidden)+len(ix.shown) == 0
}

// takesAway reports whether something can be found no more.
func (ix *IndexChange) takesAway() bool { return len(ix.removed)+len(ix.hidden)+len(ix.forgotten) > 0 }

// putChunks writes the chunks of a node, and their numbers into its record, which the caller writes.
func (ix *IndexChange) putChunks(it *Prepared, n *pb.Node) {
	item := it.GetItem()
	tokens := 0
	for _, c := range it.Chunks {
		tokens += c.Tokens
	}
	n.Turn = strings.TrimSpace(item.GetTitle()) == "" && tokens <= index.MaxTurnTokens
	space := ix.Part.Space
	ix.State.Model = ix.model
	to := ix.Batch.Batch
	large := len(item.GetContent()) > StageBytes/4 // its records take several times its size
	if large {
		to = storage.NewBatch(ix.Org.Store)
	}
	for i, c := range it.Chunks {
		seq := max(ix.State.NextChunk, 1) // 0 stands for "before the first"
		ix.State.NextChunk = seq + 1
		chunk := &pb.Chunk{
			Seq: seq, Node: n.Id, Ordinal: uint32(i), Text: c.Text, TitlePath: c.TitlePath, Tokens: uint32(c.Tokens),
			CreatedMs: ix.NowMs, Start: uint32(c.Start), End: uint32(c.End),
		}
		to.Put(space.Key(storage.TableChunk, storage.U64(seq)), chunk)
		if it.Vectors[i] == nil {
			ix.State.LacksVectors = true
		} else {
			ix.unchargedTokens += uint64(c.Tokens)
			partition.PutVector(to, ix.Part, ix.model, seq, it.Vectors[i])
		}
		ix.Batch.PutRaw(space.Key(storage.TableUnsealed, storage.U64(seq)), nil)
		ix.entries = append(ix.entries, index.EntryOf(chunk, n, it.Vectors[i], it.Passages[i]))
		n.Chunks = append(n.Chunks, seq)
		if large && to.Bytes() > StageBytes {
			ix.StagedBatches = append(ix.StagedBatches, to)
			to = storage.NewBatch(ix.Org.Store)
		}
	}
	if large && to.Len() > 0 {
		ix.StagedBatches = append(ix.StagedBatches, to)
	}
	ix.State.Chunks += uint64(len(it.Chunks))
}

// removeChunks takes a node's chunks away, so that it can get others. Their bytes stay in the files until those are
// compacted.
func (ix *IndexChange) removeChunks(n *pb.Node) error {
	models, err := ix.vectorModels() // the partition may be embedded anew just now
	if err != nil {
		return err
	}
	for _, seq := range n.GetChunks() {
		ix.Batch.Delete(ix.Part.Space.Key(storage.TableChunk, storage.U64(seq)))
		ix.Batch.Delete(partition.VectorKey(ix.Part, ix.model, seq)) // of this very slice
		for _, model := range models {
			ix.Batch.Delete(partition.VectorKey(ix.Part, model, seq))
		}
		ix.Batch.Delete(ix.Part.Space.Key(storage.TableUnsealed, storage.U64(seq)))
	}
	// Those of this very slice are in no segment yet.
	ix.entries = slices.DeleteFunc(ix.entries, func(e index.Entry) bool { return slices.Contains(n.GetChunks(), e.Seq) })
	ix.removed = append(ix.removed, n.GetChunks()...)
	ix.State.Chunks -= uint64(len(n.GetChunks()))
	n.Chunks = nil
	return nil
}

// eraseChunks takes the chunks of a node that is being forgotten out of the store, bytes included, and the index.
func (ix *IndexChange) eraseChunks(n *pb.Node) error {
	models, err := ix.vectorModels()
	if err != nil {
		return err
	}
	space := ix.Part.Space
	seqs := n.GetChunks()
	for len(seqs) > 0 {
		run := 1 // a node's chunks have numbers in a row
		for run < len(seqs) && seqs[run] == seqs[0]+uint64(run) {
			run++
		}
		first, end := storage.U64(seqs[0]), storage.U64(seqs[0]+uint64(run))
		ix.Batch.EraseRange(storage.Between(space.Key(storage.TableChunk, first), space.Key(storage.TableChunk, end)))
		ix.Batch.DeleteRange(storage.Between(space.Key(storage.TableUnsealed, first), space.Key(storage.TableUnsealed, end)))
		for _, model := range models {
			ix.Batch.EraseRange(storage.Between(
				space.Key(storage.TableVector, storage.Str(model), first), space.Key(storage.TableVector, storage.Str(model), end)))
		}
		seqs = seqs[run:]
	}
	ix.removed = append(ix.removed, n.GetChunks()...)
	ix.State.Chunks -= uint64(len(n.GetChunks()))
	return nil
}

// vectorModels lists the models that there are vectors of: the one that serves, and perhaps another that the partition
// is being embedded with, or once was.
func (ix *IndexChange) vectorModels() (models []string, err error) {
	if ix.vectors != nil {
		return ix.vectors, nil
	}
	ix.vectors, err = partition.VectorModels(ix.Store, ix.Part.Space)
	return ix.vectors, err
}

// next returns the index with the change. compute runs the building of the segment of the new chunks.
func (ix *IndexChange) next(
	now *index.Snapshot, dim int, compute func(task func(worker int) error) error,
) (*index.Snapshot, error) {
	if ix.isEmpty() {
		return now, nil
	}
	next := now.ForgetSeqs(ix.removed...)
	if len(ix.entries) > 0 {
		var seg *index.Segment
		err := compute(func(int) (err error) {
			seg, err = ix.segment(dim)
			return err
		})
		if err != nil {
			return nil, err
		}
		next = next.With(0, seg)
	}
	next = next.Hide(ix.hidden...).Show(ix.shown...)
	putLiveness(ix.Batch.Batch, ix.Part, now, next)
	ix.State.IndexVersion++
	return next, nil
}

// segment builds the index of the new chunks.
func (ix *IndexChange) segment(dim int) (*index.Segment, error) {
	b := index.NewBuilder(index.ModelID(ix.model), dim)
	for _, entry := range ix.entries {
		if err := b.Add(entry); err != nil {
			return nil, err
		}
	}
	return b.Build()
}

// markForgotten notes the stored segments that hold something of the nodes that the transaction forgets, be it of
// chunks that were replaced earlier. The partition's worker rewrites them.
func (ix *IndexChange) markForgotten(now *partition.Index) {
	if len(ix.forgotten) == 0 {
		return
	}
	mark := func(id uint64) {
		if !slices.Contains(ix.State.GetForgottenSegments(), id) {
			ix.State.ForgottenSegments = append(ix.State.ForgottenSegments, id)
		}
	}
	for _, v := range now.Snapshot.Views {
		if v.ID == 0 {
			continue
		}
		whole := &index.Snapshot{Views: []index.View{{Segment: v.Segment}}}
		if whole.Forget(ix.forgotten...) != whole {
			mark(v.ID)
		}
	}
	for _, old := range now.Stale {
		mark(old.ID)
	}
	if len(ix.State.GetForgottenSegments()) > 0 && ix.State.GetForgottenMs() == 0 {
		ix.State.ForgottenMs = ix.NowMs
	}
}

// putLiveness writes the liveness of stored segments in which something was
// hidden or shown.
func putLiveness(b *storage.Batch, part *partition.Ref, before, after *index.Snapshot) {
	old := map[uint64][]byte{}
	for _, v := range before.Views {
		if v.ID != 0 {
			old[v.ID] = v.AppendLiveness(nil)
		}
	}
	for _, v := range after.Views {
		if v.ID == 0 {
			continue
		}
		if l := v.AppendLiveness(nil); !bytes.Equal(l, old[v.ID]) {
			b.PutRaw(part.Space.Key(storage.TableSegmentLiveness, storage.U64(v.ID)), l)
		}
	}
}
