package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"syscall"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/durable"
	pb "orgmem/proto"
)

// ErrStateBusy means that another import into the same memory is running.
var ErrStateBusy = errors.New("another import into the same memory is running")

// Target is the memory that a state describes.
type Target struct {
	Base    string        `json:"base"`
	Org     pb.OrgID      `json:"-"`
	User    pb.UserID     `json:"-"`
	Subject pb.SubjectKey `json:"subject"`
}

// name is the state's file name: one per address, organization, member and
// subject, so that no two memories can be taken for each other.
func (t Target) name() string {
	h := sha256.New()
	for _, part := range []string{t.Base, t.Org.String(), t.User.String(), string(t.Subject)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]) + ".json"
}

// maxStateBytes bounds the state file: about 300 bytes for each of maxFiles.
const maxStateBytes = 512 << 20

// taken is what the service holds of one file.
type taken struct {
	Digest digest    `json:"digest"`
	Node   pb.NodeID `json:"node"`
	Path   string    `json:"path,omitempty"` // from the file system's root; older states have none
	// Docs are the documents of a file that holds several, or one with an id of its own: all
	// that were sent. Older states have none.
	Docs map[pb.ExternalID]sent `json:"docs,omitempty"`
}

// sent is one document of a file that was taken in.
type sent struct {
	Node pb.NodeID `json:"n"`
	Mark mark      `json:"m,omitempty"` // none where only its job knew of it
}

// mark tells what a document says now from what it said when it was sent.
type mark string

// markOf is the mark of what is sent of a document.
func markOf(encoded []byte) mark {
	sum := sha256.Sum256(encoded)
	return mark(hex.EncodeToString(sum[:markBytes]))
}

// pending is a job whose end was not seen: the files that are wholly in it. One
// that is in several jobs is sent again after an interruption.
type pending map[pb.ExternalID]share

// share is where the documents of a file stand in a job.
type share struct {
	Digest digest `json:"digest"`
	First  int    `json:"first"`
	Count  int    `json:"count"`
	Path   string `json:"path,omitempty"`
}

// State is what was sent to one memory. One goroutine at a time.
type State struct {
	path string
	lock io.Closer
	body stateBody
	// Distrusted says why a state that was found is not believed; empty when it
	// is, or when there was none.
	Distrusted string
}

// stateBody is the file's content under its checksum.
type stateBody struct {
	Target Target                  `json:"target"`
	Files  map[pb.ExternalID]taken `json:"files"`
	Jobs   map[string]pending      `json:"jobs"`
}

// stateFile is the file: the checksum tells a torn or edited one from ours.
type stateFile struct {
	Version int             `json:"version"`
	SHA256  string          `json:"sha256"`
	Body    json.RawMessage `json:"body"`
}

// stateVersion changes with the meaning of the fields.
const stateVersion = 2

// OpenState locks and reads the state of a target in dir, which is made when
// missing. A state that is damaged, foreign or open to others is not believed
// but replaced; that costs sending everything once more, nothing else.
func OpenState(dir string, target Target) (*State, error) {
	if err := os.MkdirAll(dir, config.DirMode0700); err != nil {
		return nil, fmt.Errorf("import state: %w", err)
	}
	s := &State{path: filepath.Join(dir, target.name())}
	lock, err := durable.Lock(s.path + ".lock")
	if errors.Is(err, durable.ErrBusy) {
		return nil, ErrStateBusy
	}
	if err != nil {
		return nil, fmt.Errorf("import state: %w", err)
	}
	s.lock = lock
	// Nobody else writes it while it is locked. A draft that stays is no reason not to import.
	_ = durable.SweepDrafts(dir, filepath.Base(s.path))
	body, err := readState(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		s.Distrusted = err.Error()
	case body.Target.Base != target.Base || body.Target.Subject != target.Subject:
		s.Distrusted = "it describes another memory"
	default:
		s.body = body
	}
	s.body.Target = target
	if s.body.Files == nil {
		s.body.Files = make(map[pb.ExternalID]taken)
	}
	if s.body.Jobs == nil {
		s.body.Jobs = make(map[string]pending)
	}
	return s, nil
}

