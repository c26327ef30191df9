package resolve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"orgmem/brain/extract"
	pb "orgmem/proto"
)

// About is an entity's metadata: what it is, and the names that are taken for its own.
type About struct {
	EntityType string         `json:"entityType"`
	Aliases    []string       `json:"aliases"`
	Reasons    []*AliasReason `json:"aliasReasons,omitempty"`
	// NotAliases are names that a person split off: they never mean this entity.
	NotAliases []string `json:"notAliases,omitempty"`
}

// AliasReason says why a name is taken for the entity's.
type AliasReason struct {
	Alias      string  `json:"alias"`
	Reason     string  `json:"reason"`
	Confidence float64 `json:"confidence"`
}

// Refused reads out of an entity's metadata the names that a person split off.
func Refused(metadata []byte) []string {
	about := &About{}
	if len(metadata) == 0 || json.Unmarshal(metadata, about) != nil {
		return nil
	}
	return about.NotAliases
}

// KnownOf is an entity that the graph holds as Resolve takes it: by its node's id, title
// and metadata and its record.
func KnownOf(id EntityID, title string, metadata []byte, rec *pb.Entity) Known {
	k := Known{
		ID: id, Type: extract.Type(rec.GetType()), Title: title, Not: Refused(metadata), Texts: int(rec.GetMentions()),
	}
	for _, form := range rec.GetForms() {
		if !slices.Contains(k.Not, form.GetName()) && form.GetName() != title {
			k.Aliases = append(k.Aliases, form.GetName())
		}
	}
	return k
}

// MayBe tells whether texts call an entity by a name, whatever they take it for; what is written as it is, such as an
// identifier, is of its type.
func MayBe(rec *pb.Entity, name Name) bool {
	kind := extract.Type(rec.GetType())
	return (kind == name.Type || Guessed(kind) && Guessed(name.Type)) &&
		slices.ContainsFunc(NamesOf(rec), func(s string) bool { return strings.EqualFold(s, name.Name) })
}

// NamesOf are all names by which texts call an entity.
func NamesOf(rec *pb.Entity) (names []string) {
	for _, form := range rec.GetForms() {
		names = append(names, form.GetName())
	}
	return names
}

// Describe says how an entity is called and what it is, as its record says: it keeps its
// title as long as texts write it so, and is called by the form that most of them use
// otherwise.
func Describe(title string, rec *pb.Entity) (string, *About) {
	about := &About{EntityType: rec.GetType(), Aliases: []string{}}
	if !slices.Contains(NamesOf(rec), title) && len(rec.GetForms()) > 0 { // the text that wrote it so was forgotten
		title = slices.MaxFunc(rec.GetForms(), func(a, b *pb.EntityForm) int {
			return cmp.Or(cmp.Compare(a.GetCount(), b.GetCount()), cmp.Compare(b.GetName(), a.GetName()))
		}).GetName()
	}
	for _, form := range rec.GetForms() {
		if form.GetName() == title {
			continue
		}
		about.Aliases = append(about.Aliases, form.GetName())
		if r := form.GetReason(); r != string(New) && r != string(Same) {
			about.Reasons = append(about.Reasons, &AliasReason{form.GetName(), r, form.GetConfidence()})
		}
	}
	return title, about
}

// IsPerson reports whether an entity is a person who goes by more than one word. Types
// are guesses, and of names of one word ("Finch", a service) wrong as often as right.
func IsPerson(title string, metadata []byte) bool {
	about := &About{}
	if !bytes.Contains(metadata, []byte(extract.Person)) || json.Unmarshal(metadata, about) != nil ||
		about.EntityType != string(extract.Person) {
		return false
	}
	for _, name := range append(about.Aliases, title) {
		if strings.ContainsRune(strings.TrimSpace(name), ' ') {
			return true
		}
	}
	return false
}
