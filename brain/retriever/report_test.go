package retriever

import (
	"testing"

	pb "orgmem/proto"
	"orgmem/proto/prototest"
)

// TestReports: every question that judged is in one bin of the gate, one kind and one length, and a bin has ten at
// least; questions of one gate are not torn apart.
func TestReports(t *testing.T) {
	t.Parallel()

	var judged []Judged
	for i := range 47 {
		gate := float64(i) / 100
		if i >= 15 && i < 30 {
			gate = 0.2
		}
		judged = append(judged, Judged{
			Kind: Kind(i % 2), Text: [...]string{"two words", "one two three four five six"}[i%2], Gate: gate,
			Brain: Marks{1, 1}, Search: Marks{float64(i % 2), 1}, Open: Marks{0, 0}, Cosine: Marks{1, 1},
		})
	}
	r := Report(judged)
	for what, of := range map[string][]*pb.BrainSlice{
		"gates": r.GetGates(), "kinds": r.GetKinds(), "lengths": r.GetLengths(),
	} {
		sum := uint32(0)
		for _, s := range of {
			sum += s.GetQuestions()
		}
		if sum != 47 {
			t.Errorf("%s hold %d questions of 47", what, sum)
		}
	}
	last := -1.0
	for _, s := range r.GetGates() {
		if s.GetQuestions() < leastInBin || s.GetGateLeast() <= last || s.GetGateMean() < s.GetGateLeast() ||
			s.GetGateMean() > s.GetGateMost() {
			t.Errorf("a bin of the gate behind %v: %v", last, s)
		}
		last = s.GetGateMost()
	}
	if diff := prototest.Diff(&pb.BrainSlice{
		Kind: pb.QuestionSentence, Questions: 24, GateMost: 0.46, GateMean: r.GetKinds()[0].GetGateMean(),
		Brain: &pb.BrainMarks{Recall: 1, Mrr: 1}, Open: &pb.BrainMarks{}, Search: &pb.BrainMarks{Mrr: 1},
		Cosine:        &pb.BrainMarks{Recall: 1, Mrr: 1},
		AgainstSearch: &pb.BrainDuel{Won: 24}, AgainstCosine: &pb.BrainDuel{}, Opened: &pb.BrainDuel{Lost: 24},
	}, r.GetKinds()[0]); diff != "" {
		t.Error(diff)
	}
	if r := Report(nil); len(r.GetGates())+len(r.GetKinds())+len(r.GetLengths()) != 0 {
		t.Errorf("of no questions: %v", r)
	}
}
