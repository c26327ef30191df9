package ground

import (
	"slices"

	"orgmem/brain/temporal"
	pb "orgmem/proto"
	"orgmem/storage"
)

// What a cognition cycle derives has an entry under every node that it rests on.

// RestOn writes that a derived record rests on some nodes: forgetting any of them finds the record by its entry
// (RestingOn).
func RestOn(b *storage.Batch, space storage.Space, id pb.DerivedID, record storage.Key, nodes ...string) {
	for _, n := range nodes {
		b.PutRaw(space.Key(storage.TableDerivedByNode, storage.Str(n), storage.ID16(id)), record.Bytes())
	}
}

// RestingOn returns the records that rest on a node, up to limit; 0 is no limit.
func RestingOn(r storage.Reader, space storage.Space, node pb.NodeID, limit int) ([]storage.Key, error) {
	var keys []storage.Key
	for item, err := range r.Scan(space.Prefix(storage.TableDerivedByNode, storage.Str(node)),
		storage.ScanOptions{Limit: limit}) {
		if err != nil {
			return nil, err
		}
		key, err := space.All().ParseKey(item.Value)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// MaxDerivedPerScan bounds the records that one page of a list of derived records reads. The page may then be short,
// and its cursor goes on.
const MaxDerivedPerScan = 2000

// StoodAt reports whether a node can carry what was derived from it at a time; 0 is now. A superseded node can until it
// was superseded. When it began to hold does not matter, since a text tells of times before its own.
func StoodAt(r storage.Reader, space storage.Space, id pb.NodeID, at int64) (bool, error) {
	return SaidAt(r, space, id, 0, at)
}

// SaidAt is StoodAt for what rests on one passage of the node, which it must still have; 0 is any. A node that is
// edited by a program of a version before leaves behind what that does not know of.
func SaidAt(r storage.Reader, space storage.Space, id pb.NodeID, chunk uint64, at int64) (bool, error) {
	n := &pb.Node{}
	found, err := r.Get(space.Key(storage.TableNode, storage.Str(id)), n)
	if err != nil || !found || chunk != 0 && !slices.Contains(n.GetChunks(), chunk) {
		return false, err
	}
	if at == 0 {
		return n.GetStatus() == pb.StatusLive, nil
	}
	return n.GetStatus() != pb.StatusTombstoned && temporal.HeldBetween(0, n.GetValidToMs(), at), nil
}

// Stands reports whether a node can carry what was derived from it: it exists and is neither forgotten nor superseded.
func Stands(r storage.Reader, space storage.Space, id pb.NodeID) (bool, error) {
	n := &pb.Node{}
	found, err := r.Get(space.Key(storage.TableNode, storage.Str(id)), n)
	return found && n.GetStatus() == pb.StatusLive, err
}

// Claims reads the texts of both sides of a contradiction; nil when one of them no longer stands.
func Claims(r storage.Reader, space storage.Space, x *pb.Contradiction) (*pb.ClaimPair, error) {
	pair := &pb.ClaimPair{Contradiction: x}
	for _, side := range []struct {
		node  string
		chunk uint64
		text  *string
	}{{x.GetNodeA(), x.GetChunkA(), &pair.TextA}, {x.GetNodeB(), x.GetChunkB(), &pair.TextB}} {
		ok, err := Stands(r, space, pb.NodeID(side.node))
		if err != nil || !ok {
			return nil, err
		}
		chunk := &pb.Chunk{}
		found, err := r.Get(space.Key(storage.TableChunk, storage.U64(side.chunk)), chunk)
		if err != nil || !found || chunk.GetNode() != side.node {
			return nil, err // the node was edited: the claim may be gone
		}
		*side.text = chunk.GetText()
	}
	return pair, nil
}
