package format

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"

	"orgmem/proto/canon"
)

const (
	// maxMailParts bounds the parts of one mail, those of forwarded ones included:
	// people send some dozens, and a mailing list's digest some hundreds.
	maxMailParts = 1000
	// maxMailDepth bounds how deep parts and forwarded mails may lie in each other.
	maxMailDepth = 16
	// maxMailHeader bounds the header of one mail; servers refuse far less.
	maxMailHeader = 1 << 20
	// looksMail bytes of a text tell whether it is a mail.
	looksMail = 8 << 10
)

// mailHeaders are what a mail begins with. One alone may be a line of a dialogue.
var mailHeaders = []string{
	"from", "to", "cc", "subject", "date", "message-id", "received", "return-path", "delivered-to", "mime-version", "reply-to",
	"content-type", "x-mailer", "dkim-signature", "sender", "x-gmail-labels", "authentication-results", "list-id", "in-reply-to",
}

// isMail reports whether a text begins with at least three header lines of a mail,
// none of them unlike one, and From or Received among them.
func isMail(raw []byte) bool {
	n, sender := 0, false
	for line := range bytes.Lines(raw[:min(len(raw), looksMail)]) {
		if len(raw) > looksMail && !bytes.HasSuffix(line, []byte("\n")) {
			break // where the look ended
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			if n == 0 {
				return false
			}
			continue
		}
		name, _, ok := bytes.Cut(line, []byte(":"))
		if !ok || bytes.ContainsAny(name, " \t") {
			return false
		}
		key := strings.ToLower(string(name))
		if slices.Contains(mailHeaders, key) {
			n++
		}
		sender = sender || key == "from" || key == "received"
	}
	return n >= 3 && sender
}

// fromLine begins a mail of a mailbox: who, and a time of the day.
var fromLine = regexp.MustCompile(`^From \S+ .*\d\d:\d\d`)

func isMbox(raw []byte) bool {
	line, rest, ok := bytes.Cut(raw[:min(len(raw), looksMail)], []byte("\n"))
	return ok && fromLine.Match(line) && isMail(rest)
}

// mbox reads a mailbox: each mail is a document, and so are its attachments.
func (r *reader) mbox(raw []byte) ([]Document, error) {
	var docs []Document
	for n := 1; len(raw) > 0; n++ {
		one, rest := firstMail(raw)
		raw = rest
		if err := r.step(len(one)); err != nil {
			return nil, err
		}
		got, err := r.part(fmt.Sprintf("mail %d", n), func() ([]Document, error) { return r.mail(unquoteFrom(one)) })
		if err != nil {
			return nil, err
		}
		if docs = append(docs, got...); len(docs) > MaxDocuments {
			return nil, errorf("holds more than %d mails and attachments; split it", MaxDocuments)
		}
	}
	return docs, nil
}

// firstMail divides a mailbox behind its first mail, and cuts the line that begins
// it. Only a line like those that begin mails, behind an empty one, ends a mail:
// people write lines that begin with From.
func firstMail(raw []byte) (one, rest []byte) {
	if bytes.HasPrefix(raw, []byte("From ")) {
		_, raw, _ = bytes.Cut(raw, []byte("\n"))
	}
	for from := 0; ; {
		at := bytes.Index(raw[from:], []byte("\nFrom "))
		if at < 0 {
			return raw, nil
		}
		at += from
		line := raw[at+1 : at+1+min(len(raw)-at-1, 512)]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		if (at == 0 || raw[at-1] == '\n' || raw[at-1] == '\r') && fromLine.Match(line) {
			return raw[:at+1], raw[at+1:]
		}
		from = at + 1
	}
}

// unquoteFrom takes back what keeps a line of a mail from beginning another.
func unquoteFrom(raw []byte) []byte {
	if !bytes.Contains(raw, []byte("\n>From ")) {
		return raw
	}
	return bytes.ReplaceAll(raw, []byte("\n>From "), []byte("\nFrom "))
}

// letter is a mail in the making.
type letter struct {
	*reader
	parts    int
	body     markup
	attached []Document
	names    []string // of what is attached
}

