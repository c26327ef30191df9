package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"orgmem/brain/format"
	"orgmem/brain/format/reading"
	"orgmem/cmd/orgmem/internal/client"
	"orgmem/proto/canon"
)

// Bounds of what is made of a file.
const (
	// maxRunes of a document are below the body limit of a batch (10 MiB) in every
	// script: three million times three bytes. A longer text is cut.
	maxRunes = 3_000_000
	// maxText bounds the text of one file, which is held in memory until it is sent:
	// that of a packed file may be twice what the largest plain one holds.
	maxText = 128 << 20
	// maxMemory and maxWork bound what one file takes to be read here, one after the other
	// and for the machine's own user: four times what the service allows.
	maxMemory, maxWork = 4 * reading.MaxMemory, 4 * reading.MaxWork
	// maxID is the interface's limit for an external id.
	maxID = 512
	// maxPath is the interface's limit for a title.
	maxPath = 1000
	// maxTitle is where a heading is more likely a paragraph.
	maxTitle = 200
)

// digest names a content; the state compares by it.
type digest string

// bytesOf reads a file whole, or says why it cannot be.
func (f File) bytesOf() ([]byte, digest, string) {
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, "", reasonOf(err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	// Of the size that was found, so that the file is in memory once.
	raw := bytes.NewBuffer(make([]byte, 0, f.bytes+bytes.MinRead))
	if _, err := raw.ReadFrom(io.LimitReader(file, maxFileBytes+1)); err != nil {
		return nil, "", reasonOf(err)
	}
	if raw.Len() > maxFileBytes {
		return nil, "", tooLarge
	}
	sum := sha256.Sum256(raw.Bytes())
	return raw.Bytes(), digest(hex.EncodeToString(sum[:])), ""
}

var tooLarge = fmt.Sprintf("larger than %d MiB", maxFileBytes>>20)

// document is one text of a file, ready to send, its size once encoded, and its mark.
type document struct {
	client.Item
	encoded int
	mark    mark
}

// documents reads a file. refused are the parts that cannot be read, or
// the whole file. goOn is asked meanwhile; its errors are the only ones. Of a part of a
// mailbox, mails stand before it.
//
// It reads with the service's own code rather than sending the file to POST
// /v1/import: that route knows no external id, by which a changed file takes the
// place of what it was, and takes sixty files a minute where a batch takes two
// hundred documents.
func (f File) documents(raw []byte, mails int, goOn func() error) (items []document, refused []Skipped, err error) {
	defer func() {
		if p := recover(); p != nil { // one file must not end the import of the others
			items, refused = nil, []Skipped{{Path: f.Path, Reason: fmt.Sprintf("fault while it was read: %v", p)}}
		}
	}()
	docs, kind, err := format.Documents(path.Base(f.below), raw,
		reading.Limits{Runes: maxRunes, Bytes: maxText, Memory: maxMemory, Work: maxWork, GoOn: goOn})
	if errors.Is(err, reading.ErrFile) && (kind == reading.JSON || kind == reading.JSONL) && isText(raw) {
		// JSON that holds nothing to take in is somebody's configuration or data, and
		// is taken as the text that it is.
		docs, kind, err = []reading.Document{{Content: string(bytes.TrimPrefix(raw, []byte("\ufeff")))}}, reading.Text, nil
	}
	switch {
	case errors.Is(err, reading.ErrFile):
		return nil, []Skipped{{Path: f.Path, Reason: reading.Reason(err)}}, nil
	case err != nil:
		return nil, nil, err
	}
	ids := make(map[string]int)
	for i, d := range docs {
		d.Where = behind(d.Where, mails)
		if d.Refused != "" {
			refused = append(refused, Skipped{f.Path, d.Where, d.Refused})
			continue
		}
		if d.ExternalID == "" {
			d.ExternalID = f.idOf(d, ids)
		}
		item, reason := f.item(d, kind, i)
		if reason != "" {
			refused = append(refused, Skipped{f.Path, d.Where, reason})
			continue
		}
		items = append(items, item)
	}
	return items, refused, nil
}

// isText reports whether raw is text that can be sent as it stands.
func isText(raw []byte) bool {
	return utf8.Valid(raw) && bytes.IndexByte(raw, 0) < 0 && utf8.RuneCount(raw) <= maxRunes
}

// item is the n-th document of a file, or the reason why it is not sent.
func (f File) item(d reading.Document, kind string, n int) (document, string) {
	item := client.Item{Content: d.Content, Title: d.Title, Kind: d.Kind, ExternalID: d.ExternalID}
	switch {
	case kind == reading.Text && n == 0, kind == reading.Markdown && d.Title == "":
		item.Title = titleOf(d.Content, f.below)
	case kind == reading.Text:
		item.Title = fmt.Sprintf("%s (%d)", f.below, n+1)
	}
	if d.OccurredAt != "" {
		switch _, err := time.Parse(time.RFC3339, d.OccurredAt); {
		case err == nil:
			item.OccurredAt = d.OccurredAt
		case !d.Noted:
			return document{}, "has an occurredAt that is no RFC 3339 date-time"
		}
	}
	item.Metadata = f.metadata(d)
	raw, err := json.Marshal(item)
	switch {
	case err != nil:
		return document{}, err.Error()
	case len(raw) > maxItemBytes:
		return document{}, "too large once encoded"
	}
	return document{item, len(raw), markOf(raw)}, ""
}

// metadata is what the reading found, and where the document lies: the file's path,
// and behind it that in an archive.
func (f File) metadata(d reading.Document) json.RawMessage {
	all := map[string]json.RawMessage{}
	if len(d.Metadata) > 0 && json.Unmarshal(d.Metadata, &all) != nil {
		return d.Metadata
	}
	if _, said := all["path"]; !said {
		where, err := json.Marshal(path.Join(f.below, d.Path))
		if err != nil {
			return d.Metadata
		}
		all["path"] = where
	}
	raw, err := json.Marshal(all)
	if err != nil || len(raw) > canon.MaxBytes {
		return d.Metadata
	}
	return raw
}

// idOf is the external id of a document that has none: the file's path, and the
// place in the file where that holds several. given counts what was asked for.
func (f File) idOf(d reading.Document, given map[string]int) string {
	id := string(f.ID)
	if d.Where != "" {
		id += "#" + d.Where
	}
	given[id]++
	if n := given[id]; n > 1 { // a text that was cut, or two of one name in an archive
		id = fmt.Sprintf("%s#%d", id, n)
	}
	if utf8.RuneCountInString(id) <= maxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	tail := "#" + hex.EncodeToString(sum[:16])
	return string([]rune(id)[:maxID-len(tail)]) + tail
}

// titleOf is the first Markdown heading near the top, else the path: a path
// often says more of a file than its first line does.
func titleOf(text, below string) string {
	lines := strings.SplitN(text, "\n", 11)
	for _, line := range lines[:min(len(lines), 10)] {
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			if heading = strings.TrimSpace(heading); heading != "" && utf8.RuneCountInString(heading) <= maxTitle {
				return heading
			}
		}
	}
	if utf8.RuneCountInString(below) > maxPath {
		return path.Base(below)
	}
	return below
}
