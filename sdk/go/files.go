package orgmem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"sync/atomic"
	"time"
)

// ImportsService takes files in.
type ImportsService struct{ c *Client }

// Upload is a file to take in. Name and File are required.
type Upload struct {
	Name string
	// File is read once, as it is sent, by another goroutine: after an error a Read that
	// is under way may end a moment later than the call. The caller closes it.
	File       io.Reader
	Title      string
	OccurredAt time.Time
	Metadata   map[string]any // for every document of the file
	// OnProgress gets how many bytes of the file were handed to the connection, and
	// how many there are, -1 where the File does not tell. It runs while the upload waits.
	OnProgress func(sent, total int64)
}

// Upload sends a file of any known format. Once it was begun to be read it is not sent
// again: what became of it when the connection was lost on the way, List tells.
func (s ImportsService) Upload(ctx context.Context, upload Upload) (*Accepted, error) {
	return s.send(ctx, "/v1/import", upload)
}

// Transcript sends a file of what was said, and by whom.
func (s ImportsService) Transcript(ctx context.Context, upload Upload) (*Accepted, error) {
	return s.send(ctx, "/v1/import/transcript", upload)
}

// List lists the newest 20 imports; there are no further pages.
func (s ImportsService) List(ctx context.Context) ([]ImportEntry, error) {
	list := listOf[ImportEntry](s.c, nil, "/v1/import")
	list.query = nil
	page, err := list.Page(ctx, "")
	if err != nil {
		return nil, err
	}
	return page.Data, nil
}

func (s ImportsService) send(ctx context.Context, path string, upload Upload) (*Accepted, error) {
	if upload.File == nil || upload.Name == "" {
		return nil, argument("an upload needs a file and its name")
	}
	// The parts around the file are made at once, the file is read as it is sent.
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if upload.Title != "" {
		w.WriteField("title", upload.Title)
	}
	if !upload.OccurredAt.IsZero() {
		w.WriteField("occurredAt", timestamp(upload.OccurredAt))
	}
	if upload.Metadata != nil {
		metadata, err := json.Marshal(upload.Metadata)
		if err != nil {
			return nil, argument("the metadata of an upload is no JSON: %v", err)
		}
		w.WriteField("metadata", string(metadata))
	}
	w.CreateFormFile("file", upload.Name)
	head := form.Len()
	w.Close() // a buffer takes everything
	begin, end := form.Bytes()[:head], form.Bytes()[head:]

	watched, dog := s.c.watch(ctx, s.c.cfg.Timeout)
	defer dog.cancel(nil)
	defer dog.timer.Stop()
	file := &uploaded{file: upload.File, total: size(upload.File), tell: upload.OnProgress, dog: dog}
	defer file.done.Store(true)
	r := request{method: http.MethodPost, path: path, length: -1, header: http.Header{
		"Content-Type": {w.FormDataContentType()},
		// A refusal comes before the file is sent, and is not lost with the connection.
		"Expect": {"100-continue"},
	}}
	if file.total >= 0 {
		r.length = int64(len(begin)) + file.total + int64(len(end))
	}
	// What was read of the file cannot be read again.
	r.spent = func() bool { return file.read.Load() }
	accepted := new(Accepted)
	err := s.c.retry(ctx, r, func() error {
		dog.timer.Reset(dog.patience)
		defer dog.timer.Stop()
		response, err := s.c.open(watched, r, io.MultiReader(bytes.NewReader(begin), file, bytes.NewReader(end)), s.c.cfg.Timeout)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		raw, err := readAll(response, maxAnswer)
		if err != nil {
			return s.c.readError(watched, r, response, raw, err, s.c.cfg.Timeout)
		}
		if err := decode(raw, accepted); err != nil {
			return s.c.badAnswer(r, response.StatusCode, response.Header, raw, err)
		}
		return nil
	})
	if err == nil {
		return accepted, nil
	}
	var refused *APIError
	if broken := file.failure(); broken != nil && ctx.Err() == nil && !errors.As(err, &refused) {
		return nil, &ArgumentError{fmt.Sprintf("the file %q cannot be read: %v", upload.Name, broken), broken}
	}
	return nil, err
}

// uploaded is a file on its way.
type uploaded struct {
	file        io.Reader
	sent, total int64
	tell        func(sent, total int64)
	dog         *watchdog
	read, done  atomic.Bool // something was, nothing more is
	failed      atomic.Pointer[error]
}

func (u *uploaded) failure() error {
	if err := u.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (u *uploaded) Read(p []byte) (int, error) {
	if u.done.Load() {
		return 0, fs.ErrClosed
	}
	u.read.Store(true)
	u.dog.timer.Stop() // the file may take its time, the network may not
	n, err := u.file.Read(p)
	u.dog.timer.Reset(u.dog.patience)
	u.sent += int64(n)
	if u.tell != nil && n > 0 {
		u.tell(u.sent, u.total)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		u.failed.Store(&err)
	}
	return n, err
}

// size is what a reader tells of its length, -1 where it tells nothing.
func size(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Len() int }:
		return int64(r.Len())
	case interface {
		io.Seeker
		Stat() (fs.FileInfo, error)
	}:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil || at > info.Size() {
			return -1
		}
		return info.Size() - at
	}
	return -1
}

