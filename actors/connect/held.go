package connect

import (
	"orgmem/brain/format/reading"
)

// heldStep is in what steps memory is asked for: each asks a budget that all of a node
// shares.
const heldStep = 1 << 20

// held is the memory of a repository while it is read. Of what it gives up it holds the
// grant, and uses it again.
type held struct {
	Memory
	granted, used int
	refused       error // the first error of More, or that there is no more
}

func hold(m Memory) *held { return &held{Memory: m, granted: reading.FirstMemory} }

// take is called before so many bytes are held. The zero value grants everything.
func (h *held) take(bytes int) error {
	h.used += bytes
	if h.used <= h.granted || h.More == nil {
		return nil
	}
	switch {
	case h.refused != nil:
	case h.used > h.Most:
		h.refused = failf(
			"takes more than %d MiB of memory to be read, which is more than this service has for it", h.Most>>20,
		)
	default:
		step := min(max(h.used-h.granted, heldStep), h.Most-h.granted)
		if h.refused = h.More(step); h.refused == nil {
			h.granted += step
		}
	}
	return h.refused
}
