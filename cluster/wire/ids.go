package wire

import (
	"fmt"

	pb "orgmem/proto"
)

// ServerID names one node of a cluster, for ever: it is written into every
// group's membership and never used again by another machine.
type ServerID string

// maxServerIDBytes bounds a server's id: it is in every group's membership and in
// a URI of every certificate.
const maxServerIDBytes = 64

// CheckServerID refuses what could not be a name in a certificate's URI.
func CheckServerID(id string) error {
	if id == "" || len(id) > maxServerIDBytes {
		return fmt.Errorf("server id %q: want 1 to %d characters: %w", id, maxServerIDBytes, pb.ErrBadID)
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return fmt.Errorf("server id %q: want letters, digits, '-', '_' and '.': %w", id, pb.ErrBadID)
		}
	}
	return nil
}
