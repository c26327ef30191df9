package graph

import (
	"strings"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// getDomain answers one domain of the effective partition.
func getDomain(c *tenant.Call, r storage.Reader, op *pb.GetDomain) (*pb.Reply, error) {
	d := &pb.Domain{}
	id, err := pb.ParseDomainID(op.GetId())
	found := err == nil
	if found {
		if found, err = r.Get(c.Part.Space.Key(storage.TableDomain, storage.ID16(id)), d); err != nil {
			return nil, err
		}
	}
	if !found {
		return tenant.Refuse(tenant.NewProblem(pb.CodeDomainNotFound, "There is no such domain.")), nil
	}
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Domain{Domain: d}}), nil
}

// listDomains pages through the domains of a partition that have a name, newest first: a
// domain keeps its id and its time as long as it is mostly the same nodes.
func listDomains(c *tenant.Call, st *storage.Store, op *pb.ListDomains) (_ *pb.Reply, err error) {
	all := c.Part.Space.Prefix(storage.TableDomainByTime)
	q := strings.ToLower(op.GetQ())
	kind := tenant.CursorKind{List: "domains", Partition: c.Part.ID, Filters: q}
	snap, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer partition.CloseSnapshot(snap, &err)
	entries, next, p, err := tenant.PageOfKeys(c.Org, snap, all, kind, op.GetPage(), tenant.MaxRecordsPerPage,
		func(item storage.Item) (*pb.Domain, bool, error) {
			parts := item.Key.Parts()
			parts.U64Desc()
			id := pb.DomainID(parts.ID16())
			if err := parts.Done(); err != nil {
				return nil, false, err
			}
			d := &pb.Domain{}
			_, err := snap.Get(c.Part.Space.Key(storage.TableDomain, storage.ID16(id)), d)
			return d, namesDomain(d, q), err
		})
	if p != nil || err != nil {
		return tenant.Refuse(p), err
	}
	c.ReadUnits = tenant.UnitsOf(len(entries))
	list := &pb.DomainList{Domains: entries, NextCursor: next}
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Domains{Domains: list}}), nil
}

// namesDomain reports whether a domain is shown, and its label or one of its keywords
// holds a text, which is in lower case.
func namesDomain(d *pb.Domain, q string) bool {
	if d.GetNameless() { // a heap of texts that say nothing in common is no topic to anybody
		return false
	}
	for _, word := range append([]string{d.GetLabel()}, d.GetKeywords()...) {
		if strings.Contains(strings.ToLower(word), q) {
			return true
		}
	}
	return false
}