func readState(path string) (stateBody, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return stateBody{}, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	info, err := file.Stat()
	if err != nil {
		return stateBody{}, err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() || info.Mode().Perm()&0o022 != 0 {
		return stateBody{}, errors.New("others can write it")
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxStateBytes))
	if err != nil {
		return stateBody{}, err
	}
	var outer stateFile
	if err := json.Unmarshal(raw, &outer); err != nil {
		return stateBody{}, errors.New("it is damaged")
	}
	if outer.Version != stateVersion {
		return stateBody{}, fmt.Errorf("it has version %d", outer.Version)
	}
	sum := sha256.Sum256(outer.Body)
	var body stateBody
	if hex.EncodeToString(sum[:]) != outer.SHA256 || json.Unmarshal(outer.Body, &body) != nil {
		return stateBody{}, errors.New("it is damaged")
	}
	return body, nil
}

// documents are what earlier imports have sent, by external id.
func (s *State) documents() map[pb.ExternalID]sent {
	all := make(map[pb.ExternalID]sent, len(s.body.Files))
	for id, t := range s.body.Files {
		if len(t.Docs) == 0 && t.Node != "" {
			all[id] = sent{Node: t.Node}
		}
	}
	for _, t := range s.body.Files {
		maps.Copy(all, t.Docs)
	}
	return all
}

// identify gives each file its external id: the one under which it was taken in
// before, else its path below the folder that was named. Where another file that
// still exists has that, a mark of the whole path is behind it: the README of a
// second folder must not take the place of the first one's. A folder that was
// moved keeps its ids.
func (s *State) identify(files []File) {
	before := make(map[string]pb.ExternalID, len(s.body.Files))
	for id, t := range s.body.Files {
		before[t.Path] = id
	}
	given := make(map[pb.ExternalID]bool, len(files))
	for i := range files {
		if id, ok := before[files[i].whole]; ok {
			files[i].ID, given[id] = id, true
		}
	}
	for i := range files {
		f := &files[i]
		if f.ID != "" {
			continue
		}
		f.ID = pb.ExternalID(f.below)
		if given[f.ID] || s.anothers(f.ID) {
			sum := sha256.Sum256([]byte(f.whole))
			f.ID += pb.ExternalID("~" + hex.EncodeToString(sum[:markBytes]))
		}
		given[f.ID] = true
	}
}

// markBytes of a path's hash tell two files of one name apart: among the most that
// an import may have, two are alike once in a thousand imports. Of a document's hash they
// tell it from the one text that it was before.
const markBytes = 8

// anothers reports whether an id is that of a file that an earlier import has taken
// and that is still where it was.
func (s *State) anothers(id pb.ExternalID) bool {
	path := s.body.Files[id].Path
	if path == "" {
		return false
	}
	_, err := os.Lstat(path)
	return err == nil
}

// save replaces the file in one step, so that a crash leaves the old or the new
// one. It is not synced: what a power cut loses is only sent again.
func (s *State) save() error {
	body, err := json.Marshal(s.body)
	if err != nil {
		return fmt.Errorf("import state: %w", err)
	}
	sum := sha256.Sum256(body)
	raw, err := json.Marshal(stateFile{stateVersion, hex.EncodeToString(sum[:]), body})
	if err != nil {
		return fmt.Errorf("import state: %w", err)
	}
	draft, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+".*"+durable.DraftSuffix) // mode 0600
	if err != nil {
		return fmt.Errorf("import state: %w", err)
	}
	_, err = draft.Write(raw)
	err = errors.Join(err, draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), s.path)
	}
	if err != nil {
		os.Remove(draft.Name()) //nolint:errcheck // the first error says what is wrong
		return fmt.Errorf("import state: %w", err)
	}
	return nil
}

// Close saves the state and lets go of the lock. It may be called twice.
func (s *State) Close() error {
	if s.lock == nil {
		return nil
	}
	err := s.save()
	err = errors.Join(err, s.lock.Close()) // closing gives up the lock
	s.lock = nil
	return err
}
