package graph

import (
	"bytes"

	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/brain/claim"
	"orgmem/brain/extract"
	"orgmem/brain/extract/recurrence"
	"orgmem/brain/reader"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// Queued is an entry of a partition's queue with its number there.
type Queued struct {
	Seq uint64
	*pb.QueueEntry
}

// reading is what an item's text says, computed with its chunks.
type reading struct {
	extract.Extraction
	recurrences []*pb.TraceRecurrence
	facts       []*pb.StatedFact
}

// StageBytes is how much of one document's records goes into one commit. A document of several million characters would
// not fit into one raft entry. Its chunks are committed first, where nothing refers to them, and become visible with
// their node.
const StageBytes = 2 << 20

// DefaultKind is the kind of a node whose item names none.
const DefaultKind = "document"

// Prepared is an item whose chunks are computed, and which is not applied yet.
type Prepared struct {
	Queued
	Node  pb.NodeID
	Known bool // nothing was computed: its content, so described, was stored or stood before it in the slice
	// Stands means that a person has changed what the document says, and the document only repeats itself: the change
	// stays. Variant means that an edited node has the content's own id (content_id.go).
	Stands, Variant bool
	Relearn         bool   // it was taken in to be searched only, and perhaps is to be learned from now
	Unread          bool   // it is taken in to be searched only, so nobody asks what it says
	Model           string // of an edit's: what embedded it
	// What the index takes, one of each for every chunk.
	Chunks   []text.Chunk
	Vectors  [][]float32
	Passages []text.Passage
	Tagged   *reader.Tagged // what the node's reader makes of the text, until it is read; nil: nothing
	reading  *reading       // what the text says; nil: it is not to be read
	Err      error          // the item cannot be processed
}

// Cut divides an item's content into chunks.
func (p *Prepared) Cut(e partition.Embedder) {
	p.Chunks = text.Chunks(text.Document{Title: p.GetItem().GetTitle(), Body: p.GetItem().GetContent()},
		partition.ChunkOptions(e))
	p.Vectors = make([][]float32, len(p.Chunks))
	p.Passages = make([]text.Passage, len(p.Chunks))
}

// Read finds what an item's text says, on a CPU worker with that worker's claim reader. now, in Unix milliseconds, is
// the time of a text that says none. goOn is called again and again, and its error ends the reading. After any error
// the item has no reading, and can be stored all the same.
func (p *Prepared) Read(claims *claim.Reader, now int64, goOn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil { // what is found by its words must not be lost for that
			p.reading, err = nil, node.PanicError("reading of a text", r)
		}
	}()
	item := p.GetItem()
	at := item.GetOccurredMs()
	if at == 0 {
		at = now
	}
	speaker, speakers := extract.Speakers(item.GetMetadata())
	found, recurring, err := recurrence.While(extract.Document{
		Text: item.GetContent(), Title: item.GetTitle(), AtMs: at,
		Speaker: speaker, Speakers: speakers, Tagged: p.Tagged,
	}, goOn)
	p.Tagged = nil
	if err != nil {
		return err
	}
	p.reading = &reading{found, recurring, claims.Facts(claim.Source{
		Text: item.GetContent(), Title: item.GetTitle(), Speaker: speaker,
	})}
	return nil
}

func kindOf(item *pb.IngestItem) string {
	if item.GetKind() == "" {
		return DefaultKind
	}
	return item.GetKind()
}

// Redescribes reports whether an item with the content of an existing node describes it anew. A live node is described
// only by the document that it was first stored for; otherwise documents that share a content would take turns. A
// superseded node is described by the document that brings it back. What a person has edited stays until the document's
// text changes.
func Redescribes(n *pb.Node, item *pb.IngestItem) bool {
	if ids := n.GetSource().GetExternalIds(); n.GetStatus() == pb.StatusLive &&
		(n.GetCurated() || len(ids) == 0 || ids[0] != item.GetExternalId()) {
		return false
	}
	return redescribed(n, item)
}

// redescribed reports whether an item describes its content differently from its node.
func redescribed(n *pb.Node, item *pb.IngestItem) bool {
	return n.GetTitle() != text.Title(item.GetTitle(), item.GetContent()) || n.GetKind() != kindOf(item) ||
		!bytes.Equal(n.GetMetadata(), item.GetMetadata()) || n.GetOccurredMs() != item.GetOccurredMs()
}
