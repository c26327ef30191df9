package embed

import (
	"fmt"

	"orgmem/brain/embed/packfile"
)

// Outline opens a pack no further than to tell what it is: its ID, Dim, CosineLine and Source are those of the model,
// and nothing can be embedded with it. It costs the hash of the pack. Errors wrap ErrPack.
func Outline(pack []byte) (*Model, error) {
	f, err := packfile.Open(pack)
	if err != nil {
		return nil, fmt.Errorf("embed: outline of a model: %w", err)
	}
	return &Model{id: idOf(f), header: f.Header}, nil
}
