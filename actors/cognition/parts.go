package cognition

import (
	"slices"
	"strings"

	"orgmem/actors/graph"
	"orgmem/brain/extract/resolve"
	pb "orgmem/proto"
	"orgmem/storage"
)

// A text that calls somebody by a part of their name alone ("Myles") begins an entity of its own, since it does not say
// who that is. Where texts have the part beside the whole name ("Myles Borins … Myles"), and nobody else of the memory
// has it, that is who is meant: a cycle gives the texts of the one to the other.

// maxNamesakes bounds the people of one first or last name that are looked at: of more nobody is the only one.
const maxNamesakes = 8

// parts joins the entities that are called by a part of a name with those who have it, as far as fresh texts name
// either.
func (c namesStage) parts(fresh map[int32]bool) error {
	whole := map[string][]int32{}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		words := strings.Fields(strings.ToLower(n.Title))
		if !n.Entity() || !n.Person || len(words) < 2 {
			continue
		}
		for _, w := range []string{words[0], words[len(words)-1]} {
			if of := whole[w]; len(of) < maxNamesakes && !slices.Contains(of, int32(i)) {
				whole[w] = append(of, int32(i))
			}
		}
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		of := whole[strings.ToLower(n.Title)]
		if !n.Entity() || len(of) != 1 || !fresh[int32(i)] && !fresh[of[0]] {
			continue
		}
		if err := c.join(n.ID, c.Nodes[of[0]].ID, n.Title); err != nil {
			return err
		}
	}
	return nil
}

// join gives the texts of the entity that is called by a part of a name to the one that has the whole name, if that is
// who they mean.
func (c namesStage) join(part, whole pb.NodeID, title string) error {
	meant := false
	err := c.org.WithStore(func(st *storage.Store) error {
		short, full := &pb.Entity{}, &pb.Entity{}
		for id, rec := range map[pb.NodeID]*pb.Entity{part: short, whole: full} {
			if found, err := st.Get(c.part.Space.Key(storage.TableEntity, storage.Str(id)), rec); err != nil || !found {
				return err
			}
		}
		meant = resolve.PartOf(title, short, full)
		return nil
	})
	if err != nil || !meant {
		return err
	}
	if err := c.goOn(); err != nil {
		return err
	}
	return c.write(func(f *graph.Tx) error {
		moved, err := (&sharing{Tx: f}).join(part, whole, title)
		c.more = c.more || moved > 0 // what the moved edges mean
		return err
	})
}

// refuses tells whether a person has said that an entity is not called so.
func refuses(n *pb.Node, title string) bool {
	return slices.ContainsFunc(resolve.Refused(n.GetMetadata()), func(name string) bool {
		return strings.EqualFold(name, title)
	})
}

// join carries out the same as the records are now, and says how many texts it has moved.
func (s *sharing) join(part, whole pb.NodeID, title string) (moved int, err error) {
	if s.from, err = s.shareable(part, title); err != nil || s.from == nil {
		return 0, err
	}
	n, err := s.Node(whole)
	if err != nil || n.GetStatus() != pb.StatusLive || refuses(n, title) {
		return 0, err
	}
	full, err := s.Entities.Get(whole)
	if err != nil || full == nil || !resolve.PartOf(title, s.from, full) {
		return 0, err
	}
	s.to, s.reason = whole, resolve.Part
	return s.moveAll("", title)
}
