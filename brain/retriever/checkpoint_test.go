package retriever

import (
	"errors"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
)

// TestCheckpoints: from wherever a training is interrupted it comes to the same
// parameters; what is damaged is refused, and the training is at its beginning then.
func TestCheckpoints(t *testing.T) {
	t.Parallel()

	src := village(30, 1)
	g := NewGraph(src, testSalt)
	var all []Asked
	for _, e := range g.Examples(src, testSalt, 60, 5) {
		all = append(all, Asked{Example: e, Question: asked(g, src, e.Text)})
	}
	trainer := func() *Trainer { return NewTrainer(g, testSalt, all[:40], all[40:]) }
	var points []*pb.BrainCheckpoint
	whole := trainer()
	if whole.Checkpoint() != nil {
		t.Error("there is a checkpoint before the first epoch")
	}
	for !whole.Step() {
		if c := whole.Checkpoint(); c != nil {
			points = append(points, c)
		}
	}
	if len(points) < 3 {
		t.Fatalf("%d checkpoints", len(points))
	}
	for i, c := range []*pb.BrainCheckpoint{points[0], points[len(points)/2], points[len(points)-1]} {
		raw, err := proto.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		read := &pb.BrainCheckpoint{}
		if err := proto.Unmarshal(raw, read); err != nil {
			t.Fatal(err)
		}
		again := trainer()
		if err := again.Resume(read); err != nil || again.Progress() == 0 {
			t.Fatalf("checkpoint %d: %v, progress %v", i, err, again.Progress())
		}
		for !again.Step() {
		}
		if again.Best() != whole.Best() {
			t.Errorf("from checkpoint %d the training came to other parameters", i)
		}
		if !slices.EqualFunc(again.Curve(), whole.Curve(), func(a, b *pb.BrainPoint) bool { return proto.Equal(a, b) }) {
			t.Errorf("from checkpoint %d the curve is another: %v, not %v", i, again.Curve(), whole.Curve())
		}
	}
	for what, damage := range map[string]func(c *pb.BrainCheckpoint){
		"format":   func(c *pb.BrainCheckpoint) { c.Format++ },
		"now":      func(c *pb.BrainCheckpoint) { c.Now = c.Now[1:] },
		"best":     func(c *pb.BrainCheckpoint) { c.Best[0] = math.NaN() },
		"method":   func(c *pb.BrainCheckpoint) { c.Method = 0 }, // of a version before
		"scale":    func(c *pb.BrainCheckpoint) { c.Scale = c.Scale[1:] },
		"trail":    func(c *pb.BrainCheckpoint) { c.Trail[0].Slope[0] = math.Inf(1) },
		"no trail": func(c *pb.BrainCheckpoint) { c.Trail = nil },
		"stage":    func(c *pb.BrainCheckpoint) { c.Stage = uint32(len(stages)) },
		"past":     func(c *pb.BrainCheckpoint) { c.Evaluations = 99 },
		"patience": func(c *pb.BrainCheckpoint) { c.Wasted = patience },
	} {
		c := proto.Clone(points[1]).(*pb.BrainCheckpoint)
		damage(c)
		again := trainer()
		if err := again.Resume(c); !errors.Is(err, ErrCorrupt) || again.Progress() != 0 {
			t.Errorf("%s: %v, progress %v", what, err, again.Progress())
		}
	}
}
