package connect

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"orgmem/actors/egress"
	"orgmem/proto/clock"
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
		Env: []string{
			"GIT_PROJECT_ROOT=" + filepath.Dir(f.folder), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1",
			"HOME=" + t.TempDir(),
		},
		InheritEnv: []string{"PATH"},
	})
	t.Cleanup(f.server.Close)
	return f
}

func (f *forge) git(args ...string) {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+f.t.TempDir(), "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=c",
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
	request, err := http.NewRequestWithContext(ctx, r.Method, f.server.URL+strings.Replace(path, "/r.git", "/r.git/.git",
		1), bytes.NewReader(r.Body))
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
	if r.Grow != nil && err == nil {
		err = r.Grow(2 * len(body))
	}
	return egress.Response{Status: answer.StatusCode, Header: answer.Header, Body: body}, err
}

func (f *forge) sync(config string, before []byte) (Result, error) {
	f.asked = nil
	return Sync(f.t.Context(), f, clock.NewFake(time.Unix(0, 0)), Source{Type: "git", Config: []byte(config)}, before)
}

// TestGit: against git's own server.
func TestGit(t *testing.T) {
	f := newForge(t)
	long := strings.Repeat("A line that many versions share.\n", 500)
	f.commit(map[string]string{
		"README.md": "# Read me\n\nFirst.", "docs/guide.txt": long, "docs/guide2.txt": long + "and one more",
		"main.go":               "package main",
		"docs/deep/er/note.rst": "Deep.", "bin.md": "a\x00b", "LICENSE": "x", "docs/notes": "Plain name.",
	})
	const config = `{"url":"https://x.example/r.git","branch":"main"}`
	r, err := f.sync(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	doc := func(path, title, content string) Document {
		return Document{
			ID: path, Title: title, Content: content, Link: "https://x.example/r#" + path, OccurredMs: 1_700_000_000_000,
		}
	}
	want := []Document{
		doc("README.md", "README.md", "# Read me\n\nFirst."), doc("docs/deep/er/note.rst", "note", "Deep."),
		doc("docs/guide.txt", "guide", strings.TrimSpace(long)), doc("docs/guide2.txt", "guide2", long+"and one more"),
		doc("docs/notes", "notes", "Plain name."),
	}
	byPath := cmpopts.SortSlices(func(a, b Document) bool { return a.ID < b.ID })
	if diff := cmp.Diff(want, r.Documents, byPath); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
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
	if below, err := f.sync(`{"url":"https://x.example/r.git","path":"/docs/deep/"}`, nil); err != nil ||
		len(below.Documents) != 1 {
		t.Errorf("below a folder: %d documents: %v", len(below.Documents), err)
	}
	if _, err := f.sync(`{"url":"https://x.example/r.git","branch":"none"}`, nil); !errors.Is(err, ErrSource) ||
		!strings.Contains(Reason(err), "branch") {
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
	cmd := exec.CommandContext(t.Context(), "git", append([]string{
		"-C", f.folder, "pack-objects", "--stdout", "--all",
		"-q",
	}, args...)...)
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
		objects, err := readPack(packOf(t, f, args...), granted)
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

// granted grants everything.
func granted(int) error { return nil }

// allLines are the lines of an answer, and an error where one of them is malformed.
func allLines(raw []byte) (all []packet, err error) {
	for l, err := range readLines(raw) {
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// packed writes an object as it stands in a pack. before is what a delta's base is
// named by: its id, or its distance.
func packed(kind int, before, data []byte) []byte {
	size := len(data)
	out := []byte{byte(kind<<4 | size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		out[len(out)-1] |= 0x80
		out = append(out, byte(size&0x7f))
	}
	// One block that is stored as it is (RFC 1950, RFC 1951).
	out = append(append(out, before...), 0x78, 0x01, 0x01)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(data)))
	out = binary.LittleEndian.AppendUint16(out, ^uint16(len(data)))
	return binary.BigEndian.AppendUint32(append(out, data...), adler32.Checksum(data))
}

// packFile is a pack of such objects, without its sum.
func packFile(objects ...[]byte) []byte {
	out := append([]byte("PACK\x00\x00\x00\x02"), binary.BigEndian.AppendUint32(nil, uint32(len(objects)))...)
	return append(out, bytes.Join(objects, nil)...)
}

func blobID(text string) []byte {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
	return sum[:]
}

// A chain of deltas each of which stands before its base is read in one go: in as many
// rounds as it has links, it would keep a processor busy for minutes.
func TestPackBackwards(t *testing.T) {
	const links = 20_000
	text := func(i int) string { return fmt.Sprintf("%05d", i) }
	objects := make([][]byte, links+1)
	for i := range links {
		delta := append([]byte{5, 5, 5}, text(i+1)...) // of 5 bytes to 5 bytes: these 5
		objects[links-1-i] = packed(objRefDelta, blobID(text(i)), delta)
	}
	objects[links] = packed(objBlob, nil, []byte(text(0)))
	got, err := readPack(sealed(packFile(objects...)), granted)
	if err != nil || len(got) != links+1 {
		t.Fatalf("%d objects: %v", len(got), err)
	}
	if o := got[hex.EncodeToString(blobID(text(links)))]; o == nil || string(o.data) != text(links) {
		t.Errorf("the last of the chain is %v", o)
	}
	if _, err := readPack(sealed(packFile(objects[:links]...)), granted); !errors.Is(err, ErrSource) {
		t.Errorf("without their first: %v", err)
	}
}

// A few trees, each with the next one many times, are as many files as nobody could
// walk over.
func TestTreesThatMultiply(t *testing.T) {
	p := &pack{at: map[int]*object{}, byID: map[string]*object{}}
	below, mode := p.put(0, &object{objBlob, []byte("Figs")}), "100644 %d.md\x00"
	for level := range 20 {
		id, err := hex.DecodeString(below)
		if err != nil {
			t.Fatal(err)
		}
		var tree []byte
		for i := range 20 {
			tree = append(fmt.Appendf(tree, mode, i), id...)
		}
		below, mode = p.put(level+1, &object{objTree, tree}), "40000 %d\x00"
	}
	entries := 0
	if err := walkTree(p.byID, below, "", 0, &entries, func(string, *object) error { return nil }); !errors.Is(err,
		ErrSource) || entries > maxObjects+1 {
		t.Errorf("%d entries: %v", entries, err)
	}
}

// FuzzPack: each object is named by what it holds, all together are no larger than
// they may be; a delta gives what it says; and lines are those that say the same.
func FuzzPack(f *testing.F) {
	f.Add([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\x33abc"))
	f.Add([]byte("0006a\n00000001000512"))
	f.Add([]byte{4, 3, 0x91, 1, 3})                         // of 4 bytes to 3: from 1, 3 of them
	f.Add([]byte{4, 0x84, 1, 0x80, 0x90, 128, 2, 'a', 'b'}) // of 4 bytes to 132, which it does not give
	first := packed(objBlob, nil, []byte("base"))
	f.Add(packFile(first, packed(objOfsDelta, []byte{byte(len(first))}, []byte{4, 3, 0x91, 1, 3})))
	f.Add(packFile(packed(objRefDelta, blobID("base"), []byte{4, 5, 0x90, 4, 1, 's'}), first))
	f.Fuzz(func(t *testing.T, raw []byte) {
		// With a sum that is right, so that what stands before it is read.
		objects, err := readPack(sealed(raw), granted)
		if err != nil && !errors.Is(err, ErrSource) {
			t.Error(err)
		}
		size := 0
		for id, o := range objects {
			sum := sha1.Sum(append(fmt.Appendf(nil, "%s %d\x00", objNames[o.kind], len(o.data)), o.data...))
			if id != hex.EncodeToString(sum[:]) || objNames[o.kind] == "" {
				t.Errorf("%d %q is called %s", o.kind, o.data, id)
			}
			size += len(o.data)
		}
		if size > maxUnpacked {
			t.Errorf("%d bytes", size)
		}
		if lines, err := allLines(raw); err == nil {
			var said []byte
			for _, l := range lines {
				if l.data == nil {
					said = append(said, flush...)
				} else {
					said = append(said, line(string(l.data))...)
				}
			}
			again, err := allLines(said)
			if err != nil || !reflect.DeepEqual(again, lines) {
				t.Errorf("%q is %q, then %q: %v", raw, lines, again, err)
			}
		} else if !errors.Is(err, ErrSource) {
			t.Error(err)
		}
		p := &pack{at: map[int]*object{}, byID: map[string]*object{}, take: granted}
		if o, err := p.apply(&object{objBlob, []byte("base")}, raw); err == nil {
			from, rest, _ := number(raw)
			if to, _, _ := number(rest); from != 4 || uint64(len(o.data)) != to || o.kind != objBlob {
				t.Errorf("%x gives %q", raw, o.data)
			}
		} else if !errors.Is(err, ErrSource) {
			t.Error(err)
		}
	})
}

func sealed(raw []byte) []byte {
	sum := sha1.Sum(raw)
	return append(bytes.Clone(raw), sum[:]...)
}
