package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// PutSubject provisions a subject; one that is there stays as it is.
func (c *Client) PutSubject(ctx context.Context, subject string) error {
	return c.do(ctx, call{method: http.MethodPut, path: "/v1/subjects/" + url.PathEscape(subject)})
}

// HasSubject reports whether a subject is provisioned.
func (c *Client) HasSubject(ctx context.Context, subject string) (bool, error) {
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/subjects/" + url.PathEscape(subject)})
	if IsCode(err, pb.CodeSubjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

// As is the same client, acting as a subject; empty: the key's owner.
func (c *Client) As(subject string) *Client {
	as := &Client{
		base: c.base, apiKey: c.apiKey, token: c.token, subject: subject, advice: c.advice, clock: c.clock,
		waiting: c.waiting, http: c.http,
	}
	as.answered.Store(c.answered.Load())
	return as
}

// Export is what the service says of an export.
type Export struct {
	ID      string  `json:"exportId"`
	Status  string  `json:"status"`
	Scope   string  `json:"scope"`
	Bytes   int64   `json:"bytes"`
	SHA256  string  `json:"sha256"`
	Expires string  `json:"expiresAt"`
	Error   *string `json:"error"`
}

// Bounds of waiting for an export.
const (
	firstLook = 100 * time.Millisecond // doubles up to lastLook
	lastLook  = 3 * time.Second
	// maxTries are how often in a row a download may break off without a byte.
	maxTries = 5
)

// MakeExport makes an export and waits until it can be downloaded. Under the same key a
// repeated call waits for the same one.
func (c *Client) MakeExport(ctx context.Context, scope, idempotencyKey string) (Export, error) {
	var e Export
	body := struct {
		Scope string `json:"scope"`
	}{scope}
	err := c.do(ctx, call{
		method: http.MethodPost, path: "/v1/exports", body: body, idempotencyKey: idempotencyKey, out: &e,
	})
	for pause := firstLook; err == nil; pause = min(2*pause, lastLook) {
		switch e.Status {
		case pb.ExportSucceeded:
			return e, nil
		case pb.ExportFailed, pb.ExportExpired:
			why := "something that it may hold was forgotten meanwhile"
			if e.Error != nil && *e.Error != "" {
				why = *e.Error
			}
			return e, fmt.Errorf("the export has %s: %s; run it again", e.Status, why)
		}
		if err = clock.Wait(ctx, c.clock, pause); err == nil {
			err = c.do(ctx, call{method: http.MethodGet, path: "/v1/exports/" + url.PathEscape(e.ID), out: &e})
		}
	}
	return e, err
}

// Download writes an export's document. Where the connection breaks off it goes on from
// there.
func (c *Client) Download(ctx context.Context, e Export, out io.Writer) error {
	var at int64
	for tries := 0; at < e.Bytes; {
		n, err := c.part(ctx, e, at, out)
		at += n
		if err == nil && at >= e.Bytes {
			break
		}
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		if tries++; n > 0 {
			tries = 1
		}
		if _, refused := errors.AsType[*Problem](err); refused || errors.Is(err, errOut) || tries == maxTries ||
			ctx.Err() != nil {
			return fmt.Errorf("download after %d of %d bytes: %w", at, e.Bytes, err)
		}
		if err := clock.Wait(ctx, c.clock, firstBackoff<<tries); err != nil {
			return err
		}
	}
	return nil
}

// errOut means that what was downloaded could not be written.
var errOut = errors.New("write")

// part downloads from a place on, as far as it comes.
func (c *Client) part(ctx context.Context, e Export, at int64, out io.Writer) (int64, error) {
	request, err := c.request(ctx, http.MethodGet, "/v1/exports/"+url.PathEscape(e.ID)+"/download", http.NoBody)
	if err != nil {
		return 0, err
	}
	want := http.StatusOK
	if at > 0 {
		want = http.StatusPartialContent
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", at))
		request.Header.Set("If-Range", `"`+e.SHA256+`"`)
	}
	// A document may take longer than one call of the interface.
	patient := &http.Client{Transport: c.http.Transport, CheckRedirect: c.http.CheckRedirect}
	response, err := patient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("no answer from %s: %w", c.base, err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	if response.StatusCode != want {
		raw, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
		if err != nil {
			return 0, fmt.Errorf("answer of %s broke off: %w", c.base, err)
		}
		return 0, problemOf(answer{response.StatusCode, response.Header, raw})
	}
	n, err := io.Copy(marked{out}, io.LimitReader(response.Body, e.Bytes-at))
	return n, err
}

// marked tells errors of writing from those of reading.
type marked struct{ io.Writer }

func (m marked) Write(p []byte) (int, error) {
	n, err := m.Writer.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", errOut, err)
	}
	return n, err
}
