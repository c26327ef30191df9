package partition

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"orgmem/brain/index"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Ref is a partition's identity, which never changes.
type Ref struct {
	ID      pb.PartitionID
	Kind    string
	Subject pb.SubjectKey // empty for a member
	Secret  []byte
	Created int64
	Born    uint64 // Partition.born
	Opener  Opener
	Store   storage.StoreID
	Space   storage.Space
}

// Opener opens what the organization of a partition has sealed in it.
type Opener interface {
	// Unseal opens a secret of a kind and an owner. weak says that it was sealed before there was an operator's key.
	Unseal(kind string, sealed, owner []byte) (secret []byte, weak bool, err error)
}

// NewRef makes a reference of a partition's record in a store.
func NewRef(store storage.StoreID, seals Opener, id pb.PartitionID, rec *pb.Partition) *Ref {
	return &Ref{
		ID: id, Kind: rec.GetKind(), Subject: pb.SubjectKey(rec.GetSubject()), Secret: rec.GetSecret(),
		Created: rec.GetCreatedMs(), Born: rec.GetBorn(), Opener: seals,
		Store: store, Space: storage.PartitionSpace(store, id),
	}
}

// SuffixEncoding spells node id suffixes: lower case, no padding, safe in paths.
var SuffixEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NodeFor returns the id of the node that holds a content. It depends on the
// partition's secret: without it nobody can test whether a forgotten text was
// here by hashing a guess.
func (p *Ref) NodeFor(content string) pb.NodeID {
	mac := hmac.New(sha256.New, p.Secret)
	mac.Write([]byte("node"))
	mac.Write([]byte(content))
	return p.nodeID(mac.Sum(nil))
}

// nodeID spells the id of a node of this partition, whose sum tells it from others.
func (p *Ref) nodeID(sum []byte) pb.NodeID {
	return pb.NodeID("ingest:" + p.ID.String() + ":" + SuffixEncoding.EncodeToString(sum[:20]))
}

// NodeIn returns the id of the node that holds a content within a scope, such as
// an event of a coding session: equal content outside of it is another node.
func (p *Ref) NodeIn(scope, content string) pb.NodeID {
	mac := hmac.New(sha256.New, p.Secret)
	mac.Write([]byte("scoped"))
	mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(scope))))
	mac.Write([]byte(scope))
	mac.Write([]byte(content))
	return p.nodeID(mac.Sum(nil))
}

// Counter is the key of one of the partition's counters.
func (p *Ref) Counter(name string) storage.Key {
	return p.Space.Key(storage.TableCounter, storage.Str(name))
}

// Session is the key of a coding session.
func (p *Ref) Session(id string) storage.Key {
	return p.Space.Key(storage.TableSession, storage.Str(id))
}

// ContradictionID names the contradiction between two nodes.
func (p *Ref) ContradictionID(a, b pb.NodeID) pb.DerivedID {
	return p.DerivedID("contradiction", string(min(a, b)), string(max(a, b)))
}

// DerivedNode names a node that was read out of texts. Like the id of a content's
// node it depends on the partition's secret.
func (p *Ref) DerivedNode(kind, what string) pb.NodeID {
	mac := hmac.New(sha256.New, p.Secret)
	mac.Write([]byte("derived\x00" + kind + "\x00"))
	mac.Write([]byte(what))
	return pb.NodeID(kind + ":" + p.ID.String() + ":" + SuffixEncoding.EncodeToString(mac.Sum(nil)[:20]))
}

// VariantFor is NodeFor for a content whose own id is taken n times.
func (p *Ref) VariantFor(content string, n int) pb.NodeID {
	if n == 0 {
		return p.NodeFor(content)
	}
	mac := hmac.New(sha256.New, p.Secret)
	mac.Write([]byte("variant" + strconv.Itoa(n) + "\x00"))
	mac.Write([]byte(content))
	return p.nodeID(mac.Sum(nil))
}

