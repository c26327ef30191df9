package cognition

import (
	"slices"
	"strings"

	"orgmem/actors/graph"
	"orgmem/actors/tenant"
	"orgmem/brain/claim"
	"orgmem/brain/cognition"
	"orgmem/brain/conflict"
	"orgmem/brain/extract"
	"orgmem/brain/temporal"
	"orgmem/brain/text"
	"orgmem/brain/topic"
	pb "orgmem/proto"
	"orgmem/storage"
)

// What several stages of a cycle read of the memory.

// note is a fresh chunk, taken apart.
type note struct {
	cognition.Chunk
	text   string
	above  string // what stands before it in its document, where it names a time
	claims []claim.Claim
	dates  []temporal.Date
	recurs []temporal.Recurring
}

// comparer is the working memory that a CPU worker has for cycles.
func (c *cycle) comparer(worker int) *tenant.Comparer {
	return &c.org.System.Computers[worker].Comparer
}

// chunkOf reads a chunk of a live node; nil when either is gone.
func (c *cycle) chunkOf(st *storage.Store, seq uint64) (chunk *pb.Chunk, at cognition.Chunk, err error) {
	chunk = &pb.Chunk{}
	found, err := st.Get(c.part.Space.Key(storage.TableChunk, storage.U64(seq)), chunk)
	if err != nil || !found {
		return nil, at, err
	}
	place, ok := c.At[pb.NodeID(chunk.GetNode())]
	if !ok {
		return nil, at, nil
	}
	return chunk, cognition.Chunk{Seq: seq, Node: place}, nil
}

// passageOf reads a chunk and takes it apart; nil when it is gone.
func (c *cycle) passageOf(st *storage.Store, own *tenant.Comparer, seq uint64) (note, *conflict.Passage, error) {
	chunk, at, err := c.chunkOf(st, seq)
	if err != nil || chunk == nil {
		return note{}, nil, err
	}
	n, p := c.read(own, at, chunk)
	return n, p, nil
}

// passage is passageOf with the times that the chunk names.
func (c *cycle) passage(st *storage.Store, own *tenant.Comparer, f cognition.Chunk) (note, *conflict.Passage, error) {
	chunk, at, err := c.chunkOf(st, f.Seq)
	if err != nil || chunk == nil {
		return note{Chunk: f}, nil, err
	}
	n, p := c.read(own, at, chunk)
	trace := &pb.Trace{}
	if _, err := st.Get(c.part.Space.Key(storage.TableTrace, storage.Str(c.Nodes[f.Node].ID)), trace); err != nil {
		return n, nil, err
	}
	for _, d := range trace.GetDates() {
		if d.GetStart() >= chunk.GetStart() && d.GetEnd() <= chunk.GetEnd() {
			n.dates = append(n.dates, temporal.Date{
				Span:   text.Span{Start: int(d.GetStart() - chunk.GetStart()), End: int(d.GetEnd() - chunk.GetStart())},
				FromMs: d.GetFromMs(), UntilMs: d.GetUntilMs(),
			})
		}
	}
	for _, r := range trace.GetRecurrences() {
		if r.GetStart() >= chunk.GetStart() && r.GetEnd() <= chunk.GetEnd() {
			n.recurs = append(n.recurs, temporal.Recurring{
				Span:  text.Span{Start: int(r.GetStart() - chunk.GetStart()), End: int(r.GetEnd() - chunk.GetStart())},
				Every: r.GetEvery(), SinceMs: r.SinceMs, UntilMs: r.UntilMs,
			})
		}
	}
	if len(n.dates)+len(n.recurs) > 0 {
		if n.above, err = c.above(st, at, chunk); err != nil {
			return n, nil, err
		}
	}
	return n, p, nil
}

const (
	// maxAbove bounds what is read of a document before a passage, in bytes: some screens.
	maxAbove = 8 << 10
	// maxWhole is of how many passages a document is read whole for that, once for each of them.
	maxWhole = 200
)

// above is what stands before a chunk in its document, from the beginning of a line on; nothing in a book.
func (c *cycle) above(st *storage.Store, at cognition.Chunk, chunk *pb.Chunk) (string, error) {
	if chunk.GetStart() == 0 || len(c.Nodes[at.Node].Chunks) > maxWhole {
		return "", nil
	}
	whole := &pb.Content{}
	found, err := st.Get(c.part.Space.Key(storage.TableContent, storage.Str(chunk.GetNode())), whole)
	if err != nil || !found || int(chunk.GetStart()) > len(whole.GetText()) {
		return "", err
	}
	above := whole.GetText()[:chunk.GetStart()]
	if cut := len(above) - maxAbove; cut > 0 {
		_, above, _ = strings.Cut(above[cut:], "\n")
	}
	return strings.Clone(above), nil
}

