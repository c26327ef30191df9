package graph

import (
	"encoding/json"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/brain/extract"
	"orgmem/brain/extract/resolve"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Entities are the records of what texts name: how many texts name an entity, how they write it, and the keys by which
// a name is looked up. They are written once, at the end of the transaction: a slice may name one entity in each text.
type Entities struct {
	*Pending
	nodes   *NodeRecords
	records map[pb.NodeID]*pb.Entity // those that were looked at; nil: there is none
	changed map[pb.NodeID]bool
	keys    map[string][]pb.NodeID // that the transaction itself has written
}

func newEntities(p *Pending, nodes *NodeRecords) Entities {
	return Entities{
		Pending: p, nodes: nodes, records: map[pb.NodeID]*pb.Entity{}, changed: map[pb.NodeID]bool{},
		keys: map[string][]pb.NodeID{},
	}
}

// Get returns the current record of a derived node, or nil.
func (es *Entities) Get(id pb.NodeID) (*pb.Entity, error) {
	if rec, ok := es.records[id]; ok {
		return rec, nil
	}
	rec := &pb.Entity{}
	found, err := es.Store.Get(es.Part.Space.Key(storage.TableEntity, storage.Str(id)), rec)
	if err != nil {
		return nil, err
	}
	if !found {
		rec = nil
	}
	es.records[id] = rec
	return rec, nil
}

// Put changes an entity. The end of the transaction writes its record (write).
func (es *Entities) Put(rec *pb.Entity) {
	id := pb.NodeID(rec.GetNode())
	es.records[id] = rec
	if !es.changed[id] {
		es.changed[id] = true
		es.deferredBytes += proto.Size(rec)
	}
}

// Name notes in a text's trace, and in the entity's record, that the text, which holds since then, writes the entity in
// some way. That dates the entity back, since history is often written down backwards.
func (es *Entities) Name(trace *pb.Trace, id pb.NodeID, said resolve.Said, since int64) error {
	at := slices.IndexFunc(trace.GetEntities(), func(x *pb.TraceEntity) bool { return x.GetNode() == string(id) })
	if at < 0 {
		at = len(trace.GetEntities())
		trace.Entities = append(trace.Entities, &pb.TraceEntity{Node: string(id)})
	}
	n, err := es.nodes.Node(id)
	if err != nil || n == nil {
		return err
	}
	rec, err := es.Get(id)
	if err != nil || rec == nil {
		return err
	}
	before := rec.GetType()
	anew := resolve.Note(rec, trace.GetEntities()[at], said, maxForms)
	es.Put(rec)
	if since < n.GetValidFromMs() {
		n.ValidFromMs = since
		es.nodes.putUpdated(n)
	}
	if anew {
		err = es.describe(rec, before)
	}
	return err
}

// Forgotten reports whether a person has forgotten an entity of this name, whatever texts take it for.
func (es *Entities) Forgotten(name resolve.Name) (bool, error) {
	ids, err := es.under(resolve.Keys(name.Name, name.Type)[0])
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		rec, err := es.Get(id)
		if err != nil {
			return false, err
		}
		if !resolve.MayBe(rec, name) {
			continue
		}
		if n, err := es.nodes.Node(id); err != nil || n.GetStatus() == pb.StatusTombstoned {
			return err == nil, err
		}
	}
	return false, nil
}

// drop takes an entity away, with all keys of its names.
func (es *Entities) drop(rec *pb.Entity, id pb.NodeID, title string) {
	es.eraseKeys(id, rec.GetType(), append(resolve.NamesOf(rec), title)...)
	es.Batch.Erase(es.Part.Space.Key(storage.TableEntity, storage.Str(id)))
	es.records[id] = nil
}

// write puts the entities that were changed, and not dropped since, into the batch.
func (es *Entities) write() {
	for _, id := range slices.Sorted(maps.Keys(es.changed)) {
		if rec := es.records[id]; rec != nil {
			es.Batch.Put(es.Part.Space.Key(storage.TableEntity, storage.Str(id)), rec)
		}
	}
}

// under lists the entities under a key, as stored and as the transaction has added.
func (es *Entities) under(key string) (ids []pb.NodeID, err error) {
	for item, err := range es.Store.Scan(es.Part.Space.Prefix(storage.TableEntityKey, storage.Str(key)),
		storage.ScanOptions{Limit: maxMeant}) {
		if err != nil {
			return nil, err
		}
		parts := item.Key.Parts()
		parts.Str()
		ids = append(ids, pb.NodeID(parts.Str()))
		if err := parts.Done(); err != nil {
			return nil, err
		}
	}
	return append(ids, es.keys[key]...), nil
}

// known reads the entities that some names may mean.
func (es *Entities) known(names []resolve.Name) (known []resolve.Known, err error) {
	seen, looked := map[pb.NodeID]bool{}, map[string]bool{}
	for _, n := range names {
		for _, key := range resolve.Keys(n.Name, n.Type) {
			if looked[key] {
				continue
			}
			looked[key] = true
			ids, err := es.under(key)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				if seen[id] {
					continue
				}
				seen[id] = true
				k, err := es.knownAs(id)
				if err != nil {
					return nil, err
				}
				if k != nil {
					known = append(known, *k)
				}
			}
		}
	}
	return known, nil
}

func (es *Entities) knownAs(id pb.NodeID) (*resolve.Known, error) {
	rec, err := es.Get(id)
	if err != nil || rec == nil {
		return nil, err
	}
	n, err := es.nodes.Node(id)
	if err != nil || n == nil || n.GetStatus() != pb.StatusLive {
		return nil, err
	}
	k := resolve.KnownOf(resolve.EntityID(id), n.GetTitle(), n.GetMetadata(), rec)
	return &k, nil
}

// describe makes an entity's node and keys say what its record says. A title or metadata that a person has written
// stays. before is the type that it had, by which the keys are that it has.
func (es *Entities) describe(rec *pb.Entity, before string) error {
	id := pb.NodeID(rec.GetNode())
	n, err := es.nodes.Node(id)
	if err != nil || n == nil || n.GetKind() != KindEntity {
		return err
	}
	if before != rec.GetType() {
		es.eraseKeys(id, before, append(resolve.NamesOf(rec), n.GetTitle())...)
	}
	if !n.GetCurated() {
		title, about := resolve.Describe(n.GetTitle(), rec)
		n.Title = title
		if n.Metadata, err = json.Marshal(about); err != nil {
			return err
		}
		es.nodes.putUpdated(n)
	}
	for _, name := range append(resolve.NamesOf(rec), n.GetTitle()) { // not by the title that it had
		es.PutKeys(id, name, extract.Type(rec.GetType()))
	}
	return nil
}

// PutKeys writes the keys by which a name of an entity is found.
func (es *Entities) PutKeys(id pb.NodeID, name string, t extract.Type) {
	for _, key := range resolve.Keys(name, t) {
		if !slices.Contains(es.keys[key], id) {
			es.keys[key] = append(es.keys[key], id)
			es.Batch.PutRaw(es.Part.Space.Key(storage.TableEntityKey, storage.Str(key), storage.Str(id)), nil)
		}
	}
}

// eraseKeys erases the keys of some names of an entity.
func (es *Entities) eraseKeys(id pb.NodeID, typ string, names ...string) {
	for _, name := range names {
		for _, key := range resolve.Keys(name, extract.Type(typ)) {
			es.Batch.Erase(es.Part.Space.Key(storage.TableEntityKey, storage.Str(key), storage.Str(id)))
			es.keys[key] = slices.DeleteFunc(es.keys[key], func(other pb.NodeID) bool { return other == id })
		}
	}
}
