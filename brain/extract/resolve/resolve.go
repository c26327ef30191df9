package resolve

import (
	"cmp"
	"slices"
	"strings"

	"orgmem/brain/extract"
)

// EntityID is the caller's name of an entity; here it is only passed through.
type EntityID string

// Known is an entity of the partition.
type Known struct {
	ID      EntityID
	Type    extract.Type
	Title   string
	Aliases []string
	// Not are names that somebody said do not mean this entity.
	Not []string
	// Texts is how many texts name it.
	Texts int
}

// Name is one distinct name of a document, as its mentions give it.
type Name struct {
	Name string
	Type extract.Type
}

// Reason says why a name means an entity.
type Reason string

// The reasons, from the surest.
const (
	New      Reason = "new"      // no known entity: a node of its own
	Same     Reason = "same"     // the same name or alias, as it stands
	Case     Reason = "case"     // but for case, diacritics, marks and spaces
	Form     Reason = "form"     // but for an article, a title, a company's form
	Acronym  Reason = "acronym"  // initials of a name of the same document: ESB
	Initials Reason = "initials" // J. Lee for the only Jane Lee
	Part     Reason = "part"     // Lee for the only Jane Lee of the document
	Typo     Reason = "typo"     // one letter apart in a long name
)

// confidences are how sure each reason is; the order of the reasons is theirs.
var confidences = map[Reason]float64{
	New: 1, Same: 1, Case: 0.97, Form: 0.93, Acronym: 0.85, Initials: 0.8, Part: 0.8, Typo: 0.75,
}

// Decision is what one name means.
type Decision struct {
	// Entity is the known entity's id; empty: a new one.
	Entity EntityID
	// Leader is the index of the name that stands for all names of this document that
	// mean the same entity; of a new entity it is the one to call it by. It may come
	// after the others ("Lee … Jane Lee"). All with the same Leader share Entity.
	Leader int
	Reason Reason
	// Alias is set where the name should be kept among the entity's aliases: it is
	// not yet there, and means the entity in other documents too. A Part does not.
	Alias      bool
	Confidence float64
	// Type is what the entity is in this document: a name of type other takes the known type, and a known other the
	// name's.
	Type extract.Type
}

// candidate is an entity, known or begun by a name of the document.
type candidate struct {
	id     EntityID
	leader int // of a begun one; of a known one, the first name that means it, or -1
	kind   extract.Type
	names  []spelled
	not    []string // folded
	texts  int
}

// Resolve gives one decision for each name, in order. Names are those of one
// document: what is said there of one ("Jane Lee … Lee") is not carried to
// others. What could mean two entities by the same reason means neither. The cost
// is that of comparing each name with each entity of Known.
func Resolve(known []Known, names []Name) []Decision {
	r := resolver{decisions: make([]Decision, len(names)), of: make([]int, len(names))}
	for _, k := range known {
		c := candidate{id: k.ID, leader: -1, kind: k.Type, names: []spelled{spell(k.Title, k.Type)}, texts: k.Texts}
		for _, alias := range k.Aliases {
			c.names = append(c.names, spell(alias, k.Type))
		}
		for _, not := range k.Not {
			c.not = append(c.not, fold(not))
		}
		r.candidates = append(r.candidates, c)
	}
	for _, n := range names {
		r.names = append(r.names, spell(n.Name, n.Type))
	}
	// Whole names first, in order; then those that only say something beside a
	// whole one.
	var short []int
	for i := range names {
		if r.dependent(i, names) {
			short = append(short, i)
			continue
		}
		r.decide(i, names[i])
	}
	for _, i := range short {
		r.decide(i, names[i])
	}
	for i := range r.decisions {
		c := r.candidates[r.of[i]]
		r.decisions[i].Entity, r.decisions[i].Leader, r.decisions[i].Type = c.id, c.leader, c.kind
	}
	return r.decisions
}

type resolver struct {
	candidates []candidate
	decisions  []Decision
	names      []spelled
	of         []int // the candidate of each name
}

// dependent tells whether name i can be short for another one of the document.
func (r *resolver) dependent(i int, names []Name) bool {
	t, n := names[i].Type, r.names[i]
	if verbatim(t) {
		return false
	}
	for k, other := range names {
		if o := r.names[k]; o.name != n.name && !verbatim(other.Type) {
			if acronym(n.name, o.name) || personal(t) && personal(other.Type) &&
				(part(n.form, o.form) || initials(n.form, o.form) && abbreviated(n.form)) {
				return true
			}
		}
	}
	return false
}

func personal(t extract.Type) bool { return t == extract.Person || t == extract.Other }

// decide finds the candidate of name i, or begins one.
func (r *resolver) decide(i int, n Name) {
	at, reason := r.find(r.names[i], n.Type)
	if at < 0 {
		r.candidates = append(r.candidates, candidate{leader: i, kind: n.Type})
		at, reason = len(r.candidates)-1, New
	}
	c := &r.candidates[at]
	if c.leader < 0 {
		c.leader = i
	}
	if c.kind == extract.Other {
		c.kind = n.Type
	}
	alias := false
	if reason != Part && !slices.ContainsFunc(c.names, func(s spelled) bool { return s.name == n.Name }) {
		alias = reason != New
		c.names = append(c.names, r.names[i])
	}
	r.of[i] = at
	r.decisions[i] = Decision{Reason: reason, Alias: alias, Confidence: confidences[reason]}
}

