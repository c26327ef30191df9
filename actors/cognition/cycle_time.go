package cognition

import (
	"encoding/binary"

	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/subject"
	"orgmem/brain/extract"
	"orgmem/brain/moments"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// MaxReadNotes bounds the newest passages in which insights are looked for, and what
	// answers or ends them: reading 400 is some 30 ms, and looking through them 60.
	MaxReadNotes = 400
	// maxToldSignals bounds the signals of coding sessions that are reported: the newest.
	maxToldSignals = 100
)

// asNote is a fresh chunk as brain/moments takes it.
func (c *cycle) asNote(n *note) moments.Note {
	return moments.Note{Text: n.text, Claims: n.claims, AtMs: c.Nodes[n.Node].AtMS, Dates: n.dates}
}

// lookBack writes what the fresh texts tell of times.
func (c *cycle) lookBack() error {
	var notes []moments.Note
	var of []*note
	for i := range c.notes {
		if n := &c.notes[i]; n.text != "" {
			notes, of = append(notes, c.asNote(n)), append(of, n)
		}
	}
	var changes []func(*graph.Tx) error
	for _, t := range moments.Tell(notes) {
		changes = append(changes, c.momentOf(of[t.Note], t.Kind, t.AtMs, t.Title))
	}
	return c.writeAll(changes)
}

func (c *cycle) momentOf(n *note, kind string, at int64, title string) func(*graph.Tx) error {
	node, seq := c.Nodes[n.Node].ID, n.Seq
	return func(f *graph.Tx) error {
		ok, err := f.StillHolds(node, seq)
		if err != nil || !ok {
			return err
		}
		id := f.Part.DerivedID("moment", string(node), kind, string(binary.BigEndian.AppendUint64(nil, uint64(at))), title)
		if known, err := f.HasDerived(node, id); err != nil || known {
			return err
		}
		graph.PutMoment(f.Batch.Batch, f.Part.Space, &pb.Moment{Id: id[:], AtMs: at, Title: text.OneLine(title),
			Node: string(node), Kind: kind})
		return nil
	}
}

// newestNotes reads the newest passages, in the order in which they were said.
func (c *cycle) newestNotes() (notes []moments.Note, of []int32, err error) {
	newest := c.NewestPassages(MaxReadNotes)
	fresh := map[uint64]*note{}
	for i := range c.notes {
		fresh[c.notes[i].Seq] = &c.notes[i]
	}
	err = c.compute([]func(int) error{func(worker int) error {
		own := c.comparer(worker)
		return c.org.WithStore(func(st *storage.Store) error {
			for _, p := range newest {
				n := fresh[p.Seq]
				if n == nil || n.text == "" {
					read, passage, err := c.passage(st, own, p)
					if err != nil {
						return err
					}
					if passage == nil {
						continue
					}
					n = &read
				}
				one := c.asNote(n)
				one.Source = n.Node
				var err error
				if one.Vector, err = partition.ReadVector(st, c.part, c.hot.State.GetModel(), p.Seq); err != nil {
					return err
				}
				if one.Speaker, err = c.writerOf(st, n.Node); err != nil {
					return err
				}
				notes, of = append(notes, one), append(of, n.Node)
			}
			return nil
		})
	}})
	return notes, of, err
}

// writerOf is who wrote a text, as far as a client tells. Of a coding session nobody is:
// there an agent speaks, too.
func (c *cycle) writerOf(st *storage.Store, node int32) (string, error) {
	t := &c.Nodes[node]
	if !t.Own || t.Kind == subject.KindSession {
		return "", nil
	}
	n := &pb.Node{}
	if _, err := st.Get(c.part.Space.Key(storage.TableNode, storage.Str(t.ID)), n); err != nil {
		return "", err
	}
	speaker, _ := extract.Speakers(n.GetMetadata())
	return text.OneLine(speaker), nil
}
