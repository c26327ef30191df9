package cognition

import (
	"encoding/json"
	"slices"
	"strings"

	"orgmem/actors/graph"
	"orgmem/brain/cognition"
	"orgmem/brain/extract"
	"orgmem/brain/extract/resolve"
	"orgmem/brain/portrait"
	"orgmem/brain/voice"
	pb "orgmem/proto"
	"orgmem/storage"
)

// drawn is a portrait as a cycle has drawn it.
type drawn struct {
	identityStage

	personal bool     // one person writes the memory
	owner    string   // their name, if it is known
	latest   []string // of their texts, at most MaxTraitNodes

	lines   []portrait.Line
	frame   portrait.Frame             // what the texts have in common, which nobody writes
	people  map[int32][]int32          // whom texts name
	writers map[int32]portrait.Writing // of the texts that were looked at
	traces  map[int32]*pb.Trace        // of these
}

// maxSaying bounds the latest texts of a statement, or a name, that are asked whether they say it.
const maxSaying = 25

// whose looks who writes the memory.
func (c identityStage) whose() (*drawn, error) {
	d := &drawn{identityStage: c, writers: map[int32]portrait.Writing{}, traces: map[int32]*pb.Trace{}}
	own := c.Written()
	own = own[:min(len(own), cognition.MaxPortraitTexts)]
	d.people = c.People()
	var latest []portrait.Writing
	err := c.org.WithStore(func(st *storage.Store) error {
		for _, i := range own {
			w, err := d.writing(st, i)
			if err != nil {
				return err
			}
			latest = append(latest, w)
		}
		return d.findFrame(st, own)
	})
	d.owner, d.personal = portrait.Owner(latest)
	for k, i := range own[:len(latest)] {
		if len(d.latest) < MaxTraitNodes && d.his(latest[k]) {
			d.latest = append(d.latest, string(c.Nodes[i].ID))
		}
	}
	return d, err
}

// his tells whether a text is the owner's own: those without a writer are.
func (d *drawn) his(w portrait.Writing) bool {
	return !w.Foreign && (w.Writer == "" || w.Writer == d.owner)
}

// manyWriters stands for the owner of what several people write; that of one begins with "=".
const manyWriters = "*"

// framed stands behind the owner where what the texts have in common is left out.
const framed = "+"

// whom names those on whose texts the voice is measured, and how.
func (d *drawn) whom() string {
	whom := manyWriters
	if d.personal {
		whom = "=" + d.owner // what a version before has measured is of nobody
	}
	if len(d.frame) > 0 {
		whom += framed
	}
	return whom
}

// draw says in words who the person is.
func (d *drawn) draw(v *pb.VoiceProfile) error {
	m := d.Portrait(d.found)
	m.Owner, m.Personal, m.Latest = d.owner, d.personal, d.latest
	return d.compute([]func(int) error{func(int) error {
		return d.org.WithStore(func(st *storage.Store) error {
			if err := d.read(st, &m); err != nil {
				return err
			}
			if v != nil && d.personal {
				m.Manner = voice.Manner(voice.ProfileFrom(v).OfLikeLength())
			}
			d.lines = portrait.Draw(m)
			return nil
		})
	}})
}

// read adds what only the records tell: what was stated, and what is named.
func (d *drawn) read(st *storage.Store, m *portrait.Memory) error {
	if !m.Personal {
		return nil
	}
	for _, x := range d.Stated(cognition.MaxPortraitStatements) {
		s, err := d.statement(st, x)
		if err != nil {
			return err
		}
		m.Statements = append(m.Statements, s)
	}
	for _, x := range d.Named(cognition.MaxPortraitNames) {
		n, err := d.name(st, x)
		if err != nil {
			return err
		}
		m.Names = append(m.Names, n)
	}
	return nil
}

// node reads the record of a node; an empty one when it is gone.
func (d *drawn) node(st *storage.Store, i int32) (*pb.Node, error) {
	n := &pb.Node{}
	_, err := st.Get(d.part.Space.Key(storage.TableNode, storage.Str(d.Nodes[i].ID)), n)
	return n, err
}

// writing is writerOf, which it remembers.
func (d *drawn) writing(st *storage.Store, i int32) (portrait.Writing, error) {
	w, ok := d.writers[i]
	if ok {
		return w, nil
	}
	w, err := d.writerOf(st, i)
	if err == nil {
		d.writers[i] = w
	}
	return w, err
}

// writerOf tells whose words a text of the memory is. What a connector brought without an author was written by nobody
// knows whom; a coding session is the user's.
func (d *drawn) writerOf(st *storage.Store, i int32) (w portrait.Writing, err error) {
	if d.Nodes[i].Kind == cognition.KindSession {
		return w, nil
	}
	n, err := d.node(st, i)
	if err != nil {
		return w, err
	}
	speaker, speakers := extract.Speakers(n.GetMetadata())
	w.Writer = speaker
	w.Foreign = len(speakers) > 1 || speaker == "" && n.GetSource().GetType() == pb.SourceConnector
	if w.Writer != "" || w.Foreign || len(d.people[i]) < 2 {
		return w, nil
	}
	said, err := d.content(st, i)
	var names []string
	for _, k := range d.people[i] {
		names = append(names, d.Nodes[k].Title)
	}
	w.Record = portrait.Record(said, names)
	w.Foreign = w.Record
	return w, err
}

