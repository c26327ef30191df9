package retriever

import (
	"math"
	"slices"

	pb "orgmem/proto"
)

// byDescent is the way of learning that checkpoints are of. Those of another, which other
// versions made, are of no use.
const byDescent = 1

// maxEpochs is more than a training has.
const maxEpochs = 64

// Checkpoint gives how far the training has come; nil but where a move has just been
// checked, and in those that learn what the hits of the projected question count: they
// are few, and a training that they were interrupted in comes to them again. Its size
// does not depend on the content: some 16 kB.
func (t *Trainer) Checkpoint() *pb.BrainCheckpoint {
	if t.further.begun || t.epoch == 0 || t.checking || t.done > 0 {
		return nil
	}
	c := &pb.BrainCheckpoint{
		Format: modelFormat, Method: byDescent, Epoch: uint32(t.epoch), Wasted: uint32(t.wasted), BestLoss: t.bestLoss,
		Now: t.now.Message().GetParameters(), Best: t.best.Message().GetParameters(),
		Stage: uint32(t.stage), Evaluations: uint32(t.evaluations), Curve: t.Curve(),
	}
	if t.down == nil {
		return c
	}
	if t.down.tried > 0 {
		return nil
	}
	c.Scale = slices.Clone(t.down.scale)
	for _, s := range t.down.trail {
		c.Trail = append(c.Trail, &pb.BrainMove{Value: s.value, At: slices.Clone(s.at), Slope: slices.Clone(s.slope)})
	}
	return c
}

// Resume goes on from a checkpoint of a training with the same graph and examples, to
// the same parameters as if it had not been interrupted. ErrCorrupt leaves the trainer
// at its beginning.
func (t *Trainer) Resume(c *pb.BrainCheckpoint) error {
	now, err := ParametersFrom(&pb.BrainModel{Format: c.GetFormat(), Parameters: c.GetNow()})
	if err != nil {
		return err
	}
	best, err := ParametersFrom(&pb.BrainModel{Format: c.GetFormat(), Parameters: c.GetBest()})
	if err != nil {
		return err
	}
	stage, evaluations := int(c.GetStage()), int(c.GetEvaluations())
	if c.GetMethod() != byDescent || math.IsNaN(c.GetBestLoss()) || c.GetEpoch() == 0 ||
		c.GetEpoch() > maxEpochs || c.GetWasted() >= patience || stage >= len(stages) ||
		len(c.GetCurve()) > maxEpochs ||
		evaluations >= stages[stage].most || len(t.learn) == 0 || (evaluations == 0) != (len(c.GetTrail()) == 0) {
		return corrupt("checkpoint")
	}
	down, err := descentFrom(c, len(t.x))
	if err != nil {
		return err
	}
	t.now, t.best = now, best
	t.begin(stage)
	t.evaluations, t.spent, t.down = evaluations, evaluations, down
	t.curve = slices.Clone(c.GetCurve())
	t.bestLoss, t.epoch, t.wasted, t.begun = c.GetBestLoss(), int(c.GetEpoch()), int(c.GetWasted()), true
	return nil
}

// descentFrom gives the descent of a checkpoint of some numbers, at the beginning of its
// next line search; nil: it is at the beginning of a stage.
func descentFrom(c *pb.BrainCheckpoint, n int) (*descent, error) {
	if len(c.GetTrail()) == 0 {
		return nil, nil
	}
	right := func(of []float64) bool { return len(of) == n && finite(of...) }
	trail := make([]spot, 0, len(c.GetTrail()))
	for _, m := range c.GetTrail() {
		if !right(m.GetAt()) || !right(m.GetSlope()) || !finite(m.GetValue()) {
			return nil, corrupt("checkpoint")
		}
		trail = append(trail, spot{m.GetAt(), m.GetSlope(), m.GetValue()})
	}
	if !right(c.GetScale()) || len(trail) > remembered+1 {
		return nil, corrupt("checkpoint")
	}
	d := resumeDescent(c.GetScale(), trail)
	if d.goOn() != searching {
		return nil, corrupt("checkpoint")
	}
	return d, nil
}
