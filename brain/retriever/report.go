package retriever

import (
	"cmp"
	"slices"
	"strings"

	pb "orgmem/proto"
)

const (
	// mostBins and leastInBin bound what the judging questions are divided into by their gate: of fewer than ten a
	// share says nothing.
	mostBins   = 10
	leastInBin = 10
)

// lengthsFrom are the fewest words of the questions of each slice by length.
var lengthsFrom = [...]int{1, 5, 9, 13}

// kindNames are what the kinds of examples are called in a report.
var kindNames = [kinds]string{
	KindSentence: pb.QuestionSentence, KindTitle: pb.QuestionTitle, KindTwoHop: pb.QuestionTwoHops,
	KindThreeHop: pb.QuestionThreeHops, KindComparison: pb.QuestionComparison, KindFormer: pb.QuestionFormer,
	KindAccepted: pb.QuestionAccepted,
}

// Judged is how a question that judges was answered.
type Judged struct {
	Kind Kind
	Text string
	Gate float64
	// Open is the brain's ranking with its gate wide open.
	Brain, Open, Search, Cosine Marks
}

// Judge is Mark, and tells the gate and what the same walk would rank were that wide open. Where it is shut the hits of
// the projected question are not among them: they were not looked for.
func (w *Walk) Judge(p *Parameters, a *Asked) (mine, open Marks, gate float64) {
	mine, gate = w.Mark(p, a), w.gate.open
	w.gate.open = 1
	w.judge()
	open = w.markFound(a)
	w.gate.open = gate
	return mine, open, gate
}

// Report divides the questions that judged by their gates, kinds and lengths. What no question is in is left out.
func Report(judged []Judged) *pb.BrainReport {
	out := &pb.BrainReport{Shut: shut, Gates: byGate(judged)}
	for kind, name := range kindNames {
		of := only(judged, func(j *Judged) bool { return j.Kind == Kind(kind) })
		if len(of) > 0 {
			s := sliceOf(of)
			s.Kind = name
			out.Kinds = append(out.Kinds, s)
		}
	}
	for i, from := range lengthsFrom {
		until := 0
		if i+1 < len(lengthsFrom) {
			until = lengthsFrom[i+1] - 1
		}
		of := only(judged, func(j *Judged) bool {
			n := len(strings.Fields(j.Text))
			return n >= from && (until == 0 || n <= until)
		})
		if len(of) > 0 {
			s := sliceOf(of)
			s.WordsLeast, s.WordsMost = uint32(from), uint32(until)
			out.Lengths = append(out.Lengths, s)
		}
	}
	return out
}

// byGate cuts the questions into bins of as many each, of at least leastInBin. Those of one gate are in one bin.
func byGate(judged []Judged) (out []*pb.BrainSlice) {
	sorted := slices.Clone(judged)
	slices.SortStableFunc(sorted, func(x, y Judged) int { return cmp.Compare(x.Gate, y.Gate) })
	size := max(leastInBin, (len(sorted)+mostBins-1)/mostBins)
	for from := 0; from < len(sorted); {
		to := min(from+size, len(sorted))
		for to < len(sorted) && sorted[to].Gate == sorted[to-1].Gate {
			to++
		}
		if len(sorted)-to < leastInBin {
			to = len(sorted)
		}
		out = append(out, sliceOf(sorted[from:to]))
		from = to
	}
	return out
}

func only(judged []Judged, keep func(*Judged) bool) (out []Judged) {
	for i := range judged {
		if keep(&judged[i]) {
			out = append(out, judged[i])
		}
	}
	return out
}

// sliceOf tells how some questions were answered; there is one at least.
func sliceOf(judged []Judged) *pb.BrainSlice {
	brain, open, search, cosine := make([]Marks, len(judged)), make([]Marks, len(judged)), make([]Marks, len(judged)),
		make([]Marks, len(judged))
	s := &pb.BrainSlice{Questions: uint32(len(judged)), GateLeast: 1}
	for i, j := range judged {
		brain[i], open[i], search[i], cosine[i] = j.Brain, j.Open, j.Search, j.Cosine
		s.GateLeast, s.GateMost = min(s.GateLeast, j.Gate), max(s.GateMost, j.Gate)
		s.GateMean += j.Gate / float64(len(judged))
	}
	beside, opened := Pair(brain, search), Pair(open, search)
	s.Brain, s.Search, s.AgainstSearch = beside.Mine.message(), beside.Theirs.message(), beside.duel()
	s.Open, s.Opened = opened.Mine.message(), opened.duel()
	beside = Pair(brain, cosine)
	s.Cosine, s.AgainstCosine = beside.Theirs.message(), beside.duel()
	return s
}

func (m Marks) message() *pb.BrainMarks { return &pb.BrainMarks{Recall: m.Recall, Mrr: m.Reciprocal} }

func (p Paired) duel() *pb.BrainDuel { return &pb.BrainDuel{Won: uint32(p.Won), Lost: uint32(p.Lost)} }

// Curve gives the losses that the training has come by so far, in their order.
func (t *Trainer) Curve() []*pb.BrainPoint { return slices.Clone(t.curve) }

// plot notes what the checks have just said.
func (t *Trainer) plot(checked float64, better bool) {
	if len(t.curve) == maxEpochs { // a training has fewer
		return
	}
	p := &pb.BrainPoint{Stage: uint32(t.stage), Checked: checked, Best: better}
	if t.further.begun {
		p.Stage = uint32(len(stages))
	}
	if t.down != nil { // else nothing has been evaluated yet
		p.Move, p.Learned = 1, new(t.down.trail[len(t.down.trail)-1].value)
		if n := len(t.curve); n > 0 && t.curve[n-1].GetStage() == p.GetStage() {
			p.Move += t.curve[n-1].GetMove()
		}
	}
	t.curve = append(t.curve, p)
}
