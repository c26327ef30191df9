package search

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/answer"
	"orgmem/brain/extract"
	"orgmem/brain/reader"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Where a reader is configured that answers questions, it reads the passages that search finds, and says which of them
// answer: brain/answer tells those. Search then needs to find little more than that a passage is about the question.

const (
	// MaxRead bounds the passages that are read for an answer: 60 tokens each are some 50 ms.
	MaxRead = 8
	// maxNameWords is how long the name of a writer may be.
	maxNameWords = 8
	// maxSpace is how much space stands between two passages of a text, at most, that still is an indent.
	maxSpace = 40
	// MinRead is how many of them are read however busy the processors are, those that search ranks first: what an
	// answer says must not hang on what else the machine does. It is also after how many it is asked whether there still
	// is time: as many short ones as pass the model together.
	MinRead = 4
	// ReadTimeout is the time after which no more than these are read. Eight of full length are some 0.2 s of one
	// processor's time, so that it is reached where a read gets less than a tenth of one.
	ReadTimeout = 3 * time.Second
	// followTimeout is the time after which no sentence of a language model is held against passages any more:
	// PhraseReserve has to suffice for that.
	followTimeout = time.Second
)

// asks tells whether answers come of what the reader reads.
func (o *Module) asks() bool {
	r := o.System.Config.Reader
	return r != nil && r.Asks()
}

// reading is the worker's reader.
func (rd *searcher) reading(r *reader.Reader) *reader.Worker {
	if rd.reads == nil {
		rd.reads = r.NewWorker()
	}
	return rd.reads
}

// window is a stretch of a hit's passage that is read by itself.
type window struct {
	hit int // its place
	text.Span
}

// draftRead puts an answer together of what the reader finds in some hits, the best first, and leaves in the draft
// those that answer.
func (o *Module) draftRead(c *tenant.Call, st *storage.Store, d *draft, rd *searcher) error {
	read, err := passagesOf(st, d.parts, c.Part, d.hits)
	if err != nil {
		return err
	}
	if err := o.readPassages(c, d.query, read, rd); err != nil {
		return err
	}
	q := answer.Question{
		Text: d.query, AtMs: clock.Millis(o.System.Clock.Now()), MaxWords: d.words, Manner: d.manner,
	}
	// What there was no time to read does not answer: that it has the question's words says too little.
	chosen := answer.Choose(d.query, answer.Answering(d.query, read))
	d.hits = d.hits[:0]
	for _, x := range chosen { // what a language model words is what would be told
		d.hits = append(d.hits, x.Hit)
	}
	disputed, err := contradicted(st, d.parts, chosen)
	if err != nil {
		return err
	}
	d.BrainAnswered = answer.Tell(q, chosen, disputed)
	return nil
}

// passagesOf says of hits who wrote them, and when.
func passagesOf(
	r storage.Reader, parts []*partition.Ref, own *partition.Ref, hits []*pb.Hit,
) (read []answer.Read, err error) {
	for _, h := range hits {
		n, part, err := nodeOf(r, parts, h)
		if err != nil {
			return nil, err
		}
		if part == nil {
			continue
		}
		x := passageOf(part, n, h)
		x.Asker = part.ID == own.ID
		if x.Before, err = before(r, part, n, h); err != nil {
			return nil, err
		}
		read = append(read, x)
	}
	return read, nil
}

// passageOf says of a hit who wrote it, and when.
func passageOf(part *partition.Ref, n *pb.Node, h *pb.Hit) answer.Read {
	who, _ := extract.Speakers(n.GetMetadata())
	who, _ = answer.FirstWords(text.OneLine(who), maxNameWords)
	return answer.Read{
		Hit: h, Who: cmp.Or(who, string(part.Subject)), AtMs: cmp.Or(n.GetOccurredMs(), n.GetCreatedMs()),
	}
}

// labelOf is what a passage is called to the reader: by the title of its text, or else who wrote it, and when.
func labelOf(p *answer.Read) string {
	name := text.OneLine(p.Hit.GetTitle())
	begin := strings.TrimSuffix(name, "…")
	if begin == "" || strings.HasPrefix(strings.TrimLeft(p.Hit.GetChunk(), "#*->= \t\r\n"), begin) { // for want of a title
		name = p.Who
	}
	if name == "" || p.AtMs == 0 {
		return name
	}
	return name + ", " + time.UnixMilli(p.AtMs).UTC().Format(time.DateOnly)
}

