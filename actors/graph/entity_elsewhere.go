package graph

import (
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/extract"
	"orgmem/brain/extract/resolve"
	pb "orgmem/proto"
	"orgmem/storage"
)

// maxSightings bounds the memories that one answer lists for an entity.
const maxSightings = 1000

// entityElsewhere tells which other memories of the organization name one of the caller's entities, by the canonical
// form of its name. It looks each time, so what was forgotten in a memory is not found there. The answer says which
// memories and how often, and nothing of what is written. Like a search of the organization it is not for a subject.
func (o *Module) entityElsewhere(c *tenant.Call, op *pb.EntityElsewhere) {
	if c.Env.GetHasSubject() {
		c.Refuse(tenant.NewProblem(pb.CodePermissionDenied,
			"A subject sees its own memory only; this needs a request without X-Svc-Subject."))
		return
	}
	o.ReadWide(c, func(st *storage.Store, _ int) (*pb.Reply, error) {
		mine, typ, err := entityAt(st, c.Part.Space, pb.NodeID(op.GetId()))
		if err != nil {
			return nil, err
		}
		if mine == nil {
			return tenant.Refuse(nodeNotFound()), nil
		}
		out := &pb.Sightings{}
		same := resolve.Canonical(mine.GetTitle(), typ)
		if same != "" { // else the name is too weak to tell people apart by
			parts, err := c.VisiblePartitions(st)
			if err != nil {
				return nil, err
			}
			for _, part := range parts {
				if part.ID == c.Part.ID {
					continue
				}
				if err := c.Awaited(); err != nil {
					return nil, err
				}
				if err := sightings(st, part, mine.GetTitle(), typ, same, out); err != nil {
					return nil, err
				}
			}
		}
		c.ReadUnits = tenant.UnitsOf(len(out.GetSightings()))
		return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Sightings{Sightings: out}}), nil
	})
}

// entityAt reads a live entity and its type; nil when the id is not that of one.
func entityAt(r storage.Reader, space storage.Space, id pb.NodeID) (*pb.Node, extract.Type, error) {
	n, rec := &pb.Node{}, &pb.Entity{}
	found, err := r.Get(space.Key(storage.TableNode, storage.Str(id)), n)
	if err != nil || !found || n.GetStatus() != pb.StatusLive || n.GetKind() != KindEntity {
		return nil, "", err
	}
	_, err = r.Get(space.Key(storage.TableEntity, storage.Str(id)), rec)
	return n, extract.Type(rec.GetType()), err
}

// sightings adds the entities of a memory with the same canonical name.
func sightings(
	r storage.Reader, part *partition.Ref, name string, typ extract.Type, same string, out *pb.Sightings,
) error {
	seen := map[pb.NodeID]bool{}
	for _, key := range resolve.Keys(name, typ) {
		for item, err := range r.Scan(part.Space.Prefix(storage.TableEntityKey, storage.Str(key)),
			storage.ScanOptions{Limit: maxMeant}) {
			if err != nil {
				return err
			}
			parts := item.Key.Parts()
			parts.Str()
			id := pb.NodeID(parts.Str())
			if seen[id] {
				continue
			}
			seen[id] = true
			n, other, err := entityAt(r, part.Space, id)
			if err != nil {
				return err
			}
			if n == nil || resolve.Canonical(n.GetTitle(), other) != same {
				continue
			}
			if len(out.GetSightings()) == maxSightings {
				out.More = true
				return nil
			}
			rec := &pb.Entity{}
			if _, err := r.Get(part.Space.Key(storage.TableEntity, storage.Str(id)), rec); err != nil {
				return err
			}
			out.Sightings = append(out.Sightings, &pb.Sighting{
				Node: string(id), Partition: part.ID.Bytes(),
				Subject: string(part.Subject), Mentions: rec.GetMentions(),
			})
		}
	}
	return nil
}
