package graph

import (
	"path"
	"strings"

	pb "orgmem/proto"
	"orgmem/storage"
)

// MaxImports is how many imports the history keeps and shows (docs/interface.md).
const MaxImports = 20

// maxItemsNamed bounds the items of an import that are searched for a node. A larger import is recognised by the job
// that its nodes name.
const maxItemsNamed = 1000

// eraseFileNames erases the names of files in the import history that a node came with and that may be its title: where
// the title is made of the name, or the file brought nothing else that is still there.
func (f *Tx) eraseFileNames(n *pb.Node) error {
	for rec, err := range storage.ScanRecords(f.Store, f.Part.Space.Prefix(storage.TableImport),
		storage.ScanOptions{Limit: MaxImports}, func() *pb.Import { return &pb.Import{} }) {
		if err != nil {
			return err
		}
		e := rec.Value
		if e.GetFilename() == "" {
			continue
		}
		brought, others, err := f.broughtBy(pb.JobID(e.GetId()), n)
		if err != nil {
			return err
		}
		if !brought || others && !titledAfter(n.GetTitle(), e.GetFilename()) {
			continue
		}
		e.Filename = ""
		f.Batch.Erase(rec.Key)
		f.Batch.Put(rec.Key, e)
	}
	return nil
}

// broughtBy reports whether an import brought a node, and whether it brought others that
// are not forgotten.
func (f *Tx) broughtBy(job pb.JobID, n *pb.Node) (brought, others bool, err error) {
	brought = string(n.GetSource().GetJob()) == string(job[:])
	items := f.Part.Space.Prefix(storage.TableJobItem, storage.ID16(job))
	for rec, err := range storage.ScanRecords(f.Store, items, storage.ScanOptions{Limit: maxItemsNamed},
		func() *pb.JobItem { return &pb.JobItem{} }) {
		if err != nil {
			return false, false, err
		}
		id := rec.Value.GetNode()
		if id == n.GetId() {
			brought = true
		} else if id != "" && !others {
			other, err := f.Node(pb.NodeID(id))
			if err != nil {
				return false, false, err
			}
			others = other != nil && other.GetStatus() != pb.StatusTombstoned
		}
		if brought && others {
			break
		}
	}
	return brought, others, nil
}

// titledAfter reports whether a title may be made of a file's name.
func titledAfter(title, filename string) bool {
	title, filename = strings.ToLower(title), strings.ToLower(filename)
	stem := strings.TrimSuffix(filename, path.Ext(filename))
	return strings.Contains(title, stem) || strings.Contains(filename, title)
}
