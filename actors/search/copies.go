package search

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"orgmem/actors/partition"
	"orgmem/actors/training"
	"orgmem/brain/cognition"
	"orgmem/brain/extract"
	"orgmem/brain/index"
	"orgmem/brain/quality"
	"orgmem/brain/temporal"
	"orgmem/brain/topic"
	pb "orgmem/proto"
	"orgmem/storage"
)

// A page of hits is not spent on one text: what says the same as a hit before it, in the same words, stands behind all
// that does not, where there still is room. Nothing is left out by it that a page of the same size at the end of the
// ranking would not leave out as well, and what differs in a number, a negation or a name is never moved
// (quality.Wording).

const (
	// MaxSpare bounds the hits behind a page that are compared for the places of copies in it: of more copies than that
	// the page shows what is left over. Each costs two reads, some 16 µs. A page without copies reads none of them.
	MaxSpare = 100
	// sharedWords is from how many words on what two people have written, or one on two days, is one text that went
	// around. Of less it may be two that say the same: "I am away on Friday".
	sharedWords = 20
	// tied is how much less than that of the first the score of a copy may be for the later of the two to be shown: half
	// of what being of a time that the question asks about sets them apart (index.Config.TimeWeight).
	tied = 0.1
	// laterMs is how much later it must be.
	laterMs = int64(time.Hour / time.Millisecond)
)

// shown is a passage that may become a hit of a page, with what it was read from.
type shown struct {
	part  *partition.Ref
	hit   *pb.Hit
	node  *pb.Node  // nil: neither it nor the chunk is read yet
	chunk *pb.Chunk // the passage
}

// page collects hits, best first, and orders them. It belongs to a read worker.
type page struct {
	st    storage.Reader
	plain bool // copies stay where they are
	found []*shown
	words []quality.Wording // of those found, and memory for more
	first []int             // of each found its own place, or that of the one that says the same before it
	same  []bool            // in all of its words
	// distinct is how many of those found are no copies.
	distinct int
}

// page gives the worker's page, empty.
func (rd *searcher) page(st storage.Reader) *page {
	p := &rd.copies
	p.clear()
	p.st, p.plain = st, false
	return p
}

// done ends the page: what it held may be forgotten before the worker's next search, and would be in memory until then.
func (p *page) done() {
	p.clear()
	p.st = nil
}

func (p *page) clear() {
	for i := range p.found {
		p.words[i].Clear()
	}
	clear(p.found)
	p.found, p.first, p.same, p.distinct = p.found[:0], p.first[:0], p.same[:0], 0
}

// add takes in the next hit, and finds out whether it is a copy.
func (p *page) add(x *shown) error {
	i := len(p.found)
	if i == len(p.words) {
		p.words = append(p.words, quality.Wording{})
	}
	p.found, p.first, p.same = append(p.found, x), append(p.first, i), append(p.same, false)
	if p.plain {
		p.distinct++
		return nil
	}
	w := &p.words[i]
	w.Reset(x.hit.GetChunk())
	for k := range i {
		if p.first[k] != k {
			continue
		}
		copies, same := w.Copies(&p.words[k])
		if !copies {
			continue
		}
		apart, err := p.apart(k, i)
		if err != nil {
			return err
		}
		if !apart {
			p.first[i], p.same[i] = k, same
			return nil
		}
	}
	p.distinct++
	return nil
}

// copied tells whether there are copies among those found.
func (p *page) copied() bool { return p.distinct < len(p.found) }

// apart tells whether two passages with the same words say two things: they stand under other titles or headings or,
// being short, were said by others or on other days.
func (p *page) apart(a, b int) (bool, error) {
	x, y := p.found[a], p.found[b]
	for _, s := range []*shown{x, y} {
		if s.node == nil {
			if err := s.read(p.st); err != nil {
				return false, err
			}
		}
	}
	var u, v quality.Wording
	u.Reset(x.under())
	v.Reset(y.under())
	if _, same := v.Copies(&u); !same && u.Len()+v.Len() > 0 {
		return true, nil
	}
	if min(p.words[a].Len(), p.words[b].Len()) >= sharedWords {
		return false, nil
	}
	const dayMs = 24 * int64(time.Hour/time.Millisecond)
	s, t := x.node.GetOccurredMs(), y.node.GetOccurredMs()
	if x.part.ID != y.part.ID || s != 0 && t != 0 && s/dayMs != t/dayMs {
		return true, nil
	}
	one, many := extract.Speakers(x.node.GetMetadata())
	other, others := extract.Speakers(y.node.GetMetadata())
	return one != other || !slices.Equal(many, others), nil
}

// read reads the node and the chunk of a hit. Of what is gone they are empty.
func (x *shown) read(r storage.Reader) error {
	x.node, x.chunk = &pb.Node{}, &pb.Chunk{}
	if _, err := r.Get(x.part.Space.Key(storage.TableNode, storage.Str(x.hit.GetNode())), x.node); err != nil {
		return err
	}
	at, err := chunkPlace(x.hit)
	if err != nil || at >= len(x.node.GetChunks()) {
		return err
	}
	_, err = r.Get(x.part.Space.Key(storage.TableChunk, storage.U64(x.node.GetChunks()[at])), x.chunk)
	return err
}

// under is the title that a passage was given, without "Re:", and the headings that it stands under.
func (x *shown) under() string {
	title, path := cognition.GivenTitle(x.node.GetTitle(), x.chunk), x.chunk.GetTitlePath()
	if len(path) > 0 && strings.HasPrefix(strings.Join(strings.Fields(x.node.GetTitle()), " "), path[0]) {
		path = path[1:] // the title again, made from the text's beginning or given
	}
	return strings.Join(append([]string{topic.Subject(title)}, path...), "\n")
}

