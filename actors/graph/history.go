package graph

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/canon"
	"orgmem/storage"
)

// What can happen to a node. Events know fewer kinds of change: one that came
// back with its content is an updated one there.
const (
	ActionCreated    = "created"    // it was stored for the first time
	ActionUpdated    = "updated"    // some of its fields changed
	ActionSuperseded = "superseded" // another took its place, and it left search
	ActionRevived    = "revived"    // its content came back after it was superseded or erased
	ActionForgotten  = "forgotten"  // what it held was erased
	ActionRestored   = "restored"   // it came back to its place without its content

	// ActionEdgeAsserted says that an edge was asserted. Both ends of an edge tell what happens to it.
	ActionEdgeAsserted = changeEdgeAsserted
	// ActionEdgeForgotten says that an edge was forgotten.
	ActionEdgeForgotten = changeEdgeForgotten
)

const (
	// MaxHistoryText bounds a text in a history entry: enough to see what a note
	// said. Of a longer one its beginning is kept, since every edit of a large
	// document would otherwise store it twice more.
	MaxHistoryText = 16 << 10
	// maxKeptHistory bounds the entries that outlive the forgetting of a node: they
	// are written anew without their texts, all in one commit.
	maxKeptHistory = 10_000
)

// deed is what ingestion did to a node, for the events of its slice.
type deed struct {
	job    pb.JobID
	action string
	node   pb.NodeID
}

// note adds an entry to a node's history: the changes are of its fields.
func (f *Tx) note(id pb.NodeID, action, reason string, changes ...*pb.FieldChange) {
	// What it supersedes came from another file, and would keep the name of this one.
	if reason == "" && f.ImportFile != "" && action != ActionSuperseded {
		reason = "imported from " + f.ImportFile
	}
	entry := &pb.Audit{AtMs: f.NowMs, Subject: string(f.Part.Subject), Action: action, Reason: reason, Changes: changes}
	switch {
	case f.Call != nil:
		entry.KeyHash, entry.User, entry.RequestId = f.Call.Principal.Key[:], f.Call.Principal.User.Bytes(),
			f.Call.Env.GetRequestId()
	case f.Job != nil:
		entry.KeyHash, entry.User = f.Job.GetKey(), f.Job.GetUser()
		f.recentChanges = append(f.recentChanges, deed{pb.JobID(f.Job.GetId()), action, id})
	}
	f.State.NextHistory++
	f.Batch.Put(f.Part.Space.Key(storage.TableHistory, storage.Str(id), storage.U64Desc(f.State.GetNextHistory())), entry)
}

// fieldChange is a field before and after; empty: it had, or has, none.
func fieldChange(field, before, after string) *pb.FieldChange {
	c := &pb.FieldChange{Field: field}
	for _, side := range []struct {
		text string
		set  **string
	}{{before, &c.Before}, {after, &c.After}} {
		if side.text == "" {
			continue
		}
		kept := side.text
		if len(kept) > MaxHistoryText {
			kept = kept[:MaxHistoryText]
			for !utf8.RuneStart(side.text[len(kept)]) {
				kept = kept[:len(kept)-1]
			}
			c.Cut = true
		}
		*side.set = new(strings.Clone(kept))
	}
	return c
}

// The fields whose values are the ids of nodes.
const (
	fieldSupersededBy = "supersededBy"
	fieldSource       = "source"
	fieldTarget       = "target"
)

// NamesNode reports whether a field's values are the ids of nodes.
func NamesNode(field string) bool {
	return field == fieldSupersededBy || field == fieldSource || field == fieldTarget
}

