package export

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orgmem/actors/graph"
	"orgmem/actors/ground"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/document"
	pb "orgmem/proto"
	"orgmem/storage"
)

// What a document says was written by this service once, and may have been changed
// since: no field is taken that the service could not have written itself. A part is
// refused as a whole, before anything of it is there.

const (
	// maxRestoreID bounds the ids of nodes and edges; the longest that the service
	// makes, a supersession's, has two of nodes and is below 300 bytes. Two of them and
	// a type make a key (graph.EdgeIdentity).
	maxRestoreID = 1 << 10
	// maxRestoreType bounds the types of edges and of what was read; clients' have
	// at most 64 bytes (api.maxEdgeType), and so have the service's.
	maxRestoreType = 64
	// maxRestoreWeight bounds what is at most 1, and may be a cosine, which is rounded.
	maxRestoreWeight = 1.001
)

// refusal says which field of a record cannot be, and why.
func refusal(record, field, why string, args ...any) error {
	return fmt.Errorf("%w: %s: %s %s", tenant.ErrInvalid, record, field, fmt.Sprintf(why, args...))
}

// CheckPart refuses a part that no export has.
func CheckPart(in *document.Part) error {
	if err := checkPartition(&in.Partition); err != nil {
		return err
	}
	for _, list := range [][]document.Domain{in.Domains, in.Names} {
		for i := range list {
			if err := checkDomain(&list[i]); err != nil {
				return err
			}
		}
	}
	for i := range in.Nodes {
		if err := checkNode(&in.Nodes[i]); err != nil {
			return err
		}
	}
	for i := range in.Edges {
		if err := checkEdge(&in.Edges[i]); err != nil {
			return err
		}
	}
	for _, id := range in.Unread {
		if err := checkID("what is to be counted anew", "id", id); err != nil {
			return err
		}
	}
	for _, x := range in.External {
		if x.ExternalID == "" || len(x.ExternalID) > storage.MaxKeyBytes/2 {
			return refusal("an external id", "externalId", "has %d bytes, and must have 1 to %d", len(x.ExternalID),
				storage.MaxKeyBytes/2)
		}
	}
	return nil
}

func checkPartition(p *document.Partition) error {
	// It is replaced in the ids of nodes: an empty one would be found in front of each.
	if p.ID == "" {
		return refusal("the memory", "id", "is missing")
	}
	if p.Settings != nil && p.Settings.QualityMode != nil &&
		!partition.KnownQuality(partition.Quality(*p.Settings.QualityMode)) {
		return refusal("the memory", "settings.qualityMode", "is %q, and must be fast, balanced or thorough",
			*p.Settings.QualityMode)
	}
	return nil
}

func checkDomain(d *document.Domain) error {
	if _, err := pb.ParseDomainID(d.ID); err != nil {
		return refusal("a domain", "id", "is %q, and no domain's: %v", d.ID, err)
	}
	return nil
}

// checkNode refuses a node that the service cannot have written. Its authority and confidence
// are within 0 and 1; a tombstone holds nothing of what it said, and knows the status
// that undeletion gives it back.
func checkNode(n *document.Node) error {
	record := fmt.Sprintf("node %.200q", n.ID)
	if err := checkID(record, "id", n.ID); err != nil {
		return err
	}
	switch {
	case !slices.Contains(graph.NodeStatuses, n.Status):
		return refusal(record, "status", "is %q, and must be one of %v", n.Status, graph.NodeStatuses)
	case !slices.Contains(graph.NodeKinds, n.Kind):
		return refusal(record, "kind", "is %q, and must be one of %v", n.Kind, graph.NodeKinds)
	case n.Authority < 0 || n.Authority > 1:
		return refusal(record, "authority", "is %v, and must be within 0 and 1", n.Authority)
	case n.Confidence < 0 || n.Confidence > maxRestoreWeight:
		return refusal(record, "confidence", "is %v, and must be within 0 and 1", n.Confidence)
	}
	if n.DomainID != "" {
		if _, err := pb.ParseDomainID(n.DomainID); err != nil {
			return refusal(record, "domainId", "is %q, and no domain's: %v", n.DomainID, err)
		}
	}
	if len(n.Metadata) > 0 && string(n.Metadata) != "null" {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(n.Metadata, &fields); err != nil {
			return refusal(record, "metadata", "must be an object")
		}
	}
	if err := checkGrounds(record, n.Grounds, true); err != nil {
		return err
	}
	if d := n.Derived; d != nil {
		if err := checkType(record, "derived.type", d.Type, true); err != nil {
			return err
		}
	}
	if n.Status != pb.StatusTombstoned {
		if n.Was != "" {
			return refusal(record, "was", "is %q, and only a tombstone has one", n.Was)
		}
		return nil
	}
	switch {
	case !slices.Contains(graph.Standing, n.Was):
		return refusal(record, "was", "is %q, and a tombstone's must be one of %v", n.Was, graph.Standing)
	case n.Title != "":
		return refusal(record, "title", "must be empty in a tombstone")
	case n.Content != nil:
		return refusal(record, "content", "must not be in a tombstone")
	case len(n.Metadata) > 0 && string(n.Metadata) != "null":
		return refusal(record, "metadata", "must not be in a tombstone")
	}
	return nil
}

