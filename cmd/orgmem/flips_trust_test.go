//go:build trust

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/process"
)

const (
	// flipsAtMost is how many bits are flipped, each before a start of its own, where
	// ORGMEM_TRUST_FLIPS says no other number: some minutes.
	flipsAtMost = 120
	// flippedDocuments are acknowledged before.
	flippedDocuments = 30
)

// unharmed are the files of a data directory that hold nothing.
var unharmed = map[string]bool{"LOCK": true, "PID": true, "BALLAST": true}

// flipped is a data directory that was left by kill -9, and what was acknowledged of it.
type flipped struct {
	name, data string
	key        string
	jobs       []string
	words      []string
}

// TestTrustBitFlips flips bits all over the files of a node that was killed: one whose
// first process it was, and one that had been started again. Each start is refused with
// words that name the file, or the organization is out of service and says so, or all that
// was acknowledged is there and right.
func TestTrustBitFlips(t *testing.T) {
	most := flipsAtMost
	if text := os.Getenv("ORGMEM_TRUST_FLIPS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("ORGMEM_TRUST_FLIPS is %q", text)
		}
		most = n
	}
	first := &flipped{name: "first process", data: filepath.Join(t.TempDir(), "data")}
	first.write(t, flippedDocuments).Kill()
	later := &flipped{name: "third process", data: filepath.Join(t.TempDir(), "data")}
	p := later.write(t, flippedDocuments/2)
	c := caller{base: p.BaseURL, key: later.key}
	for _, job := range later.jobs {
		c.finished(t, job)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	later.write(t, 0).Kill()
	later.write(t, flippedDocuments/2).Kill()

	files, flips := 0, 0
	outcomes := map[string]int{}
	for _, f := range []*flipped{first, later} {
		for path, places := range f.places(t, most/2) {
			files++
			for _, at := range places {
				flips++
				outcome, err := f.try(t, path, at)
				if err != nil {
					t.Errorf("%s, %s, bit flipped in byte %d: %v", f.name, path, at, err)
				}
				outcomes[outcome]++
			}
		}
	}
	t.Logf("trust: bit flips: %d flips in %d files: %d starts refused, %d organizations out of service, %d with "+
		"everything there, %d silent",
		flips, files, outcomes["refused"], outcomes["out of service"], outcomes["right"], outcomes["silent"])
	if outcomes["refused"] == 0 || outcomes["right"] == 0 {
		t.Error("the test proves nothing")
	}
}

// write starts the service and has documents acknowledged.
func (f *flipped) write(t *testing.T, documents int) *process.Process {
	t.Helper()
	p := start(t, f.data, process.Options{})
	if f.key == "" {
		f.key = p.APIKey
		unlimited(t, p, f.data, p.OrgID)
	}
	c := caller{base: p.BaseURL, key: f.key}
	for range documents {
		word := fmt.Sprintf("zqflip%dy", len(f.words))
		made := c.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest",
			map[string]any{"content": "Entry " + word + " about the weather."})
		f.words = append(f.words, word)
		f.jobs = append(f.jobs, made["jobId"].(string))
	}
	return p
}

// places chooses the bytes to be flipped: the middle and the end of what each file has,
// and as many others as are left to be had, by size.
func (f *flipped) places(t *testing.T, most int) map[string][]int {
	t.Helper()
	sizes := map[string]int{}
	total := 0
	err := filepath.WalkDir(f.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || unharmed[d.Name()] {
			return err
		}
		raw, err := os.ReadFile(path)
		if n := len(bytes.TrimRight(raw, "\x00")); n > 0 {
			rel, _ := filepath.Rel(f.data, path)
			sizes[rel] = n
			total += n
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	places := map[string][]int{}
	for path, n := range sizes {
		places[path] = []int{n / 2, n - 1}
		more := (most - 2*len(sizes)) * n / total
		for i := range max(more, 0) {
			places[path] = append(places[path], (2*i+1)*n/(2*more+1))
		}
	}
	return places
}

// try starts a copy with one bit flipped and says what has become of it.
func (f *flipped) try(t *testing.T, path string, at int) (outcome string, err error) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "flip")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	data := filepath.Join(dir, "data")
	copyData(t, f.data, data)
	raw, err := os.ReadFile(filepath.Join(data, path))
	if err != nil {
		t.Fatal(err)
	}
	raw[at] ^= 1 << (at % 8)
	if err := os.WriteFile(filepath.Join(data, path), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(t.Context(), process.Options{Binary: binary(t), Data: data})
	if errors.Is(err, process.ErrEnded) {
		if words := p.Log(); !strings.Contains(words, filepath.Base(path)) &&
			!strings.Contains(words, filepath.Base(filepath.Dir(path))) {
			return "silent", fmt.Errorf("refused, and the file is not named: %s", words)
		}
		return "refused", nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	c := caller{base: p.BaseURL, key: f.key}
	outcome = "right"
	for i, job := range f.jobs {
		for _, ask := range []struct {
			method, path string
			body         any
			right        func(a answer) bool
		}{
			{http.MethodGet, "/v1/ingest/" + job + "/status", nil, func(a answer) bool {
				return bytes.Contains(a.Body, []byte(`"done"`))
			}},
			{http.MethodPost, "/v1/search", map[string]any{"query": f.words[i], "mode": "keyword"}, func(a answer) bool {
				return bytes.Contains(a.Body, []byte("Entry "+f.words[i]+" "))
			}},
		} {
			var last answer
			eventually(t, ask.path, func() bool {
				last = c.send(t.Context(), ask.method, ask.path, "", ask.body)
				return last.Status == http.StatusOK && ask.right(last) || f.damaged(last) || last.Status == http.StatusNotFound ||
					last.Status == http.StatusUnauthorized
			})
			switch {
			case f.damaged(last):
				outcome = "out of service"
			case last.Status != http.StatusOK:
				return "silent", fmt.Errorf("document %d: %s: %d %s", i, ask.path, last.Status, last.Body)
			}
		}
	}
	return outcome, nil
}

// damaged reports whether an answer says that the organization is out of service.
func (f *flipped) damaged(a answer) bool {
	return a.Status == http.StatusServiceUnavailable && bytes.Contains(a.Body, []byte("damaged"))
}

// copyData copies a data directory but for what holds nothing.
func copyData(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || unharmed[d.Name()] {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), raw, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
