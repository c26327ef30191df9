package vault

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/restore"
)

// Bounds of a folder.
const (
	// maxLinks are written of one note: those that Markdown programs show.
	maxLinks = 200
	// maxStem bounds the readable part of a name, in characters.
	maxStem = 60
	// maxStemBytes leaves room for the mark and ".md" in the 255 bytes that file systems take.
	maxStemBytes = 200
	// markBytes of an id's hash tell files of one title apart.
	markBytes = 6
	buffer    = 1 << 20
)

// Summary says what was written.
type Summary struct {
	Memories   int `json:"memories"`
	Notes      int `json:"notes"`
	Entities   int `json:"entities"`
	Superseded int `json:"superseded"` // left out: they do not hold any more
	Forgotten  int `json:"forgotten"`  // left out: nothing is left of them
}

// node is what is read of a node.
type node struct {
	ID      string  `json:"id"`
	Kind    string  `json:"kind"`
	Title   string  `json:"title"`
	Content *string `json:"content"`
	Domain  string  `json:"domainId"`
	Status  string  `json:"status"`
	Source  struct {
		ExternalIDs []string `json:"externalIds"`
	} `json:"source"`
	ValidFrom  string          `json:"validFrom"`
	ValidTo    string          `json:"validTo"`
	CreatedAt  string          `json:"createdAt"`
	UpdatedAt  string          `json:"updatedAt"`
	OccurredAt string          `json:"occurredAt"`
	Metadata   json.RawMessage `json:"metadata"`
	Derived    json.RawMessage `json:"derived"`
}

// live reports whether a node holds, and has words.
func (n node) live() bool { return n.Status == "live" }

// entity nodes are pages of their own, which say what names them.
func (n node) entity() bool { return n.Kind == "entity" }

type edge struct {
	Source       string `json:"source"`
	Target       string `json:"target"`
	Type         string `json:"type"`
	Status       string `json:"status"`
	TombstonedAt string `json:"tombstonedAt"`
}

// Write makes a folder of the document in a file. The folder must be empty, or not be.
func Write(document, dir string) (Summary, error) {
	if err := prepare(dir); err != nil {
		return Summary{}, err
	}
	ahead, err := open(document)
	if err != nil {
		return Summary{}, err
	}
	defer ahead.Close() //nolint:errcheck // nothing was written
	behind, err := open(document)
	if err != nil {
		return Summary{}, err
	}
	defer behind.Close() //nolint:errcheck // nothing was written
	w := &writer{dir: dir}
	err = w.document(ahead, behind)
	return w.sum, err
}

func prepare(dir string) error {
	if err := os.MkdirAll(dir, config.DirMode0700); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if len(there) > 0 {
		return fmt.Errorf("export: %s is not empty; name a folder that is, or that is not there yet", dir)
	}
	return nil
}

// source is a document on its way.
type source struct {
	*json.Decoder
	file *os.File
}

func (s source) Close() error { return s.file.Close() }

func open(document string) (source, error) {
	file, err := os.Open(document)
	if err != nil {
		return source{}, fmt.Errorf("export: %w", err)
	}
	return source{json.NewDecoder(bufio.NewReaderSize(file, buffer)), file}, nil
}

type writer struct {
	dir  string
	sum  Summary
	head map[string]json.RawMessage // of the document
	all  bool                       // it is the organization's
}