// mail reads one mail and what is attached to it.
func (r *reader) mail(raw []byte) ([]Document, error) {
	l := &letter{reader: r, body: markup{reader: r}}
	header, body, err := splitMail(raw)
	if err != nil {
		return nil, err
	}
	l.headers(header)
	if err := l.part(textproto.MIMEHeader(header), body, 0); err != nil {
		return nil, err
	}
	content, err := l.body.done()
	if err != nil {
		return nil, err
	}
	subject := words(header.Get("Subject"))
	if canon.Blank(content) {
		if len(l.attached) == 0 {
			return nil, errorf("holds a mail without a text to read")
		}
	}
	ids := messageIDs(header.Get("References"))
	if len(ids) == 0 {
		ids = messageIDs(header.Get("In-Reply-To"))
	}
	own := slices.Concat(messageIDs(header.Get("Message-Id")), []string{""})[0]
	thread := own
	if len(ids) > 0 {
		thread = ids[0]
	}
	doc := Document{
		Title: clipTitle(subject), Content: content, OccurredAt: mailDate(header), ExternalID: externalID("mid", own), Noted: true,
		Metadata: noted("from", words(header.Get("From")), "to", words(header.Get("To")), "cc", words(header.Get("Cc")),
			"messageId", own, "thread", thread, "labels", words(header.Get("X-Gmail-Labels")), "attachments", l.names, "language", header.Get("Content-Language")),
	}
	var docs []Document
	if !canon.Blank(content) { // of a mail that is nothing but what is attached nothing is kept
		docs = append(docs, doc)
	}
	for _, a := range l.attached {
		a.OccurredAt = cmp.Or(a.OccurredAt, doc.OccurredAt)
		docs = append(docs, a)
	}
	return docs, nil
}

func splitMail(raw []byte) (mail.Header, []byte, error) {
	end := len(raw)
	for _, border := range []string{"\n\n", "\r\n\r\n", "\n\r\n"} {
		if at := bytes.Index(raw[:min(len(raw), maxMailHeader)], []byte(border)); at >= 0 {
			end = min(end, at+len(border))
		}
	}
	if end > maxMailHeader {
		return nil, nil, errorf("holds a mail whose header has no end")
	}
	m, err := mail.ReadMessage(io.MultiReader(bytes.NewReader(raw[:end]), strings.NewReader("\n\n")))
	if err != nil {
		return nil, nil, errorf("holds a mail whose header cannot be read")
	}
	return m.Header, raw[end:], nil
}

// headers writes who wrote to whom, when and about what, as the text says it to
// people: who is named there is found by name.
func (l *letter) headers(h mail.Header) {
	var lines []string
	for _, name := range []string{"From", "To", "Cc", "Date", "Subject"} {
		if v := words(h.Get(name)); v != "" {
			lines = append(lines, name+": "+v)
		}
	}
	l.body.paragraph(strings.Join(lines, "\n"))
}