// content reads what a text says; nothing when it is gone.
func (d *drawn) content(st *storage.Store, i int32) (string, error) {
	text := &pb.Content{}
	_, err := st.Get(d.part.Space.Key(storage.TableContent, storage.Str(d.Nodes[i].ID)), text)
	return text.GetText(), err
}

// findFrame finds what the latest texts have in common.
func (d *drawn) findFrame(st *storage.Store, own []int32) error {
	var said []string
	for _, i := range own[:min(len(own), portrait.FramedTexts)] {
		text, err := d.content(st, i)
		if err != nil {
			return err
		}
		said = append(said, text)
	}
	d.frame = portrait.FrameOf(said)
	return nil
}

// statement reads what was stated, with those of its texts whose words it is said in.
func (d *drawn) statement(st *storage.Store, x cognition.InTexts) (s portrait.Statement, err error) {
	t := &d.Nodes[x.Node]
	n, err := d.node(st, x.Node)
	if err != nil {
		return s, err
	}
	said, err := d.content(st, x.Node)
	if err != nil {
		return s, err
	}
	about := struct {
		Object   string `json:"object"`
		Speaker  string `json:"speaker"`
		Polarity int    `json:"polarity"`
	}{}
	// What a client took in as a preference has the client's metadata, of any form.
	if readable := t.Own || json.Unmarshal(n.GetMetadata(), &about) == nil; !readable {
		return s, nil
	}
	s = portrait.Statement{
		Kind: t.Kind, Speaker: about.Speaker, Said: said, Object: about.Object, Polarity: about.Polarity,
		Confidence: n.GetConfidence(), Node: string(t.ID),
	}
	for _, i := range x.Texts[:min(len(x.Texts), maxSaying)] {
		w, err := d.writing(st, i)
		if err != nil {
			return s, err
		}
		ok, err := d.says(st, i, x.Node)
		if err != nil {
			return s, err
		}
		if ok && (s.Speaker != "" || d.his(w)) {
			s.Texts = append(s.Texts, string(d.Nodes[i].ID))
			s.AtMS = max(s.AtMS, d.Nodes[i].AtMS)
		}
	}
	return s, nil
}

// says reports whether something was read out of a text. An edge between the two is not enough: what a person puts in
// a text's place gets the edges, and other words.
func (d *drawn) says(st *storage.Store, text, node int32) (bool, error) {
	if text == node {
		return true, nil
	}
	trace := d.traces[text]
	if trace == nil {
		trace = &pb.Trace{}
		if _, err := st.Get(d.part.Space.Key(storage.TableTrace, storage.Str(d.Nodes[text].ID)), trace); err != nil {
			return false, err
		}
		d.traces[text] = trace
	}
	return slices.ContainsFunc(trace.GetEntities(), func(e *pb.TraceEntity) bool {
		return e.GetNode() == string(d.Nodes[node].ID)
	}), nil
}

// shownTypes are the types of what somebody mentions; of a number, an address or code it tells nothing that one does.
var shownTypes = map[extract.Type]bool{
	extract.Person: true, extract.Organization: true, extract.Product: true, extract.Place: true, extract.Project: true,
	extract.Event: true,
}

// name reads an entity; its type stays empty if such entities are not shown.
func (d *drawn) name(st *storage.Store, x cognition.InTexts) (portrait.Name, error) {
	t := &d.Nodes[x.Node]
	out := portrait.Name{Node: string(t.ID), Name: t.Title, Texts: len(x.Texts)}
	n, err := d.node(st, x.Node)
	if err != nil {
		return out, err
	}
	about := &resolve.About{}
	if told := json.Unmarshal(n.GetMetadata(), about) == nil; !told || !shownTypes[extract.Type(about.EntityType)] {
		return out, nil
	}
	out.Type = about.EntityType
	names, looked := append(slices.Clone(about.Aliases), t.Title), maxSaying
	inFrame := slices.ContainsFunc(names, d.frame.Holds)
	if inFrame {
		looked = cognition.MaxPortraitTexts // each may mention it, or not
	}
	for _, i := range x.Texts[:min(len(x.Texts), looked)] {
		w, err := d.writing(st, i)
		if err != nil {
			return out, err
		}
		ok, err := d.says(st, i, x.Node)
		if ok && err == nil && inFrame {
			ok, err = d.mentions(st, i, names)
		}
		switch {
		case err != nil:
			return out, err
		case !ok || !d.his(w):
			out.Texts--
		case len(out.Latest) < portrait.MaxLineNodes:
			out.Latest = append(out.Latest, string(d.Nodes[i].ID))
		}
	}
	return out, nil
}

// mentions tells whether a text has one of some names outside of what all have in common.
func (d *drawn) mentions(st *storage.Store, i int32, names []string) (bool, error) {
	said, err := d.content(st, i)
	said = strings.ToLower(d.frame.Own(said))
	return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(said, strings.ToLower(n)) }), err
}

// standing are the lines of which all still stands as the cycle has read it: the nodes, and the labels of themes. The
// forgetting of what does not begins another cycle.
func (d *drawn) standing(f *graph.Tx) (lines []*pb.PortraitLine, err error) {
	for _, l := range d.lines {
		var nodes []int32
		for _, id := range l.Nodes {
			nodes = append(nodes, d.At[pb.NodeID(id)])
		}
		ok, err := d.stillSaid(f, nodes, l.Themes)
		if err != nil {
			return nil, err
		}
		if ok {
			lines = append(lines, &pb.PortraitLine{Kind: l.Kind, Text: l.Text, Nodes: l.Nodes, Quotes: l.Quotes})
		}
	}
	return lines, nil
}
