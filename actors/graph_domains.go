package actors

import (
	"strings"

	pb "orgmem/proto"
	"orgmem/storage"
)

// getDomain answers one domain of the effective partition.
func (c *call) getDomain(r storage.Reader, op *pb.GetDomain) (*pb.Reply, error) {
	d := &pb.Domain{}
	id, err := pb.ParseDomainID(op.GetId())
	found := err == nil
	if found {
		if found, err = r.Get(c.part.space.Key(storage.TableDomain, storage.ID16(id)), d); err != nil {
			return nil, err
		}
	}
	if !found {
		return refuse(problem(codeDomainNotFound, "There is no such domain.")), nil
	}
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Domain{Domain: d}}), nil
}

// listDomains pages through the domains of a partition, newest first: a domain
// keeps its id and its time as long as it is mostly the same nodes.
func (c *call) listDomains(st *storage.Store, op *pb.ListDomains) (_ *pb.Reply, err error) {
	all := c.part.space.Prefix(storage.TableDomainByTime)
	q := strings.ToLower(op.GetQ())
	kind := cursorKind{list: "domains", partition: c.part.id, filters: q}
	opts, p := c.org.scanFrom(all, kind, op.GetPage())
	if p != nil {
		return refuse(p), nil
	}
	snap, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer closeSnapshot(snap, &err)
	size := pageSize(op.GetPage())
	list := &pb.DomainList{}
	var last storage.Key
	seen := 0
	for item, err := range snap.Scan(all, opts) {
		if err != nil {
			return nil, err
		}
		parts := item.Key.Parts()
		parts.U64Desc()
		id := pb.DomainID(parts.ID16())
		if err := parts.Done(); err != nil {
			return nil, err
		}
		d := &pb.Domain{}
		if seen < maxRecordsPerPage {
			if _, err := snap.Get(c.part.space.Key(storage.TableDomain, storage.ID16(id)), d); err != nil {
				return nil, err
			}
		}
		matches := namesDomain(d, q)
		if seen == maxRecordsPerPage || matches && len(list.GetDomains()) == size {
			list.NextCursor = sealCursor(c.org.secret, kind, last.Bytes())
			break
		}
		seen++
		if matches {
			list.Domains = append(list.Domains, d)
		}
		last = item.Key
	}
	c.readUnits = unitsOf(len(list.GetDomains()))
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Domains{Domains: list}}), nil
}

// namesDomain reports whether a domain's label or one of its keywords holds a
// text, which is in lower case.
func namesDomain(d *pb.Domain, q string) bool {
	for _, word := range append([]string{d.GetLabel()}, d.GetKeywords()...) {
		if strings.Contains(strings.ToLower(word), q) {
			return true
		}
	}
	return false
}
