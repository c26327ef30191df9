package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"orgmem/api/apitest"
	"orgmem/api/problems"
	pb "orgmem/proto"
)

func TestFilenames(t *testing.T) {
	for in, want := range map[string]string{
		"a.txt": "a.txt", "/etc/passwd": "passwd", `..\..\x.md`: "x.md", "": "upload", "..": "upload", "/": "upload",
		"a\x00b\n.txt":  "ab.txt",
		"\u202Etxt.exe": "txt.exe", "\xff.txt": ".txt", strings.Repeat("é", 200) + ".txt": strings.Repeat("é", 125) + ".txt",
	} {
		if got := cleanFilename(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzForm reads forms as small ones are read, by copying, and as large ones are, in
// place, and holds both to what mime/multipart makes of them. filler is repeated in the
// middle, so that a few bytes make a form that is large in earnest.
func FuzzForm(f *testing.F) {
	sampleForm := apitest.Form("file", "a.txt", "Figs ripen late.")
	for _, form := range []string{
		sampleForm, apitest.Form("file", "a", "x", "metadata", "", "{}", "title", "", "y"),
		apitest.Form("file", "a", "x", "file", "b", "y"),
		strings.ReplaceAll(sampleForm, "\r\n", "\n"), apitest.Form("title", "", "\xff", "file", "a", ""),
	} {
		head, tail, _ := strings.Cut(form, "\r\n\r\n")
		f.Add([]byte(head), []byte("\r\n\r\n"), []byte(tail), uint16(1))
	}
	head, tail, _ := strings.Cut(apitest.Form("title", "", "x", "file", "a", "Figs|", "occurredAt", "",
		"2026-03-01T10:00:00Z"), "|")
	for _, filler := range []string{"Figs ripen late. ", "\r\n--sampl", "\r\n\r\n", "\r\n--sample\r\n"} {
		f.Add([]byte(head), []byte(filler), []byte(tail), uint16(1+maxPooledBuffer/len(filler)))
	}
	f.Fuzz(func(t *testing.T, head, filler, tail []byte, times uint16) {
		times %= uint16(1 + 2*maxPooledBuffer/max(len(filler), 4))
		body := slices.Concat(head, bytes.Repeat(filler, int(times)), tail)
		read := func(body []byte) (*UploadForm, *pb.Problem, *problems.Violations) {
			form, errs := &UploadForm{}, &problems.Violations{}
			return form, readForm(body, "sample", form, []string{"file", "transcript"}, errs), errs
		}
		copied, problem, errs := read(slices.Clip(body))
		shared, problem2, errs2 := read(append(make([]byte, 0, maxPooledBuffer+1+len(body)), body...))
		if problem.GetCode() != problem2.GetCode() || fmt.Sprint(errs.List) != fmt.Sprint(errs2.List) {
			t.Fatalf("copied %v %v, in place %v %v", problem, errs.List, problem2, errs2.List)
		}
		if !bytes.Equal(copied.Content, shared.Content) || copied.Filename != shared.Filename ||
			copied.Title != shared.Title || !bytes.Equal(copied.Metadata, shared.Metadata) {
			t.Fatalf("copied %+v, in place %+v", copied, shared)
		}
		if problem != nil || errs.Any() {
			return
		}
		if !copied.given {
			t.Fatal("a form without a file was taken")
		}
		reader := multipart.NewReader(bytes.NewReader(body), "sample")
		for {
			part, err := reader.NextRawPart()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("taken, and broken: %v", err)
			}
			want, err := io.ReadAll(part)
			if err != nil {
				t.Fatalf("taken, and broken: %v", err)
			}
			switch name := part.FormName(); {
			case name == "file", name == "transcript":
				if !bytes.Equal(copied.Content, want) {
					t.Fatalf("a file of %d bytes is read as %d", len(want), len(copied.Content))
				}
			case name == "title" && copied.Title != string(want):
				t.Fatalf("the title %q is read as %q", want, copied.Title)
			}
		}
	})
}

// TestAFileIsInMemoryOnce: the file of a large form stays where the body is, wherever
// in it that may be; of a small one it is copied, for that body's bytes are used again.
func TestAFileIsInMemoryOnce(t *testing.T) {
	large := strings.Repeat("Figs ripen late.\r\n\r\n--sampl\r\n", maxPooledBuffer/16)
	for name, c := range map[string]struct {
		body   string
		file   string
		shared bool
	}{
		"large":             {apitest.Form("title", "", "x", "file", "a", large), large, true},
		"behind a preamble": {"before\r\n\r\nit\r\n" + apitest.Form("file", "a", large, "title", "", "x"), large, true},
		"small":             {apitest.Form("file", "a", "Figs"), "Figs", false},
		"ends of lines": {
			strings.ReplaceAll(apitest.Form("file", "a", strings.Repeat("Figs", maxPooledBuffer)), "\r\n", "\n"),
			strings.Repeat("Figs", maxPooledBuffer), false,
		},
	} {
		body := []byte(c.body)
		form := &UploadForm{}
		errs := &problems.Violations{}
		if p := readForm(slices.Clip(body), "sample", form, []string{"file"}, errs); p != nil || len(errs.List) != 0 {
			t.Errorf("%s: %v, %v", name, p, errs.List)
			continue
		}
		if string(form.Content) != c.file {
			t.Errorf("%s: read %d bytes, %.40q", name, len(form.Content), form.Content)
			continue
		}
		at := strings.Index(c.body, c.file)
		body[at]++
		if shared := string(form.Content) != c.file; shared != c.shared {
			t.Errorf("%s: shared %v, want %v", name, shared, c.shared)
		}
	}
}

func FuzzFormBoundary(f *testing.F) {
	for _, s := range []string{
		"multipart/form-data; boundary=sample", `Multipart/Form-Data; boundary="a b"`, "multipart/form-data",
		"multipart/mixed; boundary=x", "multipart/form-data; boundary=", `multipart/form-data; boundary="a\"b"`,
	} {
		f.Add(s, "")
	}
	f.Add("multipart/form-data; boundary=sample", "gzip")
	f.Fuzz(func(t *testing.T, value, encoding string) {
		boundary, ok := formBoundary(http.Header{"Content-Type": {value}, "Content-Encoding": {encoding}})
		if !ok {
			if boundary != "" {
				t.Fatalf("%q is refused and gives %q", value, boundary)
			}
			return
		}
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			t.Fatalf("compressed as %q", encoding)
		}
		// A form that is written with it is read with it.
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		if w.SetBoundary(boundary) != nil {
			return // nothing that RFC 2046 allows; it will not be found in a body
		}
		part, err := w.CreateFormFile("file", "a")
		if err == nil {
			_, err = io.WriteString(part, "Figs")
		}
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		var form UploadForm
		var errs problems.Violations
		if p := readForm(body.Bytes(), boundary, &form, []string{"file"}, &errs); p != nil || errs.Any() ||
			string(form.Content) != "Figs" {
			t.Fatalf("%q: %v %v, read %q", boundary, p, errs.List, form.Content)
		}
	})
}

func FuzzFilename(f *testing.F) {
	for _, s := range []string{
		"a.txt", "/etc/passwd", `..\..\x.md`, "", "..", "a\x00b", "\u202etxt.exe", "\xff", strings.Repeat("é", 200), " . ",
		"a/ ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		clean := cleanFilename(name)
		if clean == "" || clean == "." || clean == ".." || len(clean) > maxFilename || !utf8.ValidString(clean) ||
			strings.ContainsAny(clean, "/\\\x00\n\r") || path.Base(clean) != clean {
			t.Fatalf("%q became %q", name, clean)
		}
		if again := cleanFilename(clean); again != clean {
			t.Fatalf("%q became %q, then %q", name, clean, again)
		}
	})
}
