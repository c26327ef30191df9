package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/durable"
)

const (
	// toldSessions are kept at once: more than anybody has open.
	toldSessions = 64
	// toldNotes are kept of one session, the last ones: a model forgets, too.
	toldNotes = 500
)

// Told is what a session was given before. What a hook gives stays in what the model
// reads, so that the same note at each prompt would only take its place.
type Told struct {
	path  string
	nodes []string
}

// Told is what the store knows of a session. A session that begins, or that has lost what
// was said (cleared, or made compact), was given nothing.
func (s Store) Told(in Input) *Told {
	t := &Told{path: filepath.Join(string(s), "told", digest([]byte(in.Session))+".json")}
	if in.Event == SessionStart && in.Source != "resume" {
		return t
	}
	raw, err := os.ReadFile(t.path)
	if err != nil || json.Unmarshal(raw, &t.nodes) != nil {
		t.nodes = nil
	}
	return t
}

// New are the notes that the session was not given.
func (t *Told) New(notes []Note) []Note {
	var fresh []Note
	for _, n := range notes {
		if n.node == "" || !slices.Contains(t.nodes, n.node) {
			fresh = append(fresh, n)
		}
	}
	return fresh
}

// Save remembers what the session is given now.
func (t *Told) Save(notes []Note) error {
	for _, n := range notes {
		if n.node != "" {
			t.nodes = append(t.nodes, n.node)
		}
	}
	raw, err := json.Marshal(t.nodes[max(0, len(t.nodes)-toldNotes):])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.path), config.DirMode0700); err != nil {
		return err
	}
	return errors.Join(durable.WriteFile(t.path, bytes.NewReader(raw)), prune(filepath.Dir(t.path)))
}

// prune deletes what is kept of the sessions that are longest ago.
func prune(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= toldSessions {
		return err
	}
	age := func(e fs.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0 // another hook has deleted it
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return int(min(1, max(-1, age(a)-age(b)))) })
	for _, e := range entries[:len(entries)-toldSessions] {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
