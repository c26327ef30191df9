package web

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/canon"
)

// UploadForm is the multipart form of the import routes. Its tags document it;
// readForm reads it, each part at most once and nothing else.
type UploadForm struct {
	File       string      `json:"file" format:"binary" doc:"The file."`
	Title      string      `json:"title,omitempty" maxLength:"1000"`
	OccurredAt string      `json:"occurredAt,omitempty" format:"date-time" doc:"When what the file tells happened."`
	Metadata   wire.Object `json:"metadata,omitempty" doc:"@UploadForm.metadata"`

	// What was read of it.
	Filename   string `json:"-"`
	Content    []byte `json:"-"`
	given      bool
	OccurredMs int64 `json:"-"`
	MaxContent int   `json:"-"` // characters of one document of the file
}

// Uploads is implemented by the inputs of rows that take a form.
type Uploads interface {
	FormParts() (form *UploadForm, fileParts []string)
}

// formSchema documents a form whose file has one of the names.
func formSchema(registry huma.Registry, fileParts []string) *huma.Schema {
	s := huma.SchemaFromType(registry, reflect.TypeFor[UploadForm]())
	if len(fileParts) == 1 {
		return s
	}
	s.Required = nil
	for _, name := range fileParts {
		s.Properties[name] = s.Properties["file"]
		s.OneOf = append(s.OneOf, &huma.Schema{Required: []string{name}})
	}
	return s
}

// formBoundary returns the boundary of a multipart form that the headers
// announce, not compressed.
func formBoundary(h http.Header) (string, bool) {
	encoding, ok := SingleHeader(h, "Content-Encoding")
	if !ok || (encoding != "" && !strings.EqualFold(encoding, "identity")) {
		return "", false
	}
	value, ok := SingleHeader(h, "Content-Type")
	if !ok {
		return "", false
	}
	media, params, err := mime.ParseMediaType(value)
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" {
		return "", false
	}
	return params["boundary"], true
}

// readForm reads a whole form out of the body. Faults of parts go to errs; the
// problem is about the body as a whole.
func readForm(
	body []byte, boundary string, form *UploadForm, fileParts []string, errs *problems.Violations,
) *pb.Problem {
	if len(body) == 0 {
		return problems.Newf(pb.CodeMalformed, "The body is empty.")
	}
	if !bytes.Contains(body, []byte("--"+boundary)) {
		return problems.Newf(pb.CodeMalformed, "The body does not hold the boundary that its type announces.")
	}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	seen := map[string]bool{}
	rest := body
	for n := 0; ; n++ {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n == MaxFormParts {
			return problems.Newf(pb.CodeMalformed,
				"The body is no well-formed multipart form of at most %d parts.", MaxFormParts)
		}
		in := &partBytes{body: rest, shared: cap(body) > maxPooledBuffer}
		if _, head, ok := bytes.Cut(rest, []byte("--"+boundary)); ok {
			if _, in.body, ok = bytes.Cut(head, []byte("\r\n\r\n")); !ok {
				in.shared = false
			}
		}
		if _, err := io.Copy(in, part); err != nil {
			return problems.Newf(pb.CodeMalformed, "The body is no well-formed multipart form: a part has no end.")
		}
		content := in.content()
		rest = in.body[min(in.n, len(in.body)):]
		name := part.FormName()
		if seen[name] {
			errs.Add(problems.ShowName(name), "is given more than once")
			continue
		}
		seen[name] = true
		form.take(name, part.FileName(), content, fileParts, errs)
	}
	if !form.given && len(errs.List) == 0 {
		errs.Add(fileParts[0], "is required")
	}
	return nil
}

// partBytes takes a part's bytes. Those of a large body stay where they are, so that
// a file is in memory once: release does not use such a buffer again. Others are copied,
// since their buffer is used again.
type partBytes struct {
	body   []byte // from where the part is thought to begin
	shared bool   // it is there, as far as has been seen
	n      int
	copied []byte
}

// Write implements io.Writer.
func (p *partBytes) Write(b []byte) (int, error) {
	if p.shared && p.n <= len(p.body) && bytes.HasPrefix(p.body[p.n:], b) {
		p.n += len(b)
		return len(b), nil
	}
	if p.shared { // it is not where it was looked for
		p.shared, p.copied = false, bytes.Clone(p.body[:p.n])
	}
	p.copied = append(p.copied, b...)
	p.n += len(b)
	return len(b), nil
}

func (p *partBytes) content() []byte {
	if p.shared {
		return p.body[:p.n:p.n]
	}
	return p.copied
}

// take reads one part.
func (f *UploadForm) take(name, filename string, content []byte, fileParts []string, errs *problems.Violations) {
	for _, p := range fileParts {
		if name == p {
			if f.given {
				errs.Add(name, "is given beside "+fileParts[0])
				return
			}
			f.given, f.Content, f.Filename = true, content, cleanFilename(filename)
			return
		}
	}
	text := string(content)
	if len(content) > canon.MaxBytes || !utf8.ValidString(text) {
		errs.Add(problems.ShowName(name), "is not UTF-8, or too long")
		return
	}
	switch name {
	case "title":
		if utf8.RuneCountInString(text) > maxTitle || strings.ContainsRune(text, 0) {
			errs.Add(name, "expected at most 1000 characters")
		}
		f.Title = text
	case "occurredAt":
		var at wire.Instant
		if message := at.Parse(text); message != "" {
			errs.Add(name, message)
		}
		f.OccurredMs = at.Ms
	case "metadata":
		v, err := canon.Object(content)
		if err != nil {
			errs.Add(name, wire.NotCanonical(err))
			return
		}
		f.Metadata = wire.Object(v)
	default:
		errs.Add(problems.ShowName(name), "unknown field")
	}
}

// cleanFilename keeps the last element of what a client calls its file, without
// what no file name should hold.
func cleanFilename(name string) string {
	name = strings.ToValidUTF8(name, "")
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf) {
			return -1
		}
		return r
	}, name))
	for len(name) > maxFilename {
		_, size := utf8.DecodeRuneInString(name)
		name = name[size:] // the end says what it is
	}
	if name == "" || name == "." || name == ".." || name == "/" {
		return "upload"
	}
	return name
}
