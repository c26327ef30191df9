package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/brain/format/markup"
	"orgmem/brain/format/reading"
	"orgmem/proto/canon"
)

// The exports of other systems in JSON. Each is known by the names in its first
// record; what else it holds is not looked at, since it changes with each version
// of what wrote it.

// lenient reads JSON as its writers take it: of a name that stands twice the last.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// maxShape bounds the names that are looked at to know an export.
const maxShape = 64

// Shape is the names of a JSON object, and those of the first object of each list in
// it; of a list, those of its first object.
type Shape struct {
	List  bool
	names map[string][]string
}

// Has reports whether the object has all of the names.
func (s Shape) Has(names ...string) bool {
	for _, n := range names {
		if _, ok := s.names[n]; !ok {
			return false
		}
	}
	return true
}

// holds reports whether the list of that name holds objects with these names.
func (s Shape) holds(list string, names ...string) bool {
	for _, n := range names {
		if !slices.Contains(s.names[list], n) {
			return false
		}
	}
	return true
}

// ShapeOf looks at the first object of a JSON file.
func ShapeOf(raw []byte) Shape {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient) // of a buffer nothing is copied
	s := Shape{names: map[string][]string{}}
	if s.List = d.PeekKind() == '['; s.List {
		if _, err := d.ReadToken(); err != nil {
			return s
		}
	}
	namesOf(d, func(name string) bool {
		s.names[name] = nil
		if s.List || d.PeekKind() != '[' {
			return d.SkipValue() == nil
		}
		value, err := d.ReadValue()
		if err != nil {
			return false
		}
		inner := jsontext.NewDecoder(bytes.NewBuffer(value), lenient)
		if _, err := inner.ReadToken(); err != nil {
			return false
		}
		s.names[name] = []string{}
		namesOf(inner, func(n string) bool {
			s.names[name] = append(s.names[name], n)
			return inner.SkipValue() == nil
		})
		return true
	})
	return s
}

// namesOf visits the names of an object; visit passes over the value.
func namesOf(d *jsontext.Decoder, visit func(string) bool) {
	if d.PeekKind() != '{' {
		return
	}
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for range maxShape {
		if d.PeekKind() != '"' {
			return
		}
		t, err := d.ReadToken()
		if err != nil || !visit(t.String()) {
			return
		}
	}
}

// Export reads an export of another system, or a transcript of a program that hears; read is nil for any other file.
func Export(r *reading.Reader, name string, raw []byte) (read func() ([]reading.Document, error), format string) {
	s := ShapeOf(raw)
	switch {
	case !s.List && s.Has("format", "partitions"):
		return func() ([]reading.Document, error) { return readOwnExport(r, raw) }, reading.OwnExport
	case s.Has("mapping", "title"), s.Has("mapping", "current_node"):
		return func() ([]reading.Document, error) { return readChats(r, raw, s.List, "chatgpt") }, reading.ChatGPT
	case s.Has("chat_messages"):
		return func() ([]reading.Document, error) { return readChats(r, raw, s.List, "claude") }, reading.Claude
	case s.Has("uuid", "docs", "prompt_template"):
		return func() ([]reading.Document, error) { return readProjects(r, raw, s.List) }, reading.Claude
	case s.List && s.Has("speaker", "text") && !s.Has("content"), s.holds("segments", "text", "speaker"),
		s.holds("segments", "text", "start"):
		return func() ([]reading.Document, error) { return readTalk(r, name, raw) }, reading.JSON
	case s.holds("nodes", "type", "x", "y"):
		return func() ([]reading.Document, error) { return readCanvas(r, name, raw) }, reading.Canvas
	case s.List && s.Has("memory", "id"), s.holds("results", "memory"), s.holds("memories", "memory"):
		return func() ([]reading.Document, error) { return readRecords(r, raw, "mem0") }, reading.Mem0
	case s.List && (s.Has("uuid", "fact") || s.Has("uuid", "content")),
		s.holds("facts", "fact"), s.holds("edges", "fact"), s.holds("episodes", "content", "uuid"),
		s.holds("messages", "content", "role_type"):
		return func() ([]reading.Document, error) { return readRecords(r, raw, "zep") }, reading.Zep
	}
	return nil, ""
}

