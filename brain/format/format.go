package format

import (
	"bytes"
	"path"
	"strings"

	"orgmem/brain/format/mail"
	"orgmem/brain/format/markup"
	"orgmem/brain/format/office"
	"orgmem/brain/format/reading"
	"orgmem/brain/format/record"
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
	case len(data) > quickBytes, bytes.HasPrefix(head, []byte("PK")), bytes.HasPrefix(head, []byte("\x1f\x8b")),
		bytes.HasPrefix(head, []byte("BZh")),
		bytes.Contains(head, []byte("%PDF-")), reading.IsTar(data), mail.IsMailbox(data), mail.IsMail(data):
		return false
	}
	return true
}

// Documents reads a file and says what it was. Of a file of several parts some may
// be Refused, not all.
func Documents(name string, data []byte, limits reading.Limits) (docs []reading.Document, format string, err error) {
	r := reading.New(limits)
	r.Inner = func(name string, raw []byte) ([]reading.Document, error) { return readInner(r, name, raw) }
	return readFile(r, name, data)
}

// readFile reads a file, or a file in an archive. What it is, its bytes say; the name
// decides between kinds of text alone.
func readFile(r *reading.Reader, name string, data []byte) (docs []reading.Document, format string, err error) {
	held, kept := r.Held(), r.Kept
	defer func() { r.Settle(held + max(0, r.Kept-kept)) }() // of all that was held the documents stay
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte("PK\x05\x06")):
		return readZip(r, name, data)
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		return readGzip(r, name, data)
	case bytes.HasPrefix(data, []byte("BZh")) && len(data) > 4 && data[3] >= '1' && data[3] <= '9':
		return readBzip2(r, name, data)
	case bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")):
		return r.Single(name, reading.PDF, func() (reading.Document, error) { return office.PDF(r, data) })
	case bytes.HasPrefix(data, []byte("{\\rtf")):
		return r.Single(name, reading.RTF, func() (reading.Document, error) { return office.RTF(r, data) })
	case reading.IsTar(data):
		docs, err = readTar(r, data, false)
		return docs, reading.TAR, err
	case mail.IsMailbox(data):
		if docs, err = mail.ReadMailbox(r, data); err == nil {
			err = reading.AllRefused(docs)
		}
		return docs, reading.MBOX, err
	case mail.IsMail(data): // before it is decoded: each part says what it is in
		if docs, err = mail.Read(r, data); err == nil {
			err = reading.AllRefused(docs)
		}
		return docs, reading.EML, err
	}
	label := ""
	if markup.IsHTML(data) {
		label = markup.HTMLCharset(data)
	}
	raw, err := r.Text(data, label)
	if err != nil {
		return nil, "", err
	}
	if markup.IsHTML(raw) {
		return r.Single(name, reading.HTML, func() (reading.Document, error) { return markup.HTML(r, raw) })
	}
	ext := strings.ToLower(path.Ext(name))
	switch {
	case record.IsVTT(raw), record.IsSRT(raw):
		return record.Transcript(r, name, raw)
	case bytes.HasPrefix(raw, []byte("BEGIN:VCALENDAR")):
		docs, err = mail.ReadCalendar(r, raw)
		return docs, reading.ICS, err
	case ext == ".jsonl" || ext == ".ndjson" || record.LooksJSONL(raw):
		return record.Items(r, name, reading.JSONL, raw, record.ReadLines)
	case ext == ".json" || record.LooksJSON(raw):
		if read, export := record.Export(r, name, raw); read != nil {
			docs, err = read()
			return docs, export, err
		}
		return record.Items(r, name, reading.JSON, raw, record.ReadItems)
	case ext == ".html" || ext == ".htm" || ext == ".xhtml":
		return r.Single(name, reading.HTML, func() (reading.Document, error) { return markup.HTML(r, raw) })
	case ext == ".csv" || ext == ".tsv" || ext != ".md" && markup.LooksCSV(raw):
		return r.Single(name, reading.CSV, func() (reading.Document, error) { return markup.CSV(r, name, raw) })
	}
	return readProse(r, name, raw)
}

// readProse reads plain text and Markdown.
func readProse(r *reading.Reader, name string, raw []byte) ([]reading.Document, string, error) {
	if err := r.Keep(len(raw)); err != nil {
		return nil, "", err
	}
	if err := r.Hold(2 * len(raw)); err != nil { // as a string, and with its links shown
		return nil, "", err
	}
	s := string(raw)
	format := reading.Text
	if ext := strings.ToLower(path.Ext(name)); ext == ".md" || ext == ".markdown" || isMarkdown(s) {
		format = reading.Markdown
	}
	if format == reading.Markdown {
		docs, err := markup.Markdown(r, name, s)
		return docs, format, err
	}
	docs, err := r.Cut(reading.Document{Title: reading.BaseTitle(name), Content: s})
	return docs, format, err
}

// Transcript reads a transcript: VTT, SRT, JSON of speaker and text, or lines of
// the form "Name: text". It becomes one document of such lines, whose metadata
// names the speakers.
func Transcript(name string, data []byte, limits reading.Limits) (docs []reading.Document, format string, err error) {
	r := reading.New(limits)
	raw, err := r.Text(data, "")
	if err != nil {
		return nil, "", err
	}
	return record.Transcript(r, name, raw)
}

// IsMailbox reports whether a file is a mailbox; of one, 16 KiB say it.
func IsMailbox(head []byte) bool { return mail.IsMailbox(head) }

// FirstMail is the length of the first mail of a mailbox, with the line that begins it,
// and whether another begins behind it: else more of the same mail may follow.
func FirstMail(mailbox []byte) (length int, another bool) {
	_, rest := mail.FirstMail(mailbox)
	return len(mailbox) - len(rest), len(rest) > 0
}
