package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	// importBytes is what an upload may be, less what the form costs.
	importBytes = 64<<20 - 64<<10
	// importText is the text in it, of the 16 MiB that one import may hold.
	importText = 12 << 20
	// importFactor and importMost bound what an import adds to the service's memory:
	// so many times its largest part, and so many bytes.
	importFactor = 4
	importMost   = 512 << 20
)

const importWords = "The compost heap behind the greenhouse has reached sixty degrees. It is turned twice a week, by " +
	"whoever comes first.\n"

// largeImports are files as large as may be. The largest part of each is the upload
// itself, or what a file in it unpacks to.
var largeImports = []struct {
	name   string
	status int
	data   func() ([]byte, error)
}{
	{"mail.mbox", http.StatusAccepted, importMailbox},
	{"letter.eml", http.StatusAccepted, importLetter},
	{"pictures.zip", http.StatusAccepted, func() ([]byte, error) { return importArchive(importBytes) }},
	{"one.zip", http.StatusRequestEntityTooLarge, importBomb},
	{"scan.pdf", http.StatusAccepted, importPDF},
	{"notes.txt", http.StatusRequestEntityTooLarge, func() ([]byte, error) {
		return bytes.Repeat([]byte(importWords), importBytes/len(importWords)), nil
	}},
	{"dos.txt", http.StatusRequestEntityTooLarge, func() ([]byte, error) {
		return bytes.Repeat([]byte(strings.ReplaceAll(importWords, "\n", "\r\n")), importBytes/(len(importWords)+1)), nil
	}},
}

// measureImport uploads files as large as may be, and measures by how much the
// service's resident memory rises at most meanwhile: from before the upload until it
// is answered, and the job that follows is under way for a while. Then it uploads all
// of them to one service, one right after the other, and measures all of its memory.
func measureImport(ctx context.Context, b *bench) error {
	for _, f := range largeImports {
		data, err := f.data()
		if err != nil {
			return err
		}
		s, err := b.fresh(ctx) // what one import has freed would serve the next
		if err != nil {
			return err
		}
		before, err := s.settled(ctx)
		if err != nil {
			return err
		}
		began := time.Now()
		status, job, err := s.upload(ctx, f.name, data)
		if err != nil {
			return err
		}
		took := time.Since(began)
		if status != f.status {
			return fmt.Errorf("%s: answered %d, want %d", f.name, status, f.status)
		}
		if job != "" {
			if err := pause(ctx, 5*time.Second); err != nil { // the first slices
				return err
			}
		}
		after, err := s.Usage()
		if err != nil {
			return err
		}
		if err := s.end(); err != nil {
			return err
		}
		rise := after.Peak - before
		const most = min(importFactor*importBytes, importMost)
		b.report.add(fmt.Sprintf("import of %s, %d MiB, largest part %d MiB: memory on top of %d MiB", f.name, len(data)>>20,
			importBytes>>20, before>>20),
			fmt.Sprintf("under %d MiB", most>>20), rise < most, "%d MiB, answered %d after %.1f s", rise>>20, status,
			took.Seconds())
	}
	return measureImports(ctx, b)
}

// measureImports uploads them in a row.
func measureImports(ctx context.Context, b *bench) error {
	const rounds = 2
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	if _, err := s.settled(ctx); err != nil {
		return err
	}
	began := time.Now()
	for range rounds {
		for _, f := range largeImports {
			data, err := f.data()
			if err != nil {
				return err
			}
			status, _, err := s.upload(ctx, f.name, data)
			if err != nil {
				return err
			}
			if status != f.status {
				return fmt.Errorf("%s: answered %d, want %d", f.name, status, f.status)
			}
		}
	}
	took := time.Since(began)
	if err := pause(ctx, 5*time.Second); err != nil { // the jobs
		return err
	}
	after, err := s.Usage()
	if err != nil {
		return err
	}
	b.report.add(fmt.Sprintf("%d such imports in a row: all memory of the service", rounds*len(largeImports)),
		fmt.Sprintf("under %d MiB", importMost>>20),
		after.Peak < importMost, "%d MiB, in %.1f s", after.Peak>>20, took.Seconds())
	return s.end()
}

// settled waits until the service's memory is no longer that of its start, and forgets
// the peak so far.
func (s *service) settled(ctx context.Context) (int64, error) {
	least := int64(0)
	for range 20 {
		now, err := s.Usage()
		if err != nil {
			return 0, err
		}
		if least > 0 && now.RSS >= least*99/100 {
			break
		}
		least = now.RSS
		if err := pause(ctx, 3*time.Second); err != nil {
			return 0, err
		}
	}
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.Pid()), []byte("5"), 0); err != nil {
		return 0, err
	}
	now, err := s.Usage()
	return now.RSS, err
}