// each reads the elements of a list, or the value itself, one after the other, so that
// an export is not held twice.
func each[T any](r *reading.Reader, raw []byte, list bool, visit func(T) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient)
	if list {
		if _, err := d.ReadToken(); err != nil {
			return errRecords
		}
	}
	for !list || d.PeekKind() != ']' {
		var one T
		held, kept := r.Held(), r.Kept
		value, err := d.ReadValue()
		if err != nil {
			return errRecords
		}
		if err := decodeRecord(r, value, &one); err != nil {
			return err
		}
		if err := visit(one); err != nil {
			return err
		}
		r.Settle(held + r.Kept - kept)
		if !list {
			return atEnd(d)
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return errRecords
	}
	return atEnd(d)
}

// recordMemory is what an element of a list, or an object, of an export's record takes
// at most beside its letters.
const recordMemory = 384

// decodeRecord reads a value, once there is memory for what is made of it.
func decodeRecord(r *reading.Reader, value []byte, to any) error {
	n := elementsOf(value)
	if err := r.Hold(n*recordMemory + len(value)); err != nil {
		return err
	}
	if err := r.Step(reading.TableWork*len(value) + recordWork*n); err != nil {
		return err
	}
	if err := json.Unmarshal(value, to, lenient); err != nil {
		return errRecords
	}
	return nil
}

// recordWork is what an element costs beside its letters.
const recordWork = 16

// elementsOf is at least how many objects a value of JSON holds, and elements of
// lists.
func elementsOf(value []byte) (n int) {
	var lists []bool // of what lies open: it is a list
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '"':
			for i++; i < len(value) && value[i] != '"'; i++ {
				if value[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			lists = append(lists, value[i] == '[')
			n++
		case '}', ']':
			lists = lists[:max(0, len(lists)-1)]
		case ',':
			if len(lists) > 0 && lists[len(lists)-1] {
				n++
			}
		}
	}
	return n
}

var errRecords = reading.Errorf("is an export with records that cannot be read")

// unbroken is a text of a JSON file that was read leniently, without what no text
// holds.
func unbroken(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\ufffd")
}

// addRecord adds a text of an export.
func addRecord(p *reading.Parts, d reading.Document) error {
	if err := p.Keep(len(d.Content)); err != nil {
		return err
	}
	docs, err := p.Cut(d)
	if err != nil {
		return err
	}
	return p.Add(docs...)
}

