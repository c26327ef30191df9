package resolve

import (
	"slices"
	"strings"

	"orgmem/brain/extract"
	pb "orgmem/proto"
)

const (
	// minParts is how many texts must call somebody by a part of their name beside the whole, so that the part alone
	// means them.
	minParts = 2
	// minKnown is how many times as many texts must name them as have the part alone, where only one does so.
	minKnown = 2
)

// PartOf tells whether what is called by a name of one word is the person who is called so beside their whole name.
// Whoever is named more often by the one word may be somebody who needs no second. That nobody else has the name the
// caller has to know.
func PartOf(name string, short, full *pb.Entity) bool {
	if extract.Type(short.GetType()) != extract.Person || extract.Type(full.GetType()) != extract.Person ||
		strings.Contains(name, " ") || full.GetMentions() < short.GetMentions() {
		return false
	}
	return slices.ContainsFunc(full.GetForms(), func(f *pb.EntityForm) bool {
		return strings.EqualFold(f.GetName(), name) && f.GetReason() == string(Part) &&
			(f.GetCount() >= minParts || full.GetMentions() >= minKnown*short.GetMentions())
	})
}

// ConfidenceOf is how sure a reason is.
func ConfidenceOf(why Reason) float64 { return confidences[why] }
