package account

import (
	"context"
	"time"

	"orgmem/actors/export"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
)

// NewOrg is an operator's order for an organization.
type NewOrg struct {
	Name       string // 1–200 characters
	OwnerEmail string
	Personal   bool
	Plan       string // free, standard (also when empty), scale, unlimited
}

// CreatedOrg answers NewOrg. APIKey is shown this once.
type CreatedOrg struct {
	Org    pb.OrgID
	Slug   string
	Owner  pb.UserID
	APIKey string
	Key    pb.KeyHash
}

// OrgEntry is an organization in the operator's list.
type OrgEntry struct {
	Org     pb.OrgID
	Name    string
	Slug    string
	Created time.Time
	// OutOfService is what was found to be damaged in its stores on this node; empty:
	// nothing.
	OutOfService string
}

// OrgPage is a part of that list.
type OrgPage struct {
	Orgs []OrgEntry // oldest first
	Next string     // where the next part begins; empty: there is none
}

// MaxOrgPage bounds a page of the list.
const MaxOrgPage = 1000

// OrgInfo is an organization as the operator sees it: no content.
type OrgInfo struct {
	Org      pb.OrgID
	Name     string
	Slug     string
	Personal bool
	Plan     string
	Created  time.Time
	Members  int
	Subjects int
	// OutOfService is what was found to be damaged in its stores where it lives; empty:
	// nothing. Personal, Plan, Members and Subjects are not known then.
	OutOfService string
}

// NewKey is an operator's order for a key of a member.
type NewKey struct {
	Org    pb.OrgID
	User   pb.UserID
	Scopes []string // at least one, all known
	Label  string
}

// CreatedKey answers NewKey. APIKey is shown this once.
type CreatedKey struct {
	APIKey string
	Key    pb.KeyHash
	Label  string
}

// LocalOperator is the Operator of the organizations that live on this node.
type LocalOperator struct{ *tenant.System }

var _ Operator = LocalOperator{}

// Restore implements Operator.
func (s LocalOperator) Restore(ctx context.Context, org pb.OrgID, part []byte) (export.Restored, error) {
	return export.Restore(ctx, s.System, org, part)
}

// Operator is what the operator interface may do. Every
// call returns after its effect is durable; ctx bounds the wait.
type Operator interface {
	CreateOrg(ctx context.Context, order NewOrg) (CreatedOrg, error)
	// Orgs lists at most size (1 to MaxOrgPage) organizations, from the begin or
	// from where another page said.
	Orgs(ctx context.Context, from string, size int) (OrgPage, error)
	Org(ctx context.Context, org pb.OrgID) (OrgInfo, error)
	SetPlan(ctx context.Context, org pb.OrgID, plan string) error
	DeleteOrg(ctx context.Context, org pb.OrgID) error
	AddMember(ctx context.Context, org pb.OrgID, email string, role Role) (tenant.MemberInfo, error)
	Members(ctx context.Context, org pb.OrgID) ([]tenant.MemberInfo, error)
	RemoveMember(ctx context.Context, org pb.OrgID, user pb.UserID) error
	CreateKey(ctx context.Context, order NewKey) (CreatedKey, error)
	// Restore takes in a part of an exported document (docs/export.md): a JSON object
	// with the partition and some of its records. What is there already stays, so a
	// part can be sent again.
	Restore(ctx context.Context, org pb.OrgID, part []byte) (export.Restored, error)
}

// Role is a member's role in an organization: pb.RoleOwner, pb.RoleAdmin or pb.RoleMember.
type Role string
