package partition

import (
	"slices"

	pb "orgmem/proto"
	"orgmem/storage"
)

// Outdated reports whether a partition of a state is to be embedded anew, where a model is to serve.
func Outdated(state *pb.PartitionState, model string) bool {
	return state.GetModel() != "" && (state.GetModel() != model || state.GetLacksVectors())
}

// LastVector is the last chunk of the partition of a space that has a vector of a model; 0: none has.
func LastVector(r storage.Reader, space storage.Space, model string) (seq uint64, err error) {
	for item, err := range r.Scan(space.Prefix(storage.TableVector, storage.Str(model)),
		storage.ScanOptions{Limit: 1, Reverse: true}) {
		if err != nil {
			return 0, err
		}
		parts := item.Key.Parts()
		parts.Str()
		seq = parts.U64()
		if err := parts.Done(); err != nil {
			return 0, err
		}
	}
	return seq, nil
}

// Embedded is how far a partition is embedded with a model.
type Embedded struct {
	Model            string // that serves
	Chunks, Embedded uint64
	Outdated         bool
}

// Leftovers lists the models that a partition has vectors of, but for one: those of a move that was called off.
func Leftovers(r storage.Reader, space storage.Space, serves string) ([]string, error) {
	models, err := VectorModels(r, space)
	return slices.DeleteFunc(models, func(m string) bool { return m == serves }), err
}

// EmbeddedWith tells how far the partition of a space is embedded with a model. While it is embedded anew that is an
// estimate, from the last chunk that was: chunks that were forgotten are taken to be spread evenly.
func EmbeddedWith(r storage.Reader, space storage.Space, model string) (e Embedded, err error) {
	state := &pb.PartitionState{}
	if _, err := r.Get(space.Key(storage.TableState), state); err != nil {
		return e, err
	}
	e = Embedded{Model: state.GetModel(), Chunks: state.GetChunks(), Outdated: Outdated(state, model)}
	switch {
	case !e.Outdated:
		e.Embedded = e.Chunks
	case e.Model != model: // else some lack a vector, and nothing tells how many
		last, err := LastVector(r, space, model)
		if err != nil {
			return e, err
		}
		if ever := state.GetNextChunk(); last > 0 && ever > 1 { // their numbers begin at 1
			e.Embedded = min(e.Chunks, uint64(float64(e.Chunks)*float64(last)/float64(ever-1)))
		}
	}
	return e, nil
}

// VectorModels lists the models that the partition of a space has vectors of, never nil: the one that serves, and perhaps another
// that the partition is being embedded with, or once was.
func VectorModels(r storage.Reader, space storage.Space) ([]string, error) {
	models := []string{}
	opts := storage.ScanOptions{Limit: 1}
	for {
		found := false
		for item, err := range r.Scan(space.Prefix(storage.TableVector), opts) {
			if err != nil {
				return nil, err
			}
			parts := item.Key.Parts()
			model := parts.Str()
			parts.U64()
			if err := parts.Done(); err != nil {
				return nil, err
			}
			models, found = append(models, model), true
			opts.After = space.Key(storage.TableVector, storage.Str(model), storage.U64(^uint64(0)))
		}
		if !found {
			return models, nil
		}
	}
}
