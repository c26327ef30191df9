package migrate

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/proto/canon"
)

// Bounds of a reading.
const (
	// maxRecords bounds the memory that the ids take: some fifty bytes for each, twice while it sends.
	maxRecords = 4_000_000
	// maxFaults and maxShown bound what is listed one by one; the rest is counted.
	maxFaults = 1000
	maxShown  = 40 // characters of a value that cannot be read
	// maxExamples of the records for each reason.
	maxExamples = 5
	// maxUsers bounds the subjects of one run.
	maxUsers = 200_000
)

// entry is one record as it stands.
type entry struct {
	section string                     // see visitor
	head    map[string]json.RawMessage // likewise
	raw     []byte
	in      Input
	where   string // in the file
}

// reader reads the records of one product. learn sees all of them before take sees the
// first, to know what names what.
type reader interface {
	learn(e entry)
	take(e entry, s *sink)
}

// product is one whose exports are read.
type product struct {
	name   string
	layout layout
	// knows reports whether it writes records like this one in a section, in a file of that name.
	knows func(section string, f *fields, base string) bool
	// passed says why a file of its export is passed over; empty: it is read.
	passed func(in Input, all []Input) string
	reader func() reader
	// pages: a file is one record, and no JSON.
	pages bool
}

// products are those that are known; New ones go here, and into docs/migration.md.
func products() []product {
	return []product{mem0(), zep(), graphiti(), supermemory(), hindsight(), letta(), cognee(), own()}
}

// Auto is the name of the product that is to be found out.
const Auto = "auto"

// Own is the name of what orgmem export writes as Markdown.
const Own = "orgmem"

// Names are the products' names.
func Names() []string {
	var names []string
	for _, p := range products() {
		names = append(names, p.name)
	}
	return names
}

// Options say how an export is read.
type Options struct {
	From string // one of Names, or Auto
	Now  time.Time
	// Subject is where what names no user goes; empty: the key owner's own memory.
	Subject string
	// Merge takes everybody's there.
	Merge bool
}

// User is one user's share of an export.
type User struct {
	User    string `json:"user"`    // as the product names them; empty: nobody
	Subject string `json:"subject"` // empty: the key owner's own memory
	Notes   int    `json:"notes"`
	From    string `json:"from,omitempty"` // the earliest time
	To      string `json:"to,omitempty"`
}

// Left are records that are not taken.
type Left struct {
	What     string   `json:"what"`
	Why      string   `json:"why"`
	Count    int      `json:"count"`
	Examples []string `json:"examples"`
}

// Report says what is taken of an export, and what has no counterpart.
type Report struct {
	From  string `json:"from"`
	Files int    `json:"files"`
	Notes int    `json:"notes"`
	// Repeated records stand in the export more than once, word for word.
	Repeated int    `json:"repeated"`
	Users    []User `json:"users"`
	Left     []Left `json:"left"`
	// Fields that have no counterpart, and in how many of the records that are taken.
	Fields map[string]int `json:"fields"`

	// Passed are files of the export that are not looked into.
	Passed []Fault `json:"passed"`
	Faults []Fault `json:"faults"`
	// MoreFaults are beyond those that are listed.
	MoreFaults int `json:"moreFaults"`
}

// Plan is an export that was read.
type Plan struct {
	Report
	found   *Found
	options Options
	product product
	reader  reader
	seen    map[id]uint64 // of what is taken, the marks of the contents
	highest int           // level
}

// id tells a note of a subject from all others.
type id [16]byte

func idOf(subject, externalID string) id {
	var i id
	raw, err := hex.DecodeString(mark(subject, externalID))
	if err == nil { // it is hexadecimal
		copy(i[:], raw)
	}
	return i
}

// Read reads an export to its end and says what would be taken of it.
func Read(ctx context.Context, found *Found, o Options) (*Plan, error) {
	p := &Plan{found: found, options: o, Report: Report{Fields: map[string]int{}}}
	if err := p.choose(); err != nil {
		return nil, err
	}
	p.From = p.product.name
	p.Faults = slices.Clone(found.Faults)
	inputs := p.mine()
	p.found = &Found{Inputs: inputs}
	p.Files = len(inputs)
	p.reader = p.product.reader()
	if err := p.each(ctx, nil, func(e entry) error { p.reader.learn(e); return nil }); err != nil {
		return nil, err
	}
	s := &sink{
		plan: p, seen: make(map[id]uint64), left: make(map[[2]string]*Left), users: make(map[string]*tally), tells: true,
	}
	s.emit = func(n note) error {
		p.highest = max(p.highest, n.level)
		return s.count(n)
	}
	if err := p.each(ctx, p.fault, func(e entry) error { p.reader.take(e, s); return s.err }); err != nil {
		return nil, err
	}
	p.seen = s.seen
	s.finish()
	return p, nil
}