// chat is a conversation of ChatGPT, a tree of messages, or of Claude, a list.
type chat struct {
	ID             string              `json:"id"`
	ConversationID string              `json:"conversation_id"`
	UUID           string              `json:"uuid"`
	Title          string              `json:"title"`
	Name           string              `json:"name"`
	CreateTime     anyNumber           `json:"create_time"`
	CreatedAt      string              `json:"created_at"`
	CurrentNode    string              `json:"current_node"`
	Mapping        map[string]chatNode `json:"mapping"`
	Messages       []struct {
		Sender  string `json:"sender"`
		Text    string `json:"text"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Attachments []struct {
			FileName string `json:"file_name"`
			Content  string `json:"extracted_content"`
		} `json:"attachments"`
	} `json:"chat_messages"`
}

type chatNode struct {
	Parent  string `json:"parent"`
	Message *struct {
		Author struct {
			Role string `json:"role"`
		} `json:"author"`
		Content struct {
			Parts []jsontext.Value `json:"parts"`
		} `json:"content"`
		CreateTime anyNumber `json:"create_time"`
	} `json:"message"`
}

// chatWords is what a part of a message says: a text, or what was heard of a voice.
func chatWords(part jsontext.Value) string {
	var s string
	switch part.Kind() {
	case '"':
		_ = json.Unmarshal(part, &s, lenient) // it was read already
	case '{':
		var heard struct {
			Type string `json:"content_type"`
			Text string `json:"text"`
		}
		if json.Unmarshal(part, &heard, lenient) == nil && heard.Type == "audio_transcription" {
			s = heard.Text
		}
	default: // what is not said
	}
	return s
}

// leaf is where a conversation of ChatGPT ended: where it says, or else at the
// newest message that nothing follows.
func (c *chat) leaf() string {
	if _, ok := c.Mapping[c.CurrentNode]; ok {
		return c.CurrentNode
	}
	parents := map[string]bool{}
	for _, n := range c.Mapping {
		parents[n.Parent] = true
	}
	last, at := "", anyNumber(-1)
	for _, id := range slices.Sorted(maps.Keys(c.Mapping)) {
		if m := c.Mapping[id].Message; m != nil && !parents[id] && m.CreateTime > at {
			last, at = id, m.CreateTime
		}
	}
	return last
}

// anyNumber is a number of seconds, or nothing.
type anyNumber float64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *anyNumber) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '0' {
		return d.SkipValue()
	}
	t, err := d.ReadToken()
	if err == nil {
		if f, err := t.Float(); err == nil && math.Abs(f) < reading.MaxUnix { // what is larger is no time
			*n = anyNumber(f)
		}
	}
	return err
}

// readChats reads conversations: each is a document of lines of who says what.
func readChats(r *reading.Reader, raw []byte, list bool, system string) ([]reading.Document, error) {
	p := &reading.Parts{Reader: r}
	n := 0
	err := each(r, raw, list, func(c chat) error {
		n++
		docs, err := r.Part(fmt.Sprintf("conversation %d", n), func() ([]reading.Document, error) {
			return readChat(r, &c, system)
		})
		if err != nil {
			return err
		}
		return p.Add(docs...)
	})
	if err != nil {
		return nil, err
	}
	return p.Docs, p.Nothing()
}

func readChat(r *reading.Reader, c *chat, system string) ([]reading.Document, error) {
	m := &reading.Builder{Reader: r}
	say := func(who, text string) error {
		if !canon.Blank(text) {
			m.Block("")
			m.Write(who, ": ", strings.TrimSpace(unbroken(text)))
		}
		return cmp.Or(m.Err, r.Step(len(text)))
	}
	var path []chatNode
	for id := c.leaf(); id != "" && len(path) < len(c.Mapping); id = c.Mapping[id].Parent {
		path = append(path, c.Mapping[id])
	}
	for _, n := range slices.Backward(path) {
		if n.Message == nil || n.Message.Author.Role == "system" || n.Message.Author.Role == "tool" {
			continue
		}
		var words []string
		for _, p := range n.Message.Content.Parts {
			words = append(words, chatWords(p))
		}
		if err := say(roleName(n.Message.Author.Role), strings.Join(words, "\n")); err != nil {
			return nil, err
		}
	}
	for _, one := range c.Messages {
		words := one.Text
		if canon.Blank(words) {
			var parts []string
			for _, p := range one.Content {
				if p.Type == "text" {
					parts = append(parts, p.Text)
				}
			}
			words = strings.Join(parts, "\n")
		}
		if err := say(roleName(one.Sender), words); err != nil {
			return nil, err
		}
		for _, a := range one.Attachments { // also what is too long to be pasted
			if err := say(cmp.Or(reading.ClipTitle(a.FileName), "Attachment"), a.Content); err != nil {
				return nil, err
			}
		}
	}
	content, err := m.Done()
	if err != nil {
		return nil, err
	}
	if canon.Blank(content) {
		return nil, reading.Errorf("holds no words")
	}
	return r.Cut(reading.Document{
		Title: reading.ClipTitle(cmp.Or(c.Title, c.Name)), Content: content, Noted: true,
		Metadata:   reading.Noted("source", system),
		OccurredAt: cmp.Or(reading.UnixInstant(int64(c.CreateTime)), reading.Instant(c.CreatedAt)),
		ExternalID: reading.ExternalID(system, cmp.Or(c.ID, c.ConversationID, c.UUID)),
	})
}

// readProjects reads the documents that projects of Claude know. The instructions of a
// project are not content.
func readProjects(r *reading.Reader, raw []byte, list bool) ([]reading.Document, error) {
	type project struct {
		Name string `json:"name"`
		Docs []struct {
			UUID      string `json:"uuid"`
			Filename  string `json:"filename"`
			Content   string `json:"content"`
			CreatedAt string `json:"created_at"`
		} `json:"docs"`
	}
	p := &reading.Parts{Reader: r}
	err := each(r, raw, list, func(one project) error {
		for _, d := range one.Docs {
			words := unbroken(d.Content)
			if canon.Blank(words) {
				continue
			}
			if err := addRecord(p, reading.Document{
				Title: reading.ClipTitle(d.Filename), Content: words, Noted: true, OccurredAt: reading.Instant(d.CreatedAt),
				ExternalID: reading.ExternalID("claude", d.UUID),
				Metadata:   reading.Noted("source", "claude", "project", one.Name),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && len(p.Docs) == 0 {
		err = reading.Errorf("holds no project with a document")
	}
	return p.Docs, err
}

// readCanvas reads a canvas of Obsidian: what its cards say, from top to bottom.
func readCanvas(r *reading.Reader, name string, raw []byte) ([]reading.Document, error) {
	type card struct {
		Text  string    `json:"text"`
		Label string    `json:"label"` // of a group, or of a line between two cards
		File  string    `json:"file"`
		URL   string    `json:"url"`
		X     anyNumber `json:"x"`
		Y     anyNumber `json:"y"`
	}
	var all struct {
		Nodes []card `json:"nodes"`
		Edges []card `json:"edges"`
	}
	if err := decodeRecord(r, raw, &all); errors.Is(err, errRecords) {
		return nil, reading.Errorf("is a canvas whose cards cannot be read")
	} else if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all.Nodes, func(a, b card) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	m := &reading.Builder{Reader: r}
	for _, c := range slices.Concat(all.Nodes, all.Edges) {
		words := unbroken(cmp.Or(c.Text, c.Label, c.File, c.URL))
		if !canon.Blank(words) {
			m.Block("")
			m.Write(markup.WithoutWikiLinks(strings.TrimSpace(words)))
		}
		if err := cmp.Or(m.Err, r.Step(len(words)+1)); err != nil {
			return nil, err
		}
	}
	content, err := m.DoneVisible("is a canvas without a word")
	if err != nil {
		return nil, err
	}
	return r.Cut(reading.Document{
		Title: reading.BaseTitle(name), Content: content, Noted: true, Metadata: reading.Noted("source", "obsidian"),
	})
}

func roleName(role string) string {
	switch role {
	case "user", "human":
		return "User"
	case "assistant":
		return "Assistant"
	}
	return reading.ClipTitle(cmp.Or(role, "Unknown"))
}

// record is a memory of mem0, or a fact, an episode or a message of Zep.
type record struct {
	ID        string `json:"id"`
	UUID      string `json:"uuid"`
	Memory    string `json:"memory"`
	Fact      string `json:"fact"`
	Content   string `json:"content"`
	Role      string `json:"role"`
	UserID    string `json:"user_id"`
	CreatedAt string `json:"created_at"`
	ValidAt   string `json:"valid_at"`
	InvalidAt string `json:"invalid_at"`
}

// readRecords reads lists of what another memory holds. What it says is no longer true
// is left out.
func readRecords(r *reading.Reader, raw []byte, system string) ([]reading.Document, error) {
	p := &reading.Parts{Reader: r}
	take := func(one record) error {
		words := unbroken(cmp.Or(one.Memory, one.Fact, one.Content))
		if canon.Blank(words) || one.InvalidAt != "" {
			return nil
		}
		if one.Content != "" && one.Role != "" {
			words = reading.ClipTitle(one.Role) + ": " + words
		}
		return addRecord(p, reading.Document{
			Content: words, OccurredAt: reading.Instant(cmp.Or(one.ValidAt, one.CreatedAt)),
			ExternalID: reading.ExternalID(system, cmp.Or(one.ID, one.UUID)), Noted: true,
			Metadata: reading.Noted("source", system, "user", one.UserID),
		})
	}
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		err = each(r, raw, true, take)
	} else {
		names := []string{"results", "memories", "facts", "edges", "episodes", "messages"}
		lists := map[string]jsontext.Value{}
		d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient)
		if !valid(raw) || d.PeekKind() != '{' {
			return nil, errRecords
		}
		if _, err := d.ReadToken(); err != nil {
			return nil, errRecords
		}
		for d.PeekKind() == '"' {
			t, err := d.ReadToken()
			if err != nil {
				return nil, errRecords
			}
			name := t.String()
			value, err := d.ReadValue()
			if err != nil {
				return nil, errRecords
			}
			if slices.Contains(names, name) {
				lists[name] = value // where it stands: of a buffer nothing is copied
			}
		}
		for _, name := range names {
			if v := lists[name]; v.Kind() == '[' && err == nil {
				err = each(r, v, true, take)
			}
		}
	}
	if err == nil && len(p.Docs) == 0 {
		err = reading.Errorf("is an export without a record to read")
	}
	return p.Docs, err
}

// readOwnExport reads an export of this service: the documents that are live, each
// under its external id. orgmem import-export brings back all of it.
func readOwnExport(r *reading.Reader, raw []byte) ([]reading.Document, error) {
	var all struct {
		Partitions []struct {
			Nodes []struct {
				Kind    string `json:"kind"`
				Title   string `json:"title"`
				Content string `json:"content"`
				Status  string `json:"status"`
				Source  struct {
					ExternalIDs []string `json:"externalIds"`
				} `json:"source"`
				OccurredAt string         `json:"occurredAt"`
				Metadata   jsontext.Value `json:"metadata"`
				Derived    jsontext.Value `json:"derived"`
			} `json:"nodes"`
		} `json:"partitions"`
	}
	if err := decodeRecord(r, raw, &all); err != nil {
		return nil, err
	}
	var docs []reading.Document
	for _, p := range all.Partitions {
		for i, n := range p.Nodes {
			if n.Status != "live" || canon.Blank(n.Content) || n.Derived != nil || !slices.Contains(kinds, n.Kind) {
				continue
			}
			d := reading.Document{
				Title: reading.ClipTitle(n.Title), Content: strings.ToValidUTF8(n.Content, "\ufffd"), Kind: n.Kind,
				OccurredAt: reading.Instant(n.OccurredAt),
				Where:      fmt.Sprintf("nodes[%d]", i),
			}
			if len(n.Source.ExternalIDs) > 0 {
				d.ExternalID = n.Source.ExternalIDs[0]
			}
			if n.Metadata != nil {
				if v, err := canon.Object(n.Metadata); err == nil {
					d.Metadata = v
				}
			}
			if err := checkItem(r, d); err != nil {
				return nil, err
			}
			if err := r.Step(len(n.Content)); err != nil {
				return nil, err
			}
			if docs = append(docs, d); len(docs) > reading.MaxDocuments {
				return nil, reading.Errorf("holds more than %d documents; use orgmem import-export", reading.MaxDocuments)
			}
		}
	}
	if len(docs) == 0 {
		return nil, reading.Errorf("is an export without a document to read")
	}
	return docs, nil
}
