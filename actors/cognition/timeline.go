package cognition

import (
	"encoding/binary"
	"math"
	"slices"

	"orgmem/actors/graph"
	"orgmem/actors/ground"
	"orgmem/brain/temporal"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

// timelineStage writes what the fresh texts tell of times.
type timelineStage struct{ *cycle }

func (c timelineStage) run() error {
	changes, err := c.unsaid()
	if err == nil {
		err = c.writeAll(changes)
	}
	if err != nil {
		return err
	}
	var notes []temporal.Note
	var of []*note
	for i := range c.notes {
		if n := &c.notes[i]; n.text != "" {
			notes, of = append(notes, c.asNote(n)), append(of, n)
		}
	}
	changes = nil
	for _, t := range temporal.Tell(notes) {
		changes = append(changes, c.momentOf(of[t.Note], t))
	}
	for _, r := range temporal.Recurrences(notes) {
		changes = append(changes, c.recurrenceOf(of[r.Note], &r))
	}
	return c.writeAll(changes)
}

// unsaid are the changes that erase what comes again and again by the words of passages that their nodes no longer
// have. An edit of a text erases that with it; one by a program of the version before leaves what that does not
// know of.
func (c timelineStage) unsaid() (changes []func(*graph.Tx) error, err error) {
	err = c.org.WithStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, c.part.Space.Prefix(storage.TableRecurrence), storage.ScanOptions{},
			func() *pb.Recurrence { return &pb.Recurrence{} }) {
			if err != nil {
				return err
			}
			x := rec.Value
			i, ok := c.At[pb.NodeID(x.GetNode())]
			if ok && x.GetChunk() != 0 && !slices.Contains(c.Nodes[i].Chunks, x.GetChunk()) {
				changes = append(changes, func(f *graph.Tx) error { return dropRecurrence(f, rec.Key, x) })
			}
		}
		return nil
	})
	return changes, err
}

// dropRecurrence erases what comes again and again, and the entry under its node, unless both are gone meanwhile.
func dropRecurrence(f *graph.Tx, key storage.Key, x *pb.Recurrence) error {
	entry := f.Part.Space.Key(storage.TableDerivedByNode, storage.Str(x.GetNode()), storage.ID16(pb.DerivedID(x.GetId())))
	_, found, err := f.Store.GetRaw(entry)
	if err != nil || !found {
		return err
	}
	f.Batch.Delete(entry)
	f.Batch.Erase(key)
	return nil
}

func (c timelineStage) recurrenceOf(n *note, r *temporal.Recurrence) func(*graph.Tx) error {
	node, seq, told := c.Nodes[n.Node].ID, n.Seq, c.Nodes[n.Node].AtMS
	title := text.OneLine(r.Title)
	return func(f *graph.Tx) error {
		ok, err := f.StillHolds(node, seq)
		if err != nil || !ok {
			return err
		}
		id := f.Part.DerivedID("recurrence", string(node), title, r.Text)
		if known, err := f.Derived.Has(node, id); err != nil || known {
			return err
		}
		key := f.Part.Space.Key(storage.TableRecurrence, storage.I64Desc(told), storage.ID16(id))
		f.Batch.Put(key, &pb.Recurrence{
			Id: id[:], ToldMs: told, Title: title, Node: string(node), Text: r.Text, Every: r.Every,
			SinceMs: r.SinceMs, UntilMs: r.UntilMs, Chunk: seq,
		})
		ground.RestOn(f.Batch.Batch, f.Part.Space, id, key, string(node))
		return nil
	}
}

func (c timelineStage) momentOf(n *note, m temporal.Moment) func(*graph.Tx) error {
	node, seq := c.Nodes[n.Node].ID, n.Seq
	until := m.UntilMs
	if until == math.MaxInt64 {
		until = 0 // it is not said
	}
	return func(f *graph.Tx) error {
		ok, err := f.StillHolds(node, seq)
		if err != nil || !ok {
			return err
		}
		id := f.Part.DerivedID("moment", string(node), m.Kind,
			string(binary.BigEndian.AppendUint64(nil, uint64(m.AtMs))), m.Title)
		if known, err := f.Derived.Has(node, id); err != nil || known {
			return err
		}
		graph.PutMoment(f.Batch.Batch, f.Part.Space, &pb.Moment{
			Id: id[:], AtMs: m.AtMs, Title: text.OneLine(m.Title), Node: string(node), Kind: m.Kind,
			UntilMs: until, Precision: m.Precision, Bound: m.Bound,
		})
		return nil
	}
}