// find looks for the one candidate that a name means by the surest reason.
func (r *resolver) find(n spelled, t extract.Type) (int, Reason) {
	words := strings.Count(n.form, " ") + 1
	// "Lee" beside "Jane Lee" is she, even where others are called Lee.
	if t == extract.Person && words == 1 {
		if at, ok := r.short(n); ok {
			return at, Part
		}
	}
	for _, reason := range []Reason{Same, Case, Form} {
		for _, strict := range []bool{true, false} { // of two that are called so, the one of the same type
			if at, ok := r.only(n, func(c *candidate, s spelled) bool {
				why, ok := same(s, n, c.kind, t)
				return ok && why == reason && (c.kind == t || !strict && compatible(c.kind, t, words))
			}); ok {
				return at, reason
			}
		}
	}
	if verbatim(t) || n.form == "" {
		return -1, New
	}
	if at, reason := r.namesake(n, t); at >= 0 {
		return at, reason
	}
	if at, ok := r.only(n, func(c *candidate, s spelled) bool {
		return c.leader >= 0 && !verbatim(c.kind) && (acronym(n.name, s.name) || acronym(s.name, n.name))
	}); ok {
		return at, Acronym
	}
	if personal(t) {
		if at, ok := r.only(n, func(c *candidate, s spelled) bool {
			return personal(c.kind) && (c.kind == extract.Person || t == extract.Person) && initials(n.form, s.form)
		}); ok && r.unshared(n.form, at) {
			return at, Initials
		}
	}
	if at, ok := r.only(n, func(c *candidate, s spelled) bool { return c.kind == t && typo(n.form, s.form, t) }); ok {
		return at, Typo
	}
	return -1, New
}

// namesake is the candidate that is called so and is something else: a name means one thing in a memory, and what
// that is all texts decide (Note). Where it means several (Sort), it is the one that most texts name. Of two of one
// type it is neither.
func (r *resolver) namesake(n spelled, t extract.Type) (at int, why Reason) {
	at, why = -1, New
	for i := range r.candidates {
		c := &r.candidates[i]
		if verbatim(c.kind) || slices.Contains(c.not, n.folded) {
			continue
		}
		reason := New
		for _, s := range c.names {
			if is, ok := same(s, n, c.kind, t); ok && is != Form {
				reason = is
				break
			}
		}
		switch {
		case reason == New:
		case compatible(c.kind, t, 1), at >= 0 && r.candidates[at].kind == c.kind:
			return -1, New
		case at < 0 || cmp.Or(cmp.Compare(c.texts, r.candidates[at].texts), cmp.Compare(r.candidates[at].id, c.id)) > 0:
			at, why = i, reason
		}
	}
	return at, why
}

// short is the one candidate of this document whose full name a single one is a part of, as it is written. Who writes a
// name without its diacritics may mean somebody who has them, not the other way round.
func (r *resolver) short(n spelled) (int, bool) {
	at, ok := r.only(n, func(c *candidate, s spelled) bool {
		return c.leader >= 0 && personal(c.kind) && part(n.accented, s.accented)
	})
	if ok || n.accented != n.form || at == several {
		return at, ok
	}
	return r.only(n, func(c *candidate, s spelled) bool {
		return c.leader >= 0 && personal(c.kind) && part(n.form, s.form)
	})
}

// unshared tells whether no other person has the name of candidate at with the
// same initial: J. Lee is nobody where Jane Lee and John Lee are known, and so
// John Lee is not the J. Lee who may be Jane. Nor is Jane L. anybody beside Jane Lee and Jane Long.
func (r *resolver) unshared(form string, at int) bool {
	last := strings.LastIndexByte(form, ' ')
	first := strings.IndexByte(form, ' ')
	for i, c := range r.candidates {
		if i == at || !personal(c.kind) {
			continue
		}
		if slices.ContainsFunc(c.names, func(s spelled) bool {
			return s.form != "" && (strings.HasSuffix(s.form, form[last:]) && s.form[0] == form[0] ||
				strings.HasPrefix(s.form, form[:last+2]) && last == first)
		}) {
			return false
		}
	}
	return true
}

// only is the one candidate of which a name matches; ok is false for none and for
// several. What somebody split off does not match again.
func (r *resolver) only(n spelled, match func(*candidate, spelled) bool) (at int, ok bool) {
	at = -1
	for i := range r.candidates {
		c := &r.candidates[i]
		if !slices.ContainsFunc(c.names, func(s spelled) bool { return match(c, s) }) || slices.Contains(c.not, n.folded) {
			continue
		}
		if at >= 0 {
			return several, false
		}
		at = i
	}
	return at, at >= 0
}

// several is the candidate of a name that could mean more than one.
const several = -2
