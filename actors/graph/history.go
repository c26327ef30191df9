package graph

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

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
	// MaxHistoryText bounds a text in a history entry: enough to see what a note said. A longer one is cut, since
	// otherwise every edit of a large document would store it twice more.
	MaxHistoryText = 16 << 10
	// maxKeptHistory bounds the entries that outlive the forgetting of a node: they
	// are written anew without their texts, all in one commit.
	maxKeptHistory = 10_000
)

// fieldChange is a field before and after; empty means that it had, or has, no value.
func fieldChange(field, before, after string) *pb.FieldChange {
	c := &pb.FieldChange{Field: field}
	for _, side := range []struct {
		text string
		set  **string
	}{{before, &c.Before}, {after, &c.After}} {
		if side.text == "" {
			continue
		}
		kept := canon.Prefix(side.text, MaxHistoryText)
		c.Cut = c.Cut || len(kept) < len(side.text)
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

// forgettable reports whether a field's values are erased when a node is forgotten. The others are its kind and its
// place, which it keeps.
func forgettable(field string) bool {
	return field == "title" || field == "content" || field == "metadata" || field == fieldType
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

// History writes what a transaction does to nodes into their histories, and keeps what ingestion did for the events of
// its slice.
type History struct {
	*Pending
	ImportFile string // that the item at hand was imported from
	done       []action
}

// action is what an item of a job did to a node.
type action struct {
	job  pb.JobID
	name string
	node pb.NodeID
}

// Put adds an entry to a node's history as it is.
func (h *History) Put(id pb.NodeID, entry *pb.Audit) {
	h.State.NextHistory++
	h.Batch.Put(h.Part.Space.Key(storage.TableHistory, storage.Str(id), storage.U64Desc(h.State.GetNextHistory())), entry)
}

// note adds what happened to a node now to its history. The changes are of its fields.
func (h *History) note(id pb.NodeID, what, reason string, changes ...*pb.FieldChange) {
	// What it supersedes came from another file, and would keep the name of this one.
	if reason == "" && h.ImportFile != "" && what != ActionSuperseded {
		reason = "imported from " + h.ImportFile
	}
	entry := &pb.Audit{AtMs: h.NowMs, Subject: string(h.Part.Subject), Action: what, Reason: reason, Changes: changes}
	switch {
	case h.Call != nil:
		entry.KeyHash, entry.User, entry.RequestId = h.Call.Principal.Key[:], h.Call.Principal.User.Bytes(),
			h.Call.Env.GetRequestId()
	case h.Job != nil:
		entry.KeyHash, entry.User = h.Job.GetKey(), h.Job.GetUser()
		h.done = append(h.done, action{pb.JobID(h.Job.GetId()), what, id})
	}
	h.Put(id, entry)
}

// noteEdge adds what happened to an edge to the histories of both of its ends. before is nil where the edge is new,
// after where it is gone. Its ends and type say which edge it is. Its note and evidence are left out, since they go
// with the edge and these entries stay.
func (h *History) noteEdge(what, reason string, before, after *pb.Edge) {
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
		if edge.GetOfEdge() && end == edge.GetSource() {
			continue // an edge has no history
		}
		h.note(pb.NodeID(end), what, reason, changes...)
	}
}
