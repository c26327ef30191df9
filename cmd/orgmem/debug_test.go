package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/process"
)

// Who helps sees where a server's time goes, and nothing that is stored in it.
func TestDebugBundle(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, data, process.Options{})
	c := caller{base: p.BaseURL, key: p.APIKey}
	job := c.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest",
		map[string]any{"content": "The zanzibarium opens at nine.", "externalId": "quokkafile"})
	c.finished(t, job["jobId"].(string))
	m := newMachine(t)
	m.env["ORGMEM_OPERATOR"], m.env["ORGMEM_DATA"] = p.OperatorURL, data

	bundle := filepath.Join(t.TempDir(), "bundle.tar.gz")
	m.ok("debug", "bundle", bundle, "--seconds", "1")
	if info, err := os.Stat(bundle); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v %v", info.Mode(), err)
	}
	token, err := os.ReadFile(filepath.Join(data, "operator.token"))
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{p.APIKey, strings.TrimSpace(string(token)), "zanzibarium", "quokkafile"}
	parts := unpack(t, bundle)
	for _, want := range []string{
		"README.txt", "version.json", "modules.txt", "doctor.json", "requests.json", "metrics.txt", "heap.pprof",
		"allocs.pprof", "goroutine.pprof", "profile.pprof",
	} {
		body, ok := parts["orgmem-bundle/"+want]
		if !ok || len(body) == 0 {
			t.Errorf("%s is missing of %d parts", want, len(parts))
		}
		if strings.HasSuffix(want, ".pprof") {
			body = unzip(t, body)
		}
		for _, secret := range secrets {
			if bytes.Contains(body, []byte(secret)) {
				t.Errorf("%s tells %q", want, secret)
			}
		}
	}
	if len(parts) != 10 { // no cluster, and nothing that could not be had
		t.Errorf("%d parts, errors: %s", len(parts), parts["orgmem-bundle/errors.txt"])
	}

	heap := filepath.Join(t.TempDir(), "heap")
	m.ok("debug", "profile", "heap", "-o", heap)
	if raw, err := os.ReadFile(heap); err != nil || len(unzip(t, raw)) == 0 {
		t.Errorf("heap: %d bytes, %v", len(raw), err)
	}
	if r := m.run("debug", "profile", "cmdline"); r.status != exitFailed || !strings.Contains(r.err, "goroutine, heap") {
		t.Errorf("a profile that there is not: %+v", r)
	}
	if r := m.run("debug", "bundle", bundle, "--seconds", "21"); r.status != exitUsage {
		t.Errorf("21 seconds: %+v", r)
	}
	m.env["ORGMEM_OPERATOR"] = p.BaseURL // it has no such routes
	gone := filepath.Join(t.TempDir(), "gone")
	if r := m.run("debug", "bundle", gone); r.status != exitFailed {
		t.Errorf("the wrong address: %+v", r)
	}
	if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it wrote a bundle of nothing: %v", err)
	}
}

func unpack(t *testing.T, file string) map[string][]byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{}
	for files := tar.NewReader(bytes.NewReader(unzip(t, raw))); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		if parts[header.Name], err = io.ReadAll(files); err != nil {
			t.Fatal(err)
		}
	}
}

func unzip(t *testing.T, raw []byte) []byte {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
