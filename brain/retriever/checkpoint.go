package retriever

import (
	"math"

	pb "orgmem/proto"
)

// Checkpoint gives how far the training has come; nil but where an epoch has just
// begun, and in those that learn what the hits of the projected question count: they
// are few, and a training that they were interrupted in comes to them again. Its size
// does not depend on the content.
func (t *Trainer) Checkpoint() *pb.BrainCheckpoint {
	if t.further.begun || t.epoch == 0 || t.checked > 0 || len(t.order) < len(t.learn) {
		return nil
	}
	return &pb.BrainCheckpoint{
		Format: modelFormat, Epoch: uint32(t.epoch), Wasted: uint32(t.wasted), BestLoss: t.bestLoss,
		Now: t.now.Message().GetParameters(), Best: t.best.Message().GetParameters(), Moves: uint32(t.adam.moves),
		Mean: append([]float64(nil), t.adam.mean...), Square: append([]float64(nil), t.adam.square...),
	}
}

// Resume goes on from a checkpoint of a training with the same graph, examples and
// seed, to the same parameters as if it had not been interrupted. ErrCorrupt leaves
// the trainer at its beginning.
func (t *Trainer) Resume(c *pb.BrainCheckpoint) error {
	now, err := ParametersFrom(&pb.BrainModel{Format: c.GetFormat(), Parameters: c.GetNow()})
	if err != nil {
		return err
	}
	best, err := ParametersFrom(&pb.BrainModel{Format: c.GetFormat(), Parameters: c.GetBest()})
	if err != nil {
		return err
	}
	if len(c.GetMean()) != len(t.adam.mean) || len(c.GetSquare()) != len(t.adam.square) || math.IsNaN(c.GetBestLoss()) ||
		c.GetEpoch() == 0 || c.GetEpoch() > maxEpochs || c.GetWasted() >= patience || len(t.learn) == 0 {
		return corrupt("checkpoint")
	}
	t.now, t.best, t.bestLoss = now, best, c.GetBestLoss()
	copy(t.adam.mean, c.GetMean())
	copy(t.adam.square, c.GetSquare())
	t.adam.moves, t.epoch, t.wasted = int(c.GetMoves()), int(c.GetEpoch()), int(c.GetWasted())
	t.checked, t.sum, t.counted = 0, 0, 0
	t.shuffle(len(t.learn))
	return nil
}
