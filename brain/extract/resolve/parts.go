package resolve

import (
	"slices"
	"strings"

	"orgmem/brain/extract"
	pb "orgmem/proto"
)

// minParts is how many texts must call somebody by a part of their name beside the whole, so that the part alone means
// them: in one it may be a slip.
const minParts = 2

// PartOf tells whether what is called by a name of one word is the person who is called so beside their whole name.
// That nobody else has the name the caller has to know.
func PartOf(name string, short, full *pb.Entity) bool {
	return extract.Type(short.GetType()) == extract.Person && extract.Type(full.GetType()) == extract.Person &&
		!strings.Contains(name, " ") && slices.ContainsFunc(full.GetForms(), func(f *pb.EntityForm) bool {
		return strings.EqualFold(f.GetName(), name) && f.GetReason() == string(Part) && f.GetCount() >= minParts
	})
}

// ConfidenceOf is how sure a reason is.
func ConfidenceOf(why Reason) float64 { return confidences[why] }
