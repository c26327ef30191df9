package index

import (
	"math"
	"testing"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// What somebody has read counts in the score of the hit, in the candidate's own and in its parts alike, whether its
// vector is sharpened or not; in hybrid search only.
func TestWhatWasReadCounts(t *testing.T) {
	var a text.Analyzer
	snap := alike(t, &a, "The boiler was serviced.", "The boiler is in the cellar.", "Mrs Okafor was here in May.")
	for mode, first := range map[Mode]pb.NodeID{Hybrid: "c", KeywordOnly: "a", VectorOnly: "a"} {
		for _, exact := range [][][]float32{nil, {{1, 0}, {1, 0}, {1, 0}}} {
			q := &Query{
				Terms: a.Query("boiler serviced here", snap.Langs()), Vectors: map[ModelID][]float32{"m": {1, 0}}, Mode: mode,
				Config: DefaultConfig(),
			}
			var sc Scratch
			cands := sc.Candidates([]*Snapshot{snap}, q)
			for i := range cands {
				if cands[i].Node == "c" {
					q.Read(&cands[i], 2)
				}
			}
			hits := Fuse(cands, exact, q, 3)
			if hits[0].Node != first {
				t.Errorf("mode %d: %v is first", mode, hits[0])
			}
			Sharpen(cands, exact, q)
			for _, h := range hits {
				for i := range cands {
					p := q.Parts(&cands[i])
					sum := p.Meaning + p.Words + p.Phrases + p.Neighbours + p.Time + p.Brevity + p.Reading
					if cands[i].Node == h.Node && (cands[i].Score != h.Score || math.Abs(float64(sum-h.Score)) > 1e-5) {
						t.Errorf("mode %d: the hit has %v, its candidate %v, its parts %v", mode, h.Score, cands[i].Score, sum)
					}
				}
			}
		}
	}
}
