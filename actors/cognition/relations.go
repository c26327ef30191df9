package cognition

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/graph"
	"orgmem/actors/llm"
	"orgmem/brain/extract"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Where a language model is configured, it reads the sentences of the relations that rules have found: it lets one
// stand, gives it another of the types that there are, or says that it is not there. It names no entity and adds no
// relation, so whatever stands in a text, the model can say no more of it than the rules could. Each relation is asked
// about once, and keeps its evidence.

const (
	// maxWeighed bounds the relations that one cycle asks about, the newest, and relationsPerCall those of one
	// question. What is over waits for the next cycle.
	maxWeighed       = 90
	relationsPerCall = 30
	// maxSentences bounds the sentences of one relation, and maxSentence the characters of one.
	maxSentences = 3
	maxSentence  = 500
)

// unweighed is a relation that no model has been asked about.
type unweighed struct {
	edge  *pb.Edge
	place int // its place among the edges of the cycle
}

// relationsStage asks the language model about the newest relations that it was not asked about yet.
type relationsStage struct {
	*cycle
	candidates []unweighed // empty without a model
}

// collect notes the edge that was read last if a model may be asked about it.
func (c *relationsStage) collect(record storage.Item) error {
	last := c.Edges[len(c.Edges)-1]
	if c.org.System.Config.LLM == nil || !c.Nodes[last.A].Entity() || !c.Nodes[last.B].Entity() {
		return nil
	}
	e := &pb.Edge{}
	if err := record.Decode(e); err != nil || e.GetWeighed() || e.GetOrigin() != pb.OriginIngest {
		return err
	}
	c.candidates = append(c.candidates, unweighed{e, len(c.Edges) - 1})
	if len(c.candidates) == 2*maxWeighed {
		c.trim()
	}
	return nil
}

// trim leaves as many relations as a cycle asks about, the newest.
func (c *relationsStage) trim() {
	slices.SortFunc(c.candidates, func(a, b unweighed) int {
		return cmp.Or(cmp.Compare(b.edge.GetCreatedMs(), a.edge.GetCreatedMs()), cmp.Compare(a.edge.GetId(), b.edge.GetId()))
	})
	c.candidates = c.candidates[:min(len(c.candidates), maxWeighed)]
}

// run asks. Relations that get no answer stay as they are, and are asked about by the next cycle.
func (c *relationsStage) run() error {
	if len(c.candidates) == 0 {
		return nil
	}
	c.trim()
	types := make([]string, len(extract.RelationTypes))
	for i, t := range extract.RelationTypes {
		types[i] = string(t)
	}
	var changes []func(*graph.Tx) error
	var asked []unweighed
	var about []llm.Relation
	for _, d := range c.candidates {
		sentences, err := c.sentencesOf(d)
		if err != nil {
			return err
		}
		if len(sentences) == 0 { // there would be none in the next cycle either
			changes = append(changes, func(f *graph.Tx) error { return weighRelation(f, d.edge, d.edge.GetType()) })
			continue
		}
		t := c.Edges[d.place]
		asked, about = append(asked, d), append(about, llm.Relation{
			From: c.Nodes[t.A].Title, To: c.Nodes[t.B].Title, Type: d.edge.GetType(), Sentences: sentences,
		})
	}
	gone := map[int]bool{}
	for from := 0; from < len(asked); from += relationsPerCall {
		if err := c.goOn(); err != nil {
			return err
		}
		to := min(from+relationsPerCall, len(asked))
		var said []string
		err := c.ask(func(ctx context.Context, model *llm.Client) (err error) {
			said, err = model.Relations(ctx, c.org.ID, types, about[from:to])
			return err
		})
		if err != nil {
			c.unanswered("relations", err)
			break
		}
		for i, kind := range said {
			d := asked[from+i]
			if kind == llm.NoRelation {
				gone[d.place] = true
			} else {
				c.Edges[d.place].Kind = kind
			}
			changes = append(changes, func(f *graph.Tx) error { return weighRelation(f, d.edge, kind) })
		}
	}
	c.candidates = nil
	if len(gone) > 0 { // the next stages see what is left
		kept := c.Edges[:0]
		for i, t := range c.Edges {
			if !gone[i] {
				kept = append(kept, t)
			}
		}
		c.Edges = kept
	}
	return c.writeAll(changes)
}