// readPassages has the passages read, in the order of the search: MinRead of them in any case, MaxRead where there is
// time. Of one that is too long to be read at once, the stretch that has most of the question's words is, and its
// others as long as there is room for them. Where they are long the sentence that answers is read again by itself. What
// was not read has no reading: it answers with probability 0.
func (o *Module) readPassages(c *tenant.Call, query string, read []answer.Read, rd *searcher) error {
	words := NewQueryWords(rd.Reader, query)
	passages := make([]reader.Passage, len(read))
	for i := range read {
		passages[i] = reader.Passage{Label: labelOf(&read[i]), Text: read[i].Hit.GetChunk()}
	}
	q := rd.reading(o.System.Config.Reader).Asking(query, passages)
	var first, rest []window
	for i := range read {
		best, most := -1, -1.0
		at := len(rest)
		for k, sp := range q.Windows(passages[i]) {
			if share := words.share(passages[i].Text[sp.Start:sp.End]); share > most {
				best, most = k, share
			}
			rest = append(rest, window{i, sp})
		}
		if best >= 0 {
			first = append(first, rest[at+best])
			rest = append(rest[:at+best], rest[at+best+1:]...)
		}
	}
	all := append(first, rest...)
	all = all[:min(len(all), MaxRead)]
	began := o.System.Clock.Now()
	for n := 0; n < len(all); {
		if n >= MinRead && o.System.Clock.Now().Sub(began) >= ReadTimeout {
			break
		}
		batch := all[n:min(len(all), n+MinRead)]
		n += len(batch)
		var asked []reader.Passage
		for _, x := range batch {
			asked = append(asked, reader.Passage{Label: passages[x.hit].Label, Text: passages[x.hit].Text[x.Start:x.End]})
		}
		for i, found := range q.Ask(nil, asked) {
			read[batch[i].hit].Take(found, batch[i].Span)
		}
		if err := c.Awaited(); err != nil {
			return err
		}
	}
	labels := make([]string, len(passages))
	for i := range passages {
		labels[i] = passages[i].Label
	}
	answer.ReadCloser(read, labels, func(again []reader.Passage) []reader.Reading { return q.Ask(nil, again) })
	return c.Awaited()
}

// before is what stands before a passage in its text, as far as the passage before it goes, and about as much space as
// there is between them: the items of a list that it begins within.
func before(r storage.Reader, part *partition.Ref, n *pb.Node, h *pb.Hit) (string, error) {
	at, err := chunkPlace(h)
	if err != nil || at == 0 || at >= len(n.GetChunks()) {
		return "", err
	}
	own, last := &pb.Chunk{}, &pb.Chunk{}
	for seq, chunk := range map[uint64]*pb.Chunk{n.GetChunks()[at]: own, n.GetChunks()[at-1]: last} {
		if found, err := r.Get(part.Space.Key(storage.TableChunk, storage.U64(seq)), chunk); err != nil || !found {
			return "", err
		}
	}
	space := int(own.GetStart()) - int(last.GetEnd())
	if space <= 0 || space > maxSpace {
		return "", nil
	}
	return last.GetText() + "\n" + strings.Repeat(" ", space-1), nil
}

// contradicted tells whether cycles have found that two of the chosen passages' texts contradict each other.
func contradicted(r storage.Reader, parts []*partition.Ref, chosen []answer.Chosen) (so bool, err error) {
	told := map[string]bool{}
	for i := range chosen {
		node := chosen[i].Hit.GetNode()
		if part := tenant.OwnerOf(parts, pb.NodeID(node)); part != nil && !told[node] {
			err = errors.Join(err, eachContradiction(r, part, node, func(x *pb.Contradiction) error {
				so = so || told[x.GetNodeA()] || told[x.GetNodeB()]
				return nil
			}))
		}
		if told[node] = true; err != nil || so {
			break
		}
	}
	return so, err
}

const (
	// maxStatements bounds the statements of the passages that a sentence of a language model is held against.
	maxStatements = 12
	// leastEntailed is how probable it must be that one of them, or a passage as a whole, implies the sentence, and
	// mostContradicted how probable it may be that one contradicts it. Of the held-out pairs of train/data a twelfth of
	// what does not follow passes, which then must have the passage's words, too.
	leastEntailed    = 0.3
	mostContradicted = 0.5
)

// follows tells whether a sentence that a language model has written follows from passages, as the reader understands
// them: what has their words may still say another thing.
// What there is no time for does not follow: followTimeout for all, or until nobody waits.
func (o *Module) follows(c *tenant.Call, rd *searcher) func(string, []string) bool {
	if r := o.System.Config.Reader; r == nil || !r.Tells() {
		return nil
	}
	began := o.System.Clock.Now()
	return func(sentence string, passages []string) bool {
		if c.Awaited() != nil || o.System.Clock.Now().Sub(began) >= followTimeout {
			return false
		}
		words := NewQueryWords(rd.Reader, sentence)
		var pairs []reader.Pair
		for _, p := range passages {
			pairs = append(pairs, reader.Pair{A: text.OneLine(p), B: sentence})
		}
		for _, p := range passages {
			for sp := range text.Sentences(p) {
				if said := text.OneLine(p[sp.Start:sp.End]); said == sentence {
					return true
				} else if words.share(said) > 0 {
					pairs = append(pairs, reader.Pair{A: said, B: sentence})
				}
			}
		}
		entailed, contradicted := 0.0, 0.0
		for _, v := range rd.reading(o.System.Config.Reader).Read(nil, pairs[:min(len(pairs), maxStatements)]) {
			entailed, contradicted = max(entailed, v.Entail), max(contradicted, v.Contradict)
		}
		return entailed >= leastEntailed && (contradicted < mostContradicted || entailed > contradicted)
	}
}