// notes visits the notes of one level in the order in which the export has them.
func (p *Plan) notes(ctx context.Context, level int, visit func(note) error) error {
	s := &sink{plan: p, seen: make(map[id]uint64)}
	s.emit = func(n note) error {
		if n.level != level {
			return nil
		}
		return visit(n)
	}
	return p.each(ctx, nil, func(e entry) error { p.reader.take(e, s); return s.err })
}

// fault notes what is wrong with a file or a part of it.
func (p *Plan) fault(path, part, reason string) {
	if len(p.Faults) >= maxFaults {
		p.MoreFaults++
		return
	}
	p.Faults = append(p.Faults, Fault{path, part, reason})
}

// pass notes a file that is not looked into.
func (p *Plan) pass(path, reason string) {
	if len(p.Passed) < maxFaults {
		p.Passed = append(p.Passed, Fault{Path: path, Reason: reason})
	}
}

// subject is whose memory a user's notes go into.
func (p *Plan) subject(user string) string {
	if user == "" || p.options.Merge {
		return p.options.Subject
	}
	return user
}

// each visits the records of all files. fault may be nil.
func (p *Plan) each(ctx context.Context, fault func(path, part, reason string), visit func(entry) error) error {
	if fault == nil {
		fault = func(string, string, string) {}
	}
	for _, in := range p.found.Inputs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.product.read(in, fault, visit); err != nil {
			return err
		}
	}
	return nil
}

// errVisit marks an error of who reads, which ends the reading of all files.
type errVisit struct{ error }

func (e errVisit) Unwrap() error { return e.error }

// read visits the records of a file. What is wrong with the file becomes a fault in the report, not an error.
func (p product) read(in Input, fault func(path, part, reason string), visit func(entry) error) error {
	file, err := in.open()
	if err != nil {
		fault(in.Name, "", reasonOf(err))
		return nil
	}
	defer file.Close() //nolint:errcheck // nothing was written
	if p.pages {
		raw, err := io.ReadAll(io.LimitReader(file, maxRecord+1))
		switch {
		case err != nil:
			fault(in.Name, "", reasonOf(err))
		case len(raw) > maxRecord:
			fault(in.Name, "", fmt.Sprintf("is larger than %d MiB", maxRecord>>20))
		default:
			return visit(entry{raw: raw, in: in})
		}
		return nil
	}
	wrap := func(where func(section string) string) visitor {
		return func(section string, head map[string]json.RawMessage, raw []byte) error {
			if err := visit(entry{section, head, raw, in, where(section)}); err != nil {
				return errVisit{err}
			}
			return nil
		}
	}
	if byLine(in.base) {
		err = lines(file, func(n int, raw []byte) error {
			at := fmt.Sprintf("line %d", n)
			err := stream(strings.NewReader(string(raw)), p.layout, wrap(func(string) string { return at }))
			if _, mine := errors.AsType[errVisit](err); err != nil && !mine {
				fault(in.Name, at, "is broken JSON")
				return nil
			}
			return err
		}, func(n int, reason string) { fault(in.Name, fmt.Sprintf("line %d", n), reason) })
	} else {
		counts := map[string]int{}
		err = stream(file, p.layout, wrap(func(section string) string {
			counts[section]++
			return fmt.Sprintf("%s[%d]", section, counts[section]-1)
		}))
	}
	if mine, ok := errors.AsType[errVisit](err); ok {
		return mine.error
	}
	if err != nil {
		fault(in.Name, "", reasonOf(err))
	}
	return nil
}