// atMs is the time that a passage is of. Of what is compared with another the node is read.
func (x *shown) atMs() int64 { return cmp.Or(x.node.GetOccurredMs(), x.node.GetCreatedMs()) }

// currentFirst has no hit stand before one that gives a later value to the same facts (temporal.CurrentFirst).
func (p *page) currentFirst(asOf int64) error {
	if !slices.ContainsFunc(p.found, func(x *shown) bool { return len(x.node.GetFacts()) > 0 }) {
		return nil
	}
	hits, nodes := p.hitsAndNodes()
	of := make(map[*pb.Hit]*shown, len(p.found))
	for _, x := range p.found {
		of[x.hit] = x
	}
	temporal.CurrentFirst(hits, nodes, asOf)
	if !p.copied() {
		for i, h := range hits {
			p.found[i] = of[h]
		}
		return nil
	}
	p.clear() // of copies another may be the first now
	for _, h := range hits {
		if err := p.add(of[h]); err != nil {
			return err
		}
	}
	return nil
}

// arrange gives the order of the page's hits, by their places among those found, at most topK. A copy has the score of
// what it stands behind, if its own is greater, so that scores fall from hit to hit. A hit that takes another's place
// gets its score.
func (p *page) arrange(topK int) []int {
	order := make([]int, 0, len(p.found))
	if !p.copied() {
		for i := range p.found {
			order = append(order, i)
		}
		return order[:min(len(order), topK)]
	}
	lead := p.leads()
	for i, first := range p.first {
		if first == i && len(order) < topK {
			order = append(order, lead[i])
		}
	}
	least := p.found[p.first[order[len(order)-1]]].hit.GetScore()
	for i, first := range p.first {
		if k := lead[first]; k == i && first != i {
			p.found[k].hit.Score = p.found[first].hit.GetScore()
		}
	}
	for i, first := range p.first {
		if k := lead[first]; k != i {
			h := p.found[i].hit
			h.DuplicateOf, h.Score = p.found[k].hit.GetNode(), min(h.GetScore(), least)
			order = append(order, i)
		}
	}
	return order[:min(len(order), topK)]
}

// leads gives, at the place of each that is no copy, that of the hit to be shown in front for it and its copies: itself
// or, of those that have the same words and as good a score, the latest.
func (p *page) leads() []int {
	lead := make([]int, len(p.found))
	for i, first := range p.first {
		if first == i {
			lead[i] = i
			continue
		}
		x, now := p.found[i], p.found[lead[first]]
		if p.same[i] && p.found[first].hit.GetScore()-x.hit.GetScore() <= tied && x.atMs()-now.atMs() >= laterMs {
			lead[first] = i
		}
	}
	return lead
}

// fill reads what a search has ranked onto the page: as many as it has places and, where there are copies among them,
// those that take the places of these.
func (p *page) fill(parts []*partition.Ref, best *ranking, topK int, q *index.Query) error {
	take := func(h index.Hit) error {
		x, err := readHit(p.st, parts[h.Part], h)
		if err != nil || x == nil {
			return err
		}
		if best.all != nil {
			x.hit.Explained, _ = best.all.hit(training.ChunkID{Part: x.part.ID, Seq: h.Seq}, h.Node)
		}
		return p.add(x)
	}
	for _, h := range best.hits {
		if err := take(h); err != nil {
			return err
		}
	}
	if !p.copied() {
		return nil
	}
	all := index.Fuse(best.candidates, best.exact, q, topK+MaxSpare)
	for _, h := range all[len(best.hits):] {
		if p.distinct >= topK {
			break
		}
		if err := take(h); err != nil {
			return err
		}
	}
	return nil
}

// markStale says of those found what they rest on and does not stand.
func (p *page) markStale(st *storage.Store, parts []*partition.Ref, asOf int64) error {
	if !slices.ContainsFunc(p.found, func(x *shown) bool { return rests(x.node) }) {
		return nil
	}
	hits, nodes := p.hitsAndNodes()
	return markStale(st, parts, hits, nodes, asOf)
}

// hitsAndNodes are those found, apart.
func (p *page) hitsAndNodes() (hits []*pb.Hit, nodes []*pb.Node) {
	for _, x := range p.found {
		hits, nodes = append(hits, x.hit), append(nodes, x.node)
	}
	return hits, nodes
}

// fillByBrain is fill for what a brain ranks, of which found gives so many of the best.
func (p *page) fillByBrain(topK int, found func(most int) ([]walked, error)) ([]walked, error) {
	for most := topK; ; {
		all, err := found(most)
		if err != nil {
			return nil, err
		}
		p.clear()
		for i := range all {
			if err := p.add(all[i].shown); err != nil {
				return nil, err
			}
		}
		missing := topK - p.distinct
		if missing <= 0 || len(all) < most || most == topK+MaxSpare {
			return all, nil
		}
		most = min(most+2*missing, topK+MaxSpare)
	}
}

// unlessCopied leaves out hits that say the same as another of them: a reader of all of them misses nothing.
func unlessCopied(hits []*pb.Hit) []*pb.Hit {
	return slices.DeleteFunc(slices.Clone(hits), func(h *pb.Hit) bool {
		return h.GetDuplicateOf() != "" && slices.ContainsFunc(hits, func(first *pb.Hit) bool {
			return first.GetNode() == h.GetDuplicateOf()
		})
	})
}