// sentencesOf reads the sentences of a relation's evidence that name both of its ends.
func (c *relationsStage) sentencesOf(d unweighed) (found []string, err error) {
	err = c.org.WithStore(func(st *storage.Store) error {
		var names [2][]string
		for i, end := range []string{d.edge.GetSource(), d.edge.GetTarget()} {
			rec := &pb.Entity{}
			if _, err := st.Get(c.part.Space.Key(storage.TableEntity, storage.Str(end)), rec); err != nil {
				return err
			}
			for _, form := range rec.GetForms() {
				names[i] = append(names[i], form.GetName())
			}
		}
		for _, ref := range d.edge.GetEvidence() {
			seq, ok := c.ChunkNamed(ref)
			if !ok {
				continue
			}
			chunk, _, err := c.chunkOf(st, seq)
			if err != nil {
				return err
			}
			for sp := range text.Sentences(chunk.GetText()) {
				s := strings.Join(strings.Fields(chunk.GetText()[sp.Start:sp.End]), " ")
				if len(found) < maxSentences && namesOne(s, names[0]) && namesOne(s, names[1]) {
					found = append(found, text.TruncateRunes(s, maxSentence))
				}
			}
		}
		return nil
	})
	return found, err
}

// namesOne reports whether a sentence holds one of some names.
func namesOne(sentence string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(sentence, n) })
}

// weighRelation notes what a model said of a relation: its type, or llm.NoRelation, by which it goes. One that has
// changed since it was asked about is asked about again.
func weighRelation(f *graph.Tx, asked *pb.Edge, kind string) error {
	before, err := f.Current(graph.EdgeIdentityOf(asked))
	if err != nil || before == nil || !proto.Equal(before, asked) {
		return err
	}
	if kind == llm.NoRelation {
		return f.RemoveUnsupported(before)
	}
	after := proto.CloneOf(before)
	after.Type, after.Weighed = kind, true
	if kind == before.GetType() {
		return f.PutCurrent(before, after)
	}
	after.UpdatedMs = f.NowMs
	if err := f.RemoveUnsupported(before); err != nil {
		return err
	}
	same, err := f.Current(graph.EdgeIdentityOf(after))
	if err != nil {
		return err
	}
	if same != nil && same.GetStatus() != pb.StatusTombstoned {
		return mergeRelation(f, same, after)
	}
	if same != nil {
		if same.GetTombstonedWith() == "" {
			return nil // a person does not want to see it
		}
		graph.RemoveEdge(f.Batch.Batch, f.Part.Space, same)
	}
	return f.PutCurrent(nil, after) // under its id, by which its texts know it
}

// mergeRelation gives an edge what speaks for another that is the same and goes: its evidence, of which the texts know
// that they are.
func mergeRelation(f *graph.Tx, same, gone *pb.Edge) error {
	after := proto.CloneOf(same)
	for _, ref := range gone.GetEvidence() {
		graph.AddEvidence(after, ref)
		id := pb.NodeID(ref[:max(strings.LastIndexByte(ref, ':'), 0)])
		trace, err := f.Traces.Get(id)
		if err != nil {
			return err
		}
		if trace == nil { // the text is being forgotten
			continue
		}
		for i, edge := range trace.GetRelations() {
			if edge == gone.GetId() {
				trace.Relations[i] = same.GetId()
			}
		}
		f.Traces.Put(id, trace)
	}
	after.Weight, after.Confidence = max(same.GetWeight(), gone.GetWeight()), max(same.GetConfidence(),
		gone.GetConfidence())
	if after.GetStatus() == pb.StatusSuperseded {
		after.Status, after.ValidFromMs, after.ValidToMs = pb.StatusLive, f.NowMs, 0
	}
	after.Weighed, after.UpdatedMs = true, f.NowMs
	return f.PutCurrent(same, after)
}