// checkEdge refuses an edge that the service cannot have written. Weight and confidence are
// within 0 and 1, and of an asserted one at most what an assertion may claim.
func checkEdge(e *document.Edge) error {
	record := fmt.Sprintf("edge %.200q", e.ID)
	for _, id := range []struct{ field, id string }{{"id", e.ID}, {"source", e.Source}, {"target", e.Target}} {
		if err := checkID(record, id.field, id.id); err != nil {
			return err
		}
	}
	if err := checkType(record, "type", e.Type, false); err != nil {
		return err
	}
	most, says := maxRestoreWeight, "1"
	if e.Origin == pb.OriginAsserted {
		most, says = graph.MaxAssertedWeight, fmt.Sprintf("%v, as it is asserted", graph.MaxAssertedWeight)
	}
	switch {
	case e.Source == e.Target:
		return refusal(record, "target", "is its source")
	case !slices.Contains(graph.EdgeOrigins, e.Origin):
		return refusal(record, "origin", "is %q, and must be one of %v", e.Origin, graph.EdgeOrigins)
	case !slices.Contains(graph.NodeStatuses, e.Status):
		return refusal(record, "status", "is %q, and must be one of %v", e.Status, graph.NodeStatuses)
	case e.Weight < 0 || e.Weight > most:
		return refusal(record, "weight", "is %v, and must be within 0 and %s", e.Weight, says)
	case e.Confidence < 0 || e.Confidence > most:
		return refusal(record, "confidence", "is %v, and must be within 0 and %s", e.Confidence, says)
	}
	if len(e.Grounds) > 0 && e.Origin != pb.OriginAsserted {
		return refusal(record, "grounds", "must not be there, since the edge is not asserted")
	}
	if err := checkGrounds(record, e.Grounds, false); err != nil {
		return err
	}
	if e.Status != pb.StatusTombstoned {
		if e.TombstonedWith != "" {
			return refusal(record, "tombstonedWith", "is %q, and only a tombstone has one", e.TombstonedWith)
		}
		return nil
	}
	switch {
	case e.TombstonedWith != "" && e.TombstonedWith != e.Source && e.TombstonedWith != e.Target:
		return refusal(record, "tombstonedWith", "is %q, and must be its source or target", e.TombstonedWith)
	case e.Note != "":
		return refusal(record, "note", "must be empty in a tombstone")
	case len(e.Evidence) > 0:
		return refusal(record, "evidence", "must be empty in a tombstone")
	}
	return nil
}

// checkGrounds refuses what cannot be said of what a record was derived from. gone says that nothing of it is there.
func checkGrounds(record string, grounds []document.Ground, gone bool) error {
	if len(grounds) > ground.MaxGrounds {
		return refusal(record, "grounds", "are %d, and may be at most %d", len(grounds), ground.MaxGrounds)
	}
	for _, g := range grounds {
		if err := checkID(record, "grounds.nodeId", g.NodeID); err != nil {
			return err
		}
		if g.Gone != pb.StaleForgotten && g.Gone != pb.StaleEnded && (gone || g.Gone != "") {
			return refusal(record, "grounds.gone", "is %.100q, and must be %s or %s", g.Gone, pb.StaleForgotten, pb.StaleEnded)
		}
	}
	return nil
}

func checkID(record, field, id string) error {
	if id == "" || len(id) > maxRestoreID {
		return refusal(record, field, "has %d bytes, and must have 1 to %d", len(id), maxRestoreID)
	}
	return nil
}

// checkType holds a type to what stands in keys and entries (graph.EdgeEnd), which have no NUL.
func checkType(record, field, typ string, optional bool) error {
	if typ == "" && !optional || len(typ) > maxRestoreType || strings.Contains(typ, "\x00") {
		return refusal(record, field, "is %.100q, and must have 1 to %d bytes and no NUL", typ, maxRestoreType)
	}
	return nil
}
