package resolve

import "orgmem/brain/extract"

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
	Case     Reason = "case"     // but for case, marks and spaces
	Form     Reason = "form"     // but for an article, a title, a company form, a handle's @
	Acronym  Reason = "acronym"  // its initials, stated in the document
	Initials Reason = "initials" // J. Lee for the only Jane Lee
	Part     Reason = "part"     // Lee for the only Jane Lee of the document
	Typo     Reason = "typo"     // one letter apart in a long name
)

// Decision is what one name means.
type Decision struct {
	// Entity is the known entity's id; empty: a new one.
	Entity EntityID
	// Leader is the index of the first name of this document that means the same
	// entity: the name's own where it leads. All with the same Leader share Entity.
	Leader int
	Reason Reason
	// Alias is set where the name is not yet among the entity's title and aliases.
	Alias      bool
	Confidence float64
	// Type is what the entity is after this name: a name of type other takes the
	// known type, and a known other the name's.
	Type extract.Type
}

// Resolve gives one decision for each name, in order. Names are those of one
// document: what is said there of one ("Jane Lee … Lee") is not carried to others.
func Resolve(known []Known, names []Name) []Decision {
	return nil
}

// Keys are the keys under which an entity of this name is found by other names
// that may mean it; at most maxKeys, each at most maxKeyBytes. They hold parts of
// the name: a caller that stores them erases them with the entity.
func Keys(name string, t extract.Type) []string { return nil }

// Canonical is the form that equal names share across partitions: folded, without
// article, title or company form; empty where the name is too weak to link by (a
// first name alone). A caller that compares partitions compares a keyed hash of
// it, never the form.
func Canonical(name string, t extract.Type) string { return "" }
