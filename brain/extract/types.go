package extract

import (
	"orgmem/brain/extract/turn"
	reading "orgmem/brain/reader"
	"orgmem/brain/text"
)

// Span is a half-open range of byte offsets into Document.Text.
type Span = text.Span

// Document is a text and what is known about it.
type Document struct {
	Text string
	// Title may be empty. It is context only: it names nothing by itself, since
	// titles are often made up from the text.
	Title string
	// AtMs is when the text was written, in Unix milliseconds, UTC: "yesterday" is
	// the day before. 0: it is not known, and what depends on it is left out.
	AtMs int64
	// Speaker is who says what has no speaker of its own; empty: nobody known.
	Speaker string
	// Speakers are known to speak in a text that is a transcript: the names that stand
	// in its lines "Name: words". Where there are any, no other line begins a turn.
	Speakers []string
	// Tagged is what the reader made of Text; nil: nobody has read it, and the rules alone decide.
	Tagged *reading.Tagged
}

// Extraction is what was found. All lists are in the order of the text.
type Extraction struct {
	Mentions   []Mention
	Relations  []Relation
	Dates      []Date
	Statements []Statement
	Turns      []Turn
}

// Type says what sort of thing is named.
type Type string

// The types of entities, as they stand in metadata.entityType.
const (
	Person       Type = "person"
	Organization Type = "organization"
	Product      Type = "product" // also works: films, books, songs, standards
	Place        Type = "place"
	Project      Type = "project"
	Event        Type = "event"      // conferences, awards, elections, wars
	Identifier   Type = "identifier" // INC-4521, PEP 484, CVE-2024-3094, a version, a commit
	URL          Type = "url"
	Code         Type = "code"  // a function, file, package or flag
	Other        Type = "other" // a name of none of these, or of one that cannot be told
)

// Mention is one place where a thing is named. The same thing may be mentioned
// more than once; package resolve tells which mentions mean the same.
type Mention struct {
	Span Span
	// Name is the name itself: the span's text without the article, the
	// possessive, line breaks and marks such as the @ of a handle; in plain letters
	// where the text disguises them (package undress), but for addresses.
	Name       string
	Type       Type
	Confidence float64
	// Certainty is how likely Type is, given that it is a name.
	Certainty float64
}

// RelationType says how From stands to To.
type RelationType string

// The types of relations.
const (
	WorksFor    RelationType = "works_for"     // person → organization
	MemberOf    RelationType = "member_of"     // person or organization → group
	RoleIn      RelationType = "role_in"       // founder, chair, author: person → organization, project or work
	LocatedIn   RelationType = "located_in"    // thing → place
	PartOf      RelationType = "part_of"       // thing → whole
	CreatedBy   RelationType = "created_by"    // product, work, project → person or organization
	Owns        RelationType = "owns"          // organization or person → thing
	Uses        RelationType = "uses"          // thing → thing
	DependsOn   RelationType = "depends_on"    // thing → thing
	Replaces    RelationType = "replaces"      // the new → the old
	AlsoKnownAs RelationType = "also_known_as" // name → other name of the same
	TypeOf      RelationType = "type_of"       // thing → kind of thing
	Won         RelationType = "won"           // person, organization, work → award, event
	TookPartIn  RelationType = "took_part_in"  // person, organization → event
	Knows       RelationType = "knows"         // person → person: family, colleagues
	Opposes     RelationType = "opposes"       // thing → thing: versus, defeated, against
	AssignedTo  RelationType = "assigned_to"   // identifier, project → person
)

// RelationTypes are all of them.
var RelationTypes = []RelationType{
	WorksFor, MemberOf, RoleIn, LocatedIn, PartOf, CreatedBy, Owns, Uses, DependsOn, Replaces, AlsoKnownAs, TypeOf, Won,
	TookPartIn, Knows, Opposes, AssignedTo,
}

// Relation is said between two mentions of one sentence.
type Relation struct {
	From, To   int // indices of Extraction.Mentions
	Type       RelationType
	Evidence   Span // the sentence
	Confidence float64
}

// Grain is the precision of a date.
type Grain string

// The grains, from the finest.
const (
	Minute  Grain = "minute"
	Day     Grain = "day"
	Week    Grain = "week"
	Month   Grain = "month"
	Quarter Grain = "quarter"
	Year    Grain = "year"
	Decade  Grain = "decade"
	Century Grain = "century"
)

// Date is a day or period that the text gives.
type Date struct {
	Span Span
	// [FromMs, UntilMs) in Unix milliseconds, UTC: a day is 24 hours, "March" the
	// whole month. FromMs is math.MinInt64 for "until 3 March", which has that day in it,
	// for "until March", which has its first day, and for "before March", which has none
	// of it; UntilMs is math.MaxInt64 for "since March" and "not until March".
	FromMs, UntilMs int64
	Grain           Grain
	// Relative dates ("next Tuesday", "in March" without a year) were resolved
	// against Document.AtMs.
	Relative   bool
	Confidence float64
}

// StatementKind says what a statement tells of its speaker.
type StatementKind string

// The kinds of statements. They are also kinds of nodes.
const (
	Preference StatementKind = "preference" // I prefer, love, hate, always use …
	Belief     StatementKind = "belief"     // I think, believe, am convinced that …
)

// Statement is a sentence in which a speaker tells a preference or a belief.
type Statement struct {
	Kind    StatementKind
	Speaker string // the turn's, the sentence's subject, or Document.Speaker; may be empty
	// Span is the sentence or the clause that stands for itself; Object is what is
	// preferred or believed, inside Span.
	Span, Object Span
	// Polarity is 1 for likes and beliefs held, -1 for dislikes and beliefs denied, and 0 where only the reader sees the
	// statement: there Object has the words that say which it is.
	Polarity   int
	Confidence float64
}

// Turn is what one speaker says without a break, in a transcript or chat log.
type Turn = turn.Turn