// read takes a chunk apart.
func (c *cycle) read(own *tenant.Comparer, f cognition.Chunk, chunk *pb.Chunk) (note, *conflict.Passage) {
	t := &c.Nodes[f.Node]
	title := cognition.GivenTitle(t.Title, chunk)
	claims := own.Reader.Read(claim.Source{Text: chunk.GetText(), Title: title})
	return note{Chunk: f, text: chunk.GetText(), claims: claims}, &conflict.Passage{
		Text: chunk.GetText(), Claims: claim.Stated(claims), Title: title, FromMs: t.ValidMS,
	}
}

// asNote is a fresh chunk as brain/temporal takes it.
func (c *cycle) asNote(n *note) temporal.Note {
	return temporal.Note{
		Text: n.text, Above: n.above, Claims: n.claims, AtMs: c.Nodes[n.Node].AtMS, Dates: n.dates, Recurs: n.recurs,
	}
}

// groupOf is what a domain is named by.
func (c *cycle) groupOf(top []int32) (topic.Group, error) {
	return c.group(top, func(chunk func(uint64) (string, error)) (topic.Group, error) { return c.GroupOf(top, chunk) })
}

// groupOfPassages is what a basin is named by.
func (c *cycle) groupOfPassages(passages []cognition.Chunk) (topic.Group, error) {
	var nodes []int32
	for _, p := range passages {
		if !slices.Contains(nodes, p.Node) {
			nodes = append(nodes, p.Node)
		}
	}
	return c.group(nodes, func(chunk func(uint64) (string, error)) (topic.Group, error) {
		return c.GroupOfPassages(passages, chunk)
	})
}

// group reads the passages that of asks for, and who wrote the nodes.
func (c *cycle) group(nodes []int32, of func(chunk func(seq uint64) (string, error)) (topic.Group, error)) (
	g topic.Group, err error,
) {
	err = c.org.WithStore(func(st *storage.Store) error {
		g, err = of(func(seq uint64) (string, error) {
			chunk := &pb.Chunk{}
			_, err := st.Get(c.part.Space.Key(storage.TableChunk, storage.U64(seq)), chunk)
			return chunk.GetText(), err
		})
		for _, i := range nodes {
			if len(c.Nodes[i].Chunks) == 0 || err != nil {
				continue
			}
			n := &pb.Node{}
			_, err = st.Get(c.part.Space.Key(storage.TableNode, storage.Str(c.Nodes[i].ID)), n)
			speaker, speakers := extract.Speakers(n.GetMetadata())
			for _, name := range append(speakers, speaker) {
				if name != "" && !slices.Contains(g.Writers, name) {
					g.Writers = append(g.Writers, name)
				}
			}
		}
		return err
	})
	return g, err
}

// unchanged reports whether a node still says what the cycle has read of it: it stands under its title, with its
// passages. One that was forgotten and restored meanwhile is there, and holds nothing; an entity changes its title once
// the text that its title is from is forgotten.
func (c *cycle) unchanged(f *graph.Tx, i int32) (bool, error) {
	t := &c.Nodes[i]
	if ok, err := f.StillHolds(t.ID, 0); err != nil || !ok {
		return false, err
	}
	n := f.Nodes[t.ID]
	return n.GetTitle() == t.Title && slices.Equal(n.GetChunks(), t.Chunks), nil
}

// allUnchanged is unchanged for all of some nodes.
func (c *cycle) allUnchanged(f *graph.Tx, nodes []int32) (bool, error) {
	for _, i := range nodes {
		if ok, err := c.unchanged(f, i); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// stillSaid reports whether what quotes nodes and domains may be shown: what was forgotten since the cycle read it must
// not be written after that. The forgetting begins another cycle, which finds anew what is left out here.
func (c *cycle) stillSaid(f *graph.Tx, nodes, domains []int32) (bool, error) {
	for _, i := range domains {
		d, now := &c.found[i], &pb.Domain{}
		if _, err := f.Store.Get(f.Part.Space.Key(storage.TableDomain, storage.ID16(d.ID)), now); err != nil {
			return false, err
		}
		if now.GetLabel() != d.Label || !slices.Equal(now.GetKeywords(), d.Keywords) {
			return false, nil
		}
	}
	return c.allUnchanged(f, nodes)
}