// noteEdge adds to the histories of an edge's ends what became of it; nil: it was not,
// or is not any more. Its ends and type say which one it is. Its note and evidence are
// left out: they go with the edge, and these entries stay.
func (f *Tx) noteEdge(action, reason string, before, after *pb.Edge) {
	weight := func(e *pb.Edge, v float64) string {
		if e == nil {
			return ""
		}
		if e.GetOrigin() != pb.OriginAsserted { // it was computed
			v = canon.Measure(v)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	changes := []*pb.FieldChange{
		fieldChange(fieldSource, before.GetSource(), after.GetSource()),
		fieldChange(fieldType, before.GetType(), after.GetType()),
		fieldChange(fieldTarget, before.GetTarget(), after.GetTarget()),
		fieldChange("weight", weight(before, before.GetWeight()), weight(after, after.GetWeight())),
		fieldChange("confidence", weight(before, before.GetConfidence()), weight(after, after.GetConfidence())),
	}
	edge := cmp.Or(before, after)
	for _, end := range slices.Compact([]string{edge.GetSource(), edge.GetTarget()}) {
		f.note(pb.NodeID(end), action, reason, changes...)
	}
}

// described lists what differs between two descriptions of a node.
func described(before, after *pb.Node) (changes []*pb.FieldChange) {
	for _, field := range []struct{ name, before, after string }{
		{"title", before.GetTitle(), after.GetTitle()},
		{"kind", before.GetKind(), after.GetKind()},
		{"metadata", string(before.GetMetadata()), string(after.GetMetadata())},
		{"domainId", before.GetDomain(), after.GetDomain()},
		{"status", before.GetStatus(), after.GetStatus()},
		{fieldSupersededBy, before.GetSupersededBy(), after.GetSupersededBy()},
	} {
		if field.before != field.after {
			changes = append(changes, fieldChange(field.name, field.before, field.after))
		}
	}
	return changes
}

// fieldType is an edge's type in the histories of its nodes.
const fieldType = "type"

// forgettable are the fields whose values go when a node is forgotten; the others
// are its kind and its place, which it keeps.
func forgettable(field string) bool {
	return field == "title" || field == "content" || field == "metadata" || field == fieldType
}

// eraseHistory takes the texts out of a node's history: that something happened
// stays, and when, and by whom.
func (f *Tx) eraseHistory(id pb.NodeID) error {
	all := f.Part.Space.Prefix(storage.TableHistory, storage.Str(id))
	var kept []storage.Record[*pb.Audit]
	for rec, err := range storage.ScanRecords(f.Store, all, storage.ScanOptions{Limit: maxKeptHistory},
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
	f.Batch.EraseRange(all)
	for _, rec := range kept {
		f.Batch.Put(rec.Key, rec.Value)
	}
	return nil
}

// eraseReasons takes the reasons out of the histories of the nodes that were
// superseded by one that is being forgotten: they may quote it. The edges that lead
// from them tell which those are, also the ones that are forgotten already.
func (f *Tx) eraseReasons(by pb.NodeID) error {
	for _, place := range []string{pb.OriginSupersede, pb.StatusTombstoned} {
		for item, err := range f.Store.Scan(EdgesOfTarget(f.Part.Space, by, place).Children(), storage.ScanOptions{}) {
			if err != nil {
				return err
			}
			if end := DecodeEdgeEnd(item.Value); end.Kind == typeSupersededBy {
				if err := f.eraseReasonsOf(end.Other, by); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// eraseTypes takes the types of a node's edges out of the history of a neighbour.
func (f *Tx) eraseTypes(neighbour, id pb.NodeID) error {
	all := f.Part.Space.Prefix(storage.TableHistory, storage.Str(neighbour))
	for rec, err := range storage.ScanRecords(f.Store, all, storage.ScanOptions{Limit: maxKeptHistory},
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
		f.Batch.Erase(rec.Key)
		f.Batch.Put(rec.Key, rec.Value)
	}
	return nil
}

func (f *Tx) eraseReasonsOf(id, by pb.NodeID) error {
	all := f.Part.Space.Prefix(storage.TableHistory, storage.Str(id))
	for rec, err := range storage.ScanRecords(f.Store, all, storage.ScanOptions{Limit: maxKeptHistory},
		func() *pb.Audit { return &pb.Audit{} }) {
		if err != nil {
			return err
		}
		for _, c := range rec.Value.GetChanges() {
			if rec.Value.GetReason() != "" && c.GetField() == fieldSupersededBy && c.GetAfter() == string(by) {
				rec.Value.Reason = ""
				f.Batch.Erase(rec.Key)
				f.Batch.Put(rec.Key, rec.Value)
			}
		}
	}
	return nil
}

// nodeHistory pages through what happened to a node, newest first, also to a
// forgotten one, until it is removed.
func nodeHistory(c *tenant.Call, r storage.Reader, op *pb.NodeHistory) (*pb.Reply, error) {
	id := pb.NodeID(op.GetId())
	found, err := r.Get(c.Part.Space.Key(storage.TableNode, storage.Str(id)), &pb.Node{})
	if err != nil {
		return nil, err
	}
	if !found {
		return tenant.Refuse(nodeNotFound()), nil
	}
	all := c.Part.Space.Prefix(storage.TableHistory, storage.Str(id))
	kind := tenant.CursorKind{List: "node history", Filters: op.GetId(), Partition: c.Part.ID}
	entries, next, p, err := tenant.PageOfKeys(c.Org, r, all, kind, op.GetPage(), tenant.MaxRecordsPerPage,
		func(item storage.Item) (*pb.Audit, bool, error) {
			a := &pb.Audit{}
			return a, true, item.Decode(a)
		})
	if p != nil || err != nil {
		return tenant.Refuse(p), err
	}
	c.ReadUnits = tenant.UnitsOf(len(entries))
	list := &pb.HistoryList{Changes: entries, NextCursor: next}
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_History{History: list}}), nil
}
