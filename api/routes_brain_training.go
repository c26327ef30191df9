package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var brainTrainingRoute = web.On(web.Route{
	Method: http.MethodGet, Path: "/v1/brain/training", ID: "brainTraining", Tag: tagBrain,
	Summary: "How the brain was trained, and where it wins and loses",
	Description: "The curve of the training's loss, and how the questions that judge were answered: by how far the gate " +
		"stood open, by kind and by length. Figures only.",
	Scope: pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityBrain,
	Subject: pb.SubjectMode_SUBJECT_REFUSED,
	Status:  http.StatusOK,
}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
	env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_BrainInfo{BrainInfo: &pb.BrainInfo{}}})
}, func(reply *pb.Reply) (brainTraining, bool) {
	state := reply.GetMind().GetBrain()
	out := brainTraining{
		Status: state.GetTraining().GetStatus(), Report: reportOf(state.GetArtifact().GetReport()),
		Latest: reportOf(state.GetTraining().GetReport()),
	}
	if a := state.GetArtifact(); a != nil {
		out.Version = new(a.GetVersion())
	}
	return out, state != nil
})

type brainTraining struct {
	Version *uint64      `json:"version" doc:"The brain that serves; null where none does."`
	Report  *brainReport `json:"report" doc:"@brainTraining.report"`
	Status  string       `json:"status" enum:"none,queued,running,succeeded,rejected,failed" doc:"Of the latest training."`
	Latest  *brainReport `json:"latest" doc:"@brainTraining.latest"`
}

// TransformSchema implements huma.SchemaTransformer.
func (brainTraining) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.Nullable(wire.Nullable(wire.Nullable(s, "version"), "report"), "latest")
}

type brainReport struct {
	Curve   []brainPoint  `json:"curve" doc:"Looks at the loss, in their order; at most 64."`
	Gate    brainGateBins `json:"gate"`
	Kinds   []brainKind   `json:"kinds" doc:"By how the questions were made; those of which there were none are left out."`
	Lengths []brainLength `json:"lengths" doc:"By the questions' words, shortest first."`
}

type brainPoint struct {
	Stage   string       `json:"stage" enum:"part,all,further" doc:"@brainPoint.stage"`
	Move    uint32       `json:"move" doc:"Of the parameters, within the stage; 0: before any."`
	Learned wire.Measure `json:"learned,omitzero" doc:"@brainPoint.learned"`
	Checked wire.Measure `json:"checked" doc:"Mean loss of the questions that say when to stop, in nats."`
	Best    bool         `json:"best" doc:"Whether that is the least so far."`
}

type brainGateBins struct {
	Shut wire.Measure    `json:"shut" doc:"Below it the walk goes no further than one step."`
	Bins []brainGateBand `json:"bins" doc:"@brainGateBins.bins"`
}

type brainAnswered struct {
	Questions     uint32     `json:"questions" doc:"That judged, and were not learned from."`
	Brain         brainMarks `json:"brain"`
	Search        brainMarks `json:"search"`
	Cosine        brainMarks `json:"cosine"`
	AgainstSearch brainDuel  `json:"againstSearch"`
	AgainstCosine brainDuel  `json:"againstCosine"`
}

type brainGateBand struct {
	From   wire.Measure  `json:"from" doc:"The least gate of these questions."`
	Mean   wire.Measure  `json:"mean"`
	To     wire.Measure  `json:"to" doc:"The greatest."`
	Judged brainAnswered `json:"judged"`
	Open   brainMarks    `json:"open" doc:"@brainGateBand.open"`
	Opened brainDuel     `json:"opened" doc:"Against search, with the gate open."`
}

type brainKind struct {
	Kind string `json:"kind" enum:"sentence,title,two_hops,three_hops,comparison,former,accepted" doc:"@brainKind.kind"`

	Judged brainAnswered `json:"judged"`
}

type brainLength struct {
	From   uint32        `json:"from" doc:"Words at least."`
	To     *uint32       `json:"to" doc:"Words at most; null: no bound."`
	Judged brainAnswered `json:"judged"`
}

// TransformSchema implements huma.SchemaTransformer.
func (brainLength) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.Nullable(s, "to")
}

type brainMarks struct {
	Recall10 wire.Measure `json:"recall10" doc:"Of what answers, the share among the first ten."`
	MRR      wire.Measure `json:"mrr" doc:"One over the place of the first that answers, in the mean."`
}

type brainDuel struct {
	Won  uint32 `json:"won" doc:"Questions answered better: more found, or as much and higher."`
	Lost uint32 `json:"lost" doc:"Questions answered worse."`
}

// stagesOfTraining are the names of BrainPoint.stage.
var stagesOfTraining = [...]string{"part", "all", "further"}

// reportOf is nil where there is no report: no brain serves, or a version before has trained it.
func reportOf(r *pb.BrainReport) *brainReport {
	if r == nil {
		return nil
	}
	out := &brainReport{
		Curve: []brainPoint{}, Gate: brainGateBins{wire.Measure(r.GetShut()), []brainGateBand{}}, Kinds: []brainKind{},
		Lengths: []brainLength{},
	}
	for _, p := range r.GetCurve() {
		stage := stagesOfTraining[min(int(p.GetStage()), len(stagesOfTraining)-1)]
		learned, checked := wire.Measure(p.GetLearned()), wire.Measure(p.GetChecked())
		out.Curve = append(out.Curve, brainPoint{stage, p.GetMove(), learned, checked, p.GetBest()})
	}
	for _, s := range r.GetGates() {
		out.Gate.Bins = append(out.Gate.Bins, brainGateBand{
			wire.Measure(s.GetGateLeast()), wire.Measure(s.GetGateMean()), wire.Measure(s.GetGateMost()), answeredOf(s),
			marksOf(s.GetOpen()), duelOf(s.GetOpened()),
		})
	}
	for _, s := range r.GetKinds() {
		out.Kinds = append(out.Kinds, brainKind{s.GetKind(), answeredOf(s)})
	}
	for _, s := range r.GetLengths() {
		l := brainLength{From: s.GetWordsLeast(), Judged: answeredOf(s)}
		if to := s.GetWordsMost(); to > 0 {
			l.To = &to
		}
		out.Lengths = append(out.Lengths, l)
	}
	return out
}

func answeredOf(s *pb.BrainSlice) brainAnswered {
	return brainAnswered{
		s.GetQuestions(), marksOf(s.GetBrain()), marksOf(s.GetSearch()), marksOf(s.GetCosine()),
		duelOf(s.GetAgainstSearch()), duelOf(s.GetAgainstCosine()),
	}
}

func marksOf(m *pb.BrainMarks) brainMarks {
	return brainMarks{wire.Measure(m.GetRecall()), wire.Measure(m.GetMrr())}
}

func duelOf(d *pb.BrainDuel) brainDuel { return brainDuel{d.GetWon(), d.GetLost()} }
