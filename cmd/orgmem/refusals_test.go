package main

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/process"
)

// fewFiles runs the service with a limit of open files.
func fewFiles(n string) []string {
	return []string{"sh", "-c", "ulimit -n " + n + ` && exec "$0" "$@"`}
}

// TestAStartThatCannotBeSaysWhy: the last words of a process that does not start name the
// cause and what to do.
func TestAStartThatCannotBeSaysWhy(t *testing.T) {
	t.Parallel()
	used := filepath.Join(t.TempDir(), "data")
	p := start(t, used, process.Options{})
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	manifests, err := filepath.Glob(filepath.Join(used, "log", "MANIFEST-*"))
	if err != nil || len(manifests) == 0 {
		t.Fatal(manifests, err)
	}
	manifest := manifests[len(manifests)-1]
	raw, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(manifest, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		o     process.Options
		words []string
	}{
		{
			"few files",
			process.Options{Data: filepath.Join(t.TempDir(), "data"), Prefix: fewFiles("64")},
			[]string{"limit of open files", "64", "ulimit -n", "LimitNOFILE"},
		},
		{"damaged manifest", process.Options{Data: used}, []string{manifest, "damaged"}},
	} {
		c.o.Binary = binary(t)
		p, err := process.Start(t.Context(), c.o)
		if err == nil {
			p.Kill()
		}
		if !errors.Is(err, process.ErrEnded) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(p.Log(), word) {
				t.Errorf("%s: its last words lack %q: %s", c.name, word, p.Log())
			}
		}
	}
}

// TestIdleConnectionsKeepNobodyWaiting: with few files to open, more idle connections than
// may be open do not keep a request from being answered.
func TestIdleConnectionsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	p := start(t, filepath.Join(t.TempDir(), "data"), process.Options{Prefix: fewFiles("128")})
	for range 200 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.BaseURL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 20 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.BaseURL+"/v1/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Svc-Api-Key", p.APIKey)
		response, err := fresh.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Fatal(response.Status)
		}
	}
	if log := p.Log(); !strings.Contains(log, "as many connections are open as may be") ||
		strings.Contains(log, "too many open files") {
		t.Errorf("the operator is not told, or descriptors ran out: %s", log)
	}
}
