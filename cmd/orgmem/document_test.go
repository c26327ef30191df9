package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"orgmem/api/apitest"
)

// documented holds what the built binary answers, to whatever test, to the committed
// document. It is the transport of http.DefaultClient, by which tests ask.
type documented struct {
	http.RoundTripper
	doc *apitest.Document

	mu    sync.Mutex
	wrong map[string]struct{}
}

// maxWrong bounds what is remembered: a few say what there is to mend.
const maxWrong = 20

func newDocumented() (*documented, error) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "openapi.json"))
	if err != nil {
		return nil, err
	}
	doc, err := apitest.Parse(raw)
	return &documented{RoundTripper: http.DefaultTransport, doc: doc, wrong: map[string]struct{}{}}, err
}

// RoundTrip implements http.RoundTripper. Streams and files are not read ahead.
func (d *documented) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := d.RoundTripper.RoundTrip(r)
	kind := ""
	if err == nil {
		kind = res.Header.Get("Content-Type")
	}
	if err != nil || !strings.HasPrefix(r.URL.Path, "/v1/") {
		return res, err
	}
	var body []byte
	if kind == "application/json" || kind == "application/problem+json" {
		body, err = io.ReadAll(res.Body)
		res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	}
	if err == nil {
		if wrong := d.doc.Hold(r.Method, r.URL.EscapedPath(), apitest.Answer{
			Status: res.StatusCode, Header: res.Header,
			Body: body,
		}); wrong != nil {
			d.mu.Lock()
			if len(d.wrong) < maxWrong {
				d.wrong[wrong.Error()] = struct{}{}
			}
			d.mu.Unlock()
		}
	}
	return res, nil
}

// failing ends a body as it ended when it was read ahead.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// found is what did not fit the document.
func (d *documented) found() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for wrong := range d.wrong {
		errs = append(errs, errors.New(wrong))
	}
	return errors.Join(errs...)
}
