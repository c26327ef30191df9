package storage

import (
	"errors"
	"fmt"
	"strings"

	pb "orgmem/proto"
)

// Realm separates the stores of one organization. Numbers are stored in raft
// commands (StoreRef.realm) and never reused.
type Realm uint8

const (
	// RealmMain holds an organization's data.
	RealmMain Realm = 1
	// RealmSandbox holds what its sandbox keys write: its own store, so that
	// nothing of it can reach search, export or usage of the real partitions.
	RealmSandbox Realm = 2
	// RealmMeta is the meta group's one store.
	RealmMeta Realm = 3
)

func (r Realm) String() string {
	switch r {
	case RealmMain:
		return "main"
	case RealmSandbox:
		return "sandbox"
	case RealmMeta:
		return "meta"
	}
	return fmt.Sprintf("realm(%d)", uint8(r))
}

// OrgRealms are the stores that an organization may have.
var OrgRealms = [...]Realm{RealmMain, RealmSandbox}

// StoreID names one Pebble directory.
type StoreID struct {
	Org   pb.OrgID
	Realm Realm
}

// MetaStore is the store of the meta group, which belongs to no organization.
var MetaStore = StoreID{Realm: RealmMeta}

// ErrBadStoreID says that text or numbers name no store.
var ErrBadStoreID = errors.New("malformed store id")

// Check returns ErrBadStoreID for an id that names no store: an unknown realm,
// or an organization in the meta realm.
func (id StoreID) Check() error {
	switch id.Realm {
	case RealmMain, RealmSandbox:
		if id.Org != (pb.OrgID{}) {
			return nil
		}
	case RealmMeta:
		if id.Org == (pb.OrgID{}) {
			return nil
		}
	}
	return fmt.Errorf("%v: %w", id, ErrBadStoreID)
}

// String is the store's name on disk: the organization's id and the realm.
func (id StoreID) String() string {
	if id == MetaStore {
		return "meta"
	}
	return id.Org.String() + "-" + id.Realm.String()
}

// ParseStoreID reads what String gave.
func ParseStoreID(s string) (StoreID, error) {
	if s == "meta" {
		return MetaStore, nil
	}
	id := StoreID{}
	text, realm, ok := cutLast(s, "-")
	if !ok {
		return id, fmt.Errorf("%q: %w", s, ErrBadStoreID)
	}
	switch realm {
	case "main":
		id.Realm = RealmMain
	case "sandbox":
		id.Realm = RealmSandbox
	}
	var err error
	if id.Org, err = pb.ParseOrgID(text); err != nil || id.Check() != nil || id.String() != s {
		return StoreID{}, fmt.Errorf("%q: %w", s, ErrBadStoreID)
	}
	return id, nil
}

// StoreIDFrom reads a raft command's reference to a store.
func StoreIDFrom(ref *pb.StoreRef) (StoreID, error) {
	var id StoreID
	if ref.GetRealm() > 0xFF {
		return id, fmt.Errorf("realm %d: %w", ref.GetRealm(), ErrBadStoreID)
	}
	id.Realm = Realm(ref.GetRealm())
	if len(ref.GetOrg()) > 0 {
		org, err := pb.OrgIDFrom(ref.GetOrg())
		if err != nil {
			return StoreID{}, fmt.Errorf("store reference: %w", err)
		}
		id.Org = org
	}
	return id, id.Check()
}

// Ref is the form that goes into a raft command.
func (id StoreID) Ref() *pb.StoreRef {
	ref := &pb.StoreRef{Realm: uint32(id.Realm)}
	if id != MetaStore {
		ref.Org = id.Org.Bytes()
	}
	return ref
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
