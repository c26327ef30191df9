package format

import (
	"bytes"
	"path"
	"strings"
)

// isMarkdown reports whether a line is a heading, or opens a block of code.
func isMarkdown(s string) bool {
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, "```") {
			return true
		}
		words := strings.TrimLeft(line, "#")
		level := len(line) - len(words)
		if level >= 1 && level <= 6 && strings.HasPrefix(words, " ") && strings.TrimSpace(words) != "" {
			return true
		}
	}
	return false
}

// quickBytes is the largest file that may be quick.
const quickBytes = 256 << 10

// Quick reports whether a file is read in some milliseconds, whatever is in it: small, and
// neither packed nor a mail, whose attachments may be.
func Quick(data []byte) bool {
	head := data[:min(len(data), 1024)]
	switch {
	case len(data) > quickBytes, bytes.HasPrefix(head, []byte("PK")), bytes.HasPrefix(head, []byte("\x1f\x8b")), bytes.HasPrefix(head, []byte("BZh")),
		bytes.Contains(head, []byte("%PDF-")), isTar(data), isMbox(data), isMail(data):
		return false
	}
	return true
}

// Documents reads a file and says what it was. Of a file of several parts some may
// be Refused, not all.
func Documents(name string, data []byte, limits Limits) (docs []Document, format string, err error) {
	r := newReader(limits)
	r.Inner = func(name string, raw []byte) ([]Document, error) { return r.inner(name, raw) }
	return r.file(name, data)
}

// file reads a file, or a file in an archive. What it is, its bytes say; the name
// decides between kinds of text alone.
func (r *reader) file(name string, data []byte) (docs []Document, format string, err error) {
	held, kept := r.Held(), r.kept
	defer func() { r.Settle(held + max(0, r.kept-kept)) }() // of all that was held the documents stay
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte("PK\x05\x06")):
		return r.zip(name, data)
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		return r.gzip(name, data)
	case bytes.HasPrefix(data, []byte("BZh")) && len(data) > 4 && data[3] >= '1' && data[3] <= '9':
		return r.bzip2(name, data)
	case bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")):
		return r.single(name, PDF, func() (Document, error) { return r.pdf(data) })
	case bytes.HasPrefix(data, []byte("{\\rtf")):
		return r.single(name, RTF, func() (Document, error) { return r.rtf(data) })
	case isTar(data):
		docs, err = r.tar(data, false)
		return docs, TAR, err
	case isMbox(data):
		if docs, err = r.mbox(data); err == nil {
			err = allRefused(docs)
		}
		return docs, MBOX, err
	case isMail(data): // before it is decoded: each part says what it is in
		if docs, err = r.mail(data); err == nil {
			err = allRefused(docs)
		}
		return docs, EML, err
	}
	label := ""
	if isHTML(data) {
		label = htmlCharset(data)
	}
	raw, err := r.text(data, label)
	if err != nil {
		return nil, "", err
	}
	if isHTML(raw) {
		return r.single(name, HTML, func() (Document, error) { return r.html(raw) })
	}
	ext := strings.ToLower(path.Ext(name))
	switch {
	case isVTT(raw), isSRT(raw):
		return r.transcript(name, raw)
	case bytes.HasPrefix(raw, []byte("BEGIN:VCALENDAR")):
		docs, err = r.calendar(raw)
		return docs, ICS, err
	case ext == ".jsonl" || ext == ".ndjson" || looksJSONL(raw):
		return r.items(name, JSONL, raw, (*reader).jsonl)
	case ext == ".json" || looksJSON(raw):
		if read, export := r.export(name, raw); read != nil {
			docs, err = read()
			return docs, export, err
		}
		return r.items(name, JSON, raw, (*reader).jsonItems)
	case ext == ".html" || ext == ".htm" || ext == ".xhtml":
		return r.single(name, HTML, func() (Document, error) { return r.html(raw) })
	case ext == ".csv" || ext == ".tsv" || ext != ".md" && looksCSV(raw):
		return r.single(name, CSV, func() (Document, error) { return r.csv(name, raw) })
	}
	return r.prose(name, raw)
}

// prose reads plain text and Markdown.
func (r *reader) prose(name string, raw []byte) ([]Document, string, error) {
	if err := r.keep(len(raw)); err != nil {
		return nil, "", err
	}
	if err := r.Hold(2 * len(raw)); err != nil { // as a string, and with its links shown
		return nil, "", err
	}
	s := string(raw)
	format := Text
	if ext := strings.ToLower(path.Ext(name)); ext == ".md" || ext == ".markdown" || isMarkdown(s) {
		format = Markdown
	}
	if format == Markdown {
		docs, err := r.markdown(name, s)
		return docs, format, err
	}
	docs, err := r.cut(Document{Title: baseTitle(name), Content: s})
	return docs, format, err
}

// Transcript reads a transcript: VTT, SRT, JSON of speaker and text, or lines of
// the form "Name: text". It becomes one document of such lines, whose metadata
// names the speakers.
func Transcript(name string, data []byte, limits Limits) (docs []Document, format string, err error) {
	r := newReader(limits)
	raw, err := r.text(data, "")
	if err != nil {
		return nil, "", err
	}
	return r.transcript(name, raw)
}

// IsMailbox reports whether a file is a mailbox; of one, 16 KiB say it.
func IsMailbox(head []byte) bool { return isMbox(head) }

// FirstMail is the length of the first mail of a mailbox, with the line that begins it,
// and whether another begins behind it: else more of the same mail may follow.
func FirstMail(mailbox []byte) (length int, another bool) {
	_, rest := firstMail(mailbox)
	return len(mailbox) - len(rest), len(rest) > 0
}