// upload imports a file, and returns its job where it is accepted.
func (s *service) upload(ctx context.Context, name string, data []byte) (status int, job string, err error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write(data)
	}
	if err = errors.Join(err, form.Close()); err != nil {
		return 0, "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL+"/v1/import", &body)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("X-Svc-Api-Key", s.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, "", err
	}
	_, rest, _ := strings.Cut(string(got), `"jobId":"`)
	job, _, _ = strings.Cut(rest, `"`)
	return response.StatusCode, job, nil
}

// noise is what a picture looks like to a program that does not read pictures.
func noise(n int) []byte {
	out := make([]byte, n)
	source := rand.NewChaCha8([32]byte{1})
	if _, err := source.Read(out); err != nil {
		return nil
	}
	return out
}

// importMailbox is of mails with long texts and longer pictures.
func importMailbox() ([]byte, error) {
	const mails = 60
	text := strings.Repeat(importWords, importText/mails/len(importWords))
	picture := noise((importBytes - importText) / mails * 3 / 4 * 76 / 78)
	var out bytes.Buffer
	for i := range mails {
		fmt.Fprintf(&out, "From a@x.example Tue May  5 10:00:00 2026\nFrom: a@x.example\nTo: b@x.example\nSubject: Heap "+
			"%d\nDate: Tue, 5 May 2026 10:00:00 +0000\nMessage-ID: <%d@x.example>\n"+
			"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: "+
			"text/plain\n\n%s\n--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\n", i, i, text)
		writeBase64(&out, picture)
		out.WriteString("--b--\n\n")
	}
	return out.Bytes()[:min(out.Len(), importBytes)], nil
}

// importLetter is a mail with an archive.
func importLetter() ([]byte, error) {
	archive, err := importArchive(importBytes * 3 / 4 * 76 / 77)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("From: a@x.example\nTo: b@x.example\nSubject: All of it\nMIME-Version: 1.0\nContent-Type: " +
		"multipart/mixed; boundary=b\n\n" +
		"--b\nContent-Type: text/plain\n\nHere it is.\n--b\nContent-Type: application/zip; " +
		"name=all.zip\nContent-Transfer-Encoding: base64\n\n")
	writeBase64(&out, archive)
	out.WriteString("--b--\n")
	return out.Bytes(), nil
}

// writeBase64 writes what a mail carries, in lines as mails have them.
func writeBase64(out *bytes.Buffer, data []byte) {
	encoded := base64.StdEncoding.EncodeToString(data)
	for len(encoded) > 0 {
		n := min(76, len(encoded))
		out.WriteString(encoded[:n] + "\n")
		encoded = encoded[n:]
	}
}

// importArchive is of pictures that do not pack, and of some texts.
func importArchive(size int) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	picture := append([]byte("\x89PNG\r\n"), noise(size/4-64<<10)...)
	text := bytes.Repeat([]byte(importWords), importText/16/len(importWords))
	for i := range 16 {
		w, err := z.Create(fmt.Sprintf("notes/%d.txt", i))
		if err == nil {
			_, err = fmt.Fprintf(w, "Note %d\n%s", i, text)
		}
		if err == nil && i < 4 {
			if w, err = z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("pictures/%d.png", i), Method: zip.Store}); err == nil {
				_, err = w.Write(picture)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

// importBomb is a text as large as a file of an archive may be.
func importBomb() ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.Create("all.txt")
	if err == nil {
		_, err = w.Write(bytes.Repeat([]byte(importWords), importBytes/len(importWords)))
	}
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}

// importPDF is of scanned pages with a line of text behind each.
func importPDF() ([]byte, error) {
	const pages = 16
	picture := noise(importBytes/pages - 4<<10)
	var out bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n", len(offsets))
		fmt.Fprintf(&out, format, args...)
		out.WriteString("\nendobj\n")
	}
	out.WriteString("%PDF-1.7\n")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+3*i)
	}
	object("<</Type/Catalog/Pages 2 0 R>>")
	object("<</Type/Pages/Count %d/Kids[%s]>>", pages, kids.String())
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	for i := range pages {
		object("<</Type/Page/Contents %d 0 R/Resources<</Font<</F 3 0 R>>/XObject<</I %d 0 R>>>>>>", 5+3*i, 6+3*i)
		line := fmt.Sprintf("BT /F 12 Tf 72 700 Td (Page %d of the heap book.) Tj ET /I Do", i)
		object("<</Length %d>>stream\n%s\nendstream", len(line), line)
		object("<</Subtype/Image/Filter/DCTDecode/Length %d>>stream\n%s\nendstream", len(picture), picture)
	}
	at := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<</Root 1 0 R>>\nstartxref\n%d\n%%%%EOF", at)
	return out.Bytes(), nil
}
