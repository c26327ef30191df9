package graph

import (
	pb "orgmem/proto"
	"orgmem/storage"
)

// erase takes the texts out of a node's history. What happened, when, and by whom stays.
func (h *History) erase(id pb.NodeID) error {
	all := h.Part.Space.Prefix(storage.TableHistory, storage.Str(id))
	var kept []storage.Record[*pb.Audit]
	for rec, err := range storage.ScanRecords(h.Store, all, storage.ScanOptions{Limit: maxKeptHistory},
		func() *pb.Audit { return &pb.Audit{} }) {
		if err != nil {
			return err
		}
		rec.Value.Reason = ""
		for _, c := range rec.Value.GetChanges() {
			if forgettable(c.GetField()) {
				c.Before, c.After, c.Cut = nil, nil, false
			}
		}
		kept = append(kept, rec)
	}
	h.Batch.EraseRange(all)
	for _, rec := range kept {
		h.Batch.Put(rec.Key, rec.Value)
	}
	return nil
}

// eraseReasons takes the reasons out of the histories of the nodes that one being forgotten has superseded, because
// they may quote it. Those nodes are found by their edges to it, also by edges that are forgotten already.
func (h *History) eraseReasons(by pb.NodeID) error {
	for _, place := range []string{pb.OriginSupersede, pb.StatusTombstoned} {
		for item, err := range h.Store.Scan(EdgesOfTarget(h.Part.Space, by, place).Children(), storage.ScanOptions{}) {
			if err != nil {
				return err
			}
			if end := DecodeEdgeEnd(item.Value); end.Kind == typeSupersededBy {
				if err := h.eraseReasonsOf(end.Other, by); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// eraseTypes takes the types of a node's edges out of the history of a neighbour.
func (h *History) eraseTypes(neighbour, id pb.NodeID) error {
	all := h.Part.Space.Prefix(storage.TableHistory, storage.Str(neighbour))
	for rec, err := range storage.ScanRecords(h.Store, all, storage.ScanOptions{Limit: maxKeptHistory},
		func() *pb.Audit { return &pb.Audit{} }) {
		if err != nil {
			return err
		}
		var kind *pb.FieldChange
		his := false
		for _, c := range rec.Value.GetChanges() {
			switch c.GetField() {
			case fieldType:
				kind = c
			case fieldSource, fieldTarget:
				his = his || c.GetBefore() == string(id) || c.GetAfter() == string(id)
			}
		}
		if kind == nil || !his || kind.Before == nil && kind.After == nil {
			continue
		}
		kind.Before, kind.After = nil, nil
		h.Batch.Erase(rec.Key)
		h.Batch.Put(rec.Key, rec.Value)
	}
	return nil
}

// eraseReasonsOf takes the reason for which one node was superseded by another out of its history.
func (h *History) eraseReasonsOf(id, by pb.NodeID) error {
	all := h.Part.Space.Prefix(storage.TableHistory, storage.Str(id))
	for rec, err := range storage.ScanRecords(h.Store, all, storage.ScanOptions{Limit: maxKeptHistory},
		func() *pb.Audit { return &pb.Audit{} }) {
		if err != nil {
			return err
		}
		for _, c := range rec.Value.GetChanges() {
			if rec.Value.GetReason() != "" && c.GetField() == fieldSupersededBy && c.GetAfter() == string(by) {
				rec.Value.Reason = ""
				h.Batch.Erase(rec.Key)
				h.Batch.Put(rec.Key, rec.Value)
			}
		}
	}
	return nil
}
