package tenant

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	pb "orgmem/proto"
	"orgmem/storage"
)

// Failures of operator calls; the edge maps them to problems.
var (
	// ErrOrgNotFound means that no organization has the id, or it was removed.
	ErrOrgNotFound = errors.New("organization not found")
	// ErrUserNotFound means that the organization has no such member.
	ErrUserNotFound = errors.New("member not found")
	// ErrInvalid wraps every refusal of an operator's input; its text names the
	// field and the reason.
	ErrInvalid = errors.New("invalid input")
	// ErrConflict means that the state forbids the change, for example removing
	// the last owner or adding an e-mail address twice.
	ErrConflict = errors.New("conflict")
)

// OrgEntry is what this node's copy of the directory says of an organization. It fails with ErrOrgNotFound where no
// organization has the id, or it was removed.
func (s *System) OrgEntry(org pb.OrgID) (*pb.OrgEntry, error) {
	e, ok := s.Config.Host.Directory().Org(org)
	if !ok || e.GetRemoved() {
		return nil, ErrOrgNotFound
	}
	return e, nil
}

// VisitOrg runs f in a known organization's actor.
func (s *System) VisitOrg(ctx context.Context, org pb.OrgID, f func(o *Org, done func(error))) error {
	if _, err := s.OrgEntry(org); err != nil {
		return err
	}
	return s.Visit(ctx, org, func(o *Org, done func(error)) {
		if o.record == nil {
			done(ErrOrgNotFound)
			return
		}
		f(o, done)
	})
}

// MemberInfo is one human member.
type MemberInfo struct {
	User    pb.UserID
	Email   string
	Role    string // owner, admin, member
	Created time.Time
}

// ListMembers returns all members, oldest first.
func (o *View) ListMembers() ([]MemberInfo, error) {
	var out []MemberInfo
	err := o.WithStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, o.Space.Prefix(storage.TableMember), storage.ScanOptions{},
			func() *pb.Member { return &pb.Member{} }) {
			if err != nil {
				return err
			}
			id, err := pb.UserIDFrom(rec.Value.GetUser())
			if err != nil {
				return err
			}
			out = append(out, MemberInfo{
				User: id, Email: rec.Value.GetEmail(), Role: rec.Value.GetRole(),
				Created: time.UnixMilli(rec.Value.GetCreatedMs()).UTC(),
			})
		}
		return nil
	})
	slices.SortFunc(out, func(a, b MemberInfo) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.User.String(), b.User.String())
	})
	return out, err
}