// ExportsService writes a memory as a document.
type ExportsService struct{ c *Client }

// Create queues the writing of a document of one memory, or of the organization.
func (s ExportsService) Create(ctx context.Context, scope MemoryScope) (*Export, error) {
	return send[Export](ctx, s.c, request{method: http.MethodPost, path: "/v1/exports", keyed: true, body: struct {
		Scope MemoryScope `json:"scope,omitzero"`
	}{scope}}, nil)
}

// List lists exports, the newest first.
func (s ExportsService) List() List[Export] {
	return listOf[Export](s.c, nil, "/v1/exports")
}

// Get reads how far an export is.
func (s ExportsService) Get(ctx context.Context, id string) (*Export, error) {
	r, err := at(http.MethodGet, "/v1/exports/", id)
	return send[Export](ctx, s.c, r, err)
}

// Wait waits until a document is written, for as long as the context lasts. One that
// failed or has expired is returned, and an ExportFailedError with it.
func (s ExportsService) Wait(ctx context.Context, id string) (*Export, error) {
	for pause := firstLook; ; pause = nextLook(pause) {
		export, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		switch export.Status {
		case ExportStatusSucceeded:
			return export, nil
		case ExportStatusFailed, ExportStatusExpired:
			return export, &ExportFailedError{export}
		}
		if err := s.c.pause(ctx, pause, "GET /v1/exports/"+id); err != nil {
			return nil, err
		}
	}
}

// Download reads a document as it comes. A connection that is lost on the way is made
// again where it broke off. The caller closes the reader.
func (s ExportsService) Download(ctx context.Context, id string) (io.ReadCloser, error) {
	r, err := at(http.MethodGet, "/v1/exports/", id, "/download")
	if err != nil {
		return nil, err
	}
	d := &download{ctx: ctx, c: s.c, request: r}
	if err := d.open(); err != nil {
		return nil, err
	}
	return d, nil
}

// DownloadTo writes a document to w, and returns how many bytes it has.
func (s ExportsService) DownloadTo(ctx context.Context, id string, w io.Writer) (int64, error) {
	d, err := s.Download(ctx, id)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	return io.Copy(w, d)
}

// download is a document that is being read.
type download struct {
	ctx     context.Context // of the call; a Read has none
	c       *Client
	request request

	body io.ReadCloser
	stop context.CancelCauseFunc
	etag string
	read int64
	lost int // connections since the last byte
}

// open connects, and goes on behind what was read.
func (d *download) open() error {
	return d.c.retry(d.ctx, d.request, func() error {
		r := d.request
		r.header = http.Header{"Accept-Encoding": {"identity"}} // ranges are of the document itself
		if d.read > 0 {
			r.header.Set("Range", fmt.Sprintf("bytes=%d-", d.read))
			r.header.Set("If-Range", d.etag)
		}
		watched, dog := d.c.watch(d.ctx, d.c.cfg.Timeout)
		response, err := d.c.open(watched, r, nil, d.c.cfg.Timeout)
		dog.timer.Stop()
		if err == nil && !isMedia(response.Header, mediaJSON) {
			raw, _ := io.ReadAll(io.LimitReader(response.Body, maxExcerpt))
			response.Body.Close()
			err = d.c.badAnswer(r, response.StatusCode, response.Header, raw, errors.New("the answer is not the document"))
		}
		if err == nil && d.read > 0 && response.StatusCode != http.StatusPartialContent {
			response.Body.Close()
			err = d.c.badAnswer(r, response.StatusCode, response.Header, nil, errors.New("the document is another one by now: download it anew"))
		}
		if err != nil {
			dog.cancel(nil)
			return err
		}
		d.body, d.stop, d.etag = struct {
			io.Reader
			io.Closer
		}{&watchedReader{response.Body, dog}, response.Body}, dog.cancel, response.Header.Get("ETag")
		return nil
	})
}

func (d *download) Read(p []byte) (int, error) {
	for {
		n, err := d.body.Read(p)
		d.read += int64(n)
		if n > 0 {
			d.lost = 0
		}
		switch {
		case err == nil, errors.Is(err, io.EOF): // one that comes too early is io.ErrUnexpectedEOF
			return n, err
		case n > 0:
			return n, nil // the next Read finds the connection broken
		case d.ctx.Err() != nil:
			return 0, d.c.ended(d.ctx, d.request, nil)
		}
		cut := d.c.badAnswer(d.request, http.StatusOK, http.Header{"Content-Type": {mediaJSON}}, nil, fmt.Errorf("%w: %w", errCutOff, err))
		if d.lost++; d.etag == "" || d.lost > max(0, d.c.cfg.MaxRetries) {
			return 0, cut
		}
		if d.c.cfg.Sleep(d.ctx, d.c.jitter(d.lost-1)) != nil {
			return 0, d.c.ended(d.ctx, d.request, cut)
		}
		d.Close()
		if err := d.open(); err != nil {
			return 0, err
		}
	}
}

func (d *download) Close() error {
	d.stop(nil)
	return d.body.Close()
}