// document reads the document twice at a time, one memory behind the other: the links of
// a note are known when all of its memory was read.
func (w *writer) document(ahead, behind source) error {
	w.head = map[string]json.RawMessage{}
	known := false
	err := object(ahead, func(name string) error {
		if name != "partitions" {
			var v json.RawMessage
			if err := ahead.Decode(&v); err != nil {
				return err
			}
			w.head[name] = v
			return nil
		}
		w.all = string(w.head["scope"]) == `"org"`
		if string(w.head["format"]) != `"`+restore.Format+`"` {
			return restore.ErrFormat
		}
		known = true
		if err := untilPartitions(behind); err != nil {
			return err
		}
		return list(ahead, func() error {
			m := &memory{writer: w, pages: map[string]page{}, links: map[string][]link{}, domains: map[string]string{}}
			if err := m.look(ahead); err != nil {
				return err
			}
			if !behind.More() {
				return io.ErrUnexpectedEOF
			}
			return m.write(behind)
		})
	})
	if err == nil && !known {
		err = restore.ErrFormat
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return w.manifest()
}

// manifest is written last: a folder with one is complete.
func (w *writer) manifest() error {
	raw, err := json.MarshalIndent(map[string]any{
		"format": Format, "version": Version, "exportId": w.head["exportId"], "scope": w.head["scope"],
		"createdAt": w.head["createdAt"], "organization": w.head["organization"], "summary": w.sum,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return w.put(Manifest, append(raw, '\n'))
}

func (w *writer) put(below string, raw []byte) error {
	at := filepath.Join(w.dir, filepath.FromSlash(below))
	if err := os.MkdirAll(filepath.Dir(at), config.DirMode0700); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	file, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	_, err = file.Write(raw)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// page is where a node is written.
type page struct{ path, title string }

type link struct{ kind, to string }

// memory is one partition of the document.
type memory struct {
	*writer
	folder          string
	subject, member string
	pages           map[string]page
	links           map[string][]link // by source
	domains         map[string]string // labels
}

// look reads a memory to know its pages and links.
func (m *memory) look(s source) error {
	var kind, email, id string
	var entities []string
	err := object(s, func(name string) error {
		switch name {
		case "kind":
			return s.Decode(&kind)
		case "subject":
			return s.Decode(&m.subject)
		case "email":
			return s.Decode(&email)
		case "id":
			return s.Decode(&id)
		case "domains":
			return list(s, func() error {
				var d struct{ ID, Label string }
				err := s.Decode(&d)
				m.domains[d.ID] = d.Label
				return err
			})
		case "nodes":
			m.place(kind, email, id)
			return list(s, func() error {
				var n node
				if err := s.Decode(&n); err != nil {
					return err
				}
				if n.live() {
					m.pages[n.ID] = page{m.pathOf(n), n.Title}
					if n.entity() {
						entities = append(entities, n.ID)
					}
				}
				return nil
			})
		case "edges":
			return list(s, func() error {
				var e edge
				if err := s.Decode(&e); err != nil {
					return err
				}
				m.connect(e)
				return nil
			})
		}
		return s.Decode(new(json.RawMessage))
	})
	m.place(kind, email, id)
	return err
}

// connect notes an edge at both of its ends.
func (m *memory) connect(e edge) {
	_, from := m.pages[e.Source]
	_, to := m.pages[e.Target]
	if !from || !to || e.TombstonedAt != "" || e.Status == "tombstoned" {
		return
	}
	if len(m.links[e.Source]) < maxLinks {
		m.links[e.Source] = append(m.links[e.Source], link{e.Type, e.Target})
	}
	if strings.HasPrefix(m.pages[e.Target].path, m.folder+"/"+entitiesFolder+"/") && len(m.links[e.Target]) < maxLinks {
		m.links[e.Target] = append(m.links[e.Target], link{"", e.Source})
	}
}

const entitiesFolder = "entities"

// place decides on the folder of a memory: the only one of its key's owner is "own".
func (m *memory) place(kind, email, id string) {
	switch {
	case m.folder != "":
	case kind == "subject":
		m.folder = "subjects/" + folderName(m.subject)
	case m.all:
		m.member = email
		if m.member == "" {
			m.member = id
		}
		m.folder = "members/" + folderName(m.member)
	default:
		m.folder = "own"
	}
}

func (m *memory) pathOf(n node) string {
	dir := m.folder
	if n.entity() {
		dir += "/" + entitiesFolder
	}
	stem := safe(n.Title)
	if stem == "" && n.Content != nil {
		stem = safe(firstLine(*n.Content))
	}
	if stem == "" {
		stem = "note"
	}
	return dir + "/" + stem + "-" + hash(n.ID) + ".md"
}

func firstLine(s string) string {
	l, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return l
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:markBytes])
}

// write reads a memory again, and writes its files.
func (m *memory) write(s source) error {
	m.sum.Memories++
	return object(s, func(name string) error {
		if name != "nodes" {
			return s.Decode(new(json.RawMessage))
		}
		return list(s, func() error {
			var n node
			if err := s.Decode(&n); err != nil {
				return err
			}
			return m.node(n)
		})
	})
}

func (m *memory) node(n node) error {
	switch {
	case n.Status == "superseded":
		m.sum.Superseded++
		return nil
	case !n.live():
		m.sum.Forgotten++
		return nil
	}
	h := Head{
		ID: n.ID, ExternalIDs: n.Source.ExternalIDs, Title: n.Title, Kind: n.Kind, Subject: m.subject, Member: m.member,
		Derived: len(n.Derived) > 0 && string(n.Derived) != "null", Created: n.CreatedAt, Updated: n.UpdatedAt,
		Occurred: n.OccurredAt, ValidFrom: n.ValidFrom, ValidTo: n.ValidTo, Domain: m.domains[n.Domain], Metadata: n.Metadata,
	}
	var content strings.Builder
	if n.Content != nil {
		content.WriteString(*n.Content)
	}
	for _, l := range m.links[n.ID] {
		p := m.pages[l.to]
		wiki := "[[" + strings.TrimSuffix(p.path, ".md") + "|" + linkTitle(p.title) + "]]"
		if n.entity() {
			if l.kind == "" {
				fmt.Fprintf(&content, "- %s\n", wiki)
			}
			continue
		}
		if !slices.Contains(h.Links, wiki) {
			h.Links = append(h.Links, wiki)
		}
		h.Relations = append(h.Relations, l.kind+" "+wiki)
	}
	raw, err := Encode(h, content.String())
	if err != nil {
		return err
	}
	if n.entity() {
		m.sum.Entities++
	} else {
		m.sum.Notes++
	}
	return m.put(m.pages[n.ID].path, raw)
}

// linkTitle is a title without what ends a wiki link.
func linkTitle(title string) string {
	title = strings.NewReplacer("[", "(", "]", ")", "|", "/", "\n", " ").Replace(title)
	if runes := []rune(title); len(runes) > maxStem {
		return string(runes[:maxStem]) + "…"
	}
	return title
}

// reserved are names that Windows keeps for devices.
var reserved = []string{"con", "prn", "aux", "nul", "com", "lpt"}

// safe is a name that every file system can have.
func safe(title string) string {
	var b strings.Builder
	dash := false
	n := 0
	for _, r := range title {
		if n >= maxStem {
			break
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			dash = b.Len() > 0
			continue
		}
		size := utf8.RuneLen(r)
		if dash {
			size++
		}
		if b.Len()+size > maxStemBytes {
			break
		}
		if dash {
			b.WriteByte('-')
			n++
			dash = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// folderName is the name of a subject's folder: the subject's own, where that is a safe
// name; else one with a mark behind it.
func folderName(id string) string {
	plain := id != "" && len(id) <= maxStem && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" &&
		!slices.ContainsFunc(reserved, func(r string) bool { return strings.HasPrefix(id, r) })
	if plain {
		return id
	}
	stem := safe(id)
	if stem == "" {
		stem = "subject"
	}
	return path.Clean(stem + "-" + hash(id))
}

// object visits the names of an object; visit reads the value.
func object(s source, visit func(name string) error) error {
	if err := opens(s, '{'); err != nil {
		return err
	}
	for s.More() {
		t, err := s.Token()
		if err != nil {
			return err
		}
		name, ok := t.(string)
		if !ok {
			return restore.ErrFormat
		}
		if err := visit(name); err != nil {
			return err
		}
	}
	_, err := s.Token()
	return err
}

// list visits the elements of a list, or of null none.
func list(s source, visit func() error) error {
	if err := opens(s, '['); err != nil {
		return err
	}
	for s.More() {
		if err := visit(); err != nil {
			return err
		}
	}
	_, err := s.Token()
	return err
}

func opens(s source, with json.Delim) error {
	t, err := s.Token()
	if err != nil {
		return err
	}
	if t != with {
		return restore.ErrFormat
	}
	return nil
}

// untilPartitions leaves the source in front of its first memory.
func untilPartitions(s source) error {
	if err := opens(s, '{'); err != nil {
		return err
	}
	for s.More() {
		name, err := s.Token()
		if err != nil {
			return err
		}
		if name == "partitions" {
			return opens(s, '[')
		}
		if err := s.Decode(new(json.RawMessage)); err != nil {
			return err
		}
	}
	return restore.ErrFormat
}
