package mail

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"

	"orgmem/brain/format/markup"
	"orgmem/brain/format/meter"
	"orgmem/brain/format/reading"
	"orgmem/proto/canon"
)

const (
	// MaxParts bounds the parts of one mail, those of forwarded ones included:
	// people send some dozens, and a mailing list's digest some hundreds. What is behind
	// them is left out, and it is said how much.
	MaxParts = 1000
	// maxMailDepth bounds how deep parts and forwarded mails may lie in each other.
	maxMailDepth = 16
	// MaxHeader bounds the header of one mail; servers refuse far less.
	MaxHeader = 1 << 20
	// looksMail bytes of a text tell whether it is a mail.
	looksMail = 8 << 10
)

// mailHeaders are what a mail begins with. One alone may be a line of a dialogue.
var mailHeaders = []string{
	"from", "to", "cc", "subject", "date", "message-id", "received", "return-path", "delivered-to",
	"mime-version", "reply-to",
	"content-type", "x-mailer", "dkim-signature", "sender", "x-gmail-labels", "authentication-results",
	"list-id", "in-reply-to",
}

// IsMail reports whether a text begins with at least three header lines of a mail,
// none of them unlike one, and From or Received among them.
func IsMail(raw []byte) bool {
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
		if bytes.HasPrefix(line, []byte(">From ")) { // it began the mail in a mailbox
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

// IsMailbox reports whether a text begins with a line that begins the mails of a mailbox, and a mail behind it.
func IsMailbox(raw []byte) bool {
	line, _, ok := bytes.Cut(raw[:min(len(raw), looksMail)], []byte("\n"))
	return ok && fromLine.Match(line) && IsMail(raw[len(line)+1:])
}

// ReadMailbox reads a mailbox: each mail is a document, and so are its attachments.
func ReadMailbox(r *reading.Reader, raw []byte) ([]reading.Document, error) {
	var docs []reading.Document
	for n := 1; len(raw) > 0; n++ {
		one, rest := FirstMail(raw)
		raw = rest
		if err := r.Step(reading.TableWork * len(one)); err != nil {
			if errors.Is(err, reading.ErrWork) { // what was read stands
				return append(docs, reading.RestUnread), nil
			}
			return nil, err
		}
		got, err := r.Part(fmt.Sprintf("mail %d", n), func() ([]reading.Document, error) {
			if bytes.Contains(one, quotedFrom) {
				if err := r.Hold(len(one)); err != nil {
					return nil, err
				}
				one = bytes.ReplaceAll(one, quotedFrom, []byte("\nFrom "))
			}
			return Read(r, one)
		})
		if err != nil {
			return nil, err
		}
		if docs = append(docs, got...); len(docs) > reading.MaxDocuments {
			return nil, reading.Errorf("holds more than %d mails and attachments; split it", reading.MaxDocuments)
		}
	}
	return docs, nil
}

// FirstMail divides a mailbox behind its first mail, and cuts the line that begins
// it. Only a line like those that begin mails, behind an empty one, ends a mail:
// people write lines that begin with From.
func FirstMail(raw []byte) (one, rest []byte) {
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

// quotedFrom keeps a line of a mail from beginning another, and is taken back.
var quotedFrom = []byte("\n>From ")

// letter is a mail in the making.
type letter struct {
	*reading.Reader
	parts    int
	left     int // parts that are left out, since there are too many
	body     reading.Builder
	attached []reading.Document
	names    []string // of what is attached
}

// Read reads one mail and what is attached to it.
func Read(r *reading.Reader, raw []byte) ([]reading.Document, error) {
	l := &letter{Reader: r, body: reading.Builder{Reader: r}}
	header, body, err := splitMail(raw)
	if err != nil {
		return nil, err
	}
	l.headers(header)
	if err := l.part(textproto.MIMEHeader(header), body, 0); err != nil {
		return nil, err
	}
	content, err := l.body.Done()
	if err != nil {
		return nil, err
	}
	subject := words(header.Get("Subject"))
	if canon.Blank(content) {
		if len(l.attached) == 0 {
			return nil, reading.Errorf("holds a mail without a text to read")
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
	doc := reading.Document{
		Title: reading.ClipTitle(subject), Content: content, OccurredAt: mailDate(header),
		ExternalID: reading.ExternalID("mid", own), Noted: true,
		Metadata: reading.Noted("from", words(header.Get("From")), "to", words(header.Get("To")), "cc",
			words(header.Get("Cc")),
			"messageId", own, "thread", thread, "labels", words(header.Get("X-Gmail-Labels")), "attachments", l.names,
			"language", header.Get("Content-Language")),
	}
	var docs []reading.Document
	if !canon.Blank(content) { // of a mail that is nothing but what is attached nothing is kept
		docs = append(docs, doc)
	}
	for _, a := range l.attached {
		a.OccurredAt = cmp.Or(a.OccurredAt, doc.OccurredAt)
		docs = append(docs, a)
	}
	if l.left > 0 {
		docs = append(docs, reading.Document{
			Where:   fmt.Sprintf("the last %d parts", l.left),
			Refused: fmt.Sprintf("are not read, nor what is in them: of one mail %d are", MaxParts),
		})
	}
	return docs, nil
}

func splitMail(raw []byte) (mail.Header, []byte, error) {
	end := len(raw)
	for _, border := range []string{"\n\n", "\r\n\r\n", "\n\r\n"} {
		if at := bytes.Index(raw[:min(len(raw), MaxHeader)], []byte(border)); at >= 0 {
			end = min(end, at+len(border))
		}
	}
	if end > MaxHeader {
		return nil, nil, reading.Errorf("holds a mail whose header has no end")
	}
	m, err := mail.ReadMessage(io.MultiReader(bytes.NewReader(headerLines(raw[:end])), strings.NewReader("\n\n")))
	if err != nil {
		return nil, nil, reading.Errorf("holds a mail whose header cannot be read")
	}
	return m.Header, raw[end:], nil
}

// headerLines leaves out lines that are none of a header: what programs that move mails
// about put between those, and what continues it. A header without a line stays as it is.
func headerLines(raw []byte) []byte {
	var out []byte
	all, good := true, false
	for line := range bytes.Lines(raw) {
		if text := bytes.TrimRight(line, "\r\n"); len(text) > 0 && text[0] != ' ' && text[0] != '\t' {
			name, _, ok := bytes.Cut(text, []byte(":"))
			good = ok && len(name) > 0 && bytes.IndexFunc(name, func(r rune) bool {
				return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/;<=>?@[\]{}`, r)
			}) < 0
		}
		if all = all && good; good {
			out = append(out, line...)
		}
	}
	if all || out == nil {
		return raw
	}
	return out
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
	l.body.Paragraph(strings.Join(lines, "\n"))
}

func mailDate(h mail.Header) string {
	at, err := h.Date()
	if err != nil || at.Year() < 1 || at.Year() > 9999 {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05Z")
}

var decoder = mime.WordDecoder{
	CharsetReader: func(label string, in io.Reader) (io.Reader, error) { return charset.NewReaderLabel(label, in) },
}

// words decodes what a header says.
func words(s string) string {
	if strings.Contains(s, "=?") {
		if out, err := decoder.DecodeHeader(joined(s)); err == nil {
			s = out
		}
	}
	if out, err := reading.New(reading.Limits{}).Decoded([]byte(s), ""); err == nil { // of a header, which is short
		s = string(out)
	} else {
		s = ""
	}
	return reading.Clean(s)
}

// encodedWord is one of RFC 2047; a language may follow the encoding's name.
var encodedWord = regexp.MustCompile(`=\?([^?*\s]{1,100})(?:\*[^?\s]*)?\?([BbQq])\?([^?\s]*)\?=`)

// joined makes one of encoded words in a row: programs divide them in the middle of a
// letter, although they must not (RFC 2047, 5).
func joined(s string) string {
	var out strings.Builder
	at, label, how := 0, "", "" // of the word that is open
	var said strings.Builder
	shut := func() {
		if label != "" {
			out.WriteString("=?" + label + "?" + how + "?" + said.String() + "?=")
		}
		label = ""
		said.Reset()
	}
	for _, m := range encodedWord.FindAllStringSubmatchIndex(s, -1) {
		between, nextLabel, nextHow := s[at:m[0]], s[m[2]:m[3]], s[m[4]:m[5]]
		whole := !strings.EqualFold(how, "b") || said.Len()%4 == 0 && !strings.HasSuffix(said.String(), "=")
		if label == "" || !whole || strings.TrimSpace(between) != "" || !strings.EqualFold(label, nextLabel) ||
			!strings.EqualFold(how, nextHow) {
			shut()
			out.WriteString(between)
			label, how = nextLabel, nextHow
		}
		said.WriteString(s[m[6]:m[7]])
		at = m[1]
	}
	shut()
	out.WriteString(s[at:])
	return out.String()
}

var messageID = regexp.MustCompile(`<([^<>\s]{1,400})>`)

// messageIDs are the ids that a header names.
func messageIDs(s string) (ids []string) {
	for _, m := range messageID.FindAllStringSubmatch(s[:min(len(s), 64<<10)], reading.MaxNotes) {
		ids = append(ids, m[1])
	}
	return ids
}

// part reads a part of a mail, and what is in it.
func (l *letter) part(h textproto.MIMEHeader, raw []byte, depth int) error {
	if l.parts == MaxParts {
		l.left++
		return nil
	}
	l.parts++
	if depth > maxMailDepth {
		return reading.Errorf("holds a mail whose parts are nested deeper than %d", maxMailDepth)
	}
	if err := l.Step(reading.TableWork*len(raw) + partWork); err != nil {
		if errors.Is(err, reading.ErrWork) {
			l.left++
			return nil
		}
		return err
	}
	kind, params := mediaType(h.Get("Content-Type"))
	kind = cmp.Or(kind, "text/plain")
	if strings.HasPrefix(kind, "multipart/") {
		return l.many(kind, params["boundary"], raw, depth)
	}
	disposition, about := mediaType(h.Get("Content-Disposition"))
	held, kept := l.Held()-l.body.Out.Cap(), l.Kept
	// what was decoded goes, what was written stays
	defer func() { l.Settle(held + max(0, l.Kept-kept) + l.body.Out.Cap()) }()
	raw, err := l.transferred(h.Get("Content-Transfer-Encoding"), raw)
	if err != nil {
		return err
	}
	name := words(cmp.Or(about["filename"], params["name"]))
	switch {
	case kind == "message/rfc822" || kind == "message/global":
		return l.forwarded(raw, depth)
	case disposition != "attachment" && (kind == "text/plain" || kind == "text" || kind == "text/html" && name == ""):
		return l.shown(kind, params, raw)
	case name == "":
		return nil // signatures, delivery reports, calendar replies and pictures within a text
	}
	return l.attachment(name, raw)
}

// mediaType reads what a header says of a part. Where it says it wrongly, with names of
// files that have spaces in them or a value twice, it is read as far as it can be.
func mediaType(s string) (kind string, params map[string]string) {
	kind, params, err := mime.ParseMediaType(s)
	if err == nil {
		return kind, params
	}
	kind, rest, _ := strings.Cut(s, ";")
	params = map[string]string{}
	for one := range strings.SplitSeq(rest, ";") {
		name, value, ok := strings.Cut(one, "=")
		if name = strings.ToLower(strings.TrimSpace(name)); ok && params[name] == "" {
			params[name] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	kind, _, _ = strings.Cut(strings.TrimSpace(kind), " ")
	return strings.ToLower(kind), params
}

// many reads the parts of a multipart. Of alternatives the plain text is read, or,
// where it says nothing, what can be.
func (l *letter) many(kind, boundary string, raw []byte, depth int) error {
	if boundary == "" {
		return reading.Errorf("holds a mail of several parts without a boundary between them")
	}
	before := l.body.Out.Len()
	found := false
	for part := range divided(raw, boundary) {
		found = true
		if l.parts == MaxParts {
			l.left++
			continue
		}
		if kind == "multipart/alternative" && l.body.Out.Len() > before {
			continue
		}
		header, content := mail.Header{}, bytes.TrimPrefix(bytes.TrimPrefix(part, []byte("\r")), []byte("\n"))
		if len(content) == len(part) { // it has a header
			var err error
			if header, content, err = splitMail(part); err != nil {
				continue
			}
		}
		if err := l.part(textproto.MIMEHeader(header), content, depth+1); err != nil {
			return err
		}
	}
	if !found && l.parts == 1 {
		return reading.Errorf("holds a mail whose parts cannot be told apart")
	}
	return nil
}

// divided are the parts between the boundaries of a multipart, where they stand: they
// may be as large as the file, so that no reader copies them. The last ends with the
// mail where that was cut short.
//
// RFC 2046, 5.1.1.
func divided(raw []byte, boundary string) iter.Seq[[]byte] {
	mark := []byte("--" + boundary)
	return func(yield func([]byte) bool) {
		begin := -1 // of the open part
		for from := 0; from < len(raw); {
			at := bytes.Index(raw[from:], mark)
			if at < 0 {
				break
			}
			at += from
			from = at + len(mark)
			line := raw[from : from+min(len(raw)-from, maxBoundaryLine)]
			end := bytes.IndexByte(line, '\n')
			if end >= 0 {
				line = line[:end]
			}
			rest, last := bytes.CutPrefix(line, []byte("--"))
			if at > 0 && raw[at-1] != '\n' || !last && len(bytes.TrimSpace(rest)) > 0 {
				continue // it is some other line
			}
			if begin >= 0 && !yield(bytes.TrimSuffix(bytes.TrimSuffix(raw[begin:max(begin, at)], []byte("\n")), []byte("\r"))) {
				return
			}
			if last || end < 0 {
				return
			}
			from += end + 1
			begin = from
		}
		if begin >= 0 {
			yield(raw[begin:])
		}
	}
}

// maxBoundaryLine bounds what is looked at behind a boundary: white space.
const maxBoundaryLine = 256

// transferred takes off what a part was wrapped in to be sent. What is damaged is
// read as far as it goes.
func (l *letter) transferred(how string, raw []byte) ([]byte, error) {
	var in io.Reader
	size := len(raw)
	switch strings.ToLower(strings.TrimSpace(how)) {
	case "base64":
		in = base64.NewDecoder(base64.StdEncoding, &unblanked{raw})
		size = base64.StdEncoding.DecodedLen(size)
	case "quoted-printable":
		in = quotedprintable.NewReader(bufio.NewReaderSize(&unstray{rest: raw}, min(max(len(raw)+1, minQuoted), maxQuoted)))
	default:
		return raw, nil
	}
	out := meter.Buffer{Meter: &l.Meter}
	if err := out.Resize(size + bytes.MinRead); err != nil { // so that it need not grow
		return nil, err
	}
	for {
		n, err, held := out.Fill(in, reading.StepBytes)
		if held != nil {
			return nil, held
		}
		if err := l.Step(reading.TableWork * n); err != nil {
			return nil, err
		}
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF) && out.Len() == 0:
			return nil, reading.Errorf("holds a mail with a part that cannot be decoded")
		default:
			return out.Bytes(), nil
		}
	}
}

// partWork is what a part of a mail costs beside its letters.
const partWork = 1024

// unblanked leaves blanks out of base64, whose decoder ends at one.
type unblanked struct{ rest []byte }

// Read implements io.Reader.
func (u *unblanked) Read(p []byte) (n int, err error) {
	for n < len(p) && len(u.rest) > 0 {
		c := u.rest[0]
		if u.rest = u.rest[1:]; c != ' ' && c != '\t' {
			p[n] = c
			n++
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// minQuoted is the buffer that the decoder of quoted-printable makes itself, and
// maxQuoted the longest line that is read: the standard's are of 76 letters, and at one
// that its buffer does not hold the decoder ends.
const minQuoted, maxQuoted = 4096, 1 << 20

// unstray quotes control characters that should have been: at one the decoder
// ends, too.
type unstray struct {
	rest  []byte
	quote [2]byte // what is still to come of one, behind its sign
	left  int
}

// Read implements io.Reader.
func (u *unstray) Read(p []byte) (n int, err error) {
	const hexadecimal = "0123456789ABCDEF"
	for n < len(p) && (u.left > 0 || len(u.rest) > 0) {
		if u.left > 0 {
			p[n] = u.quote[2-u.left]
			u.left--
			n++
			continue
		}
		c := u.rest[0]
		u.rest = u.rest[1:]
		if c < ' ' && c != '\t' && c != '\r' && c != '\n' {
			u.quote, u.left = [2]byte{hexadecimal[c>>4], hexadecimal[c&15]}, 2
			c = '='
		}
		p[n] = c
		n++
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// shown reads what a mail shows.
func (l *letter) shown(kind string, params map[string]string, raw []byte) error {
	raw, err := l.Decoded(raw, params["charset"])
	if err == nil {
		raw, err = l.Newlines(raw)
	}
	if err != nil && !reading.IsFileError(err) {
		return err
	}
	if err != nil {
		return nil //nolint:nilerr // what is no text says nothing
	}
	if kind == "text/html" {
		kept := l.Kept
		doc, err := markup.HTML(l.Reader, raw)
		l.Kept = kept
		if errors.Is(err, reading.ErrTooLarge) || err != nil && !errors.Is(err, reading.ErrFile) {
			return err
		}
		if doc.Content != "" {
			l.body.Block("")
			l.body.Write(doc.Content)
		}
		return l.body.Err
	}
	if err := l.TooLong(len(raw)); err != nil {
		return err
	}
	if err := l.Hold(3 * len(raw)); err != nil { // as a string, joined, and kept from being markup
		return err
	}
	text := string(raw)
	if strings.EqualFold(params["format"], "flowed") {
		text = flowed(text, strings.EqualFold(params["delsp"], "yes"))
	}
	l.body.Paragraph(text)
	return l.body.Err
}

// flowed joins the lines of a text that a program broke to send it: those that end
// with a space, of the same depth of quotation. tight says that the space is the
// break's own, as in scripts that have none between words.
//
// RFC 3676, 4.
func flowed(text string, tight bool) string {
	var out strings.Builder
	open, depth := false, 0 // the line before goes on; how often it is quoted
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		words := strings.TrimLeft(line, ">")
		quoted := len(line) - len(words)
		words = strings.TrimPrefix(words, " ")
		signature := words == "-- "
		if open && (quoted != depth || signature || words == "") {
			open = false
			out.WriteByte('\n')
		}
		if !open && quoted > 0 {
			out.WriteString(line[:quoted] + " ")
		}
		depth = quoted
		if open = strings.HasSuffix(words, " ") && !signature; open && tight {
			words = strings.TrimSuffix(words, " ")
		}
		out.WriteString(words)
		if !open {
			out.WriteByte('\n')
		}
	}
	return out.String()
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
	if l.names = append(l.names, name); reading.ForeignOf(raw) != "" || len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	docs, err := l.Inner(name, raw)
	if err != nil {
		return err
	}
	l.attached = append(l.attached, docs...)
	return nil
}
