package quality

import (
	"orgmem/brain/quality"
	pb "orgmem/proto"
)

// What a report says, for those who show it and may not know package brain/quality, which has the mathematics.

// ByKind counts a report's questions by kind, in the order in which kinds are shown; a kind of which none was asked is
// left out.
func ByKind(r *pb.QualityReport) (all []*pb.QualityRecall) {
	for _, k := range quality.Kinds {
		if of := quality.OfKind(r, k); of != nil {
			all = append(all, of)
		}
	}
	return all
}

// All counts the questions of all kinds.
func All(r *pb.QualityReport) *pb.QualityRecall { return quality.All(r) }

// LanguagesOf are the languages of what was looked at, the most frequent first.
func LanguagesOf(r *pb.QualityReport) []string { return quality.LanguagesOf(r) }

// Wilson is the 95 % interval of a share of n in of.
func Wilson(n, of uint64) (low, high float64) { return quality.Wilson(n, of) }
