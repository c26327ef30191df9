package format

import (
	"errors"
	"strings"
)

// pack is an archive's content, one file after the other.
type pack struct {
	*reader
	docs []Document
}

// part reads a part of a file. What is wrong with the part is said in its place,
// and the others go on; an error is about the whole.
func (r *reader) part(where string, read func() ([]Document, error)) ([]Document, error) {
	kept, held := r.kept, r.Held()
	docs, err := read()
	if err == nil { // a few words of an archive may stand for much that is said of each file
		said := 0
		for _, d := range docs {
			said += len(d.Metadata) + len(d.Title) + len(d.ExternalID)
		}
		err = r.keep(said)
	}
	if err != nil && errors.Is(err, ErrFile) {
		r.kept = kept // nothing of it stays
		r.Settle(held)
		return []Document{{Where: where, Refused: Reason(err), tooLarge: errors.Is(err, ErrTooLarge)}}, nil
	}
	r.Settle(held + r.kept - kept)
	for i := range docs {
		docs[i].Where = where + within(docs[i].Where)
	}
	return docs, err
}

func within(where string) string {
	if where == "" {
		return ""
	}
	return ", " + where
}

func (p *pack) add(docs ...Document) error {
	if p.docs = append(p.docs, docs...); len(p.docs) > MaxDocuments {
		return errorf("holds more than %d documents; split it", MaxDocuments)
	}
	return nil
}

func (p *pack) refuse(name, reason string) error {
	return p.add(Document{Where: showPath(name), Refused: reason})
}

// showPath is an archive's path, fit to be shown.
func showPath(name string) string { return clipTitle(name) }

// restUnread stands for what is not read of an archive or a mailbox that has cost what
// one file may.
var restUnread = Document{Where: "the rest", Refused: "is not read: it " + strings.TrimSuffix(Reason(errWork), "; split it"), tooLarge: true}

// nothing is the error of an archive of which nothing can be read: the reason of
// its first file, or that there is none.
func (p *pack) nothing() error { return allRefused(p.docs) }

func allRefused(docs []Document) error {
	if len(docs) == 0 {
		return errorf("is an archive without a file to read")
	}
	for _, d := range docs {
		if d.Refused == "" {
			return nil
		}
	}
	first := docs[0]
	if first.tooLarge {
		return tooLargef("holds nothing that can be taken in: %s %s", first.Where, first.Refused)
	}
	if first.Where == "" {
		return errorf("%s", first.Refused)
	}
	return errorf("holds nothing that can be taken in: %s %s", first.Where, first.Refused)
}