func reasonOf(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

func byLine(base string) bool {
	return strings.HasSuffix(base, ".jsonl") || strings.HasSuffix(base, ".ndjson")
}

// mine are the files of the product, without those of others.
func (p *Plan) mine() []Input {
	var inputs []Input
	for _, in := range p.found.Inputs {
		if p.product.passed != nil {
			if why := p.product.passed(in, p.found.Inputs); why != "" {
				p.pass(in.Name, why)
				continue
			}
		}
		if !p.product.pages && !isJSON(in.base) && len(p.found.Inputs) > 1 {
			p.pass(in.Name, "is no JSON")
			continue
		}
		if names := sniff(in); len(names) > 0 && !slices.Contains(names, p.product.name) {
			p.fault(in.Name, "", fmt.Sprintf("is an export of %s, not of %s", strings.Join(names, " or "), p.product.name))
			continue
		}
		inputs = append(inputs, in)
	}
	return inputs
}

// isJSON reports whether a file of a folder or an archive is looked at. One that was
// named outright is, whatever it is called.
func isJSON(base string) bool {
	for _, end := range []string{".json", ".jsonl", ".ndjson", ".af"} {
		if strings.HasSuffix(strings.ToLower(base), end) {
			return true
		}
	}
	return false
}

// choose finds the product.
func (p *Plan) choose() error {
	for _, one := range products() {
		if one.name == p.options.From {
			p.product = one
			return nil
		}
	}
	if p.options.From != Auto {
		return fmt.Errorf("no product %q: there are %s, and %s", p.options.From, strings.Join(Names(), ", "), Auto)
	}
	found := map[string]bool{}
	for _, in := range p.found.Inputs {
		for _, name := range sniff(in) {
			found[name] = true
		}
	}
	switch names := slices.Sorted(maps.Keys(found)); len(names) {
	case 1:
		p.options.From = names[0]
		return p.choose()
	case 0:
		return errors.New("this is no export that is known by itself; say whose it is with --from")
	default:
		return fmt.Errorf("this may be an export of %s; say which with --from", strings.Join(names, " or "))
	}
}

// errEnough ends a reading.
var errEnough = errors.New("enough")

// sniff names the products that write files like this one, by its first record.
func sniff(in Input) []string {
	if in.base == ownManifest {
		return []string{Own}
	}
	if !isJSON(in.base) {
		return nil
	}
	union := product{}
	for _, p := range products() {
		union.layout.lists = append(union.layout.lists, p.layout.lists...)
		union.layout.around = append(union.layout.around, p.layout.around...)
	}
	var names []string
	err := union.read(in, func(string, string, string) {}, func(e entry) error {
		for _, p := range products() {
			f, ok := fieldsOf(e.raw)
			if !ok {
				return errEnough
			}
			maps.Copy(f.all, prefixed(e.head))
			if p.knows != nil && p.knows(e.section, f, in.base) {
				names = append(names, p.name)
			}
		}
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil
	}
	return names
}

// WrittenBy names the other product that has written a file; empty where it is not one, or not
// plain which. Nothing but the first record is read.
func WrittenBy(path string) string {
	found := &Found{}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || found.add(path) != nil {
		return ""
	}
	defer found.Close() //nolint:errcheck // nothing was written
	for _, in := range found.Inputs[:min(len(found.Inputs), 1)] {
		if names := sniff(in); len(names) == 1 && names[0] != Own {
			return names[0]
		}
	}
	return ""
}

// prefixed are the fields of the object around a list, told from those of its records.
func prefixed(head map[string]json.RawMessage) map[string]json.RawMessage {
	all := make(map[string]json.RawMessage, len(head))
	for k, v := range head {
		all["^"+k] = v
	}
	return all
}

// sink takes what a reader makes of records.
type sink struct {
	plan  *Plan
	emit  func(note) error
	seen  map[id]uint64
	left  map[[2]string]*Left
	users map[string]*tally // by the product's name of them
	tells bool              // report what is not taken; once, not in every pass
	err   error             // ends the reading
}

// tally counts a user's notes.
type tally struct {
	notes    int
	from, to string
}

// leave counts a record that is not taken.
func (s *sink) leave(e entry, what, why string) {
	if !s.tells {
		return
	}
	key := [2]string{what, why}
	l := s.left[key]
	if l == nil {
		l = &Left{What: what, Why: why, Examples: []string{}}
		s.left[key] = l
	}
	if l.Count++; len(l.Examples) < maxExamples {
		l.Examples = append(l.Examples, strings.TrimSpace(e.in.Name+" "+e.where))
	}
}

// fault tells what is wrong with a record.
func (s *sink) fault(e entry, reason string) {
	if s.tells {
		s.plan.fault(e.in.Name, e.where, reason)
	}
}

// draft is what a reader makes of a record.
type draft struct {
	what    string // for the report: memory, fact, ...
	user    string
	id      string // the product's own
	title   string
	content string
	kind    string
	at      time.Time
	badTime string // what stands where the time should
	grounds []string
	meta    meta
	level   int
	fields  *fields // whose drops are reported
}

// recorded takes when the product recorded a note and changed it last: it is at that time
// where nothing says when it was.
func (d *draft) recorded(f *fields) {
	created, bad := f.when("created_at")
	if d.at.IsZero() {
		d.at, d.badTime = created, cmp.Or(d.badTime, bad)
	}
	updated, _ := f.when("updated_at")
	d.meta.set("updatedAt", updated)
}

// note checks a draft and gives it on.
func (s *sink) note(e entry, d draft) {
	if s.err != nil {
		return
	}
	d.content = clean(d.content)
	user := strings.TrimSpace(cmp.Or(d.user, e.in.user))
	switch {
	case canon.Blank(d.content):
		s.leave(e, d.what, "says nothing")
		return
	case utf8.RuneCountInString(d.content) > maxContent:
		s.fault(e, fmt.Sprintf("is longer than %d characters", maxContent))
		return
	case !validUser(user):
		s.fault(e, fmt.Sprintf("belongs to a user whose id no subject can have: %q", clip(user, maxShown)))
		return
	}
	subject := s.plan.subject(user)
	if d.badTime != "" {
		s.fault(e, "has a time that cannot be read, and is taken without it: "+d.badTime)
		d.meta.set("unreadTime", d.badTime)
	}
	item := client.Item{
		Content: d.content, Title: clip(strings.TrimSpace(clean(d.title)), maxTitle), Kind: d.kind, ExternalID: d.id,
		OccurredAt: stamp(d.at),
	}
	var gone []string
	if d.meta != nil {
		item.Metadata, gone = d.meta.encode()
	}
	for _, g := range d.grounds {
		if g != "" && g != d.id && len(item.DerivedFrom) < maxGrounds && !slices.Contains(item.DerivedFrom, g) &&
			(s.plan.seen == nil || s.plan.has(subject, g)) {
			item.DerivedFrom = append(item.DerivedFrom, g)
		}
	}
	if !s.fresh(e, d, subject, item) {
		return
	}
	if s.tells {
		for _, name := range gone {
			s.fault(e, "has metadata that is larger than the service takes, and is taken without its field "+name)
		}
		if d.fields != nil {
			for _, name := range d.fields.dropped {
				s.plan.Fields[name]++
			}
		}
	}
	s.err = s.emit(note{user: user, item: item, level: d.level, where: strings.TrimSpace(e.in.Name + " " + e.where)})
}

// has reports whether a note is taken.
func (p *Plan) has(subject, externalID string) bool {
	_, ok := p.seen[idOf(subject, externalID)]
	return ok
}

// fresh reports whether it is the first record of its id. One without an id is known by
// what it says.
func (s *sink) fresh(e entry, d draft, subject string, item client.Item) bool {
	key := keyOf(subject, item)
	sum, err := hex.DecodeString(mark(item.Title, item.Content, item.OccurredAt)[:16])
	if err != nil { // it is hexadecimal
		return false
	}
	now := binary.BigEndian.Uint64(sum)
	was, known := s.seen[key]
	switch {
	case !known:
		if len(s.seen) == maxRecords {
			s.err = fmt.Errorf("import: more than %d records: import file by file", maxRecords)
			return false
		}
		s.seen[key] = now
		return true
	case was == now:
		if s.tells {
			s.plan.Repeated++
		}
	default:
		s.leave(e, d.what, "have the id of another record before them")
	}
	return false
}

// validUser reports whether a subject can have this id (docs/interface.md).
func validUser(user string) bool {
	return len(user) <= maxUser && utf8.ValidString(user) && strings.IndexFunc(user, unicode.IsControl) < 0
}

// count counts a note for its user.
func (s *sink) count(n note) error {
	t := s.users[n.user]
	if t == nil {
		if len(s.users) == maxUsers {
			return fmt.Errorf("import: more than %d users: import file by file", maxUsers)
		}
		t = &tally{}
		s.users[n.user] = t
	}
	t.notes++
	if at := n.item.OccurredAt; at != "" {
		if t.from == "" || at < t.from {
			t.from = at
		}
		t.to = max(t.to, at)
	}
	return nil
}

// finish puts what was counted into the report.
func (s *sink) finish() {
	r := &s.plan.Report
	r.Users, r.Left = []User{}, []Left{}
	if r.Passed == nil {
		r.Passed = []Fault{}
	}
	for _, user := range slices.Sorted(maps.Keys(s.users)) {
		t := s.users[user]
		r.Notes += t.notes
		r.Users = append(r.Users, User{user, s.plan.subject(user), t.notes, t.from, t.to})
	}
	for _, l := range s.left {
		r.Left = append(r.Left, *l)
	}
	slices.SortFunc(r.Left, func(a, b Left) int {
		return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Why, b.Why))
	})
	if r.Faults == nil {
		r.Faults = []Fault{}
	}
}
