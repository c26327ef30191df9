package orgmem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"
)

func TestUpload(t *testing.T) {
	text := strings.Repeat("orgmem ", 100_000)
	var length int64
	c, _ := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		length = r.ContentLength
		file, _, err := r.FormFile("file")
		if err != nil {
			problem(w, 400, "malformed_request")
			return
		}
		got, _ := io.ReadAll(file)
		if string(got) != text || r.FormValue("title") != "title" || r.FormValue("metadata") != `{"some":"thing"}` || r.FormValue("occurredAt") != "1970-01-01T00:00:01Z" {
			problem(w, 422, "validation_failed")
			return
		}
		writeJSON(w, 202, `{"jobId":"j"}`)
	})
	for _, known := range []bool{true, false} {
		upload := uploadOf(text)
		total := int64(len(text))
		if !known {
			upload.File, total = io.LimitReader(upload.File, total), -1
		}
		var told []int64
		upload.OnProgress = func(sent, of int64) {
			if of != total {
				t.Errorf("of %d", of)
			}
			told = append(told, sent)
		}
		accepted, err := c.Imports.Upload(t.Context(), upload)
		if err != nil || accepted.JobID != "j" {
			t.Fatalf("%v %v", accepted, err)
		}
		if len(told) < 3 || told[len(told)-1] != int64(len(text)) || !slices.IsSorted(told) {
			t.Errorf("progress %v", told)
		}
		if known != (length > total) {
			t.Errorf("the form's length was %d", length)
		}
	}
}

func TestUploadThatIsRefused(t *testing.T) {
	asks := ""
	c, _ := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		asks = r.Header.Get("Expect")
		problem(w, 413, "payload_too_large")
	})
	read := &counting{Reader: io.LimitReader(zeros{}, 1<<30)}
	_, err := c.Imports.Upload(t.Context(), Upload{Name: "a", File: read})
	if !errors.Is(err, ErrBadRequest) {
		t.Fatal(err)
	}
	if n := read.n.Load(); n > 1<<20 || asks != "100-continue" {
		t.Errorf("%d bytes were sent to a server that wants none, and was asked %q", n, asks)
	}
}

func TestUploadThatCannotGoOn(t *testing.T) {
	stall := make(chan struct{})
	c, _ := stub(t, Config{Timeout: 100 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		io.CopyN(io.Discard, r.Body, 1)
		select {
		case <-stall:
		case <-r.Context().Done():
		}
	})
	defer close(stall)
	_, err := c.Imports.Upload(t.Context(), Upload{Name: "a", File: io.LimitReader(zeros{}, 1<<30)})
	var timeout *TimeoutError
	if !errors.As(err, &timeout) {
		t.Errorf("nothing moves: %T %v", err, err)
	}
	broken := errors.New("the disk is broken")
	_, err = c.Imports.Upload(t.Context(), Upload{Name: "notes.txt", File: iotest.ErrReader(broken)})
	var argument *ArgumentError
	if !errors.As(err, &argument) || !errors.Is(err, broken) {
		t.Errorf("%T %v", err, err)
	}
	says(t, err, "notes.txt", "cannot be read")
	ctx, cancel := context.WithCancel(t.Context())
	_, err = c.Imports.Upload(ctx, Upload{Name: "a", File: io.LimitReader(zeros{}, 1<<30), OnProgress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

type counting struct {
	io.Reader
	n atomic.Int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// A download that breaks off goes on where it stopped.
func TestDownload(t *testing.T) {
	document := bytes.Repeat([]byte("0123456789"), 1000)
	var asked []string
	etag, pieces := `"1"`, 2
	c, _ := stub(t, Config{MaxRetries: 3}, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Range")+" "+r.Header.Get("If-Range"))
		w.Header().Set("Content-Type", mediaJSON)
		w.Header().Set("ETag", etag)
		from := 0
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
		rest := document[from:]
		w.Header().Set("Content-Length", fmt.Sprint(len(rest)))
		if from > 0 && r.Header.Get("If-Range") == etag {
			w.WriteHeader(206)
		}
		if len(asked) <= pieces {
			rest = rest[:min(3000, len(rest))]
		}
		w.Write(rest)
	})
	var got bytes.Buffer
	n, err := c.Exports.DownloadTo(t.Context(), "x", &got)
	if err != nil || n != int64(len(document)) || !bytes.Equal(got.Bytes(), document) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if !slices.Equal(asked, []string{" ", `bytes=3000- "1"`, `bytes=6000- "1"`}) {
		t.Errorf("%q", asked)
	}
	// Another document has its place by now.
	asked = nil
	d, err := c.Exports.Download(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	etag = `"2"`
	_, err = io.ReadAll(d)
	says(t, err, "another one by now")
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	// It is cut off each time, without a byte.
	etag, pieces, asked = `"1"`, 1000, nil
	document = document[:0]
	c, _ = stub(t, Config{MaxRetries: 3}, func(w http.ResponseWriter, _ *http.Request) {
		asked = append(asked, "")
		w.Header().Set("Content-Type", mediaJSON)
		w.Header().Set("ETag", etag)
		w.Header().Set("Content-Length", "10")
		w.WriteHeader(200)
	})
	_, err = c.Exports.DownloadTo(t.Context(), "x", io.Discard)
	var answer *AnswerError
	if !errors.As(err, &answer) || len(asked) != 4 {
		t.Errorf("%d connections, %v", len(asked), err)
	}
}

func TestExportsThatAreNot(t *testing.T) {
	status := ""
	c, _ := stub(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, fmt.Sprintf(`{"exportId":"e","status":%q,"error":"The disk is full."}`, status))
	})
	for _, tc := range []struct{ status, says string }{{"failed", "The disk is full."}, {"expired", "has expired"}} {
		status = tc.status
		_, err := c.Exports.Wait(t.Context(), "e")
		var failed *ExportFailedError
		if !errors.As(err, &failed) {
			t.Errorf("%T", err)
		}
		says(t, err, tc.says, "Make a new one")
	}
}
