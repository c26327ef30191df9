package pb

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// ErrBadID is returned by every parser of this file for text or bytes that are
// not an id of the wanted type.
var ErrBadID = errors.New("malformed id")

type (
	// OrgID names an organization.
	OrgID uuid.UUID
	// UserID names a human member of an organization.
	UserID uuid.UUID
	// PartitionID names a partition: for a member it equals the UserID.
	PartitionID uuid.UUID
	// JobID names a job.
	JobID uuid.UUID
	// ExportID names an export; it is also its job's id.
	ExportID uuid.UUID
	// DerivedID names what a cognition cycle derived: an insight, a moment, a
	// contradiction or a proposal.
	DerivedID uuid.UUID
	// WebhookID names a webhook endpoint.
	WebhookID uuid.UUID
	// ConnectorID names a connector.
	ConnectorID uuid.UUID
	// KeyHash is the SHA-256 of a whole API key, the key's public id.
	KeyHash [sha256.Size]byte
	// DomainID names a domain.
	DomainID uuid.UUID
	// NodeID names a graph node inside its partition.
	NodeID string
	// EdgeID names an edge inside its partition.
	EdgeID string
	// SubjectKey is a client's own name for one of its end users.
	SubjectKey string
	// ExternalID is a client's own name for a document.
	ExternalID string
)

// HashKey returns the id of an API key.
func HashKey(apiKey string) KeyHash { return sha256.Sum256([]byte(apiKey)) }

// String returns 64 lower-case hex characters.
func (h KeyHash) String() string { return hex.EncodeToString(h[:]) }

// ParseKeyHash reads 64 hex characters.
func ParseKeyHash(s string) (KeyHash, error) {
	var h KeyHash
	if len(s) != 2*len(h) {
		return h, fmt.Errorf("key id: %w", ErrBadID)
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return KeyHash{}, fmt.Errorf("key id: %w", ErrBadID)
	}
	return h, nil
}

// KeyHashFrom reads 32 raw bytes.
func KeyHashFrom(b []byte) (KeyHash, error) {
	var h KeyHash
	if len(b) != len(h) {
		return h, fmt.Errorf("key hash of %d bytes: %w", len(b), ErrBadID)
	}
	copy(h[:], b)
	return h, nil
}

func (id OrgID) String() string       { return uuid.UUID(id).String() }
func (id UserID) String() string      { return uuid.UUID(id).String() }
func (id PartitionID) String() string { return uuid.UUID(id).String() }
func (id JobID) String() string       { return uuid.UUID(id).String() }
func (id ExportID) String() string    { return uuid.UUID(id).String() }
func (id WebhookID) String() string   { return uuid.UUID(id).String() }
func (id ConnectorID) String() string { return uuid.UUID(id).String() }
func (id DomainID) String() string    { return uuid.UUID(id).String() }
func (id DerivedID) String() string   { return uuid.UUID(id).String() }

// Bytes returns the id's 16 bytes; the slice is the caller's.
func (id OrgID) Bytes() []byte { return append([]byte(nil), id[:]...) }

// Bytes returns the id's 16 bytes; the slice is the caller's.
func (id UserID) Bytes() []byte { return append([]byte(nil), id[:]...) }

// Bytes returns the id's 16 bytes; the slice is the caller's.
func (id PartitionID) Bytes() []byte { return append([]byte(nil), id[:]...) }

// Bytes returns the id's 16 bytes; the slice is the caller's.
func (id JobID) Bytes() []byte { return append([]byte(nil), id[:]...) }

// ParseOrgID reads the canonical 36-character form.
func ParseOrgID(s string) (OrgID, error) { return parse[OrgID](s) }

// ParseUserID reads the canonical 36-character form.
func ParseUserID(s string) (UserID, error) { return parse[UserID](s) }

// ParsePartitionID reads the canonical 36-character form.
func ParsePartitionID(s string) (PartitionID, error) { return parse[PartitionID](s) }

// ParseJobID reads the canonical 36-character form.
func ParseJobID(s string) (JobID, error) { return parse[JobID](s) }

// ParseDomainID reads the canonical 36-character form.
func ParseDomainID(s string) (DomainID, error) { return parse[DomainID](s) }

// ParseExportID reads the canonical 36-character form.
func ParseExportID(s string) (ExportID, error) { return parse[ExportID](s) }

// ExportIDFrom reads 16 raw bytes.
func ExportIDFrom(b []byte) (ExportID, error) { return from[ExportID](b) }

// ParseDerivedID reads the canonical 36-character form.
func ParseDerivedID(s string) (DerivedID, error) { return parse[DerivedID](s) }

// ParseWebhookID reads the canonical 36-character form.
func ParseWebhookID(s string) (WebhookID, error) { return parse[WebhookID](s) }

// ParseConnectorID reads the canonical 36-character form.
func ParseConnectorID(s string) (ConnectorID, error) { return parse[ConnectorID](s) }

// OrgIDFrom reads 16 raw bytes.
func OrgIDFrom(b []byte) (OrgID, error) { return from[OrgID](b) }

// UserIDFrom reads 16 raw bytes.
func UserIDFrom(b []byte) (UserID, error) { return from[UserID](b) }

// PartitionIDFrom reads 16 raw bytes.
func PartitionIDFrom(b []byte) (PartitionID, error) { return from[PartitionID](b) }

// JobIDFrom reads 16 raw bytes.
func JobIDFrom(b []byte) (JobID, error) { return from[JobID](b) }

// DomainIDFrom reads 16 raw bytes.
func DomainIDFrom(b []byte) (DomainID, error) { return from[DomainID](b) }

// DerivedIDFrom reads 16 raw bytes.
func DerivedIDFrom(b []byte) (DerivedID, error) { return from[DerivedID](b) }

func parse[T ~[16]byte](s string) (T, error) {
	if len(s) != 36 { // uuid.Parse also takes urn:, {…} and undashed forms
		return T{}, fmt.Errorf("%T: %w", T{}, ErrBadID)
	}
	u, err := uuid.Parse(s)
	if err != nil {
		return T{}, fmt.Errorf("%T: %w", T{}, ErrBadID)
	}
	return T(u), nil
}

func from[T ~[16]byte](b []byte) (T, error) {
	if len(b) != 16 {
		return T{}, fmt.Errorf("%T of %d bytes: %w", T{}, len(b), ErrBadID)
	}
	return T([16]byte(b)), nil
}