func mailDate(h mail.Header) string {
	at, err := h.Date()
	if err != nil || at.Year() < 1 || at.Year() > 9999 {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05Z")
}

var decoder = mime.WordDecoder{CharsetReader: func(label string, in io.Reader) (io.Reader, error) { return charset.NewReaderLabel(label, in) }}

// words decodes what a header says.
func words(s string) string {
	if strings.Contains(s, "=?") {
		if out, err := decoder.DecodeHeader(s); err == nil {
			s = out
		}
	}
	if out, err := decoded([]byte(s), ""); err == nil {
		s = string(out)
	} else {
		s = ""
	}
	return clean(s)
}

var messageID = regexp.MustCompile(`<([^<>\s]{1,400})>`)

// messageIDs are the ids that a header names.
func messageIDs(s string) (ids []string) {
	for _, m := range messageID.FindAllStringSubmatch(s[:min(len(s), 64<<10)], maxNotes) {
		ids = append(ids, m[1])
	}
	return ids
}

// part reads a part of a mail, and what is in it.
func (l *letter) part(h textproto.MIMEHeader, raw []byte, depth int) error {
	if l.parts++; l.parts > maxMailParts {
		return errorf("holds a mail of more than %d parts", maxMailParts)
	}
	if depth > maxMailDepth {
		return errorf("holds a mail whose parts are nested deeper than %d", maxMailDepth)
	}
	if err := l.step(len(raw)); err != nil {
		return err
	}
	kind, params, err := mime.ParseMediaType(cmp.Or(h.Get("Content-Type"), "text/plain"))
	if err != nil && kind == "" {
		kind = "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") {
		return l.many(kind, params["boundary"], raw, depth)
	}
	disposition, about, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil {
		disposition = ""
	}
	raw, err = transferred(h.Get("Content-Transfer-Encoding"), raw)
	if err != nil {
		return err
	}
	name := words(cmp.Or(about["filename"], params["name"]))
	switch {
	case kind == "message/rfc822" || kind == "message/global":
		return l.forwarded(raw, depth)
	case disposition != "attachment" && (kind == "text/plain" || kind == "text/html" && name == ""):
		return l.shown(kind, params["charset"], raw)
	case name == "":
		return nil // signatures, delivery reports, calendar replies and pictures within a text
	}
	return l.attachment(name, raw)
}

// many reads the parts of a multipart. Of alternatives the plain text is read, or,
// where it says nothing, what can be.
func (l *letter) many(kind, boundary string, raw []byte, depth int) error {
	if boundary == "" {
		return errorf("holds a mail of several parts without a boundary between them")
	}
	parts := multipart.NewReader(bytes.NewReader(raw), boundary)
	before := l.body.out.Len()
	for {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if l.body.out.Len() > before || l.parts > 1 {
				return nil // it was cut short: what came is read
			}
			return errorf("holds a mail whose parts cannot be told apart")
		}
		if kind == "multipart/alternative" && l.body.out.Len() > before {
			continue
		}
		content, err := io.ReadAll(p)
		if err != nil && len(content) == 0 {
			continue
		}
		if err := l.part(p.Header, content, depth+1); err != nil {
			return err
		}
	}
}

// transferred takes off what a part was wrapped in to be sent. What is damaged is
// read as far as it goes.
func transferred(how string, raw []byte) ([]byte, error) {
	var in io.Reader
	switch strings.ToLower(strings.TrimSpace(how)) {
	case "base64":
		in = base64.NewDecoder(base64.StdEncoding, bytes.NewReader(raw))
	case "quoted-printable":
		in = quotedprintable.NewReader(bytes.NewReader(raw))
	default:
		return raw, nil
	}
	out, err := io.ReadAll(in)
	if err != nil && len(out) == 0 {
		return nil, errorf("holds a mail with a part that cannot be decoded")
	}
	return out, nil
}

// shown reads what a mail shows.
func (l *letter) shown(kind, label string, raw []byte) error {
	raw, err := decoded(raw, label)
	if err != nil {
		return nil //nolint:nilerr // what is no text says nothing
	}
	raw = newlines(raw)
	if kind == "text/html" {
		kept := l.kept
		doc, err := l.html(raw)
		l.kept = kept
		if errors.Is(err, ErrTooLarge) || err != nil && !errors.Is(err, ErrFile) {
			return err
		}
		if doc.Content != "" {
			l.body.block("")
			l.body.write(doc.Content)
		}
		return l.body.err
	}
	l.body.paragraph(string(raw))
	return l.body.err
}

// forwarded reads a mail in a mail.
func (l *letter) forwarded(raw []byte, depth int) error {
	header, body, err := splitMail(raw)
	if err != nil {
		return nil //nolint:nilerr // the mail that forwards it is read all the same
	}
	l.headers(header)
	return l.part(textproto.MIMEHeader(header), body, depth+1)
}

// attachment reads what is attached; of what cannot be read the mail keeps the
// name.
func (l *letter) attachment(name string, raw []byte) error {
	if l.names = append(l.names, name); foreignOf(raw) != "" || len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	docs, err := l.inner(name, raw)
	if err != nil {
		return err
	}
	l.attached = append(l.attached, docs...)
	return nil
}
