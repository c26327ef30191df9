package search

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/answer"
	"orgmem/brain/cognition"
	"orgmem/brain/extract"
	"orgmem/brain/text"
	"orgmem/brain/topic"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// recentTitles says what the newest live texts that somebody wrote, and that may be learned from, are about, the newest
// first: by the time that they are of, and of one time by when they came in. Of a thread it is said once.
func (o *Module) recentTitles(c *tenant.Call, st *storage.Store, most int) ([]string, error) {
	now, err := o.Residents.Get(st, c.Part, o.System.Embedders.Dim)
	if err != nil {
		return nil, err
	}
	newest := now.Snapshot.Latest(maxTitleScan, clock.Millis(o.System.Clock.Now()), func(id pb.NodeID, kind string) bool {
		// Neither a name out of a text nor what was read out of one that is there itself, often by the dozen.
		return kind != cognition.KindEntity && strings.HasPrefix(string(id), "ingest:")
	})
	var titles, subjects []string
	for _, id := range newest {
		if len(titles) == most {
			break
		}
		n := &pb.Node{}
		found, err := st.Get(c.Part.Space.Key(storage.TableNode, storage.Str(id)), n)
		if err != nil {
			return nil, err
		}
		if !found || !graph.Holds(n, 0) || len(n.GetChunks()) == 0 {
			continue
		}
		chunk := &pb.Chunk{}
		if _, err := st.Get(c.Part.Space.Key(storage.TableChunk, storage.U64(n.GetChunks()[0])), chunk); err != nil {
			return nil, err
		}
		title := titleOf(n, chunk)
		subject := strings.ToLower(topic.Subject(n.GetTitle()))
		if title != "" && (subject == "" || !slices.Contains(subjects, subject)) {
			titles, subjects = append(titles, title), append(subjects, subject)
		}
	}
	return titles, nil
}

// titleOf says what a text is about, by its first passage: the title that it was given or begins with or, of a message
// that has none, what it tells. Empty where it tells nothing.
func titleOf(n *pb.Node, first *pb.Chunk) string {
	if title := text.OneLine(topic.Subject(n.GetTitle())); titled(n, first) && answer.Tells(title) {
		return title
	}
	return answer.Dated(answer.Gist(first.GetText(), writerOf(n)), cmp.Or(n.GetOccurredMs(), n.GetCreatedMs()))
}

// titled tells whether a text has a title or begins with one; else its first words serve.
func titled(n *pb.Node, first *pb.Chunk) bool {
	return strings.HasPrefix(strings.TrimSpace(first.GetText()), "#") || cognition.GivenTitle(n.GetTitle(), first) != ""
}

// writerOf is who wrote a text, where a client says that of one person.
func writerOf(n *pb.Node) string {
	speaker, speakers := extract.Speakers(n.GetMetadata())
	if len(speakers) > 1 {
		return ""
	}
	return text.OneLine(speaker)
}

// titlesAbout finds documents that name the directory somebody works in.
func (o *Module) titlesAbout(c *tenant.Call, st *storage.Store, cwd string, rd *searcher) ([]string, error) {
	dir := path.Base(cwd)
	if dir == "/" || dir == "." {
		return nil, nil
	}
	found, err := o.find(c, st, []*partition.Ref{c.Part}, &pb.Search{Query: dir, Mode: "keyword", TopK: maxPackTitles}, rd)
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, h := range found.GetHits() {
		title, err := titleAbout(st, c.Part, h, dir)
		if err != nil {
			return nil, err
		}
		if title != "" && !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	return titles, nil
}

// titleAbout says what a hit is about that names a directory: its title or, where the title does not name it, the
// sentence that does so as one names a thing. Many directories are called by a word that texts hold by the way. Empty:
// the hit is not about it.
func titleAbout(r storage.Reader, part *partition.Ref, h *pb.Hit, dir string) (string, error) {
	n := &pb.Node{}
	found, err := r.Get(part.Space.Key(storage.TableNode, storage.Str(h.GetNode())), n)
	if err != nil || !found {
		return "", err
	}
	first := &pb.Chunk{}
	if len(n.GetChunks()) > 0 {
		if _, err := r.Get(part.Space.Key(storage.TableChunk, storage.U64(n.GetChunks()[0])), first); err != nil {
			return "", err
		}
	}
	names := func(s string) bool { return answer.Names(s, dir) }
	if !titled(n, first) {
		return answer.GistOf(h.GetChunk(), writerOf(n), names), nil
	}
	title := text.OneLine(topic.Subject(n.GetTitle()))
	if !answer.Holds(title, dir) && !names(h.GetChunk()) {
		return "", nil
	}
	return title, nil
}
