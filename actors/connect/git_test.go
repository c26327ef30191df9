package connect

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orgmem/actors/egress"
)

// forge serves a repository with git's own server, and is the Fetcher that reaches it
// as https://x.example/r.git.
type forge struct {
	t       *testing.T
	folder  string
	server  *httptest.Server
	asked   []string
	private bool
}

func newForge(t *testing.T) *forge {
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	f := &forge{t: t, folder: filepath.Join(t.TempDir(), "r.git")}
	f.git("init", "-q", "-b", "main", f.folder)
	f.server = httptest.NewServer(&cgi.Handler{
		Path: path, Args: []string{"http-backend"},
		Env:        []string{"GIT_PROJECT_ROOT=" + filepath.Dir(f.folder), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + t.TempDir()},
		InheritEnv: []string{"PATH"},
	})
	t.Cleanup(f.server.Close)
	return f
}

func (f *forge) git(args ...string) {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+f.t.TempDir(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=c",
		"GIT_COMMITTER_EMAIL=c@x", "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (f *forge) commit(files map[string]string) {
	f.t.Helper()
	for name, text := range files {
		path := filepath.Join(f.folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			f.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	f.git("-C", f.folder, "add", "-A")
	f.git("-C", f.folder, "commit", "-q", "-m", "more")
}

func (f *forge) Do(ctx context.Context, r egress.Request) (egress.Response, error) {
	path, ok := strings.CutPrefix(r.Address, "https://x.example")
	if !ok {
		f.t.Errorf("asked %s", r.Address)
	}
	f.asked = append(f.asked, r.Method+" "+path)
	if _, password, _ := (&http.Request{Header: r.Header}).BasicAuth(); f.private && password != "sesame" {
		return egress.Response{Status: 401}, nil
	}
	// The repository is no bare one: its git folder is what is served.
	request, err := http.NewRequestWithContext(ctx, r.Method, f.server.URL+strings.Replace(path, "/r.git", "/r.git/.git", 1), bytes.NewReader(r.Body))
	if err != nil {
		return egress.Response{}, err
	}
	request.Header = r.Header
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return egress.Response{}, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return egress.Response{Status: answer.StatusCode, Header: answer.Header, Body: body}, err
}

func (f *forge) sync(config string, before []byte) (Result, error) {
	f.asked = nil
	return Sync(f.t.Context(), f, nil, Source{Type: "git", Config: []byte(config)}, before)
}

// TestGit: against git's own server.
func TestGit(t *testing.T) {
	f := newForge(t)
	long := strings.Repeat("A line that many versions share.\n", 500)
	f.commit(map[string]string{
		"README.md": "# Read me\n\nFirst.", "docs/guide.txt": long, "docs/guide2.txt": long + "and one more", "main.go": "package main",
		"docs/deep/er/note.rst": "Deep.", "bin.md": "a\x00b", "LICENSE": "x", "docs/notes": "Plain name.",
	})
	const config = `{"url":"https://x.example/r.git","branch":"main"}`
	r, err := f.sync(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]Document{}
	for _, d := range r.Documents {
		ids[d.ID] = d
	}
	if len(ids) != 5 || ids["README.md"].Title != "Read me" && ids["README.md"].Title != "README.md" || !strings.Contains(ids["docs/guide2.txt"].Content, "and one more") ||
		ids["docs/deep/er/note.rst"].Content != "Deep." || ids["README.md"].OccurredMs != 1_700_000_000_000 {
		t.Errorf("%d: %+v", len(ids), ids)
	}
	again, err := f.sync(config, r.State)
	if err != nil || len(again.Documents) != 0 || len(f.asked) != 2 {
		t.Errorf("%d documents, asked %q: %v", len(again.Documents), f.asked, err)
	}
	f.commit(map[string]string{"docs/guide.txt": long + "changed"})
	again, err = f.sync(config, again.State)
	if err != nil || len(again.Documents) != 1 || again.Documents[0].ID != "docs/guide.txt" || len(f.asked) != 3 {
		t.Errorf("%d documents, asked %q: %v", len(again.Documents), f.asked, err)
	}
	if below, err := f.sync(`{"url":"https://x.example/r.git","path":"/docs/deep/"}`, nil); err != nil || len(below.Documents) != 1 {
		t.Errorf("below a folder: %d documents: %v", len(below.Documents), err)
	}
	if _, err := f.sync(`{"url":"https://x.example/r.git","branch":"none"}`, nil); !errors.Is(err, ErrSource) || !strings.Contains(Reason(err), "branch") {
		t.Error(err)
	}
	f.private = true
	if _, err := f.sync(config, nil); !errors.Is(err, ErrSource) || !strings.Contains(Reason(err), "credentials") {
		t.Error(err)
	}
	if _, err := f.sync(`{"url":"https://x.example/r.git","token":"sesame"}`, nil); err != nil {
		t.Error(err)
	}
}

// packOf is what git packs of a repository, with deltas of both kinds.
func packOf(t *testing.T, f *forge, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", f.folder, "pack-objects", "--stdout", "--all", "-q"}, args...)...)
	raw, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestPackWithDeltas(t *testing.T) {
	f := newForge(t)
	text := strings.Repeat("shared line of a text\n", 300)
	for i := range 5 {
		f.commit(map[string]string{"a.md": text + strings.Repeat("x", i), "b.md": strings.Repeat("y", i) + text})
	}
	whole := 0
	for _, args := range [][]string{{"--delta-base-offset"}, {}} {
		objects, err := readPack(packOf(t, f, args...))
		if err != nil {
			t.Fatal(err)
		}
		if whole != 0 && whole != len(objects) {
			t.Errorf("%d objects, and %d", len(objects), whole)
		}
		whole = len(objects)
		found := 0
		for _, o := range objects {
			if o.kind == objBlob && strings.Contains(string(o.data), text) {
				found++
			}
		}
		if found != 9 { // one blob is in both files
			t.Errorf("%d blobs of %d objects", found, len(objects))
		}
	}
}

func FuzzPack(f *testing.F) {
	f.Add([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\x33abc"))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		// With a sum that is right, so that what stands before it is read.
		readPack(sealed(raw))
		readLines(raw)
		p := &pack{at: map[int]*object{}, byID: map[string]*object{}}
		p.apply(&object{objBlob, []byte("base")}, raw)
	})
}

func sealed(raw []byte) []byte {
	sum := sha1.Sum(raw)
	return append(bytes.Clone(raw), sum[:]...)
}
