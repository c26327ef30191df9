package connect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"iter"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"orgmem/actors/egress"
	"orgmem/brain/format/reading"
)

// Git is read over its smart protocol, version 2 (gitprotocol-v2, gitprotocol-http):
// one request asks where the branch is, and only when it has moved a second one
// fetches that one commit with its files, without history. The files that changed are
// known by the ids of their blobs. A library for all of git brings fifteen modules, for
// ssh, signatures and work trees among them; what is needed here is two requests and
// the format of a pack.

const (
	// maxPack bounds what a repository may send: a large documentation tree without
	// history has some tens of megabytes.
	maxPack = 32 << 20
	// maxRefs bounds the answer to where the branches are.
	maxRefs = 4 << 20
	// packTimeout bounds the request for a pack.
	packTimeout = 2 * time.Minute
	// maxFile bounds a file that is taken in.
	maxFile = 2 << 20
	// maxTreeDepth bounds how deep folders lie in each other.
	maxTreeDepth = 64
	// gitMemory is what a repository within these bounds may take: its pack, for which
	// twice its bytes are asked while it comes in, its objects, and a text that is read
	// once the pack is gone.
	gitMemory = 2*maxPack + maxUnpacked + maxObjects*objectMemory + reading.FirstMemory
)

// textFiles are the endings of names that are taken in.
var textFiles = []string{".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".asciidoc", ".org", ".html", ".htm"}

// plainNames are files without an ending that hold text.
var plainNames = []string{"readme", "changelog", "contributing", "notes", "todo", "faq", "news", "history"}

// git takes in the text files of a repository's branch.
func (s *syncer) git(ctx context.Context) error {
	if s.reading != nil {
		m, err := s.reading(ctx, gitMemory)
		if err != nil {
			return err
		}
		defer m.End()
		s.held = hold(m)
	} else {
		s.held = &held{}
	}
	head, err := s.head(ctx)
	if err != nil {
		return err
	}
	if head == s.state.Commit {
		return nil
	}
	s.held.used = 0 // the answer is gone
	objects, err := s.pack(ctx, head)
	if err != nil {
		return err
	}
	commit := objects[head]
	if commit == nil || commit.kind != objCommit {
		return failf("sent no such commit")
	}
	line, _, _ := bytes.Cut(commit.data, []byte("\n"))
	tree, found := strings.CutPrefix(string(line), "tree ")
	if !found {
		return failf("sent a commit without a tree")
	}
	all := true
	root := strings.Trim(path.Clean("/"+s.config.Path), "/")
	entries, read := 0, 0
	err = walkTree(objects, tree, "", 0, &entries, func(name string, blob *object) error {
		if !wanted(name, root) || len(blob.data) > maxFile || !utf8.Valid(blob.data) || bytes.IndexByte(blob.data, 0) >= 0 {
			return nil
		}
		if read += len(blob.data); read > maxUnpacked { // one blob may be many files
			return failf("holds more than %d MiB", maxUnpacked>>20)
		}
		title, content, err := s.text(ctx, path.Base(name), blob.data)
		if err != nil {
			return err
		}
		all = s.add(Document{
			ID: name, Title: cmp.Or(title, name), Content: content,
			Link: strings.TrimSuffix(s.config.URL, ".git") + "#" + name, OccurredMs: commitTime(commit.data),
		}) && all
		return nil
	})
	if err != nil {
		return err
	}
	if all {
		s.state.Commit = head
	}
	return nil
}

func wanted(name, root string) bool {
	if root != "" && name != root && !strings.HasPrefix(name, root+"/") {
		return false
	}
	base := strings.ToLower(path.Base(name))
	return slices.Contains(textFiles, path.Ext(base)) || slices.Contains(plainNames, base)
}

// commitTime is when a commit was made, by its committer; 0 when it does not say.
func commitTime(commit []byte) int64 {
	for line := range strings.Lines(string(commit)) {
		if line == "\n" {
			break
		}
		if rest, ok := strings.CutPrefix(line, "committer "); ok {
			if fields := strings.Fields(rest); len(fields) >= 2 {
				seconds, err := strconv.ParseInt(fields[len(fields)-2], 10, 40)
				if err == nil && seconds > 0 {
					return seconds * 1000
				}
			}
		}
	}
	return 0
}

// walkTree calls f for each file of a tree, in order, and counts the entries: folders
// that are all the same one, in each other, may be more than any number.
func walkTree(
	objects map[string]*object, id, at string, depth int, entries *int, f func(name string, blob *object) error,
) error {
	tree := objects[id]
	if tree == nil || tree.kind != objTree || depth > maxTreeDepth {
		return failf("sent a tree that cannot be read")
	}
	rest := tree.data
	for len(rest) > 0 {
		header, tail, found := bytes.Cut(rest, []byte{0})
		mode, name, named := strings.Cut(string(header), " ")
		if !found || !named || len(tail) < 20 || name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return failf("sent a tree that cannot be read")
		}
		if *entries++; *entries > maxObjects {
			return failf("holds more than %d files and folders", maxObjects)
		}
		child := hex.EncodeToString(tail[:20])
		rest = tail[20:]
		full := path.Join(at, name)
		switch mode {
		case "40000", "040000":
			if err := walkTree(objects, child, full, depth+1, entries, f); err != nil {
				return err
			}
		case "100644", "100755", "100664":
			if blob := objects[child]; blob != nil && blob.kind == objBlob && utf8.ValidString(full) {
				if err := f(full, blob); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// head asks where the branch is.
func (s *syncer) head(ctx context.Context) (string, error) {
	name := "HEAD"
	if s.config.Branch != "" {
		name = "refs/heads/" + s.config.Branch
	}
	// The server says which version of the protocol it speaks.
	r, err := s.ask(ctx, egress.Request{
		Method: http.MethodGet, Address: s.repository() + "/info/refs?service=git-upload-pack",
		MaxResponse: maxRefs, Timeout: fetchTimeout,
	})
	if err != nil {
		return "", err
	}
	if !bytes.Contains(r.Body[:min(len(r.Body), 256)], []byte("version 2")) {
		return "", failf("does not speak version 2 of git's protocol")
	}
	body := slices.Concat(
		line("command=ls-refs\n"), line("object-format=sha1"), delimiter,
		line("symrefs\n"), line("ref-prefix "+name+"\n"), flush,
	)
	if r, err = s.upload(ctx, body, maxRefs, fetchTimeout); err != nil {
		return "", err
	}
	for l, err := range readLines(r.Body) {
		if err != nil {
			return "", err
		}
		fields := strings.Fields(string(l.data))
		if len(fields) >= 2 && fields[1] == name && len(fields[0]) == 40 {
			return fields[0], nil
		}
	}
	return "", failf("has no branch of this name")
}

// pack fetches one commit with all its files.
func (s *syncer) pack(ctx context.Context, commit string) (map[string]*object, error) {
	body := slices.Concat(line("command=fetch"), line("object-format=sha1"), delimiter,
		line("no-progress\n"), line("ofs-delta\n"), line("deepen 1\n"), line("want "+commit+"\n"), line("done\n"), flush)
	r, err := s.upload(ctx, body, maxPack, packTimeout)
	if err != nil {
		return nil, err
	}
	if r.Cut {
		return nil, failf("sent more than %d MiB for one commit", maxPack>>20)
	}
	pack := r.Body[:0] // it takes the place of the lines that have been read
	inside := false
	for l, err := range readLines(r.Body) {
		switch {
		case err != nil:
			return nil, err
		case !inside:
			inside = string(bytes.TrimSpace(l.data)) == "packfile"
		case len(l.data) == 0:
		case l.data[0] == 1:
			pack = append(pack, l.data[1:]...)
		case l.data[0] == 3:
			return nil, failf("broke off: %q", printable(l.data[1:]))
		}
	}
	came := s.held.used
	objects, err := readPack(pack, s.held.take)
	s.held.used -= came // the pack is gone, the objects are left
	return objects, err
}

// printable is the beginning of what a server says, for a person.
func printable(raw []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return ' '
		}
		return r
	}, string(raw[:min(len(raw), 200)]))
}

func (s *syncer) repository() string { return strings.TrimRight(s.config.URL, "/") }

// upload makes a request of the protocol.
func (s *syncer) upload(ctx context.Context, body []byte, most int64, limit time.Duration) (egress.Response, error) {
	return s.ask(ctx, egress.Request{
		Method: http.MethodPost, Address: s.repository() + "/git-upload-pack", Body: body, MaxResponse: most, Timeout: limit,
		Header: http.Header{
			"Content-Type": {"application/x-git-upload-pack-request"}, "Accept": {"application/x-git-upload-pack-result"},
		},
	})
}

func (s *syncer) ask(ctx context.Context, r egress.Request) (egress.Response, error) {
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Git-Protocol", "version=2")
	if s.config.Token != "" { // any name will do where a token stands for the password
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("git:"+s.config.Token)))
	}
	out, err := s.do(ctx, r)
	if err != nil {
		return out, err
	}
	return out, statusError(out, s.clock.Now())
}

// The packets of gitprotocol-common.
var (
	flush     = []byte("0000")
	delimiter = []byte("0001")
)

func line(text string) []byte { return fmt.Appendf(nil, "%04x%s", len(text)+4, text) }

// packet is one line; special ones have no data.
type packet struct{ data []byte }

// readLines goes through an answer line by line: a list of them would take many times the
// answer. An error is the last.
func readLines(raw []byte) iter.Seq2[packet, error] {
	return func(yield func(packet, error) bool) {
		for len(raw) > 0 {
			if len(raw) < 4 {
				yield(packet{}, failf("sent a packet that is cut off"))
				return
			}
			var l packet
			n, err := strconv.ParseUint(string(raw[:4]), 16, 17)
			switch {
			case err != nil || n == 3 || int(n) > len(raw):
				yield(packet{}, failf("sent what is not git's protocol"))
				return
			case n < 4:
				raw = raw[4:]
			default:
				l.data, raw = raw[4:n], raw[n:]
			}
			if !yield(l, nil) {
				return
			}
		}
	}
}