// ContentKey is where the holder of a content stands that is not the node of its id.
func (p *Ref) ContentKey(content string) storage.Key {
	mac := hmac.New(sha256.New, p.Secret)
	mac.Write([]byte("content"))
	mac.Write([]byte(content))
	return p.Space.Key(storage.TableContentHash, storage.Hash32([sha256.Size]byte(mac.Sum(nil))))
}

// DerivedID names what a cycle finds, so that it is the same when it is found
// again.
func (p *Ref) DerivedID(kind string, of ...string) pb.DerivedID {
	mac := hmac.New(sha256.New, p.Secret)
	mac.Write([]byte("finding\x00" + kind))
	for _, s := range of {
		mac.Write([]byte("\x00" + s))
	}
	return pb.DerivedID(mac.Sum(nil)[:16])
}

// EventSubject is what events call a partition: the subject's key, or a member's
// user id; nil for none.
func (p *Ref) EventSubject() any {
	switch {
	case p == nil:
		return nil
	case p.Subject != "":
		return string(p.Subject)
	default:
		return pb.UserID(p.ID).String()
	}
}

// Index is a partition's hot state at one version of its index. It is
// immutable.
type Index struct {
	Snapshot *index.Snapshot
	State    *pb.PartitionState
	// Stale are the stored segments that snapshot does not hold as they are: they
	// were made by another text analysis. The worker replaces them before it does
	// anything else.
	Stale []StaleSegment
}

// StaleSegment is a stored segment and what was built from its chunks instead.
type StaleSegment struct {
	ID      uint64
	Rebuilt *index.Segment // nil when nothing of it is left
}

// loadPartition reads a partition's index: the stored segments as they are, where
// they are usable, and the few chunks that are in none yet from their records.
func loadPartition(
	st *storage.Store, part *Ref, dim func(string) int, usable func(index.View) bool,
) (_ *Index, err error) {
	snap, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer CloseSnapshot(snap, &err)
	state := &pb.PartitionState{}
	if _, err := snap.Get(part.Space.Key(storage.TableState), state); err != nil {
		return nil, err
	}
	now := &index.Snapshot{}
	var unusable []index.View
	for rec, err := range storage.ScanRecords(
		snap, part.Space.Prefix(storage.TableSegment), storage.ScanOptions{},
		func() *pb.Segment { return &pb.Segment{} },
	) {
		if err != nil {
			return nil, err
		}
		view, err := LoadSegment(snap, part, rec.Value.GetId())
		if err != nil {
			return nil, fmt.Errorf("segment %d: %w", rec.Value.GetId(), err)
		}
		if !usable(view) {
			unusable = append(unusable, view)
			continue
		}
		now.Views = append(now.Views, view)
	}
	width, err := storedDim(snap, part, state.GetModel(), dim)
	if err != nil {
		return nil, err
	}
	var analyzer text.Analyzer
	var stale []StaleSegment
	for _, view := range unusable {
		var seqs []uint64
		for doc := range view.Segment.Len() {
			if !view.IsGone(doc) {
				seqs = append(seqs, view.Segment.Seq(doc))
			}
		}
		before := len(now.Views)
		if now, err = IndexChunks(now, snap, part, state.GetModel(), width, seqs, &analyzer); err != nil {
			return nil, err
		}
		old := StaleSegment{ID: view.ID}
		if len(now.Views) > before {
			old.Rebuilt = now.Views[before].Segment
		}
		stale = append(stale, old)
	}
	// A merged segment has a newer id than one behind it: the order of the views
	// is that of their chunks, as it was before they were stored.
	slices.SortFunc(now.Views, func(a, b index.View) int {
		x, _ := a.Segment.SeqRange()
		y, _ := b.Segment.SeqRange()
		return cmp.Compare(x, y)
	})
	tail, err := unsealed(snap, part)
	if err != nil {
		return nil, err
	}
	if now, err = IndexChunks(now, snap, part, state.GetModel(), width, tail, &analyzer); err != nil {
		return nil, err
	}
	return &Index{Snapshot: now, State: state, Stale: stale}, nil
}

