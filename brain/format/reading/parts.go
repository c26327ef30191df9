package reading

import (
	"errors"
	"strings"
)

// Parts is an archive's content, one file after the other.
type Parts struct {
	*Reader
	Docs []Document
}

// Part reads a part of a file. What is wrong with the part is said in its place,
// and the others go on; an error is about the whole.
func (r *Reader) Part(where string, read func() ([]Document, error)) ([]Document, error) {
	kept, held := r.Kept, r.Held()
	docs, err := read()
	if err == nil { // a few words of an archive may stand for much that is said of each file
		said := 0
		for _, d := range docs {
			said += len(d.Metadata) + len(d.Title) + len(d.ExternalID)
		}
		err = r.Keep(said)
	}
	if err != nil && errors.Is(err, ErrFile) {
		r.Kept = kept // nothing of it stays
		r.Settle(held)
		return []Document{{Where: where, Refused: Reason(err), tooLarge: errors.Is(err, ErrTooLarge)}}, nil
	}
	r.Settle(held + r.Kept - kept)
	for i := range docs {
		docs[i].Where = where + Within(docs[i].Where)
	}
	return docs, err
}

// Within continues the name of a place with a place inside it, if any is named.
func Within(where string) string {
	if where == "" {
		return ""
	}
	return ", " + where
}

// Add adds documents, up to MaxDocuments.
func (p *Parts) Add(docs ...Document) error {
	if p.Docs = append(p.Docs, docs...); len(p.Docs) > MaxDocuments {
		return Errorf("holds more than %d documents; split it", MaxDocuments)
	}
	return nil
}

// Refuse adds a file that is not read. The reason completes the sentence "the part …".
func (p *Parts) Refuse(name, reason string) error {
	return p.Add(Document{Where: ShowPath(name), Refused: reason})
}

// ShowPath is an archive's path, fit to be shown.
func ShowPath(name string) string { return ClipTitle(name) }

// RestUnread stands for what is not read of an archive or a mailbox that has cost what
// one file may.
var RestUnread = Document{
	Where: "the rest", Refused: "is not read: it " + strings.TrimSuffix(Reason(ErrWork), "; split it"), tooLarge: true,
}

// Nothing is the error of an archive of which nothing can be read: the reason of
// its first file, or that it has no file.
func (p *Parts) Nothing() error { return AllRefused(p.Docs) }

// AllRefused is an error where no part of a file could be read, and nil otherwise.
func AllRefused(docs []Document) error {
	if len(docs) == 0 {
		return Errorf("is an archive without a file to read")
	}
	for _, d := range docs {
		if d.Refused == "" {
			return nil
		}
	}
	first := docs[0]
	if first.tooLarge {
		return TooLargef("holds nothing that can be taken in: %s %s", first.Where, first.Refused)
	}
	if first.Where == "" {
		return Errorf("%s", first.Refused)
	}
	return Errorf("holds nothing that can be taken in: %s %s", first.Where, first.Refused)
}
