package graph

import (
	"orgmem/actors/ground"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Scope is whose graph a transaction changes, when, and on whose behalf. All parts of the transaction know it.
type Scope struct {
	Org   *tenant.View
	Part  *partition.Ref
	Store *storage.Store // held open by the transaction's caller
	NowMs int64          // when it began, in Unix milliseconds: the time of all that it writes
	Call  *tenant.Call   // whose edit it is; nil for a slice of ingestion
	Job   *pb.Job        // whose item is being applied; nil for an edit
}

// Derives reports whether a cognition cycle writes what it has found.
func (s *Scope) Derives() bool { e := EditOf(s.Call); return e != nil && e.Derived }

// mayLearn reports whether what is taken in now is learned from. An item of a job follows the settings of the moment
// when the job was accepted; what a person writes follows those of now.
func (s *Scope) mayLearn() (bool, error) {
	if s.Job != nil {
		return !s.Job.GetUnlearned(), nil
	}
	settings, err := s.settings()
	return settings.Learn, err
}

// settings are the partition's, as of now.
func (s *Scope) settings() (partition.Settings, error) {
	return s.Org.Residents.Settings(s.Store, s.Part)
}

// validFrom is the time from which an item's content holds: the item's own time, or now.
func (s *Scope) validFrom(item *pb.IngestItem) int64 {
	if item.GetOccurredMs() != 0 {
		return item.GetOccurredMs()
	}
	return s.NowMs
}

// Content returns what a node holds, empty when it holds nothing.
func (s *Scope) Content(id pb.NodeID) (string, error) {
	c := &pb.Content{}
	_, err := s.Store.Get(s.Part.Space.Key(storage.TableContent, storage.Str(id)), c)
	return c.GetText(), err
}

// Tombstone is a forgotten node's place in the order of removal.
func (s *Scope) Tombstone(n *pb.Node) storage.Key {
	return s.Part.Space.Key(storage.TableTombstone, storage.U64(uint64(n.GetRestorableMs())), storage.Str(n.GetId()))
}

// hasDomain reports whether a node can be put in a domain: the domain exists, or the name is empty and means none.
func (s *Scope) hasDomain(name string) (bool, error) {
	if name == "" {
		return true, nil
	}
	id, err := pb.ParseDomainID(name)
	if err != nil {
		return false, nil //nolint:nilerr // what is no id names no domain
	}
	return s.Store.Get(s.Part.Space.Key(storage.TableDomain, storage.ID16(id)), &pb.Domain{})
}

// nodeReply answers a node as it is after the edit.
func (s *Scope) nodeReply(n *pb.Node, content string) (*pb.Reply, error) {
	info := nodeInfo(s.Part, n)
	info.Content = content
	return nodeReply(info), ground.New(s.Store, s.Part, 0).AddTo(info)
}