// storedDim is the dimension of a partition's vectors of a model, as dim says where there are none. The node may not
// have the model, and the first of the chunks may have no vector.
func storedDim(r storage.Reader, part *Ref, model string, dim func(string) int) (int, error) {
	for item, err := range r.Scan(part.Space.Prefix(storage.TableVector, storage.Str(model)),
		storage.ScanOptions{Limit: 1}) {
		if err != nil {
			return 0, err
		}
		if n := len(item.Value) / 2; n > 0 { // half floats
			return n, nil
		}
	}
	return dim(model), nil
}

// CloseSnapshot ends a snapshot; its failure is the reader's.
func CloseSnapshot(snap *storage.Snapshot, err *error) {
	*err = errors.Join(*err, snap.Close())
}

// LoadSegment reads a stored segment with what is live in it.
func LoadSegment(r storage.Reader, part *Ref, id uint64) (index.View, error) {
	var data []byte
	for item, err := range r.Scan(part.Space.Prefix(storage.TableSegmentPiece, storage.U64(id)), storage.ScanOptions{}) {
		if err != nil {
			return index.View{}, err
		}
		data = append(data, item.Value...)
	}
	seg, err := index.OpenSegment(data)
	if err != nil {
		return index.View{}, err
	}
	liveness, _, err := r.GetRaw(part.Space.Key(storage.TableSegmentLiveness, storage.U64(id)))
	if err != nil {
		return index.View{}, err
	}
	return index.OpenView(id, seg, liveness)
}

// unsealed lists the chunks that are in no stored segment.
func unsealed(r storage.Reader, part *Ref) ([]uint64, error) {
	var seqs []uint64
	for item, err := range r.Scan(part.Space.Prefix(storage.TableUnsealed), storage.ScanOptions{}) {
		if err != nil {
			return nil, err
		}
		parts := item.Key.Parts()
		seqs = append(seqs, parts.U64())
		if err := parts.Done(); err != nil {
			return nil, err
		}
	}
	return seqs, nil
}

// IndexChunks adds chunks to a snapshot from their records, with the vectors of
// the given model. Chunks that are no longer there are passed over.
func IndexChunks(
	snapshot *index.Snapshot, r storage.Reader, part *Ref, model string, dim int, seqs []uint64, analyzer *text.Analyzer,
) (*index.Snapshot, error) {
	if len(seqs) == 0 {
		return snapshot, nil
	}
	nodes := map[string]*pb.Node{}
	var hidden []pb.NodeID
	var b *index.Builder
	for _, seq := range seqs {
		chunk := &pb.Chunk{}
		found, err := r.Get(part.Space.Key(storage.TableChunk, storage.U64(seq)), chunk)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		node := nodes[chunk.GetNode()]
		if node == nil {
			node = &pb.Node{}
			if found, err = r.Get(part.Space.Key(storage.TableNode, storage.Str(chunk.GetNode())), node); err != nil {
				return nil, err
			}
			if !found {
				continue
			}
			nodes[chunk.GetNode()] = node
			if node.GetStatus() == pb.StatusSuperseded {
				hidden = append(hidden, pb.NodeID(node.GetId()))
			}
		}
		vec, err := ReadVector(r, part, model, seq)
		if err != nil {
			return nil, err
		}
		if b == nil {
			if vec != nil {
				dim = len(vec) // of a model, perhaps, that this node does not carry
			}
			b = index.NewBuilder(index.ModelID(model), dim)
		}
		if err := b.Add(index.EntryOf(
			chunk, node, vec, analyzer.Passage(index.TitleLine(chunk.GetTitlePath()), chunk.GetText()),
		)); err != nil {
			return nil, err
		}
	}
	if b == nil {
		return snapshot, nil
	}
	seg, err := b.Build()
	if err != nil {
		return nil, err
	}
	return snapshot.With(0, seg).Hide(hidden...), nil
}
